"""A team with approved and unapproved memories, and servers that are ended with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_talk import APPROVED, UNAPPROVED, Talk
from people import Person, Team, found_team, memory_text

from memfs.disk.places import Places

pytest.importorskip("mcp")


@pytest.fixture
def team(repo: Path, places: Places, key: Path) -> Team:
    alice = Person("alice", key)
    team = found_team(repo, places, [alice], approve_memory=False)
    team.path("a").unlink()
    team.write("additive", memory_text(APPROVED))
    team.write("staging", memory_text(UNAPPROVED))
    team.write("old-rule", memory_text("Deploys happen on Fridays.").replace("on 2027-11-30", "on 2026-11-01"))
    team.commit("memories")
    team.approve(alice, "additive")
    return team


@pytest.fixture
def talk(sealed: Path, team: Team) -> Iterator[Callable[..., Talk]]:
    running: list[Talk] = []

    def start(*options: str, name: str = "test-client") -> Talk:
        talk = Talk(sealed, team.root, *options)
        running.append(talk)
        talk.begin(name)
        return talk

    yield start
    for talk in running:
        talk.close()
