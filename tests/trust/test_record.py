"""The grammar of a record, its folding, and how it is found in other text."""

from __future__ import annotations

import hashlib
import re
import subprocess
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import git

from memfs.trust.record import (
    COLUMNS,
    KEYWORD,
    Item,
    Record,
    Statement,
    Verb,
    find_records,
    format_record,
    format_statement,
    parse_statement,
    read_receipt,
    receipt_subject,
    signed_bytes,
)

REPO = "a" * 32
DIGEST = "b" * 64
GOOD = f"v1 approve repo={REPO} by=alice@example.com at=2026-11-30T03:11:00Z id=a seq=9 sha256={DIGEST}"

ids = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?", fullmatch=True)
hexes = st.text("0123456789abcdef", min_size=64, max_size=64)
items = st.builds(
    lambda memory_id, seq, digest: Item(id=memory_id, seq=seq, digest=digest),
    ids,
    st.integers(1, 999_999_999),
    hexes,
)
statements = st.builds(
    lambda verb, repo, by, at, until, items: Statement(
        verb=verb, repo=repo, by=by, at=at, until=until, items=tuple({item.id: item for item in items}.values())
    ),
    st.sampled_from(Verb),
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.from_regex(r"[a-z0-9._+-]{1,64}@[a-z0-9.-]{1,64}", fullmatch=True),
    st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")),
    st.none() | st.dates(),
    st.lists(items, min_size=1, max_size=20),
)
records = st.builds(
    lambda statement, signature: Record(statement=statement, text=format_statement(statement), signature=signature),
    statements,
    st.binary(min_size=1, max_size=400),
)


@given(statements)
def test_a_statement_comes_back_from_its_text(statement: Statement) -> None:
    assert parse_statement(format_statement(statement)) == statement


@given(st.text(max_size=300))
def test_what_is_no_statement_is_refused(text: str) -> None:
    try:
        statement = parse_statement(text)
    except ValueError:
        return
    assert format_statement(statement) == text


@given(st.data())
def test_a_changed_statement_is_refused_or_says_what_it_says(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(GOOD) - 1))
    changed = GOOD[:place] + data.draw(st.characters()) + GOOD[place + data.draw(st.integers(0, 1)) :]
    try:
        statement = parse_statement(changed)
    except ValueError:
        return
    assert format_statement(statement) == changed


@given(records)
def test_a_record_comes_back_from_its_folded_text(record: Record) -> None:
    text = format_record(record)
    assert find_records(text.encode()) == [record]
    assert read_receipt(record.receipt_name, text.encode()) == record


@given(records)
def test_folding_stays_within_72_columns(record: Record) -> None:
    longest = max(map(len, re.split(r"[ \n]", record.text)))
    for line in format_record(record).splitlines():
        assert len(line) <= max(COLUMNS, longest + 1)


@given(
    records,
    st.sampled_from(["quote", "deep quote", "indent", "one line", "crlf", "double spaces", "narrow", "list", "table"]),
)
def test_re_wrapping_is_harmless(record: Record, how: str) -> None:
    text = format_record(record)
    mangled = {
        "quote": lambda: "> " + text.rstrip().replace("\n", "\n> "),
        "deep quote": lambda: ">> > " + text.rstrip().replace("\n", "\n>> > "),
        "indent": lambda: "    " + text.rstrip().replace("\n", "\n    "),
        "one line": lambda: text.replace("\n", " "),
        "crlf": lambda: text.replace("\n", "\r\n"),
        "double spaces": lambda: text.replace(" ", "  "),
        "narrow": lambda: text.replace(" id=", "\n\n id=").replace(" by=", "\n  by="),
        "list": lambda: "* " + text,
        "table": lambda: "| " + text.rstrip().replace("\n", "\n| "),
    }[how]()
    assert find_records(f"Subject\n\nSome words.\n{mangled}\nMore words; and more.\n".encode()) == [record]


@settings(max_examples=300)
@given(st.binary(max_size=2000), records)
def test_any_bytes_around_a_record_cost_no_crash(noise: bytes, record: Record) -> None:
    for text in (noise, noise + format_record(record).encode(), format_record(record).encode() + noise):
        for found in find_records(text):
            assert parse_statement(found.text) == found.statement


@given(st.data())
def test_a_record_cut_anywhere_is_no_other_record(data: st.DataObject) -> None:
    record = data.draw(records)
    text = format_record(record).encode()
    cut = data.draw(st.integers(0, len(text) - 2))
    assert all(found == record for found in find_records(text[:cut]))
    assert all(found == record for found in find_records(text[cut:]))


@pytest.mark.parametrize(
    "changed",
    [
        GOOD.replace("v1", "v2"),
        GOOD.replace("approve", "Approve"),
        GOOD.replace("approve", "allow"),
        GOOD.replace(REPO, REPO[:-1]),
        GOOD.replace(REPO, REPO.upper()),
        GOOD.replace(DIGEST, DIGEST.upper()),
        GOOD.replace(DIGEST, DIGEST + "b"),
        GOOD.replace("seq=9", "seq=09"),
        GOOD.replace("seq=9", "seq=0"),
        GOOD.replace("seq=9", "seq=-9"),
        GOOD.replace("seq=9", "seq=+9"),
        GOOD.replace("seq=9", "seq=1234567890"),
        GOOD.replace("seq=9", "seq=\u0669"),
        GOOD.replace("id=a", "id=A"),
        GOOD.replace("id=a", "id=a-"),
        GOOD.replace("id=a", "id=-a"),
        GOOD.replace("id=a", "id=" + "a" * 65),
        GOOD.replace("id=a", "id=\u0430"),
        GOOD.replace("id=a", "id="),
        GOOD.replace("alice@example.com", "Alice@example.com"),
        GOOD.replace("alice@example.com", "*@example.com"),
        GOOD.replace("alice@example.com", "alice@example.com,bob@example.com"),
        GOOD.replace("alice@example.com", "!alice@example.com"),
        GOOD.replace("alice@example.com", "alice"),
        GOOD.replace("03:11:00Z", "03:11:00+00:00"),
        GOOD.replace("03:11:00Z", "25:11:00Z"),
        GOOD.replace("2026-11-30", "2026-02-30"),
        GOOD.replace(" id=", " until=2027-02-30 id="),
        GOOD.replace(" id=", " until=never id="),
        GOOD.replace(" by=", "  by="),
        GOOD.replace(" by=", "\tby="),
        GOOD.replace("by=", "by= "),
        GOOD.replace("id=a seq=9", "seq=9 id=a"),
        GOOD.replace(f"repo={REPO} by=alice@example.com", f"by=alice@example.com repo={REPO}"),
        GOOD.replace(" id=a", " id=a id=a"),
        GOOD.replace(" id=a", " scope=team id=a"),
        GOOD + " scope=team",
        GOOD + " until=2027-01-01",
        GOOD + " ",
        " " + GOOD,
        GOOD + "\n",
        GOOD + f" id=a seq=10 sha256={DIGEST}",
        GOOD.split(" id=", maxsplit=1)[0],
    ],
)
def test_statements_of_another_form_are_refused(changed: str) -> None:
    assert changed != GOOD
    with pytest.raises(ValueError):
        parse_statement(changed)


def test_sixty_four_items_are_the_most() -> None:
    head = GOOD.split(" id=", maxsplit=1)[0]
    many = [f" id=m{number} seq=1 sha256={DIGEST}" for number in range(65)]
    assert len(parse_statement(head + "".join(many[:64])).items) == 64
    with pytest.raises(ValueError):
        parse_statement(head + "".join(many))


def test_no_name_of_a_git_object_stands_in_a_signed_byte() -> None:
    """A statement names texts by SHA-256 of their bytes: a SHA-1 collision in git reaches no signature."""
    statement = parse_statement(GOOD)
    assert list(Statement.__match_args__) == ["verb", "repo", "by", "at", "items", "until"]
    assert list(Item.__match_args__) == ["id", "seq", "digest"]
    assert not re.search(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", format_statement(statement))
    assert signed_bytes(GOOD) == f"memory-approval {GOOD}\n".encode()


def make(text: str = GOOD, signature: bytes = b"x" * 200) -> Record:
    return Record(statement=parse_statement(text), text=text, signature=signature)


@pytest.mark.parametrize(
    "text",
    [
        "about Memory-Approval: {}",
        "x> {}",
        "memory-approval: {}",
    ],
)
def test_a_record_in_the_middle_of_a_line_is_not_read(text: str) -> None:
    line = make().line
    body = line if "{}" in text and "Memory" not in text else line.removeprefix(KEYWORD)
    if text.startswith("memory-approval"):
        body = line.removeprefix(KEYWORD)
    assert find_records(text.format(body).encode()) == []


def test_two_records_in_one_message_are_both_found() -> None:
    one, two = make(), make(GOOD.replace("seq=9", "seq=10"))
    message = f"Squash\n\n* Approve a\n\n{format_record(one)}\n* Approve again\n\n  {format_record(two)}"
    assert find_records(message.encode()) == [one, two]


def test_an_unfinished_record_does_not_swallow_the_next() -> None:
    text = f"{KEYWORD} v1 approve and so on\n{format_record(make())}"
    assert find_records(text.encode()) == [make()]


def test_spare_bits_in_the_base64_are_refused() -> None:
    line = make(signature=b"x" * 199).line
    assert line.endswith("=;")
    place = line.index("=;") - 1
    for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/":
        changed = line[:place] + other + line[place + 1 :]
        found = find_records(changed.encode())
        assert all(record.line == changed for record in found)


def test_a_receipt_is_named_by_its_content() -> None:
    record = make()
    start = hashlib.sha256(record.line.encode()).hexdigest()[:8]
    assert record.receipt_name == f"a.9.{start}.txt"
    raw = format_record(record).encode()
    assert read_receipt(record.receipt_name, raw) == record
    assert read_receipt(f"b.9.{start}.txt", raw) is None
    assert read_receipt(f"a.10.{start}.txt", raw) is None
    assert read_receipt(record.receipt_name, raw + format_record(make(GOOD.replace("seq=9", "seq=8"))).encode()) is None
    assert read_receipt(record.receipt_name, b"") is None


def test_names_of_receipts_are_told_from_other_files() -> None:
    assert receipt_subject("a.9.0123abcd.txt") == "a"
    assert receipt_subject("batch.0123abcd.txt") == ""
    assert receipt_subject("batch.9.0123abcd.txt") == "batch"  # a memory may have that id
    for name in (
        "a.0.0123abcd.txt",
        "a.9.0123ABCD.txt",
        "a.9.0123abcd.txt~",
        "A.9.0123abcd.txt",
        "x.txt",
        ".a.9.0123abcd.txt",
    ):
        assert receipt_subject(name) is None


def test_an_ed25519_record_is_as_small_as_the_design_says(team) -> None:  # type: ignore[no-untyped-def]
    assert 400 < len((team.root / ".memfs/approvals" / team.receipts()[0]).read_bytes()) < 620


def test_twenty_thousand_forged_records_cost_no_time() -> None:
    text = (make().line + "\n").encode() * 20_000
    start = time.process_time()
    assert len(find_records(text)) == 200
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize(
    "piece", [b"Memory-Approval:", b"Memory-Approval: v1 approve", b"> > > > ", b"\n>", b";", b" " * 9000]
)
def test_hostile_repetition_costs_no_time(piece: bytes) -> None:
    start = time.process_time()
    find_records(piece * (4_000_000 // len(piece)))
    assert time.process_time() - start < 1.0


def test_a_record_longer_than_the_limit_is_not_read() -> None:
    padded = make().line.replace(" by=", " " * 9000 + "by=")
    assert find_records(padded.encode()) == []


def test_what_git_calls_a_trailer_is_one(tmp_path: Path) -> None:
    """The folded form is a proper trailer when it ends a message, so other tools keep it together."""
    record = make()
    git(tmp_path, "init", "-q")
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse", "--unfold"],
        input=f"Approve a\n\n{format_record(record)}",
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"{KEYWORD} {GOOD} sig=")
    assert find_records(done.stdout.encode()) == [record]


def test_until_is_read_as_a_date() -> None:
    text = GOOD.replace(" id=", " until=2027-01-31 id=")
    assert parse_statement(text).until == date(2027, 1, 31)
