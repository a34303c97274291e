"""git for writing, run by GitPython: the one door to it.

GitPython passes on every variable of this process, so that the ``GIT_*`` ones are taken out while it
starts git; its own waiting is not used, because it neither ends a child's children nor closes its input.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from memfs.disk.gitfiles import is_true
from memfs.disk.worktree import WorkTree, printable
from memfs.errors import SetupError, UsageError
from memfs.git.process import Completed, ProgramError, await_child, find_program, first_line
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
_PIPE = -1  # subprocess.PIPE, which only the door to processes imports

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
    """git for writing in one work tree, run by GitPython."""

    def __init__(self, tree: WorkTree) -> None:
        if tree.git_dir is None or tree.common_dir is None:
            raise UsageError(
                "these files are no git repository, so nothing can be written here",
                where=printable(tree.root),
                hint="clone the repository instead of unpacking a copy of it",
            )
        program = find_program("git")
        if program is None:
            raise SetupError("git is not installed, or not in a folder of PATH", hint="install git and try again")
        with _plain_environment():
            from git.cmd import Git
        self.tree = tree
        self.git_dir: Path = tree.git_dir
        self.common_dir: Path = tree.common_dir
        self.algorithm = object_format(tree)
        self.zero = "0" * (64 if self.algorithm == "sha256" else 40)
        self._program = program
        self._git = Git(str(tree.root))
        self.held: int | None = None  # the lock: a git that outlives a killed memfs keeps it till it ends
        self._configuration: dict[str, str | None] | None = None

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
        variables = dict(_WRITE_VARIABLES, GIT_CEILING_DIRECTORIES=os.path.dirname(self.tree.root))
        if index is not None:
            variables["GIT_INDEX_FILE"] = str(index)
        if more is not None:
            variables |= more
        command = [
            self._program,
            *READ_SWITCHES,
            "-c",
            "i18n.commitEncoding=UTF-8",
            *args,
        ]
        with _plain_environment():
            child = self._git.execute(
                command,
                istream=None if input is None else _PIPE,
                env=variables,
                as_process=True,
                start_new_session=True,
                # A signing program may leave an agent behind, which must not keep the lock for ever.
                pass_fds=() if self.held is None or signing else (self.held,),
            )
        if child.proc is None:
            raise SetupError("git could not be started")
        completed = await_child(child.proc, "git", input=input, timeout=timeout)
        if completed.returncode == 128 and b"dubious ownership" in completed.stderr:
            raise refuse_owner(self.tree.root)
        if check and completed.returncode != 0:
            raise ProgramError(f"git {_verb_of(args)} failed: {first_line(completed.stderr)}", completed=completed)
        return completed

    def configuration(self) -> dict[str, str | None]:
        """Return the last value of each variable of the user's and the repository's configuration."""
        if self._configuration is not None:
            return self._configuration
        values: dict[str, str | None] = {}
        for record in self.run("config", "--null", "--list").stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            name, newline, value = record.partition("\n")
            values[name] = value if newline else None
        self._configuration = values
        return values

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
        self.set_entries(index, updates, more=variables)

    def set_entries(
        self,
        index: Path,
        updates: Sequence[IndexUpdate],
        *,
        switches: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
    ) -> None:
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
                *switches,
                "update-index",
                *arguments,
                "--force-remove",
                "--",
                *removed,
                index=index,
                check=False,
                more=more,
            )
            if done.returncode == 0:
                continue
            if b"both a file and as a directory" in done.stderr:
                raise UsageError(
                    "a file or a submodule stands where a folder is needed, or the other way round",
                    where=", ".join(printable(update.path) for update in updates[:3]),
                )
            raise ProgramError(f"git update-index failed: {first_line(done.stderr)}", completed=done)

    def blob_id(self, raw: bytes) -> str:
        return blob_id(raw, algorithm=self.algorithm)

    def read_blob(self, oid: str) -> bytes:
        return self.run("cat-file", "blob", oid).stdout

    def unmerged_paths(self) -> list[str]:
        records = self.run("ls-files", "-z", "--unmerged").stdout.split(b"\0")
        return [os.fsdecode(record.split(b"\t", 1)[1]) for record in records if record]

    def tree_entries(self, commit: str | None, paths: Sequence[str]) -> dict[str, IndexEntry]:
        if commit is None:
            return {}
        entries = {}
        for record in self.run("ls-tree", "-z", "--full-tree", commit, "--", *paths).stdout.split(b"\0"):
            if record:
                head, _, path = record.partition(b"\t")
                mode, _kind, oid = head.decode().split(" ")
                entries[os.fsdecode(path)] = IndexEntry(mode=mode, oid=oid)
        return entries

    def index_entries(self, paths: Sequence[str]) -> dict[str, IndexEntry]:
        entries = {}
        for record in self.run("ls-files", "-z", "-v", "--stage", "--full-name", "--", *paths).stdout.split(b"\0"):
            if record:
                head, _, path = record.partition(b"\t")
                tag, mode, oid, _stage = head.decode().split(" ")
                entries[os.fsdecode(path)] = IndexEntry(mode=mode, oid=oid, tag=tag)
        return entries

    def write_blobs(self, contents: Mapping[str, bytes], folder: Path) -> dict[str, str]:
        """Write all contents as blobs, as they are, and return their names by path."""
        if not contents:
            return {}
        names = []
        for number, content in enumerate(contents.values()):
            file = folder / f"blob{number}"
            file.write_bytes(content)
            names.append(_c_quoted(file))
        made = self.run("hash-object", "-w", "--no-filters", "--stdin-paths", input=b"".join(names))
        return dict(zip(contents, made.stdout.decode().split(), strict=True))

    def tree_with(self, base: str | None, updates: Sequence[IndexUpdate], folder: Path) -> str:
        """Return the tree of ``base`` with ``updates`` made, by way of an index of its own."""
        index = folder / "index"
        index.unlink(missing_ok=True)
        alone = ("-c", "core.splitIndex=false", "-c", "index.sparse=false")
        if base is not None:
            self.run(*alone, "read-tree", base, index=index)
        self.set_entries(index, updates, switches=alone)
        # Blobs that a partial clone has not fetched are in the base's tree and need not be here.
        return self.run(*alone, "write-tree", "--missing-ok", index=index).stdout.decode().strip()


_environment_guard = threading.RLock()


@contextmanager
def _plain_environment() -> Iterator[None]:
    """Take the ``GIT_*`` variables out of this process while GitPython starts git: it passes on all
    it finds, and reads some itself. Relative folders of PATH go too (see ``find_program``)."""
    with _environment_guard:
        kept = {name: value for name, value in os.environ.items() if name not in without_git_variables(os.environ)}
        path = os.environ.get("PATH")
        for name in kept:
            del os.environ[name]
        if path is not None:
            os.environ["PATH"] = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))
        try:
            yield
        finally:
            os.environ.update(kept)
            if path is not None:
                os.environ["PATH"] = path


def signing_programs() -> list[str]:
    """Return the switches that let the user's own configuration alone name the programs that sign.

    A repository's configuration could name any program (TRUST 7), so that every value it may have is
    overruled, by git's own default where the user has set none.
    """
    switches = []
    for name, default in _SIGNING_PROGRAMS.items():
        switches += ["-c", f"{name}={user_git_setting(name) or default}"]
    return switches


def _verb_of(args: Sequence[str]) -> str:
    """Return the command of git's arguments; each switch before it is ``-c`` with its value."""
    rest = list(args)
    while rest[0] == "-c":
        del rest[:2]
    return rest[0]


def _c_quoted(path: Path) -> bytes:
    raw = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + raw + b'"\n'
