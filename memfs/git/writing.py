"""git for writing: few processes, no hook, no filter, no program that the repository names (TRUST 7).

Blobs, trees and the commit are made here as bytes and given to one ``git unpack-objects``, which checks and
stores them. The branch is moved by ``git update-ref``, the user's index is changed in a copy.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memfs.disk.gitfiles import is_true
from memfs.disk.worktree import WorkTree, printable
from memfs.errors import UsageError
from memfs.git.process import Completed, ProgramError, first_line, require_program, run
from memfs.git.read import (
    READ_SWITCHES,
    blob_id,
    object_format,
    refuse_owner,
    user_git_setting,
    without_git_variables,
)
from memfs.model.values import dataclass

_GIT_TIMEOUT = 60.0
_UPDATES_AT_ONCE = 500
_SMALL_INDEX = 1024 * 1024  # bytes; of a larger one only what is needed is listed
_TREE = "40000"

_WRITE_VARIABLES = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
}


_SIGNING_PROGRAMS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultKeyCommand": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """One file of a tree or of an index."""

    mode: str
    oid: str
    tag: str = "H"  # of `ls-files -v`: S skip-worktree, lower case assume-unchanged


class IndexUpdate(NamedTuple):
    """One entry of an index to be; ``oid`` None takes it out."""

    path: str
    mode: str
    oid: str | None


class WritingGit:
    """git for writing in one work tree."""

    def __init__(self, tree: WorkTree, *, configuration: Mapping[str, str | None] | None = None) -> None:
        if tree.git_dir is None or tree.common_dir is None:
            raise UsageError(
                "these files are not a git repository, so nothing can be written here",
                where=printable(tree.root),
                hint="clone the repository instead of unpacking a copy of it",
            )
        require_program("git")
        self.tree = tree
        self.git_dir: Path = tree.git_dir
        self.common_dir: Path = tree.common_dir
        self.algorithm = object_format(tree)
        self.zero = "0" * (64 if self.algorithm == "sha256" else 40)
        self.held: int | None = None  # the lock: a git that outlives a killed memfs keeps it till it ends
        self._configuration = configuration

    def run(
        self,
        *args: str,
        input: bytes | None = None,  # noqa: A002 - the name that subprocess has for it
        index: Path | None = None,
        timeout: float = _GIT_TIMEOUT,
        check: bool = True,
        more: Mapping[str, str] | None = None,
        signing: bool = False,
    ) -> Completed:
        """Return how ``git ARGS`` ended, with no hook, filter, monitor or pager of the configuration."""
        environment = without_git_variables(os.environ) | _WRITE_VARIABLES
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(self.tree.root)
        if "PATH" in environment:  # relative folders of it are the repository's (see ``find_program``)
            environment["PATH"] = os.pathsep.join(filter(os.path.isabs, environment["PATH"].split(os.pathsep)))
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        environment |= more or {}
        completed = run(
            ["git", *READ_SWITCHES, "-c", "i18n.commitEncoding=UTF-8", *args],
            cwd=self.tree.root,
            env=environment,
            input=input,
            timeout=timeout,
            check=False,
            # A signing program may leave an agent behind, which must not keep the lock for ever.
            keep=() if self.held is None or signing else (self.held,),
        )
        if completed.returncode == 128 and b"dubious ownership" in completed.stderr:
            raise refuse_owner(self.tree.root)
        if check and completed.returncode != 0:
            raise ProgramError(f"git {_verb_of(args)} failed: {first_line(completed.stderr)}", completed=completed)
        return completed

    def configuration(self) -> Mapping[str, str | None]:
        """Return the last value of each variable of the user's and the repository's configuration."""
        if self._configuration is None:
            self._configuration = parse_configuration(self.run("config", "--null", "--list").stdout)
        return self._configuration

    def signing_key(self) -> str | None:
        """Return a name for the key that the user has commits signed with, or None where they are not."""
        values = self.configuration()
        if "commit.gpgsign" not in values or not is_true(values["commit.gpgsign"]):
            return None
        key = values.get("user.signingkey")
        if not key:
            return "your signing key"
        return "the key " + printable(key if len(key) <= 80 else key[:60] + "…")

    def update_index(self, index: Path, updates: Sequence[IndexUpdate]) -> None:
        """Change entries of the user's index, in the copy ``index``, running none of its filters.

        Writing an index makes git look into files that were staged in its last second, and cleaning
        them runs ``filter.X.clean``. Without it such a file counts as perhaps changed, which the next
        `git status` finds out.
        """
        drivers = {name.rsplit(".", 1)[0] for name in self.configuration() if name.startswith("filter.")}
        off = {"clean": "", "process": "", "required": "false"}
        variables: dict[str, str] = {}
        for number, (driver, name) in enumerate((driver, name) for driver in sorted(drivers) for name in off):
            variables[f"GIT_CONFIG_KEY_{number}"] = f"{driver}.{name}"
            variables[f"GIT_CONFIG_VALUE_{number}"] = off[name]
        variables["GIT_CONFIG_COUNT"] = str(len(variables) // 2)
        # --index-info would put a file in the place of a folder or a submodule; --cacheinfo refuses to.
        for start in range(0, len(updates), _UPDATES_AT_ONCE):
            arguments: list[str] = []
            removed: list[str] = []
            for update in updates[start : start + _UPDATES_AT_ONCE]:
                if update.oid is None:
                    removed.append(update.path)
                else:
                    arguments += ["--add", "--cacheinfo", f"{update.mode},{update.oid},{update.path}"]
            done = self.run(
                "update-index", *arguments, "--force-remove", "--", *removed, index=index, check=False, more=variables
            )
            if b"both a file and as a directory" in done.stderr:
                raise _in_the_way(updates)
            if done.returncode != 0:
                raise ProgramError(f"git update-index failed: {first_line(done.stderr)}", completed=done)

    def blob_id(self, raw: bytes) -> str:
        return blob_id(raw, algorithm=self.algorithm)

    def read_blob(self, oid: str) -> bytes:
        return self.run("cat-file", "blob", oid).stdout

    def read_index(self, paths: Sequence[str]) -> tuple[dict[str, IndexEntry], list[str]]:
        """Return the entries of ``paths`` in the user's index, and every path that is left in conflict."""
        try:
            is_small = os.path.getsize(self.git_dir / "index") < _SMALL_INDEX
        except OSError:
            return {}, []
        listed = self._list_index(() if is_small else paths)
        if not is_small:
            listed += self._list_index((), "--unmerged")
        wanted = set(paths)
        entries = {path: entry for path, entry, stage in listed if path in wanted and stage == "0"}
        return entries, [path for path, _, stage in listed if stage != "0"]

    def _list_index(self, paths: Sequence[str], *more: str) -> list[tuple[str, IndexEntry, str]]:
        found = []
        raw = self.run("ls-files", "-z", "-v", "--stage", "--full-name", *more, "--", *paths).stdout
        for record in raw.split(b"\0"):
            if record:
                head, _, path = record.partition(b"\t")
                tag, mode, oid, stage = head.decode().split(" ")
                found.append((os.fsdecode(path), IndexEntry(mode=mode, oid=oid, tag=tag), stage))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of one commit that a change of ``paths`` touches: path → name → entry; "" is the root."""

    git: WritingGit
    entries: Mapping[str, Mapping[str, IndexEntry]]

    @classmethod
    def read(cls, git: WritingGit, commit: str | None, paths: Iterable[str]) -> Folders:
        """Return the folders above ``paths`` in ``commit``, read by one process."""
        wanted = sorted({"", *(above for path in paths for above in _folders_above(path))})
        if commit is None:
            return cls(git=git, entries={})
        asked = b"".join(os.fsencode(f"{commit}:{path}") + b"\n" for path in wanted)
        raw = git.run("cat-file", "--batch=%(objecttype) %(objectsize)", input=asked).stdout
        entries: dict[str, Mapping[str, IndexEntry]] = {}
        place = 0
        for path in wanted:
            end = raw.index(b"\n", place)
            kind, _, size = raw[place:end].partition(b" ")
            place = end + 1
            if size.isdigit():  # else there is nothing of that name in the commit
                content = raw[place : place + int(size)]
                place += int(size) + 1
                if kind == b"tree":
                    entries[path] = _parse_tree(content, len(git.zero) // 2)
        return cls(git=git, entries=entries)

    def files(self, paths: Iterable[str]) -> dict[str, IndexEntry]:
        """Return what is at each of ``paths``; those where nothing is are left out."""
        found = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            entry = self.entries.get(folder, {}).get(name)
            if entry is not None:
                found[path] = entry
        return found

    def trees_with(self, updates: Sequence[IndexUpdate]) -> tuple[str, dict[str, bytes]]:
        """Return the root tree with ``updates`` made, and the content of each tree that is new, by its name.

        Raises :class:`UsageError` where a file lies where a folder is needed, or the other way round.
        """
        folders: dict[str, dict[str, IndexEntry]] = {path: dict(names) for path, names in self.entries.items()}
        for update in updates:
            folder, _, name = update.path.rpartition("/")
            here = folders.setdefault(folder, {})
            if update.oid is None:
                here.pop(name, None)
            elif name in here and here[name].mode == _TREE:
                raise _in_the_way(updates)
            else:
                here[name] = IndexEntry(mode=update.mode, oid=update.oid)
        made: dict[str, bytes] = {}
        for path in sorted({above for update in updates for above in _folders_above(update.path)}, key=_deepest):
            above, _, name = path.rpartition("/")
            here = folders.setdefault(above, {})
            if name in here and here[name].mode != _TREE:
                raise _in_the_way(updates)
            if folders.get(path):
                content = _format_tree(folders[path])
                oid = self.git_id("tree", content)
                made[oid] = content
                here[name] = IndexEntry(mode=_TREE, oid=oid)
            else:
                here.pop(name, None)
        content = _format_tree(folders.get("", {}))
        root = self.git_id("tree", content)
        return root, {**made, root: content}

    def git_id(self, kind: str, content: bytes) -> str:
        return object_id(kind, content, algorithm=self.git.algorithm)


def store_objects(git: WritingGit, objects: Sequence[tuple[str, bytes]]) -> None:
    """Store (kind, content) objects by one ``git unpack-objects``, which looks at each of them.

    Source: gitformat-pack(5), version 2, no deltas.
    """
    kinds = {"commit": 1, "tree": 2, "blob": 3}
    pack = [b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big")]
    for kind, content in objects:
        size = len(content)
        head = bytearray([kinds[kind] << 4 | size & 15])
        size >>= 4
        while size:
            head[-1] |= 0x80
            head.append(size & 0x7F)
            size >>= 7
        pack += [bytes(head), zlib.compress(content)]
    raw = b"".join(pack)
    raw += hashlib.new(git.algorithm, raw, usedforsecurity=False).digest()
    # Not --strict: the base of a partial clone names blobs that are not here.
    git.run("unpack-objects", "-q", input=raw)


def object_id(kind: str, content: bytes, *, algorithm: str) -> str:
    """Return the name that git gives an object."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"%s %d\0" % (kind.encode(), len(content)))
    digest.update(content)
    return digest.hexdigest()


def format_commit(
    tree: str, parent: str | None, message: str, configuration: Mapping[str, str | None], *, seconds: float, zone: str
) -> bytes:
    """Return the content of a commit by whom ``configuration`` names. ``zone`` is as in ``+0100``."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    for role in ("author", "committer"):
        name, address = (
            _without_crud(configuration.get(f"{role}.{part}") or configuration.get(f"user.{part}") or "")
            for part in ("name", "email")
        )
        lines.append(f"{role} {name} <{address}> {int(seconds)} {zone}")
    return "\n".join([*lines, "", message]).encode("utf-8", "surrogateescape")


def parse_configuration(raw: bytes) -> dict[str, str | None]:
    """Return the last value of each variable that ``git config --null --list`` printed."""
    values: dict[str, str | None] = {}
    for record in raw.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        name, newline, value = record.partition("\n")
        values[name] = value if newline else None
    return values


def signing_programs() -> list[str]:
    """Return the switches that let the user's own configuration alone name the programs that sign.

    A repository's configuration could name any program (TRUST 7), so that every value it may have is
    overruled, by git's own default where the user has set none.
    """
    switches = []
    for name, default in _SIGNING_PROGRAMS.items():
        switches += ["-c", f"{name}={user_git_setting(name) or default}"]
    return switches


def _without_crud(text: str) -> str:
    # What git takes out of a name (ident.c): angle brackets and line ends anywhere, these at both ends.
    kept = "".join(char for char in text if char not in "<>\n\0")
    crud = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
    return kept.strip(crud)


def _parse_tree(content: bytes, size: int) -> dict[str, IndexEntry]:
    entries = {}
    place = 0
    while place < len(content):
        space, nul = content.index(b" ", place), content.index(b"\0", place)
        oid = content[nul + 1 : nul + 1 + size].hex()
        entries[os.fsdecode(content[space + 1 : nul])] = IndexEntry(mode=content[place:space].decode(), oid=oid)
        place = nul + 1 + size
    return entries


def _format_tree(entries: Mapping[str, IndexEntry]) -> bytes:
    def place(name: str) -> bytes:
        return os.fsencode(name) + (b"/" if entries[name].mode == _TREE else b"")

    return b"".join(
        entries[name].mode.encode() + b" " + os.fsencode(name) + b"\0" + bytes.fromhex(entries[name].oid)
        for name in sorted(entries, key=place)
    )


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _deepest(path: str) -> tuple[int, str]:
    return (-path.count("/"), path)


def _in_the_way(updates: Sequence[IndexUpdate]) -> UsageError:
    return UsageError(
        "a file or a submodule is where a folder is needed, or the other way round",
        where=", ".join(printable(update.path) for update in updates[:3]),
    )


def _verb_of(args: Sequence[str]) -> str:
    """Return the command of git's arguments; each switch before it is ``-c`` with its value."""
    rest = list(args)
    while rest[0] == "-c":
        del rest[:2]
    return rest[0]
