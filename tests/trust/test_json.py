"""The `--json` answers of the trust commands hold to their schemas."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from people import Person, Team, Terminal, memory_text
from support import Run, launch_command

from memfs.disk.shipped import read_schema
from memfs.trust.judge import Reason


def check(name: str, text: str) -> Any:
    assert text.isascii()
    document = json.loads(text)
    jsonschema.Draft202012Validator(read_schema(name)).validate(document)
    return document


def test_every_reason_is_in_the_schema() -> None:
    listed = read_schema("trust")["properties"]["memories"]["items"]["properties"]["reason"]["enum"]
    assert listed[1:] == [str(reason) for reason in Reason]


def test_pin_and_keys(team: Team, memfs: Callable[..., Run]) -> None:
    answer = check("pin", memfs("pin", "--json", cwd=team.root).out)
    assert answer["pinned"] == answer["newest"]
    answer = check("keys", memfs("keys", "--json", cwd=team.root).out)
    assert [key["principal"] for key in answer["keys"]] == ["alice@example.com", "bob@example.com"]
    assert check("keys", memfs("keys", "show", "--json", cwd=team.root).out) == answer


def test_sync(team: Team, memfs: Callable[..., Run]) -> None:
    answer = check("trust-sync", memfs("trust", "--sync", "--json", cwd=team.root).out)
    assert answer["commit"] is None
    for path in (team.root / ".memfs/approvals").iterdir():
        path.unlink()
    answer = check("trust-sync", memfs("trust", "--sync", "--json", cwd=team.root).out)
    assert len(answer["receipts"]) == 1


@pytest.mark.parametrize("verb", ["trust", "untrust"])
def test_trust_and_untrust(team: Team, alice: Person, verb: str) -> None:
    team.write("a", memory_text("Again."))
    argv = [*launch_command(team.places.home), verb, "a", "--json", "--key", str(alice.key)]
    code, shown = Terminal(argv, cwd=team.root, env=os.environ).answer(("Type a to", "a"))
    assert code == 0, shown
    answer = check("trust", shown[shown.index("{") :])
    assert answer["memories"][0]["id"] == "a"
    assert answer["records"][0].startswith("Memory-Approval: v1 ")
