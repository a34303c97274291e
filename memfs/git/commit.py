"""Commits that disturb nobody (DESIGN 4).

A commit is built beside the user's own work: with an index file of its own, seeded from the
branch's tree, and published by compare-and-swap of the branch. The user's index then gets the new
entries for exactly the paths of the commit, so that ``git status`` is clean and whatever was staged
stays staged. No hook and no filter runs. Where the user has commits signed (``commit.gpgsign``), git
signs with the user's own settings, without a terminal and within a time limit.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from memfs.disk.files import (
    UnreadableFile,
    delete_in_tree,
    lock,
    read_if_there,
    remove_remains,
    write_in_tree,
)
from memfs.disk.gitfiles import read_small
from memfs.disk.worktree import WorkTree, operation_under_way, printable
from memfs.errors import SetupError, UsageError
from memfs.git.branches import Target, require_target
from memfs.git.change import (
    Change,
    ConflictError,
    UncommittedError,
    UndoneError,
    blob_bytes,
    check_changes,
    disk_bytes,
    explain_not_checked_out,
    quoted,
    require_before,
    require_no_conflict,
)
from memfs.git.conversion import refuse_filtered
from memfs.git.locks import (
    FOLDER_PREFIX,
    GIT_LOCK_TIMEOUT,
    hold_index_lock,
    holds_dead_lock,
    locked,
    remove_dead_remains,
    wait_for_lock,
)
from memfs.git.process import Completed, ProgramTimeout, first_line
from memfs.git.read import (
    branch_name,
    ref_commit,
    require_identity,
)
from memfs.git.writing import (
    TREE,
    IndexEntry,
    IndexUpdate,
    WritingGit,
    in_the_way,
    signing_programs,
)
from memfs.model.values import dataclass, field

__all__ = ("SIGNING_TIMEOUT", "Change", "ConflictError", "UncommittedError", "UndoneError", "commit_changes")

SIGNING_TIMEOUT = 9.0
"""Seconds that the user's signing program may take, so that the whole command ends within ten."""

_ATTEMPTS = 30  # how often another writer may win the branch before memfs gives up
_FILE_LIMIT = 16 * 1024 * 1024
_TRIAL = "trial-index"
_PUBLISHING = "publishing"  # beside next-index: the branch and the commit it is about to move to


def commit_changes(
    tree: WorkTree,
    changes: Sequence[Change],
    message: str,
    *,
    branch: str | None = None,
    start: str | None = None,
    signing_timeout: float = SIGNING_TIMEOUT,
    configuration: Mapping[str, str | None] | None = None,
) -> str:
    """Write ``changes`` as one commit on the current branch and return its name.

    With another ``branch`` the commit is made there, and neither work tree, index nor HEAD is
    touched or asked: ``before`` is compared with what the branch holds. The branch may be there
    already; with ``start`` (a commit's full name) it must be new and begins there, without ``start``
    a new one begins at HEAD. When the branch holds every change already, nothing is committed and
    its tip is returned. ``configuration`` is git's, where the caller has read it already.

    Refuses, changing nothing, with :class:`UsageError` (an operation under way, detached HEAD,
    something else staged for a path, a file that is not checked out), :class:`ConflictError`
    (``before`` does not hold, or another commit changed the path) or :class:`SetupError` (no
    identity, a lock that stays). Raises :class:`UncommittedError` when the files were written and
    the commit failed, for instance because it could not be signed.
    """
    check_changes(changes, message)
    git = WritingGit(tree, configuration=configuration)
    with lock(tree) as held:
        git.held = held
        _repair(tree)
        target = require_target(tree, branch, start)
        try:
            with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=git.git_dir) as folder:
                return _Commit(
                    git=git,
                    changes=changes,
                    message=message.rstrip("\n") + "\n",
                    target=target,
                    folder=Path(folder),
                    signing_timeout=signing_timeout,
                ).make()
        except OSError as error:
            raise SetupError(
                f"git's folder cannot be written, so nothing was changed: {error.strerror or error}",
                where=printable(git.git_dir),
            ) from error


@dataclass(slots=True, kw_only=True)
class _Commit:
    """One run of :func:`commit_changes`, under the lock."""

    git: WritingGit
    changes: Sequence[Change]
    message: str
    target: Target
    folder: Path
    signing_timeout: float
    replaced: dict[str, bytes | None] = field(default_factory=dict)  # what the work tree held before
    index_seen: tuple[int, ...] = ()  # the user's index when it was judged
    staged: Mapping[str, IndexEntry] = field(default_factory=dict)

    @property
    def tree(self) -> WorkTree:
        return self.git.tree

    @property
    def paths(self) -> list[str]:
        return [change.path for change in self.changes]

    def make(self) -> str:
        if self.target.checked_out:
            wait_for_lock(self.git.git_dir / "index.lock")
            self.index_seen = _stamp(self.git.git_dir / "index")
            self.staged, unmerged = self.git.read_index(self.paths)
            require_no_conflict(unmerged)
        wait_for_lock(self.git.common_dir / (self.target.ref + ".lock"))
        base = self._tip()
        found = self.git.read_tree(base, self.paths)
        entries = self._files_of(found)
        require_identity(self.git.configuration())
        self._require_plain_files(entries)
        self._require_no_conversion()
        if self.target.checked_out:
            self._require_before(entries)
            self._require_nothing_else_staged(entries)
        else:
            self._require_before_on_branch(entries)
        if self._is_there(entries):
            if base is None:
                raise UsageError("there is nothing to delete")
            self._write_files()
            return base
        contents = {c.path: blob_bytes(c.path, c.content) for c in self.changes if c.content is not None}
        updates = self._plan_updates({path: self.git.blob_id(raw) for path, raw in contents.items()}, entries)
        self._require_folders(found)
        if self.target.checked_out:
            # Whatever the user's index would refuse comes up here, before anything is written.
            self._update_copy(self.folder / _TRIAL, updates)
        self._write_files()
        try:
            return self._commit_and_publish(base, entries, updates, contents)
        except (ConflictError, UncommittedError, UndoneError):
            raise
        except SetupError as error:
            raise self._uncommitted(str(error), hint=error.hint) from error
        except OSError as error:
            raise self._uncommitted(f"git's folder cannot be written: {error.strerror or error}") from error

    def _is_there(self, entries: Mapping[str, IndexEntry]) -> bool:
        """Return whether the branch holds every change already."""
        there = {path: entry.oid for path, entry in entries.items()}
        return all(there.get(c.path) == self._blob_id(c.path, c.content) for c in self.changes)

    def _commit_and_publish(
        self,
        base: str | None,
        entries: Mapping[str, IndexEntry],
        updates: Sequence[IndexUpdate],
        contents: Mapping[str, bytes],
    ) -> str:
        new = self._store_commit(base, updates, contents)
        with self._prepared_index(entries, updates) as following:
            for _ in range(_ATTEMPTS):
                tip = self._tip()
                if self.target.start is not None and ref_commit(self.tree, self.target.ref) is not None:
                    raise UsageError("the branch was made by somebody else meanwhile", hint="choose another name")
                if tip != base:
                    # Somebody else's commit is in between. Made again under git's lock, ours comes next.
                    found = self.git.read_tree(tip, self.paths)
                    if self._files_of(found) != entries:
                        self._restore_files()
                        raise ConflictError(self.paths[0], "another commit changed it while this one was made")
                    self._require_folders(found)
                    base = tip
                    new = self._store_commit(base, updates, contents)
                if following is not None:
                    (self.folder / _PUBLISHING).write_text(f"{self.target.ref}\n{new}\n", encoding="utf-8")
                if self._move_branch(new, base):
                    if following is not None:
                        os.replace(following, self.git.git_dir / "index")
                    return new
        raise self._uncommitted("other commits kept winning the branch", hint="try again")

    @contextmanager
    def _prepared_index(
        self, entries: Mapping[str, IndexEntry], updates: Sequence[IndexUpdate]
    ) -> Iterator[Path | None]:
        """Hold git's lock on the index and give the index that follows; None where no index follows."""
        if not self.target.checked_out:
            yield None
            return
        index = self.git.git_dir / "index"
        with hold_index_lock(self.git.git_dir):
            # From here on no git command of the user's can stage anything or leave the branch.
            if f"refs/heads/{branch_name(self.tree)}" != self.target.ref or operation_under_way(self.tree):
                raise self._uncommitted("the branch was left while the commit was made", hint="try again")
            if _stamp(index) != self.index_seen and self._staged_meanwhile(entries):
                raise self._uncommitted("something else was staged for it while the commit was made", hint="try again")
            following = self.folder / "next-index"
            if _stamp(index) == self.index_seen:
                os.replace(self.folder / _TRIAL, following)  # nothing was staged since it was made
            else:
                self._update_copy(following, updates)
            yield following

    def _update_copy(self, copy: Path, updates: Sequence[IndexUpdate]) -> None:
        _copy(self.git.git_dir / "index", copy)
        self.git.update_index(copy, updates)

    def _uncommitted(self, message: str, *, hint: str | None = None) -> SetupError:
        if not self.target.checked_out:
            return SetupError(message, hint=hint)
        if any(change.content is None for change in self.changes):
            # Written text waits for the next run; a deletion that waits would only look like a loss.
            self._restore_files()
            return UndoneError(f"{message}; nothing was changed", hint=hint)
        return UncommittedError(message, paths=self.paths, hint=hint)

    def _tip(self) -> str | None:
        return ref_commit(self.tree, self.target.ref) or self.target.start

    # What must hold before anything is written

    def _require_plain_files(self, entries: Mapping[str, IndexEntry]) -> None:
        for path in self.paths:
            entry = entries.get(path)
            if entry is not None and not entry.mode.startswith("100"):
                raise UsageError("is not a plain file in the repository", where=printable(path))
            folder = self.tree.root
            for part in path.split("/")[:-1]:
                folder = folder / part
                if os.path.lexists(folder / ".git"):
                    raise UsageError("lies in another repository inside this one", where=printable(path))

    def _require_no_conversion(self) -> None:
        written = [change.path for change in self.changes if change.content is not None]
        refuse_filtered(self.tree, written, read=lambda *args, **more: self.git.run(*args, **more).stdout)

    def _require_nothing_else_staged(self, entries: Mapping[str, IndexEntry]) -> None:
        for change in self.changes:
            entry = self.staged.get(change.path)
            now = self.replaced[change.path]
            if entry is not None and entry.tag != "H" and entry.oid != self._blob_id(change.path, now):
                raise explain_not_checked_out(change.path, missing=now is None)
            if not self._is_harmless(change, entry, entries.get(change.path)):
                raise UsageError(
                    "something else is staged for this file",
                    where=printable(change.path),
                    hint="commit it, or take it back with: git restore --staged -- " + quoted(change.path),
                )

    def _is_harmless(self, change: Change, staged: IndexEntry | None, committed: IndexEntry | None) -> bool:
        """Return whether replacing what is staged loses nothing: it is what the branch has, what the
        file holds, what is being committed, or a mere intent to add."""
        if staged is None:
            return committed is None or change.content is None
        if committed is not None and (staged.mode, staged.oid) == (committed.mode, committed.oid):
            return True
        path, now = change.path, self.replaced[change.path]
        return staged.oid in (self._blob_id(path, now), self._blob_id(path, change.content), self.git.blob_id(b""))

    def _blob_id(self, path: str, content: bytes | None) -> str | None:
        return None if content is None else self.git.blob_id(blob_bytes(path, content))

    def _require_before(self, entries: Mapping[str, IndexEntry]) -> None:
        for change in self.changes:
            now = self.replaced[change.path] = read_if_there(self.tree, change.path, limit=_FILE_LIMIT)
            if change.before is None and change.path in entries:
                raise ConflictError(change.path, "is there already")
            if change.before is not None or now != change.content:  # else it is written already, by an earlier run
                require_before(change, now)

    def _require_before_on_branch(self, entries: Mapping[str, IndexEntry]) -> None:
        for change in self.changes:
            entry = entries.get(change.path)
            if entry is not None and isinstance(change.before, str):
                require_before(change, self.git.read_blob(entry.oid))
            else:
                require_before(change, None if entry is None else b"")

    # The work tree

    def _write_files(self) -> None:
        if not self.target.checked_out:
            return
        try:
            for change in self.changes:
                now = self.replaced[change.path]
                remove_remains(self.tree, change.path)
                if change.content is None:
                    delete_in_tree(self.tree, change.path)
                elif now is None or blob_bytes(change.path, now) != blob_bytes(change.path, change.content):
                    write_in_tree(self.tree, change.path, disk_bytes(change.path, change.content, now))
        except (OSError, UnreadableFile) as error:
            self._restore_files()
            if isinstance(error, UnreadableFile):
                raise
            raise SetupError(
                f"cannot be written, so nothing was changed: {error.strerror or error}", where=printable(change.path)
            ) from error

    def _restore_files(self) -> None:
        if not self.target.checked_out:
            return
        for path, content in self.replaced.items():
            if content is None:
                delete_in_tree(self.tree, path)
            else:
                write_in_tree(self.tree, path, content)

    # The commit

    def _plan_updates(self, blobs: Mapping[str, str], entries: Mapping[str, IndexEntry]) -> list[IndexUpdate]:
        modes = {path: entry.mode for path, entry in entries.items()}
        return [IndexUpdate(path, modes.get(path, "100644"), blobs.get(path)) for path in self.paths]

    def _files_of(self, found: Mapping[str, IndexEntry]) -> dict[str, IndexEntry]:
        return {path: found[path] for path in self.paths if path in found}

    def _require_folders(self, found: Mapping[str, IndexEntry]) -> None:
        files = self._files_of(found)
        if any(entry.mode != TREE for path, entry in found.items() if path not in files):
            raise in_the_way(self.paths)

    def _store_commit(self, base: str | None, updates: Sequence[IndexUpdate], contents: Mapping[str, bytes]) -> str:
        """Store what the commit consists of, and return its name."""
        new = self.git.store_commit(base, updates, contents, self.message)
        key = self.git.signing_key()
        return new if key is None else self._sign_commit(key, f"{new}^{{tree}}", base)

    def _sign_commit(self, key: str, new_tree: str, base: str | None) -> str:
        parents = [] if base is None else ["-p", base]
        try:
            made = self.git.run(
                *signing_programs(),
                "commit-tree",
                "-S",
                new_tree,
                *parents,
                "-F",
                "-",
                input=self.message.encode(),
                timeout=self.signing_timeout,
                check=False,
                signing=True,
            )
        except ProgramTimeout as error:
            raise self._unsigned(
                key, f"the signing program did not end within {self.signing_timeout:g} seconds"
            ) from error
        if made.returncode != 0:
            raise self._unsigned(key, _signing_cause(made))
        return made.stdout.decode().strip()

    def _unsigned(self, key: str, cause: str) -> SetupError:
        return self._uncommitted(
            f"the commit could not be signed with {key}: {cause}",
            hint="put the key into your ssh-agent or gpg-agent (ssh-add FILE), or correct user.signingkey in git's"
            " configuration; then run the command again",
        )

    def _staged_meanwhile(self, entries: Mapping[str, IndexEntry]) -> bool:
        staged, _ = self.git.read_index(self.paths)
        return not all(self._is_harmless(c, staged.get(c.path), entries.get(c.path)) for c in self.changes)

    def _move_branch(self, new: str, base: str | None) -> bool:
        ref = self.target.ref
        expected = base if base is not None and self.target.start is None else self.git.zero
        reflog = "commit (memfs): " + self.message.split("\n", 1)[0][:200]
        deadline = time.monotonic() + GIT_LOCK_TIMEOUT
        while True:
            moved = self.git.run("update-ref", "-m", reflog, ref, new, expected, check=False)
            if moved.returncode == 0:
                return True
            if b".lock': File exists" not in moved.stderr:
                if ref_commit(self.tree, ref) != (None if expected == self.git.zero else expected):
                    return False
                raise self._uncommitted(f"the branch cannot be moved: {first_line(moved.stderr)}")
            if time.monotonic() >= deadline:
                raise locked(self.git.common_dir / (ref + ".lock"))
            time.sleep(0.05)


def _repair(tree: WorkTree) -> None:
    """Finish or undo what a killed memfs left. Only for the holder of memfs's own lock.

    Killed after it moved the branch and before it replaced the index, it still holds git's lock, so
    that nothing was staged since: the index that it had prepared is the right one.
    """
    git_dir = Path(str(tree.git_dir))
    if holds_dead_lock(git_dir):
        for folder in git_dir.glob(f"{FOLDER_PREFIX}*"):
            ref, _, new = (read_small(str(folder / _PUBLISHING)) or b"").decode("utf-8", "replace").partition("\n")
            if ref == f"refs/heads/{branch_name(tree)}" and ref_commit(tree, ref) == new.strip():
                with suppress(FileNotFoundError):  # it had replaced the index, too
                    os.replace(folder / "next-index", git_dir / "index")
    remove_dead_remains(git_dir)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _copy(source: Path, target: Path) -> None:
    import shutil

    try:
        # With its time: by that git knows which files may have changed since without looking changed.
        shutil.copy2(source, target)
    except FileNotFoundError:
        target.unlink(missing_ok=True)  # no index yet: git makes one


def _signing_cause(made: Completed) -> str:
    # ssh-keygen draws a frame of @ and prompts; git adds what only says that it failed.
    for line in made.stderr.replace(b"\r", b"\n").split(b"\n"):
        text = line.removeprefix(b"error: ").removeprefix(b"fatal: ").removeprefix(b"Enter passphrase: ").strip(b" @?")
        if text and b"WARNING: UNPROTECTED" not in text and b"failed to write commit" not in text:
            return first_line(text)
    return f"git ended with code {made.returncode}"
