"""A small repository whose answers are known, and recall without the process round it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from indexes import write_memory

from memfs.disk.places import Places
from memfs.disk.worktree import find_work_tree
from memfs.recall.search import Query, Result, recall

TODAY = date(2027, 3, 1)


@pytest.fixture
def stocked(repo: Path) -> Path:
    """Return a repository with five memories in three scopes."""
    write_memory(
        repo, "additive", "Billing migrations are additive.", scope="team/billing", applies_to='["services/billing/**"]'
    )
    write_memory(repo, "friday", "No deploys on Friday afternoon.", scope="team", applies_to='["deploy"]')
    write_memory(repo, "coffee", "I prefer short commit messages.", scope="personal", kind="preference")
    write_memory(repo, "incident", "The March incident was a leaked deploy key.", scope="restricted/security")
    write_memory(repo, "backup", "Backups are restored beside the running database.", scope="team/platform")
    return repo


@pytest.fixture
def ask(places: Places) -> Callable[..., Result]:
    """Return a function that asks one repository (or several) by words."""

    def run(root: Path | list[tuple[str, Path]], text: str = "", **fields: Any) -> Result:
        stores = [("project", root)] if isinstance(root, Path) else root
        trees = [(name, find_work_tree(path)) for name, path in stores]
        today = fields.pop("today", TODAY)
        return recall(trees, places, Query(text=text, **{"mode": "lexical", **fields}), today=today)

    return run


def ids(result: Result) -> list[str]:
    return [hit.assessment.file.id for hit in result.hits]
