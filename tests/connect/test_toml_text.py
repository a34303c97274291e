"""A TOML file that belongs to somebody else changes in the tables that are meant, and keeps its comments."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfs.connect.toml_text import append_tables, drop_paths, find_statements, set_value

THEIRS = (
    'model = "gpt-5"  # keep\nnotes = """\n[mcp_servers.memfs]\n"""\nlist = [\n  ["a"],  # in a list\n  [\'b\']\n]\n'
    '[features]\nhooks = true\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "mine # not a comment"\n'
)
OURS = [
    ("[[hooks.Stop]]", {}),
    ("[[hooks.Stop.hooks]]", {"type": "command", "command": "'/my home/memfs' hook codex || true", "timeout": 10}),
    ("[mcp_servers.memfs]", {"command": "/my home/memfs", "args": ["mcp"]}),
]
PATHS = [("hooks", "Stop", 1), ("mcp_servers", "memfs")]


@pytest.mark.parametrize("text", [THEIRS, THEIRS.rstrip("\n"), THEIRS.replace("\n", "\r\n")])
def test_tables_are_added_and_taken_out_without_a_trace(text: str) -> None:
    added = append_tables(text, OURS)
    values = tomllib.loads(added)
    assert values["mcp_servers"]["memfs"] == {"command": "/my home/memfs", "args": ["mcp"]}
    assert values["hooks"]["Stop"][1]["hooks"][0]["timeout"] == 10
    assert added.startswith(text)
    assert drop_paths(added, PATHS).rstrip("\r\n") == text.rstrip("\r\n")


@pytest.mark.parametrize(
    "between",
    [
        "[features]\ngoals = true\n",
        '[tui]\n\n[tui.nux]\n"gpt-5" = 1 # seen\n',
        '[hooks.state]\n\n[hooks.state."/h/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:x"\n',
        "# a comment\n",
    ],
)
def test_what_stands_between_our_tables_stays(between: str) -> None:
    text = append_tables(between, [OURS[2]]) + "\n" + append_tables("", OURS[:2]) + "\n# the end\n"
    left = drop_paths(text, [("hooks", "Stop", 0), ("mcp_servers", "memfs")])
    assert tomllib.loads(left) == tomllib.loads(between)
    assert left.endswith("# the end\n")
    assert left.startswith(between)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }\n',
        '[mcp_servers]\nmemfs = { command = "memfs", args = ["mcp"] }\nother.command = "x"\n',
        'mcp_servers.memfs.command = "memfs"\nmcp_servers.other.command = "x"\n',
        '["mcp_servers".\'memfs\'] # mine\ncommand = "memfs"\n[mcp_servers.memfs.tools.recall]\na = 1\n',
    ],
)
def test_every_way_to_write_a_table_is_found_or_left(text: str) -> None:
    left = tomllib.loads(drop_paths(text, [("mcp_servers", "memfs")]))
    assert "memfs" not in left.get("mcp_servers", {})
    assert left.get("mcp_servers", {}).get("other") == tomllib.loads(text).get("mcp_servers", {}).get("other")


def test_a_value_is_set_in_its_table_and_its_comment_stays() -> None:
    text = '[mcp_servers.memfs]  # h\ncommand = "old"  # why\nargs = [\n  "mcp", # one\n]\n[z]\n'
    out = set_value(text, ("mcp_servers", "memfs"), "command", "new")
    out = set_value(out, ("mcp_servers", "memfs"), "args", ["mcp", "--allow", "write"])
    out = set_value(out, ("mcp_servers", "memfs"), "timeout", 3)
    assert tomllib.loads(out)["mcp_servers"]["memfs"] == {
        "command": "new",
        "args": ["mcp", "--allow", "write"],
        "timeout": 3,
    }
    assert 'command = "new"  # why\n' in out
    assert out.endswith("[z]\n")


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f.g'", "h.i"])
VALUES = st.sampled_from(["1", '"x # y"', "'z'", "[1,\n 2]", "{ q = [1] }", '"""m\n[n]\n"""', "'''o\n'''", "true # c"])
TABLES = st.lists(st.tuples(KEYS, VALUES), max_size=3, unique_by=lambda pair: pair[0].split(".")[0])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(before=TABLES, tables=st.dictionaries(KEYS, TABLES, max_size=3))
def test_statements_are_the_whole_text_and_dropping_a_table_drops_it_alone(
    before: list[tuple[str, str]], tables: dict[str, list[tuple[str, str]]]
) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in before)
    for name, values in tables.items():
        text += f"\n[t.{name}] # {name}\n" + "".join(f"{key} = {value}\n" for key, value in values)
    document = tomllib.loads(text)
    found = find_statements(text)
    assert "".join(text[one.start : one.end] for one in found) == text
    for name in document.get("t", {}):
        left = tomllib.loads(drop_paths(text, [("t", name)]))
        expected = {key: value for key, value in document["t"].items() if key != name}
        assert left.get("t", {}) == expected
        assert {k: v for k, v in left.items() if k != "t"} == {k: v for k, v in document.items() if k != "t"}
