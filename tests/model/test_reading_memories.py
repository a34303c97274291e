"""A file becomes a memory only when it has every required field, well formed, in the folder of its scope."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.strategies import format_memory, memories

from memfs.errors import InvalidMemoryError
from memfs.model.memory import (
    Kind,
    Memory,
    MemoryFile,
    Origin,
    PathEvidence,
    UrlEvidence,
    WhenPathChanges,
)
from memfs.model.reader import (
    content_digest,
    find_tags,
    id_of_path,
    read_memory,
    require_memory,
    statement_of_body,
)

PATH = "memories/team/billing/additive-migrations.md"
FRONT = """\
kind: decision                     # preference | decision | …
origin: owner
scope: team/billing
evidence:
  - docs/adr/0014-additive-migrations.md@bf3c8fd
  - https://example.com/decisions/14
recorded: 2027-02-11
review_trigger: when docs/support.md changes
author: alice@example.com
applies_to: ["services/billing/**", "migrations"]      # optional
supersedes: [exclusive-lock-migrations]                # optional
expires: 2027-09-30
"""
EVIDENCE = FRONT[FRONT.index("evidence") : FRONT.index("recorded")]
BODY = "Schema changes are additive.\n\nWhy: older workers stay active.\n"


def read(front: str = FRONT, body: str = BODY, path: str = PATH) -> MemoryFile:
    return read_memory(path, f"---\n{front}---\n{body}".encode())


def fatal(file: MemoryFile) -> list[tuple[str, str | None, int | None]]:
    assert (file.memory is None) == any(problem.fatal for problem in file.problems)
    return [(problem.rule, problem.field, problem.line) for problem in file.problems if problem.fatal]


def test_the_example_of_the_format_is_a_memory() -> None:
    file = read()
    assert file.problems == ()
    assert file.id == "additive-migrations"
    assert file.memory == Memory(
        id="additive-migrations",
        path=PATH,
        kind=Kind.DECISION,
        origin=Origin.OWNER,
        scope="team/billing",
        evidence=(
            PathEvidence(path="docs/adr/0014-additive-migrations.md", commit="bf3c8fd"),
            UrlEvidence(url="https://example.com/decisions/14"),
        ),
        recorded=date(2027, 2, 11),
        review_trigger=WhenPathChanges(path="docs/support.md"),
        statement="Schema changes are additive.",
        body=BODY,
        author="alice@example.com",
        applies_to=("services/billing/**", "migrations"),
        supersedes=("exclusive-lock-migrations",),
        expires=date(2027, 9, 30),
    )


@settings(deadline=None)
@given(memory=memories())
def test_a_memory_comes_back_from_its_file(memory: Memory) -> None:
    file = read_memory(memory.path, format_memory(memory))
    assert require_memory(file) == memory
    assert file.problems == ()


@settings(deadline=None, max_examples=300)
@given(path=st.text(max_size=40), raw=st.binary(max_size=300))
def test_reading_never_raises(path: str, raw: bytes) -> None:
    file = read_memory(path, raw)
    assert file.raw is raw
    assert file.problems


def test_the_digest_ignores_carriage_returns_before_line_feeds_and_nothing_else() -> None:
    raw = f"---\n{FRONT}---\n{BODY}".encode()
    assert content_digest(raw) == hashlib.sha256(raw).hexdigest() == read().digest
    assert content_digest(raw.replace(b"\n", b"\r\n")) == content_digest(raw)
    for other in (raw + b"\n", raw.replace(b"\n", b"\r"), b"\xef\xbb\xbf" + raw, raw.replace(b"additive", b"Additive")):
        assert content_digest(other) != content_digest(raw)


def test_all_missing_fields_are_named_at_once() -> None:
    names = [field for rule, field, _ in fatal(read("title: x\n")) if rule == "missing-field"]
    assert names == ["kind", "origin", "scope", "evidence", "recorded", "review_trigger"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("kind: decision", "kind: Decision", ("bad-value", "kind", 2)),
        ("kind: decision", "kind: [decision]", ("bad-type", "kind", 2)),
        ("origin: owner", "origin: trusted", ("bad-value", "origin", 3)),
        ("scope: team/billing", "scope: team", ("scope-folder", "scope", 4)),
        ("scope: team/billing", "scope: everybody", ("bad-value", "scope", 4)),
        ("docs/adr/0014-additive-migrations.md@bf3c8fd", "somewhere", ("bad-value", "evidence", 5)),
        (EVIDENCE, "evidence: []\n", ("bad-value", "evidence", 5)),
        (
            EVIDENCE,
            "evidence: a@bf3c8fd\n",
            ("bad-type", "evidence", 5),
        ),
        ("2027-02-11", "2027-02-30", ("bad-value", "recorded", 8)),
        ("2027-02-11", "11.2.2027", ("bad-value", "recorded", 8)),
        ("2027-02-11", "20270211", ("bad-value", "recorded", 8)),
        ("when docs/support.md changes", "sometime", ("bad-value", "review_trigger", 9)),
        ("alice@example.com", '""', ("bad-value", "author", 10)),
        ("alice@example.com", '"a\\nb"', ("bad-value", "author", 10)),
        ('"migrations"', '" "', ("bad-value", "applies_to", 11)),
        ("exclusive-lock-migrations", "No_Id", ("bad-value", "supersedes", 12)),
        ("exclusive-lock-migrations", "additive-migrations", ("bad-value", "supersedes", 12)),
        ("[exclusive-lock-migrations]", "exclusive-lock-migrations", ("bad-type", "supersedes", 12)),
        ("2027-09-30", "soon", ("bad-value", "expires", 13)),
        ("expires: 2027-09-30\n", "Kind: proposal\n", ("look-alike-key", "Kind", 13)),
        ("expires: 2027-09-30\n", "review-trigger: if x\n", ("look-alike-key", "review-trigger", 13)),
        ("expires: 2027-09-30\n", "\uff53cope: personal\n", ("look-alike-key", "\uff53cope", 13)),
        ("expires: 2027-09-30\n", "x: {y: z}\n", ("nested-map", "x", 13)),
        ("kind: decision", "kind: !x decision", ("tag", "kind", 2)),
    ],
)
def test_a_badly_formed_field_is_no_memory_and_is_named(old: str, new: str, problem: tuple[str, str, int]) -> None:
    assert old in FRONT
    assert fatal(read(FRONT.replace(old, new))) == [problem]


def test_a_handoff_needs_the_day_on_which_it_expires() -> None:
    front = FRONT.replace("decision  ", "handoff   ")
    assert fatal(read(front)) == []
    assert fatal(read(front.replace("expires: 2027-09-30\n", ""))) == [("missing-field", "expires", None)]


def test_a_memory_needs_a_statement() -> None:
    assert fatal(read(body="\n  \n")) == [("no-statement", None, None)]
    assert fatal(read(body="# Only a heading\n")) == [("no-statement", None, None)]


@pytest.mark.parametrize(
    "path", ["memories/team/billing/Bad.md", "memories/team/billing/-x.md", "memories/team/billing/x.txt"]
)
def test_a_file_name_that_is_no_id_is_reported(path: str) -> None:
    file = read(path=path)
    assert file.id == ""
    assert fatal(file) == [("bad-id", None, None)]


@pytest.mark.parametrize("path", ["memories/additive.md", "memories/other/x.md", "elsewhere/team/billing/x.md"])
def test_a_file_outside_a_scope_folder_is_badly_formed(path: str) -> None:
    assert fatal(read(path=path)) == [("scope-folder", "scope", 4)]


def test_unknown_keys_are_kept_and_reported() -> None:
    file = read(FRONT + "name: x\ndescription: y\n")
    assert file.memory is not None
    assert file.document is not None
    assert file.document.front["description"] == "y"
    assert [(p.rule, p.field, p.line, p.fatal) for p in file.problems] == [
        ("unknown-key", "name", 14, False),
        ("unknown-key", "description", 15, False),
    ]


def test_an_unreadable_file_has_no_document_and_says_where() -> None:
    file = read("kind: *x*\n")
    assert (file.document, file.memory) == (None, None)
    with pytest.raises(InvalidMemoryError) as caught:
        require_memory(file)
    assert caught.value.where == f"{PATH}:2:9"


def test_what_is_wrong_is_told_with_path_and_line_and_without_raw_text() -> None:
    file = read(FRONT.replace("origin: owner", "origin: \u202eowner"), path="memories/team/billing/\u202ex.md")
    with pytest.raises(InvalidMemoryError) as caught:
        require_memory(file)
    assert caught.value.exit_code == 4
    assert "\u202e" not in str(caught.value)
    assert "origin: must be one of owner, agent, imported, derived" in caught.value.message


@pytest.mark.parametrize(
    ("body", "statement"),
    [
        ("One.\n", "One."),
        ("\n\nOne\ntwo.\n\nThree.\n", "One\ntwo."),
        ("# Title\n\nOne.\n", "One."),
        ("## Title\nOne.\n", "One."),
        ("#tag is text\n", "#tag is text"),
        ("- a\n- b\n\nc\n", "- a\n- b"),
        ("", ""),
        ("#\n", ""),
    ],
)
def test_the_statement_is_the_first_paragraph(body: str, statement: str) -> None:
    assert statement_of_body(body) == statement


def test_tags_are_found_by_one_rule() -> None:
    assert find_tags({"tags": "a, b c", "Tags": ("D", "d", "D"), "tag": "e"}) == ("a", "b c", "D", "e")
    assert find_tags({"TAGS": " , ", "tagged": "x"}) == ()
    assert find_tags({"tags": ("caf\u00e9", "cafe\u0301", " x ")}) == ("caf\u00e9", "x")


def test_an_id_is_the_stem_of_the_file_name() -> None:
    assert id_of_path("memories/team/a-1.md") == "a-1"
    assert id_of_path("a" * 64 + ".md") == "a" * 64
    assert [id_of_path(path) for path in ("a" * 65 + ".md", "a-.md", "a.b.md", ".md", "a", "a.MD", "a.md\n")] == [
        ""
    ] * 7


def test_reading_a_memory_loads_nothing_heavy() -> None:
    raw = f"---\n{FRONT.replace(' # optional', '').replace('# preference | decision | …', '')}---\n{BODY}"
    code = f"""
import sys
from memfs.model.reader import read_memory
assert read_memory({PATH!r}, {raw.encode()!r}).memory
heavy = {{"yaml", "frontmatter", "jsonschema", "git", "platformdirs", "subprocess", "pathlib", "json", "dataclasses"}}
print(sorted(heavy & set(sys.modules)))
"""
    code = f"import sys; sys.path[:0] = {sys.path!r}\n{code}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True)
    assert (done.stdout, done.stderr) == (b"[]\n", b"")
