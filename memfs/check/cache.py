"""What is known of files from earlier runs, kept by content in the user's cache (TRUST 8).

Only answers that the same bytes, path and rules always give are kept: what a file alone is told.
Everything about many files, about trust and about today is found again each time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memfs.admission.gate import GATE_VERSION
from memfs.check.across import Pair
from memfs.check.results import Level
from memfs.check.rules import RULES_VERSION
from memfs.check.single import Known, format_known, parse_known
from memfs.disk.places import Places
from memfs.disk.private import make_folder, read_own, replace_own
from memfs.disk.worktree import WorkTree, identify
from memfs.errors import SetupError
from memfs.index.facts import FactCache
from memfs.repository.duplicates import Likeness
from memfs.standing.facts import Forgetful

REJECTED = frozenset(("secret", "personal-data", "hidden-character", "authority"))
"""Rules for text that must not be shown, and not be kept either."""

MAX_BYTES = 256 * 1024 * 1024
_VERSION = [2, RULES_VERSION, GATE_VERSION]


class Cache:
    """Known files by (path, digest), and ``facts`` about evidence. Without a usable folder it forgets."""

    def __init__(self, tree: WorkTree, places: Places | None) -> None:
        self.notice: str | None = None
        self._file: Path | None = None
        self._known: dict[str, Any] = {}
        self.facts = FactCache(tree, places) if places is not None else Forgetful()
        self._pairs: Any = None
        self._used: dict[str, Any] = {}
        self._is_new = False
        if places is None:
            return
        try:
            self._file = make_folder(places, "cache", "check") / f"{identify(tree)}.json"
            self._read()
        except SetupError as error:
            self._file = None
            self.notice = f"nothing is kept for the next run ({error})"

    def find(self, path: str, digest: str) -> Known | None:
        """Return what is known of exactly these bytes at ``path``."""
        kept = self._known.get(f"{digest} {path}")
        if kept is None:
            return None
        try:
            known = parse_known(kept)
        except (TypeError, ValueError, KeyError):
            return None
        self._used[f"{digest} {path}"] = kept
        return known

    def keep(self, known: Known) -> None:
        # ADMISSION 1: a rejected value is copied nowhere, so nothing of such a file is kept.
        if any(result.rule in REJECTED and result.level is Level.ERROR for result in known.results):
            return
        self._used[f"{known.digest} {known.path}"] = format_known(known)
        self._is_new = True

    def forget(self, path: str) -> None:
        """Keep nothing of the file ``path``."""
        for kept in (self._used, self._known):
            for name in [name for name in kept if name.partition(" ")[2] == path]:
                del kept[name]
                self._is_new = True

    def find_pairs(self, digest: str) -> list[Pair] | None:
        """Return the pairs of exactly those files, where the last whole run had the same."""
        try:
            if self._pairs is None or self._pairs[0] != digest:
                return None
            return [Pair(left=left, right=right, likeness=Likeness(kind)) for left, right, kind in self._pairs[1]]
        except (TypeError, ValueError, KeyError, IndexError):
            return None

    def keep_pairs(self, digest: str, pairs: Iterable[Pair]) -> None:
        self._pairs = [digest, [[pair.left, pair.right, pair.likeness.value] for pair in pairs]]
        self._is_new = True

    def save(self, *, whole: bool) -> None:
        """Write what was found. ``whole``: every file was looked at, so others are forgotten."""
        self.facts.save()
        if self._file is None or not (self._is_new or (whole and len(self._used) < len(self._known))):
            return
        files = self._used if whole else {**self._known, **self._used}
        document = {"version": _VERSION, "files": files, "pairs": self._pairs}
        try:
            replace_own(self._file, json.dumps(document, separators=(",", ":")).encode("ascii"))
        except SetupError as error:
            self.notice = f"nothing is kept for the next run ({error})"

    def _read(self) -> None:
        assert self._file is not None
        raw = read_own(self._file, limit=MAX_BYTES)
        if raw is None:
            return
        try:
            document = json.loads(raw)
            if isinstance(document, Mapping) and document.get("version") == _VERSION:
                self._known = dict(document["files"])
                self._pairs = document["pairs"]
        except (ValueError, KeyError, TypeError):
            return  # damaged: found again
