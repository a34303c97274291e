"""The public schema and the reader agree on what a memory is; what is shipped can be read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from model.strategies import evidence, format_document, format_memory, memories, triggers, trimmed, values

from memfs.disk.shipped import iter_schemas, iter_template, read_schema
from memfs.errors import NotFoundError
from memfs.model.evidence import format_evidence
from memfs.model.frontmatter import parse_document
from memfs.model.memory import Evidence, Memory, Trigger
from memfs.model.reader import FIELDS, read_memory
from memfs.model.schema import check_schema, front_instance
from memfs.model.triggers import format_trigger

relaxed = settings(deadline=None, max_examples=150)
TROUBLE = ["", " ", "a\nb", "2027-01-01", "2027-02-30", "20270101", "team", "handoff", "a@1234567", "a@1234567\n"]
BEYOND = {"scope-folder"}  # what no schema can know


@relaxed
@given(memory=memories())
def test_every_memory_fits_the_schema(memory: Memory) -> None:
    front = parse_document(format_memory(memory)).front
    assert check_schema(front_instance(front), read_schema("memory")) == []


def test_the_schema_names_the_fields_that_the_reader_knows() -> None:
    schema = read_schema("memory")
    assert set(schema["properties"]) == set(FIELDS)
    Draft202012Validator.check_schema(schema)


@relaxed
@given(memory=memories(), data=st.data())
def test_what_the_schema_takes_the_reader_takes_and_the_other_way_round(memory: Memory, data: st.DataObject) -> None:
    front = dict(parse_document(format_memory(memory)).front)
    key = data.draw(st.sampled_from(FIELDS))
    texts = trimmed | st.sampled_from(TROUBLE) | evidence.map(format_evidence) | triggers.map(format_trigger)
    value = data.draw(st.one_of(st.none(), texts, st.lists(texts, max_size=2).map(tuple), values))
    if value is None:
        front.pop(key, None)
    else:
        front[key] = value
    file = read_memory(memory.path, format_document(front, "A statement.\n"))
    found = {problem.rule for problem in file.problems if problem.fatal} - BEYOND
    problems = check_schema(front_instance(front), read_schema("memory"))
    assert bool(problems) == bool(found), (key, value, problems, found)


@relaxed
@given(value=evidence)
def test_every_evidence_fits_the_schema(value: Evidence) -> None:
    schema = {**read_schema("memory")["$defs"]["evidence"], "$defs": read_schema("memory")["$defs"]}
    assert check_schema(format_evidence(value), schema) == []


@relaxed
@given(value=triggers)
def test_every_trigger_fits_the_schema(value: Trigger) -> None:
    schema = {**read_schema("memory")["properties"]["review_trigger"], "$defs": read_schema("memory")["$defs"]}
    assert check_schema(format_trigger(value), schema) == []


def test_a_problem_names_place_and_rule_and_never_the_value() -> None:
    front = {"kind": "s3cret \u202e", "origin": "owner", "evidence": ["s3cret"], "extra": {"s3cret": 1}}
    problems = check_schema(front, read_schema("memory"))
    assert [problem.field for problem in problems] == [None, "evidence/0", "extra", "kind"]
    assert problems[0].message == "needs scope, recorded, review_trigger"
    assert "s3cret" not in " ".join(problem.message for problem in problems)


def test_every_shipped_schema_is_one() -> None:
    names = list(iter_schemas())
    assert "memory" in names
    for name in names:
        Draft202012Validator.check_schema(read_schema(name))


def test_an_unknown_schema_is_not_found() -> None:
    with pytest.raises(NotFoundError):
        read_schema("nothing-of-that-name")


def test_the_template_is_shipped_as_relative_posix_paths() -> None:
    files = dict(iter_template())
    assert files
    assert list(files) == sorted(files, key=lambda path: path.split("/"))
    assert all(not path.startswith("/") and "__pycache__" not in path for path in files)
