"""git for writing: few processes, no hook, no filter, no program that the repository names (TRUST 7).

Blobs, trees and the commit are made by one ``git fast-import``. The branch is moved by ``git update-ref``, and the
user's index is changed in a copy.
"""

from __future__ import annotations

import os
import time
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
    is_refused,
    object_format,
    parse_listing,
    refuse_owner,
    user_git_setting,
    without_git_variables,
)
from memfs.model.values import dataclass

_GIT_TIMEOUT = 60.0
_PATHS_AT_ONCE = 500
_SMALL_INDEX = 1024 * 1024  # bytes; of a larger one only what is needed is listed
TREE = "040000"
_UNBORN = "refs/memfs/unborn"

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
        if is_refused(completed):
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
        for start in range(0, len(updates), _PATHS_AT_ONCE):
            arguments: list[str] = []
            removed: list[str] = []
            for update in updates[start : start + _PATHS_AT_ONCE]:
                if update.oid is None:
                    removed.append(update.path)
                else:
                    arguments += ["--add", "--cacheinfo", f"{update.mode},{update.oid},{update.path}"]
            done = self.run(
                "update-index", *arguments, "--force-remove", "--", *removed, index=index, check=False, more=variables
            )
            if b"both a file and as a directory" in done.stderr:
                raise in_the_way([update.path for update in updates])
            if done.returncode != 0:
                raise ProgramError(f"git update-index failed: {first_line(done.stderr)}", completed=done)

    def read_tree(self, commit: str | None, paths: Iterable[str]) -> dict[str, IndexEntry]:
        """Return what ``commit`` has at each of ``paths`` and of the folders above them; nothing where nothing is."""
        wanted = sorted({above for path in paths for above in (path, *_folders_above(path))})
        found: dict[str, IndexEntry] = {}
        for start in range(0, len(wanted) if commit else 0, _PATHS_AT_ONCE):
            part = wanted[start : start + _PATHS_AT_ONCE]
            raw = self.run("ls-tree", "-t", "-z", "--full-tree", str(commit), "--", *part).stdout
            found.update((path, IndexEntry(mode=mode, oid=oid)) for (mode, _, oid), path in parse_listing(raw))
        return {path: found[path] for path in wanted if path in found}  # git lists what lies beside them too

    def store_commit(
        self, parent: str | None, updates: Sequence[IndexUpdate], contents: Mapping[str, bytes], message: str
    ) -> str:
        """Store ``parent`` with ``updates`` made, and ``contents`` by path, as a commit; return its name.

        One ``git fast-import`` does it. No branch has the commit: the ref that it is made on is taken back.
        """
        stream = [f"commit {_UNBORN}\nmark :1\n".encode()]
        known = self.configuration()
        when = f"{int(time.time())} {time.strftime('%z')}"
        for role in ("author", "committer"):
            name, address = (
                _without_crud(known.get(f"{role}.{part}") or known.get(f"user.{part}") or "")
                for part in ("name", "email")
            )
            stream.append(f"{role} {name} <{address}> {when}\n".encode("utf-8", "surrogateescape"))
        stream.append(_data(message.encode()))
        if parent is not None:
            stream.append(f"from {parent}\n".encode())
        for update in updates:
            path = b'"%s"' % os.fsencode(update.path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
            if update.oid is None:
                stream.append(b"D %s\n" % path)
            else:
                stream.append(b"M %s inline %s\n" % (update.mode.encode(), path) + _data(contents[update.path]))
        stream.append(f"\nget-mark :1\nreset {_UNBORN}\nfrom {self.zero}\n\ndone\n".encode())
        switches = ["-c", "core.ignoreCase=false"]  # else a folder's name is taken for another one
        made = self.run(*switches, "fast-import", "--quiet", "--done", input=b"".join(stream))
        return made.stdout.decode().strip()

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
        raw = self.run("ls-files", "-z", "-v", "--stage", "--full-name", *more, "--", *paths).stdout
        return [
            (path, IndexEntry(mode=mode, oid=oid, tag=tag), stage)
            for (tag, mode, oid, stage), path in parse_listing(raw)
        ]


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


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def in_the_way(paths: Sequence[str]) -> UsageError:
    """Return the error for files that would lie where folders are, or the other way round."""
    return UsageError(
        "a file or a submodule is where a folder is needed, or the other way round",
        where=", ".join(map(printable, paths[:3])),
    )


def _verb_of(args: Sequence[str]) -> str:
    """Return the command of git's arguments; each switch before it is ``-c`` with its value."""
    rest = list(args)
    while rest[0] == "-c":
        del rest[:2]
    return rest[0]
