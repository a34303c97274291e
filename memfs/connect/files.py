"""Settings files that belong to the user's other tools: read, compare, swap, remember how they were.

A file is written only while it is still what was read; a symlink stays a link and its target is
what changes; what was there before is kept in the state folder until `memfs disconnect`.
"""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path

from memfs.disk.files import write_atomic
from memfs.disk.places import Places
from memfs.disk.private import make_folder, replace_own
from memfs.errors import SetupError
from memfs.model.values import dataclass

_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A file as it was read. ``real`` is where its links lead; ``content`` is None where it is missing."""

    path: Path
    real: Path
    content: bytes | None
    missing_folders: tuple[Path, ...] = ()  # outermost first
    within: Path | None = None  # where the file must really lie


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What memfs wrote into one file, and what was there before."""

    before: bytes | None
    after_digest: str
    commands: tuple[str, ...]
    made_folders: tuple[Path, ...]


def read_plain(path: Path) -> bytes:
    """Return the bytes of a regular file, links followed; never waits for a pipe. Raises :class:`OSError`."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise OSError("it is not a settings file")
        return file.read()


def read_snapshot(path: Path, *, within: Path | None = None) -> Snapshot:
    """Return the file at ``path``. Raises :class:`SetupError` for anything but a file or nothing.

    ``within`` names the project that the file belongs to: a link of the project may not choose a file
    outside it (DESIGN 4). A person's own settings may be links to anywhere.
    """
    real = Path(os.path.realpath(path))
    if within is not None and not real.is_relative_to(os.path.realpath(within)):
        raise SetupError(
            "it leads out of the project by a link, so it is left alone",
            where=str(path),
            hint="remove the link, or connect with --user",
        )
    try:
        status = os.stat(real)
    except FileNotFoundError:
        if path.is_symlink():
            raise SetupError(
                "it is a link to a file that is not there", where=str(path), hint="make that file, or remove the link"
            ) from None
        return Snapshot(
            path=path, real=real, content=None, missing_folders=_missing_folders(real.parent), within=within
        )
    except OSError as error:
        raise SetupError(f"it cannot be read: {error.strerror}", where=str(path)) from None
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
        raise SetupError("it is not a settings file", where=str(path))
    try:
        return Snapshot(path=path, real=real, content=read_plain(real), within=within)
    except OSError as error:
        raise SetupError(f"it cannot be read: {error.strerror}", where=str(path)) from None


def swap(snapshot: Snapshot, content: bytes | None) -> None:
    """Write ``content`` (None deletes) where ``snapshot`` was read, if that still holds.

    Raises :class:`SetupError`, having changed nothing, when somebody else wrote in between or the
    file may not be written.
    """
    if read_snapshot(snapshot.path, within=snapshot.within).content != snapshot.content:
        raise SetupError(
            "somebody else changed it meanwhile; nothing was written",
            where=str(snapshot.path),
            hint="close the agent and try again",
        )
    try:
        if content is None:
            snapshot.real.unlink(missing_ok=True)
            return
        snapshot.real.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(snapshot.real, content, mode=0o600)
    except OSError as error:
        raise SetupError(f"it cannot be written: {error.strerror}", where=str(snapshot.path)) from None


def read_record(places: Places, snapshot: Snapshot) -> Record | None:
    """Return what is remembered of the file, or None."""
    stem = _record_stem(places, snapshot)
    try:
        fields = json.loads(stem.with_suffix(".json").read_bytes())
        before = stem.with_suffix(".before").read_bytes() if fields["existed"] else None
        return Record(
            before=before,
            after_digest=fields["after"],
            commands=tuple(fields["commands"]),
            made_folders=tuple(Path(folder) for folder in fields["made_folders"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(places: Places, snapshot: Snapshot, record: Record) -> None:
    """Remember ``record`` of the file."""
    stem = _record_stem(places, snapshot)
    make_folder(places, "state", "connections")
    if record.before is not None:
        replace_own(stem.with_suffix(".before"), record.before)
    fields = {
        "path": str(snapshot.path),
        "existed": record.before is not None,
        "after": record.after_digest,
        "commands": list(record.commands),
        "made_folders": [str(folder) for folder in record.made_folders],
    }
    replace_own(stem.with_suffix(".json"), json.dumps(fields).encode("ascii"))


def drop_record(places: Places, snapshot: Snapshot, record: Record | None) -> None:
    """Forget the file, and delete the folders that were made for it where they are empty."""
    stem = _record_stem(places, snapshot)
    for suffix in (".json", ".before"):
        stem.with_suffix(suffix).unlink(missing_ok=True)
    for folder in reversed(record.made_folders if record else ()):
        try:
            folder.rmdir()
        except OSError:
            return  # something else lives there now


def digest(content: bytes) -> str:
    """Return the hex SHA-256 of ``content``."""
    return sha256(content).hexdigest()


def _record_stem(places: Places, snapshot: Snapshot) -> Path:
    return places.state / "connections" / sha256(os.fsencode(snapshot.real)).hexdigest()[:24]


def _missing_folders(folder: Path) -> tuple[Path, ...]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    return tuple(reversed(missing))
