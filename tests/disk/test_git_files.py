"""The small files of a git directory: parsed as git parses them, whatever they hold."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memfs.disk.gitfiles import (
    find_packed_ref,
    is_ref_name,
    is_true,
    parse_config,
    parse_git_file,
    parse_head,
    read_small,
)

_QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _git_says(config: Path) -> dict[str, str | None] | None:
    done = subprocess.run(["git", "config", "--null", "--list", "--file", str(config)], capture_output=True)
    if done.returncode != 0:
        return None
    values: dict[str, str | None] = {}
    for record in done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        name, newline, value = record.partition("\n")
        values[name] = value if newline else None
    return values


def _words(values: dict[str, str | None]) -> dict[str, list[str] | None]:
    # git's versions differ in what they make of blanks inside and at the end of a value.
    return {name: None if value is None else value.split() for name, value in values.items()}


_WORDS = st.text(alphabet='ab \t"\\#;=[]nt.-é', max_size=12)
_LINES = st.one_of(
    st.sampled_from(
        ["[core]", "[Core]", "[extensions]", '[remote "a b"]', '[remote "a\\"b"]', "[branch.topic]", "", "\tbare"]
    ),
    st.builds("\t{} = {}".format, st.sampled_from(["bare", "Bare", "x-y", "worktree"]), _WORDS),
    st.builds("{}={}".format, st.sampled_from(["bare", "key"]), _WORDS),
    st.builds("# {}".format, _WORDS),
)


@_QUICK
@given(st.lists(_LINES, max_size=8))
@example(["[core]", '\tx = "a # b" ; c', "\ty = a\\", "b", "\tz = a  b  "])
@example(["[core] bare = true", "bare"])
def test_a_config_file_means_what_git_says_it_means(tmp_path: Path, lines: list[str]) -> None:
    config = tmp_path / "config"
    config.write_text("\n".join(lines) + "\n")
    wanted = _git_says(config)
    if wanted is not None:  # git refuses the others, and then says so itself
        assert _words(parse_config(config.read_bytes())) == _words(wanted)


@_QUICK
@given(st.binary(max_size=200))
def test_no_config_file_is_too_odd_to_be_read(raw: bytes) -> None:
    parse_config(raw)


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (None, True),
        ("true", True),
        ("YES", True),
        ("on", True),
        ("1", True),
        ("17", True),
        ("", False),
        ("false", False),
        ("no", False),
        ("0", False),
        ("off", False),
        ("x", False),
    ],
)  # fmt: skip
def test_a_switch_is_true_where_git_says_so(value: str | None, truth: bool) -> None:
    assert is_true(value) is truth


@given(st.text(alphabet=st.characters(blacklist_characters="\0\r\n", blacklist_categories=["Cs"]), min_size=1))
def test_a_git_file_names_its_folder(path: str) -> None:
    assert parse_git_file(b"gitdir: " + os.fsencode(path) + b"\n") == path


@pytest.mark.parametrize(
    "raw", [b"", b"gitdir: ", b"gitdir: \n", b"gitdir:/x", b"GITDIR: /x", b"gitdir: a\0b", b"\xff"]
)
def test_other_files_are_no_git_file(raw: bytes) -> None:
    assert parse_git_file(raw) is None


_IDS = st.text(alphabet="0123456789abcdef", min_size=40, max_size=40)
_REFS = st.builds("refs/heads/{}".format, st.text(alphabet="abc-_.é", min_size=1, max_size=8)).filter(is_ref_name)


@given(st.dictionaries(_REFS, _IDS, max_size=8), st.booleans())
def test_each_packed_ref_is_found_and_no_other(refs: dict[str, str], peeled: bool) -> None:
    raw = b"# pack-refs with: peeled fully-peeled sorted \n"
    for ref, oid in sorted(refs.items()):
        raw += f"{oid} {ref}\n".encode() + (f"^{oid[::-1]}\n".encode() if peeled else b"")
    for ref, oid in refs.items():
        assert find_packed_ref(raw, ref) == oid
        assert find_packed_ref(raw, ref + "x") == refs.get(ref + "x")
    assert find_packed_ref(raw, "refs/heads/not-there") is None
    assert find_packed_ref(raw, "refs/heads/") is None


@given(st.binary(max_size=300))
@example(b"a" * 40 + b" refs/heads/main")
def test_a_damaged_packed_refs_file_gives_an_object_name_or_nothing(raw: bytes) -> None:
    found = find_packed_ref(raw, "refs/heads/main")
    assert found is None or len(found) == 40


@given(st.text(max_size=60))
def test_a_head_is_a_ref_inside_or_an_object_or_nothing(text: str) -> None:
    head = parse_head(text.encode("utf-8", "surrogatepass"))
    if head is not None:
        ref, oid = head
        assert (ref is None) != (oid is None)
        assert ref is None or (ref.startswith("refs/") and ".." not in ref and "\n" not in ref)


@pytest.mark.parametrize(
    "name",
    [
        "refs/heads/../x", "refs/heads/a b", "refs//x", "refs/heads/x.lock", "refs/heads/a\nb", "heads/x", "/refs/x",
        "refs/heads/a@{1}", "refs/heads/~x", "refs/heads/x/", "refs/heads/a..b",
    ],
)  # fmt: skip
def test_names_that_could_lead_elsewhere_are_no_refs(name: str) -> None:
    assert not is_ref_name(name)


def test_only_small_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x" * 10)
    os.mkfifo(tmp_path / "fifo")
    assert read_small(str(tmp_path / "small")) == b"x" * 10
    assert read_small(str(tmp_path / "small"), limit=9) is None
    assert read_small(str(tmp_path / "fifo")) is None
    assert read_small(str(tmp_path)) is None
    assert read_small(str(tmp_path / "missing")) is None
    assert read_small("nul\0byte") is None
