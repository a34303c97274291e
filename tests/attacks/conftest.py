"""People and a team for the tests of trust."""

from __future__ import annotations

from pathlib import Path

import pytest
from people import Person, Team, found_team
from support import make_key

from memfs.store.places import Places


@pytest.fixture(scope="session")
def alice(key: Path) -> Person:
    return Person("alice", key)


@pytest.fixture(scope="session")
def bob(other_key: Path) -> Person:
    return Person("bob", other_key)


@pytest.fixture(scope="session")
def carol(tmp_path_factory: pytest.TempPathFactory) -> Person:
    return Person("carol", make_key(tmp_path_factory.mktemp("keys"), "carol"))


@pytest.fixture(scope="session")
def mallory(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """Return somebody whom no keyring lists."""
    return Person("mallory", make_key(tmp_path_factory.mktemp("keys"), "mallory"))


@pytest.fixture
def team(repo: Path, places: Places, alice: Person, bob: Person) -> Team:
    """Return a repository where alice is root and approves, bob approves, and a.md is approved."""
    return found_team(repo, places, [alice, bob])
