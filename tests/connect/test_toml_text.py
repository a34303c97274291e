"""A TOML file that belongs to somebody else gets one marked block and keeps its comments."""

from __future__ import annotations

import tomllib

import pytest

from memfs.connect.toml_text import append_block, drop_block

THEIRS = 'model = "gpt-5"  # keep\n[features]\nhooks = true\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "mine"\n'
TABLES = [
    ("[[hooks.Stop]]", {}),
    ("[[hooks.Stop.hooks]]", {"type": "command", "command": "'/my home/memfs' hook codex || true", "timeout": 10}),
    ("[mcp_servers.memfs]", {"command": "/my home/memfs", "args": ["mcp"]}),
]


@pytest.mark.parametrize("text", ["", THEIRS, THEIRS.rstrip("\n"), "# only a comment\n"])
def test_the_block_is_added_and_taken_out_without_a_trace(text: str) -> None:
    added = append_block(text, TABLES)
    values = tomllib.loads(added)
    assert values["mcp_servers"]["memfs"] == {"command": "/my home/memfs", "args": ["mcp"]}
    assert values["hooks"]["Stop"][-1]["hooks"][0]["timeout"] == 10
    assert added.startswith(text)
    assert drop_block(added).rstrip("\n") == text.rstrip("\n")


def test_what_others_write_after_the_block_stays() -> None:
    more = append_block(THEIRS, TABLES) + '\n[projects."/p"]\ntrust_level = "trusted"\n'
    left = drop_block(more)
    assert tomllib.loads(left) == {**tomllib.loads(THEIRS), "projects": {"/p": {"trust_level": "trusted"}}}


@pytest.mark.parametrize(
    "text",
    [
        "model = ",
        'mcp_servers = { other = { command = "x" } }\n',
        "[mcp_servers.memfs]\ncommand = 'other'\n",
        "hooks = { Stop = [] }\n",
    ],
)
def test_a_file_into_which_the_block_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        append_block(text, TABLES)
