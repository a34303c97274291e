"""What this machine has seen of a repository: it can only take trust away (TRUST 8).

Kept in the user's state folder: the newest keyring and, per id, the records seen in the history of the branch
that is followed (judged again under today's keyring each time); which commits of it were read; what other
branches add, which counts while one is there; which repository a work tree contained; and the last date. A
folder that cannot be used costs the memory of replays, never a verdict.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from memfs.disk.gitfiles import is_ref_name
from memfs.disk.places import Places
from memfs.disk.private import append_own, make_folder, read_own, replace_own
from memfs.disk.worktree import WorkTree, identify
from memfs.errors import SetupError
from memfs.git.log import MAX_KNOWN
from memfs.trust.judge import Reason
from memfs.trust.keyring import SignedKeyring, format_file
from memfs.trust.record import Record, find_records

MAX_RECORDS = 200  # kept of one id when its file is rewritten
MAX_BESIDE = 2_000  # records of one branch; with more of them the history is read each time
MAX_NOTES = 3  # records that failed, kept of one id to say why there is no approval
_Failure = tuple[Reason, Record]
_REWRITE_BYTES = 512 * 1024
_MAX_BYTES = 8 * 1024 * 1024


class Remembered:
    """The memory of one user on one machine, for one repository once :meth:`use` named it."""

    def __init__(self, places: Places | None) -> None:
        self.notice: str | None = None
        self._state: Path | None = None
        self._folder: Path | None = None
        self._seen: dict[str, _Known] = {}
        if places is None:
            return
        self._places = places
        try:
            self._state = make_folder(places, "state")
        except SetupError as error:
            self._give_up(error)

    def use(self, repository_id: str) -> None:
        """Take the memory of ``repository_id`` in hand."""
        if self._state is None:
            return
        try:
            self._folder = make_folder(self._places, "state", repository_id)
        except SetupError as error:
            self._give_up(error)

    # -- the clock (trust case 40: a clock that is set back must not revive what ran out) ----------

    def latest_date(self, today: date) -> date:
        """Return the later of ``today`` and the last date seen, and remember it."""
        if self._state is None:
            return today
        path = self._state / "last-date"
        last = _parse_date(self._read(path))
        if last is not None and last > today:
            self.notice = (
                f"the clock says {today.isoformat()}, but {last.isoformat()} was seen before, which is used; "
                f"if that was the mistake, delete {path}"
            )
            return last
        if last != today:
            self._write(path, f"{today.isoformat()}\n".encode())
        return today

    # -- which repository a work tree contains -----------------------------------------------------

    def repository_at(self, tree: WorkTree) -> str | None:
        """Return the id of the pinned repository that ``tree`` contained when it was last read."""
        if self._state is None:
            return None
        text = self._read(self._state / "trees" / identify(tree))
        name = text.decode("ascii", "replace").strip() if text else ""
        return name if len(name) == 32 and name.isalnum() else None

    def note_repository_at(self, tree: WorkTree, repository_id: str) -> None:
        if self._state is not None and self.repository_at(tree) != repository_id:
            self._write(self._state / "trees" / identify(tree), f"{repository_id}\n".encode())

    # -- the branch that is followed ---------------------------------------------------------------

    def followed(self) -> str | None:
        """Return the full ref of the branch that the user named, None where that is left to memfs."""
        text = self._read(self._folder / "followed") if self._folder else None
        name = text.decode("utf-8", "replace").strip() if text else ""
        return name if is_ref_name(name) else None

    def note_followed(self, ref: str) -> None:
        if self._folder is not None:
            self._write(self._folder / "followed", f"{ref}\n".encode())

    # -- the newest keyring ------------------------------------------------------------------------

    def newest_keyring(self) -> tuple[int, str] | None:
        """Return version and digest of the newest keyring seen on the followed branch."""
        text = self._read(self._folder / "keyring") if self._folder else None
        words = text.decode("ascii", "replace").split() if text else []
        if len(words) != 2 or not words[0].isdecimal():
            return None
        return int(words[0]), words[1]

    def keyring_file(self) -> bytes | None:
        """Return the file of :meth:`newest_keyring`, to show it to a person; nothing is decided by it."""
        return self._read(self._folder / "keyring.file") if self._folder else None

    def note_keyring(self, signed: SignedKeyring, *, even_older: bool = False) -> None:
        """Remember the newest keyring; ``even_older`` is for the person who says that it is the right one."""
        newest, version = self.newest_keyring(), signed.keyring.version
        folder = self._folder
        if folder is not None and (newest is None or newest[0] < version or even_older):
            self._write(folder / "keyring.file", format_file(signed.body, signed.signatures))
            self._write(folder / "keyring", f"{version} {signed.digest}\n".encode())

    def keyring_tips(self) -> list[str]:
        """Return the commits of the followed branch whose keyring was looked at, newest first."""
        text = self._read(self._folder / "keyring.tips") if self._folder else None
        return text.decode("ascii", "replace").split("\n") if text else []

    def note_keyring_tip(self, commit: str) -> None:
        folder, tips = self._folder, self.keyring_tips()
        if folder is not None:
            self._write(folder / "keyring.tips", "\n".join([commit, *tips[:MAX_KNOWN]]).encode())

    # -- commits read ------------------------------------------------------------------------------

    def tips(self, reading: str) -> list[str]:
        """Return the commits whose history was read under ``reading``, newest first.

        ``reading`` names the keyring that counts, for another one may list the key of a record that was passed
        over, and where the history is cut off, for more of it may arrive: then all is read again.
        """
        text = self._read(self._folder / "tips") if self._folder else None
        lines = text.decode("ascii", "replace").split("\n") if text else []
        words = [line.split(" ") for line in lines]
        return [pair[1] for pair in words if len(pair) == 2 and pair[0] == reading]

    def note_tip(self, reading: str, commit: str) -> None:
        folder = self._folder
        if folder is None:
            return
        text = self._read(folder / "tips") or b""
        line = f"{reading} {commit}"
        others = [one for one in text.decode("ascii", "replace").split("\n") if " " in one and one != line]
        self._write(folder / "tips", "\n".join([line, *others[: MAX_KNOWN - 1], ""]).encode())

    # -- what another branch adds ------------------------------------------------------------------

    def beside(self, commit: str) -> list[Record] | None:
        """Return the records in the history of ``commit`` that the followed branch does not have, verified or
        not; None where they were not looked for."""
        raw = self._read(self._folder / "beside" / commit) if self._folder else None
        return None if raw is None else find_records(raw, limit=MAX_BESIDE)

    def note_beside(self, commit: str, records: Sequence[Record]) -> None:
        """Keep what :meth:`beside` returns; of the commits the newest few are kept."""
        if self._folder is None or len(records) > MAX_BESIDE:
            return
        folder = self._folder / "beside"
        self._write(folder / commit, "".join(f"{record.line}\n" for record in records).encode("ascii"))
        with suppress(OSError):
            kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
            for path in kept[:-MAX_KNOWN]:
                path.unlink()

    # -- records -----------------------------------------------------------------------------------

    def ids(self) -> list[str]:
        """Return every id that records are remembered of."""
        try:
            return sorted(os.listdir(self._folder / "records")) if self._folder else []
        except OSError:
            return []

    def records(self, memory_id: str, *, known: Collection[str] = ()) -> list[Record]:
        """Return the records about ``memory_id`` that verified when they were seen, without those
        whose line is ``known`` to the caller."""
        valid = self._of(memory_id).valid
        found = []
        for line in [line for line in valid if line not in known]:
            record = valid[line] or _parse_line(line, memory_id)
            if record is None:
                del valid[line]  # the file was damaged
                continue
            valid[line] = record
            found.append(record)
        return found

    def failures(self, memory_id: str) -> list[tuple[Reason, Record]]:
        """Return records about ``memory_id`` that did not, with the reason, to explain a verdict."""
        return list(self._of(memory_id).failed.values())

    def add(self, records: Mapping[str, Sequence[Record]], failures: Mapping[str, Sequence[_Failure]]) -> None:
        """Remember ``records`` and ``failures`` by id; what is known already costs nothing."""
        for memory_id in {**records, **failures}:
            known = self._of(memory_id)
            lines: list[str] = []
            for record in records.get(memory_id, ()):
                if record.line not in known.valid:
                    known.valid[record.line] = record
                    lines.append(f"+ {record.line}\n")
            for reason, record in failures.get(memory_id, ()):
                if record.line not in known.failed and record.line not in known.valid and len(known.failed) < MAX_NOTES:
                    known.failed[record.line] = (reason, record)
                    lines.append(f"{reason} {record.line}\n")
            if lines:
                self._append(memory_id, lines)

    def _of(self, memory_id: str) -> _Known:
        known = self._seen.get(memory_id)
        if known is not None:
            return known
        known = self._seen[memory_id] = _Known()
        raw = self._read(f"{self._folder}/records/{memory_id}") if self._folder else None
        for text in raw.decode("ascii", "replace").split("\n") if raw else ():
            mark, _, line = text.partition(" ")
            if mark == "+":
                known.valid[line] = None  # parsed when it is asked for: most are receipts, read already
            elif mark in _REASONS and (record := _parse_line(line, memory_id)) is not None:
                known.failed[line] = (Reason(mark), record)
        for line in known.valid:
            known.failed.pop(line, None)
        return known

    def _append(self, memory_id: str, lines: list[str]) -> None:
        if self._folder is None:
            return
        path = self._folder / "records" / memory_id
        try:
            make_folder(self._places, "state", self._folder.name, "records")
            size = append_own(path, "".join(lines).encode("ascii"))
        except SetupError as error:
            self._give_up(error)
            return
        if size > _REWRITE_BYTES:
            self._rewrite(memory_id, path)

    def _rewrite(self, memory_id: str, path: Path) -> None:
        def counter(record: Record) -> int:
            item = record.statement.item(memory_id)
            return item.seq if item else 0

        kept = sorted(self.records(memory_id), key=counter, reverse=True)[:MAX_RECORDS]
        lines = [f"+ {record.line}\n" for record in kept]
        lines += [f"{reason} {record.line}\n" for reason, record in self.failures(memory_id)]
        self._write(path, "".join(lines).encode("ascii"))

    # -- the disk ----------------------------------------------------------------------------------

    def _read(self, path: Path | str) -> bytes | None:
        try:
            return read_own(path, limit=_MAX_BYTES)
        except SetupError as error:
            self._give_up(error)
            return None

    def _write(self, path: Path, content: bytes) -> None:
        if self._state is None:  # given up meanwhile
            return
        try:
            make_folder(self._places, "state", *path.parent.relative_to(self._state).parts)
            replace_own(path, content)
        except SetupError as error:
            self._give_up(error)

    def _give_up(self, error: SetupError) -> None:
        self.notice = f"this machine's memory of approvals cannot be used, so replays may go unseen ({error})"
        self._state = self._folder = None


_REASONS: frozenset[str] = frozenset(Reason)


class _Known:
    """What is remembered of one id, by line; a record that nobody asked for yet is None."""

    __slots__ = ("failed", "valid")

    def __init__(self) -> None:
        self.valid: dict[str, Record | None] = {}
        self.failed: dict[str, _Failure] = {}


def _parse_line(line: str, memory_id: str) -> Record | None:
    found = find_records(line.encode("ascii", "replace"), limit=1)
    return found[0] if found and found[0].line == line and found[0].statement.item(memory_id) is not None else None


def _parse_date(raw: bytes | None) -> date | None:
    try:
        return date.fromisoformat(raw.decode("ascii").strip()) if raw else None
    except (ValueError, UnicodeDecodeError):
        return None


def by_id(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return ``records`` under every id that they name."""
    found: dict[str, list[Record]] = {}
    for record in records:
        for item in record.statement.items:
            found.setdefault(item.id, []).append(record)
    return found
