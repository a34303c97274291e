"""One state of a repository's files: the work tree, the index, or a commit.

Commits and the index are read as objects (``ls-tree``, ``cat-file``): nothing is ever checked out, so
no filter, hook or setting of what is judged can run.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from memfs.disk.files import UnreadableFile, list_folder, read_file, scan_memories
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError, UsageError
from memfs.git.read import blob_id, call_git, may_skip_files, object_format, parse_listing, read_blob, read_git
from memfs.git.stored import index_blob, is_filtered, lfs_pointer, stored_forms
from memfs.model.codepoints import plain
from memfs.model.memory import MAX_MEMORY_BYTES, Why
from memfs.model.values import dataclass, replace

MAX_FILE = 16 * 1024 * 1024
"""A larger file is compared only where git's index knows that it has not changed."""

_CHUNK = 32 * 1024 * 1024  # bytes of blobs that are asked for in one process


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a tree. ``kind`` is ``file``, ``symlink``, ``repository`` or ``unmerged``; ``skipped``: it
    is meant not to be in the work tree (a sparse checkout)."""

    path: str
    kind: str
    blob: str
    size: int
    skipped: bool = False


class Snapshot(Protocol):
    """What every state can be asked. Paths are posix, relative to the work tree."""

    tree: WorkTree

    def memories(self) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Return the memory files by size, and what is not a file by reason (``scan_memories``' words)."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str]]:
        """Yield each path with its bytes, or with the reason why it is not read; in any order."""

    def folder(self, path: str) -> list[str]:
        """Return the names of the files that lie directly in the folder ``path``, sorted."""

    def oddities(self, path: str) -> Mapping[str, str]:
        """Return the folder ``path`` itself, and what lies directly in it, by reason, where it is not what
        it should be: a symlink, a special file, a folder for a file or a file for a folder."""

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders that lie directly in the folder ``path``, sorted."""

    def blob_of(self, path: str, *, like: str | None = None) -> str | None:
        """Return git's name for the content of ``path`` here, None where there is no such file.

        It starts with ``like`` (a whole name, or its first digits) where git would store the file so,
        whatever its line ends here.
        """

    def content_of(self, path: str, *, limit: int = MAX_FILE) -> bytes | None:
        """Return the bytes of ``path`` here, None where they cannot be read or are more than ``limit``."""

    def why_not(self, path: str) -> Why | None:
        """Return why :meth:`blob_of` gives nothing for ``path``; None where nothing is there."""

    def tracked(self) -> Mapping[str, Entry]:
        """Return what git has of this state, by path; nothing where there is no git."""


class WorkFiles:
    """The files of the work tree as they are on the disk."""

    def __init__(self, tree: WorkTree) -> None:
        self.tree = tree
        self._forms: dict[str, tuple[str, ...]] = {}
        self._odd_forms: dict[str, tuple[str, ...]] = {}
        self._trouble: dict[str, str] = {}
        self._repositories: dict[str, bool] = {}
        self._algorithm = object_format(tree)
        self._memories: tuple[Mapping[str, int], Mapping[str, str]] | None = None

    def memories(self) -> tuple[Mapping[str, int], Mapping[str, str]]:
        if self._memories is None:
            scan = scan_memories(self.tree)
            skipped = dict(scan.skipped)
            skipped.update((path, "unmerged") for path in find_unmerged(self.tree))
            self._memories = ({entry.path: entry.size for entry in scan.entries}, skipped)
        return self._memories

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str]]:
        for path in paths:
            try:
                yield path, read_file(self.tree, path)
            except UnreadableFile as error:
                yield path, error.reason

    def folder(self, path: str) -> list[str]:
        return [name for name in list_folder(self.tree, path) if not name.endswith(".tmp")]

    def oddities(self, path: str) -> Mapping[str, str]:
        root = str(self.tree.root)
        found: dict[str, str] = {}
        try:
            mode = os.lstat(os.path.join(root, path)).st_mode
        except OSError:
            return found
        if not stat.S_ISDIR(mode):
            return {path: "symlink" if stat.S_ISLNK(mode) else "not-a-folder"}
        for name in self.folder(path):
            below = f"{path}/{name}"
            try:
                mode = os.lstat(os.path.join(root, below)).st_mode
            except OSError:
                continue
            if stat.S_ISLNK(mode):
                found[below] = "symlink"
            elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                found[below] = "not-a-file"
        return found

    def folders(self, path: str) -> list[str]:
        root = os.path.join(str(self.tree.root), path)
        names = list_folder(self.tree, path) if path else sorted(os.listdir(root))
        return [
            name for name in names if os.path.isdir(os.path.join(root, name)) and not os.path.islink(f"{root}/{name}")
        ]

    def blob_of(self, path: str, *, like: str | None = None) -> str | None:
        forms = self._forms.get(path)
        if forms is None:
            forms = self._forms[path] = self._find_forms(path)
        if like is None or not forms:
            return forms[0] if forms else None
        for form in forms:
            if form.startswith(like):
                return form
        return next((form for form in self._more_forms(path) if form.startswith(like)), forms[0])

    def content_of(self, path: str, *, limit: int = MAX_FILE) -> bytes | None:
        if self._nested(path):
            return None
        try:
            return read_file(self.tree, path, limit=limit)
        except UnreadableFile:
            return self._content_in_git(path, limit)

    def why_not(self, path: str) -> Why | None:
        if self._nested(path) or any(
            path.startswith(f"{other}/") or path == other for other in self._index if self._is_repository(other)
        ):
            return Why.SUBMODULE
        return {"too-large": Why.TOO_LARGE, "missing": None, "symlink": None, "not-a-file": None, "bad-path": None}.get(
            self._trouble.get(path, "missing"), Why.UNREADABLE
        )

    def tracked(self) -> Mapping[str, Entry]:
        return self._index

    def _find_forms(self, path: str) -> tuple[str, ...]:
        if self._nested(path):
            return ()
        try:
            raw = read_file(self.tree, path, limit=MAX_FILE)
        except UnreadableFile as error:
            self._trouble[path] = error.reason
            blob = index_blob(self.tree, path) if error.reason == "too-large" else self._blob_in_git(path)
            return (blob,) if blob is not None else ()
        found = [blob_id(form, algorithm=self._algorithm) for form in stored_forms(raw)]
        if self.tree.git_dir is None:  # what hash its repository had is not known
            found += [blob_id(form, algorithm="sha256") for form in stored_forms(raw)]
        return tuple(found)

    def _more_forms(self, path: str) -> tuple[str, ...]:
        """Return the names that ``path`` may have besides: of an LFS pointer, or by a filter of git's."""
        if path not in self._odd_forms:
            found: list[str] = []
            raw = self.content_of(path)
            if raw is not None:
                found.append(blob_id(lfs_pointer(raw), algorithm=self._algorithm))
                if is_filtered(self.tree, path) and (blob := index_blob(self.tree, path)):
                    found.append(blob)
            self._odd_forms[path] = tuple(found)
        return self._odd_forms[path]

    @cached_property
    def _index(self) -> Mapping[str, Entry]:
        git_dir = self.tree.git_dir
        if git_dir is None or not os.path.exists(os.path.join(git_dir, "index")):
            return {}
        try:
            return list_index(self.tree)
        except MemfsError:
            return {}

    def _is_repository(self, path: str) -> bool:
        return self._index[path].kind == "repository"

    def _nested(self, path: str) -> bool:
        """Return whether ``path`` is, or lies in, another repository's work tree."""
        folder = path
        while folder:
            if folder not in self._repositories:
                self._repositories[folder] = os.path.lexists(os.path.join(str(self.tree.root), folder, ".git"))
            if self._repositories[folder]:
                return True
            folder = folder.rpartition("/")[0]
        return False

    def _blob_in_git(self, path: str) -> str | None:
        # A path outside the cone of a sparse checkout is not missing: git has it in its index.
        if not may_skip_files(self.tree):
            return None
        entry = self._index.get(path)
        return entry.blob if entry is not None and entry.skipped and entry.kind == "file" else None

    def _content_in_git(self, path: str, limit: int) -> bytes | None:
        blob = self._blob_in_git(path)
        return None if blob is None else _read_blob(self.tree, blob, limit)


class GitFiles:
    """The files of a commit, or of the index (``commit`` None; ``index``: another one than the usual), or those that
    a caller has listed, with the ``contents`` of blobs that no object has."""

    def __init__(
        self,
        tree: WorkTree,
        commit: str | None,
        *,
        entries: dict[str, Entry] | None = None,
        contents: Mapping[str, bytes] | None = None,
        index: Path | None = None,
    ) -> None:
        self.tree = tree
        self.commit = commit
        if entries is None:
            if commit is None:
                entries = _with_sizes(tree, list_index(tree, index))
            else:
                listing = read_git(tree, "ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", commit)
                entries = parse_tree(listing)
        self.entries = entries
        self._algorithm = object_format(tree)
        self._forms: dict[str, tuple[str, ...]] = {}
        self._given = contents or {}  # by blob, of what no object has
        self._contents: dict[str, bytes | None] = {**self._given}
        self._memories: tuple[Mapping[str, int], Mapping[str, str]] | None = None

    def memories(self) -> tuple[Mapping[str, int], Mapping[str, str]]:
        if self._memories is None:
            self._memories = self._find_memories()
        return self._memories

    def _find_memories(self) -> tuple[Mapping[str, int], Mapping[str, str]]:
        files: dict[str, int] = {}
        others: dict[str, str] = {}
        for path, entry in self.entries.items():
            if not path.startswith("memories/") or any(part.startswith(".") for part in path.split("/")):
                if path == "memories" and entry.kind != "file":
                    others[path] = "symlink" if entry.kind == "symlink" else "nested-repository"
                continue
            if entry.kind == "repository":
                others[path] = "nested-repository"
            elif entry.kind == "symlink":
                others[path] = "symlink"
            elif path.endswith(".md"):
                if entry.kind == "unmerged":
                    others[path] = "unmerged"
                elif not path.isprintable():
                    others[path] = "bad-name"
                else:
                    files[path] = entry.size
        return files, others

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str]]:
        wanted: dict[str, list[str]] = {}
        sizes: dict[str, int] = {}
        for path in paths:
            entry = self.entries.get(path)
            if entry is None:
                yield path, "missing"
            elif entry.kind != "file":
                yield path, "symlink" if entry.kind == "symlink" else "not-a-file"
            elif entry.blob in self._given:
                yield path, self._given[entry.blob]
            elif entry.size > MAX_MEMORY_BYTES:
                yield path, "too-large"
            else:
                wanted.setdefault(entry.blob, []).append(path)
                sizes[entry.blob] = entry.size
        for blob, raw in read_blobs(self.tree, sizes):
            for path in wanted.pop(blob):
                yield path, raw
        for blob, left in wanted.items():
            for path in left:
                yield path, f"object {blob[:12]} is not here"

    def folder(self, path: str) -> list[str]:
        prefix = f"{path}/"
        return sorted(
            name
            for found, entry in self.entries.items()
            if found.startswith(prefix) and entry.kind == "file" and "/" not in (name := found[len(prefix) :])
        )

    def oddities(self, path: str) -> Mapping[str, str]:
        if path in self.entries:
            return {path: "symlink" if self.entries[path].kind == "symlink" else "not-a-folder"}
        prefix = f"{path}/"
        return {
            found: "symlink" if entry.kind == "symlink" else "not-a-file"
            for found, entry in self.entries.items()
            if found.startswith(prefix) and "/" not in found[len(prefix) :] and entry.kind != "file"
        }

    def folders(self, path: str) -> list[str]:
        prefix = f"{path}/" if path else ""
        rests = (found[len(prefix) :] for found in self.entries if found.startswith(prefix))
        return sorted({rest.partition("/")[0] for rest in rests if "/" in rest})

    def blob_of(self, path: str, *, like: str | None = None) -> str | None:
        entry = self.entries.get(path)
        if entry is None or entry.kind != "file":
            return None
        if like is None or entry.blob.startswith(like):
            return entry.blob
        if path not in self._forms:
            raw = self.content_of(path)
            forms = (*stored_forms(raw), lfs_pointer(raw)) if raw is not None else ()
            self._forms[path] = tuple(blob_id(form, algorithm=self._algorithm) for form in forms)
        return next((form for form in self._forms[path] if form.startswith(like)), entry.blob)

    def content_of(self, path: str, *, limit: int = MAX_FILE) -> bytes | None:
        entry = self.entries.get(path)
        if entry is None or entry.kind != "file":
            return None
        if entry.blob not in self._contents:
            self._contents[entry.blob] = _read_blob(self.tree, entry.blob, limit)
        return self._contents[entry.blob]

    def keep_contents(self, paths: Iterable[str]) -> None:
        """Read many files for :meth:`content_of`, in few processes."""
        entries = [self.entries[path] for path in paths if path in self.entries]
        wanted = {e.blob: e.size for e in entries if e.kind == "file" and e.size <= MAX_FILE}
        self._contents.update(read_blobs(self.tree, {b: n for b, n in wanted.items() if b not in self._contents}))

    def why_not(self, path: str) -> Why | None:
        folder = path
        while folder:
            entry = self.entries.get(folder)
            if entry is not None and entry.kind == "repository":
                return Why.SUBMODULE
            folder = folder.rpartition("/")[0]
        return None

    def tracked(self) -> Mapping[str, Entry]:
        return self.entries


def read_folder(snapshot: Snapshot, folder: str) -> dict[str, bytes]:
    """Return the files that lie directly in ``folder`` of a snapshot, by path; what is unreadable is left out."""
    paths = [f"{folder}/{name}" for name in snapshot.folder(folder)]
    return {path: raw for path, raw in snapshot.read_many(paths) if isinstance(raw, bytes)}


def read_blobs(tree: WorkTree, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each blob of about that size, in few processes; those that are not here are left out."""
    part: list[str] = []
    total = 0
    for blob, size in sizes.items():
        part.append(blob)
        total += size + 100
        if total > _CHUNK:
            yield from _read_part(tree, part)
            part, total = [], 0
    if part:
        yield from _read_part(tree, part)


def _read_part(tree: WorkTree, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    return parse_blobs(read_git(tree, "cat-file", "--batch", input="".join(f"{blob}\n" for blob in blobs).encode()))


def parse_blobs(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each blob in the answer of ``cat-file --batch``."""
    place = 0
    while place < len(raw):
        end = raw.index(b"\n", place)
        words = raw[place:end].split(b" ")
        place = end + 1
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            if words[1] == b"blob":
                yield words[0].decode(), raw[place : place + size]
            place += size + 1


def _read_blob(tree: WorkTree, blob: str, limit: int) -> bytes | None:
    try:
        return read_blob(tree, blob, limit=limit)
    except MemfsError:
        return None


def require_commit(tree: WorkTree, name: str) -> str:
    """Return the full name of the commit that ``name`` (a branch, tag, or id) stands for.

    Raises :class:`UsageError` where there is none.
    """
    done = call_git(tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    commit = done.stdout.decode("ascii", "replace").strip()
    if done.returncode != 0 or not commit:
        raise UsageError("there is no such commit or branch here", where=plain(name), hint="`git fetch` may bring it")
    return commit


def merge_base(tree: WorkTree, one: str, other: str) -> str | None:
    """Return the commit where two histories parted; None when they never met."""
    done = call_git(tree, "merge-base", one, other)
    return done.stdout.decode("ascii", "replace").split("\n")[0].strip() or None if done.returncode == 0 else None


def is_shallow(tree: WorkTree) -> bool:
    """Return whether history was cut off when this repository was cloned."""
    return tree.common_dir is not None and os.path.exists(os.path.join(tree.common_dir, "shallow"))


def find_unmerged(tree: WorkTree) -> list[str]:
    """Return the memory files that git left in conflict."""
    if tree.git_dir is None or not os.path.exists(os.path.join(tree.git_dir, "index")):
        return []
    try:
        raw = read_git(tree, "ls-files", "-u", "-z", "--", "memories")
    except MemfsError:
        return []
    return sorted({path for _, path in parse_listing(raw)})


_KINDS = {"100644": "file", "100755": "file", "120000": "symlink", "160000": "repository"}


def parse_tree(raw: bytes) -> dict[str, Entry]:
    """Return the entries of what ``ls-tree -r -l -z`` printed."""
    return {
        path: Entry(path=path, kind=_KINDS.get(mode, "file"), blob=blob, size=int(size) if size.isdigit() else 0)
        for (mode, _, blob, size), path in parse_listing(raw)
    }


def list_index(tree: WorkTree, index: Path | None = None) -> dict[str, Entry]:
    """Return the entries of git's index, or of another one, by path, without their sizes."""
    raw = read_git(tree, "ls-files", "-s", "-t", "-z", "--full-name", index=index)
    found: dict[str, Entry] = {}
    for (tag, mode, blob, stage), path in parse_listing(raw):
        kind = _KINDS.get(mode, "file") if stage == "0" else "unmerged"
        found[path] = Entry(path=path, kind=kind, blob=blob, size=0, skipped=tag == "S")
    return found


def _with_sizes(tree: WorkTree, entries: dict[str, Entry]) -> dict[str, Entry]:
    """Return the entries of the index with the sizes of those that would be read."""
    wanted = {e.blob for p, e in entries.items() if p.startswith(("memories/", ".memfs/", ".gitattributes"))}
    if not wanted:
        return entries
    asked = "".join(f"{blob}\n" for blob in sorted(wanted)).encode()
    answer = read_git(tree, "cat-file", "--batch-check=%(objectname) %(objectsize)", input=asked)
    sizes = {
        words[0].decode(): int(words[1])
        for line in answer.split(b"\n")
        if len(words := line.split(b" ")) == 2 and words[1].isdigit()
    }
    return {path: replace(entry, size=sizes.get(entry.blob, entry.size)) for path, entry in entries.items()}
