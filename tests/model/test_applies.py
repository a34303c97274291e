"""``applies_to`` against a path and topics."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.model.applies import applies, topics_of_path

MATCHES = [
    ("services/billing/**", "services/billing/api.py"),
    ("services/billing/**", "services/billing/db/models.py"),
    ("services/*/api.py", "services/billing/api.py"),
    ("*.py", "services/billing/api.py"),
    ("**/api.py", "api.py"),
    ("services/billing", "services/billing/api.py"),
    ("services/billing/", "services/billing/api.py"),
    ("migrations", "services/billing/migrations/0001.sql"),
    ("README.md", "README.md"),
    ("?EADME.md", "docs/README.md"),
    ("/services/**", "services/x"),
]
OTHERS = [
    ("services/billing/**", "services/billings/api.py"),
    ("services/*/api.py", "services/a/b/api.py"),
    ("*.py", "api.pyc"),
    ("billing/api.py", "services/billing/api.py"),
    ("", "services/x"),
]


@pytest.mark.parametrize(("glob", "path"), MATCHES)
def test_a_glob_matches(glob: str, path: str) -> None:
    assert applies([glob], path)


@pytest.mark.parametrize(("glob", "path"), OTHERS)
def test_a_glob_does_not_match(glob: str, path: str) -> None:
    assert not applies([glob], path)


def test_a_topic_matches_in_any_case() -> None:
    assert applies(["Backups"], None, ["backups"])
    assert not applies(["backups"], None, ["backup"])
    assert "billing" in topics_of_path("services/billing/api_client.py")
    assert "client" in topics_of_path("services/billing/api_client.py")


@given(st.text(alphabet="ab*?/", max_size=20), st.text(alphabet="ab/", min_size=1, max_size=20))
def test_any_glob_has_an_answer(glob: str, path: str) -> None:
    assert applies([glob], path) in (True, False)
    assert applies(["**"], path)
    assert applies([path.strip("/") or "**"], path.strip("/") or "x")


def test_a_hostile_glob_takes_no_time() -> None:
    began = time.monotonic()
    assert not applies(["a*" * 2000 + "b"], "a" * 4000)
    assert not applies(["**/a/" * 60 + "b"], "a/" * 60 + "c")
    assert time.monotonic() - began < 5
