"""Reading the memories of one state: what is known of a file comes from the cache, else from a look at it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memfs.check.cache import Cache
from memfs.check.results import Result
from memfs.check.rules import make_result
from memfs.check.single import Known, check_name, glance
from memfs.check.workers import look_at_many
from memfs.disk.worktree import WorkTree
from memfs.errors import UsageError
from memfs.git.log import find_addresses
from memfs.git.snapshot import Snapshot
from memfs.model.codepoints import plain
from memfs.model.reader import content_digest

_MANY = 1_000  # files; looking at them takes more than a second
_KEPT = 64 * 1024 * 1024  # bytes of files that are kept from reading to judging
_BATCH = 32 * 1024 * 1024  # bytes of files that wait to be looked at


class Reader:
    """One reading of a state. ``files`` is what is known of each file, ``raw`` the bytes that were kept."""

    def __init__(
        self,
        snapshot: Snapshot,
        cache: Cache,
        identities: Collection[str],
        *,
        changed: Mapping[str, str | None] | None,
        keep_raw: bool,
        on_long: Callable[[int], None] | None,
    ) -> None:
        self._snapshot = snapshot
        self._cache = cache
        self._identities = identities
        self._changed = changed
        self._keep_raw = keep_raw
        self._on_long = on_long
        self._waiting: list[tuple[str, bytes]] = []
        self.files: dict[str, Known] = {}
        self.raw: dict[str, bytes] = {}
        self.cached = 0

    def read(self) -> None:
        """Read every memory; one that a change leaves alone is only glanced at."""
        sizes, _ = self._snapshot.memories()
        weight = kept = 0
        for path, raw in self._snapshot.read_many(sizes):
            if isinstance(raw, str):
                self.files[path] = _unread(path, raw)
                continue
            if self._take(path, raw):
                weight += len(raw)
                if weight > _BATCH:
                    self._look()
                    weight = 0
            if self._keep_raw or (path in self._changed if self._changed is not None else kept < _KEPT):
                self.raw[path] = raw
                kept += len(raw)
        self._look()
        self.files = dict(sorted(self.files.items()))

    def _take(self, path: str, raw: bytes) -> bool:
        """Return whether the file must wait to be looked at."""
        known = self._cache.find(path, content_digest(raw))
        if known is not None and known.own == tuple(a for a in known.addresses if a.casefold() in self._identities):
            self.cached += 1
            self.files[path] = known
        elif self._changed is not None and path not in self._changed:
            self.files[path] = glance(path, raw)
        else:
            self._waiting.append((path, raw))
            return True
        return False

    def _look(self) -> None:
        if self._on_long is not None and len(self._waiting) >= _MANY:
            self._on_long(len(self._waiting))
        for known in look_at_many(self._waiting, identities=self._identities):
            self._cache.keep(known)
            self.files[known.path] = known
        self._waiting.clear()


def _unread(path: str, reason: str) -> Known:
    too_large = reason == "too-large"
    sentence = "The file is larger than 256 KiB." if too_large else f"The file cannot be read: {plain(reason)}."
    results: tuple[Result, ...] = (make_result("unreadable-file", sentence, path=path), *check_name(path))
    return Known(path=path, digest="", id="", results=results)


def find_identities(tree: WorkTree, given: Collection[str], tip: str | None) -> frozenset[str]:
    """Return the addresses that a memory may name: those given, and those that the history's authors
    have published already by committing here."""
    found = {address.casefold() for address in given}
    if tip is not None:
        found.update(address.casefold() for address in find_addresses(tree, tip))
    return frozenset(found)


def choose(
    paths: Sequence[str], files: Iterable[str], others: Iterable[str], changed: Mapping[str, str | None] | None
) -> set[str]:
    chosen = set(changed) if changed is not None else {*files, *others}
    if not paths:
        return chosen
    wanted = [path.rstrip("/") for path in paths]
    found = {path for path in chosen if any(want in (path, ".") or path.startswith(f"{want}/") for want in wanted)}
    if changed is None:
        for want in wanted:
            if want != "." and not any(path == want or path.startswith(f"{want}/") for path in found):
                raise UsageError(
                    "no memory lies at this path", where=plain(want), hint="memfs check memories/SCOPE/ID.md"
                )
    return found
