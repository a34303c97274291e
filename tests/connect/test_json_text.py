"""A JSON file that belongs to somebody else changes in the one place that is meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfs.connect.json_text import (
    NotJsonError,
    append_item,
    drop_child,
    find_comments,
    find_node,
    load,
    parse_text,
    set_member,
)

FILES = [
    "{}",
    "{\n}\n",
    '{"model":"opus"}\n',
    '{ "model": "opus", "hooks": {} }',
    '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n',
    '{\r\n\t"model": "opus"\r\n}\r\n',
    '{"hooks": {"Stop": [{"a": 1}, {"b": 2}]}, "z": 1e5}',
]


@pytest.mark.parametrize("text", FILES)
def test_what_is_added_can_be_read_and_what_was_there_stays(text: str) -> None:
    added = append_item(text, ("hooks", "Stop"), {"command": "x – ü"})
    added = set_member(added, ("mcpServers", "memfs"), {"args": ["mcp"]})
    old, new = json.loads(text), json.loads(added)
    assert new["hooks"]["Stop"][-1] == {"command": "x – ü"}
    assert new["mcpServers"]["memfs"] == {"args": ["mcp"]}
    assert {key: value for key, value in new.items() if key not in ("hooks", "mcpServers")} == {
        key: value for key, value in old.items() if key != "hooks"
    }
    assert ("\r\n" in added) == ("\r\n" in text)


def test_the_owners_manner_of_writing_is_kept() -> None:
    compact = '{"a":{"b":[1,2]},"c":3}'
    assert set_member(compact, ("d",), {"e": [1]}) == '{"a":{"b":[1,2]},"c":3,"d":{"e":[1]}}'
    wide = '{\n    "a": 1\n}\n'
    assert set_member(wide, ("b", "c"), 2) == '{\n    "a": 1,\n    "b": {\n        "c": 2\n    }\n}\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "a": 2}', "is here twice"),
        ('{"a": 1,,}', "not JSON"),
        ("[,]", "not JSON"),
        ('{"a": 1 /* open', "not JSON"),
        ('{\n"a" 1}', "line 2: not JSON"),
        ("{'a': 1}", "not JSON"),
        ('{"a": NaN}', "not JSON"),
        ("", "not JSON"),
        ('{"a": 1} x', "not JSON"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(text: str, says: str) -> None:
    with pytest.raises(NotJsonError, match=says):
        parse_text(text)


def test_a_place_that_holds_something_else_is_not_overwritten() -> None:
    with pytest.raises(NotJsonError):
        append_item('{"hooks": []}', ("hooks", "Stop"), 1)
    with pytest.raises(NotJsonError):
        set_member('{"mcpServers": 3}', ("mcpServers", "memfs"), 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(
    document=st.dictionaries(st.text(max_size=3).filter(lambda key: key != "memfs"), VALUES, max_size=4),
    value=VALUES,
    indent=st.sampled_from([None, 1, 2, 4, "\t"]),
    ascii_only=st.booleans(),
)
def test_adding_and_dropping_a_member_leaves_every_byte(
    document: dict[str, Any], value: Any, indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    added = set_member(text, ("memfs",), value)
    assert json.loads(added) == {**document, "memfs": value}
    root = parse_text(added)
    assert root.children is not None
    assert drop_child(added, root, len(root.children) - 1) == text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(items=st.lists(VALUES, min_size=1, max_size=4), value=VALUES, indent=st.sampled_from([None, 2]))
def test_adding_and_dropping_an_item_leaves_every_byte(items: list[Any], value: Any, indent: int | None) -> None:
    text = json.dumps({"a": items}, indent=indent)
    added = append_item(text, ("a",), value)
    assert json.loads(added) == {"a": [*items, value]}
    array = find_node(added, ("a",))
    assert array is not None
    assert drop_child(added, array, len(items)) == text


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(items=st.lists(st.integers(), min_size=1, max_size=4), data=st.data())
def test_any_child_can_be_dropped(items: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    text = json.dumps(items)
    assert json.loads(drop_child(text, parse_text(text), index)) == items[:index] + items[index + 1 :]


COMMENTED = [
    '{\n  // mine\n  "a": 1\n}\n',
    '{\n  "a": 1, // behind\n}\n',
    '{\n  "a": 1 // behind\n}\n',
    '{\r\n  "a": 1, // behind\r\n}\r\n',
    '{\n  "a": 1,\n  /* before b */\n  "b": [1, 2,],\n}\n',
    "{ /* empty */ }",
    "{\n  // empty\n}\n",
    '\ufeff{\n  "a": "// no comment", // a comment\n}\n',
    '// first\n{"a": "/* no */", "b": "x,}"}\n// last',
]


@pytest.mark.parametrize("text", COMMENTED)
def test_comments_trailing_commas_and_the_byte_order_mark_stay(text: str) -> None:
    added = set_member(text, ("memfs", "x"), {"y": [1]})
    assert load(added) == {**load(text), "memfs": {"x": {"y": [1]}}}
    assert find_comments(added) == find_comments(text)
    root = parse_text(added)
    assert root.children is not None
    left = drop_child(added, root, len(root.children) - 1)
    assert load(left) == load(text)
    assert find_comments(left) == find_comments(text)
    assert "".join(left.split()) == "".join(text.split())


BLANKS = st.sampled_from(["", " ", "\n  ", " // c\n", "/* c */", "\r\n", "\t"])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(data=st.data(), count=st.integers(1, 4))
def test_any_member_of_a_commented_object_can_be_dropped(data: st.DataObject, count: int) -> None:
    gap = lambda: data.draw(BLANKS)  # noqa: E731
    members = [f'{gap()}"k{number}"{gap()}:{gap()}{number}{gap()}' for number in range(count)]
    text = "{" + ",".join(members) + data.draw(st.sampled_from(["", ",", ", // end\n"])) + "}"
    index = data.draw(st.integers(0, count - 1))
    inside = parse_text(text).children[index]  # type: ignore[index]
    left = drop_child(text, parse_text(text), index)
    assert load(left) == {f"k{number}": number for number in range(count) if number != index}
    kept = find_comments(text[: inside.begin]) + find_comments(text[inside.end :])
    assert find_comments(left) == kept


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(data=st.data(), count=st.integers(0, 3))
def test_a_member_can_be_added_to_any_commented_object(data: st.DataObject, count: int) -> None:
    gap = lambda: data.draw(BLANKS)  # noqa: E731
    members = ",".join(f'{gap()}"k{number}"{gap()}:{gap()}{number}{gap()}' for number in range(count))
    text = "{" + members + (data.draw(st.sampled_from(["", ",", ", // end\n"])) if count else gap()) + "}"
    added = set_member(text, ("memfs",), [1])
    assert load(added) == {**load(text), "memfs": [1]}
    assert find_comments(added) == find_comments(text)
