"""The roots that a person trusts, in a file of their own outside every repository (TRUST 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memfs.disk.places import Places
from memfs.disk.private import read_decisive, replace_decisive
from memfs.errors import SetupError, UsageError
from memfs.model.values import dataclass
from memfs.trust.keyring import Chain

_PIN = re.compile(r"memfs1:([0-9a-f]{32})(?::([1-9][0-9]{0,4}):([0-9a-f]{8}))?")
_LINE = re.compile(rf"- ({_PIN.pattern})[ \t]*(?:#.*)?")
_FILE = "trust.yaml"
_HEADER = "# The roots that you trust, one line a repository. Written by `memfs pin`.\n"
_MAX_BYTES = 1024 * 1024
_MAX_NOTE = 200
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._/~ -]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """``memfs1:REPOSITORY[:VERSION:DIGEST]``: one string for colleagues and CI."""

    repository_id: str
    version: int | None = None
    start: str | None = None  # first 8 hex of that version's digest

    @property
    def text(self) -> str:
        tail = f":{self.version}:{self.start}" if self.version is not None else ""
        return f"memfs1:{self.repository_id}{tail}"


def parse_pin(text: str) -> Pin:
    """Return the pin that ``text`` is. Raises :class:`UsageError`."""
    match = _PIN.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            "a pin looks like memfs1:REPOSITORY:VERSION:DIGEST",
            where="pin",
            hint="`memfs pin` prints it on the machine of a colleague who has the repository",
        )
    return Pin(repository_id=match[1], version=int(match[2]) if match[2] else None, start=match[3])


def pin_of(chain: Chain) -> Pin:
    """Return the pin of the newest version of ``chain``."""
    newest = chain.newest
    return Pin(repository_id=chain.repository_id, version=newest.keyring.version, start=newest.digest[:8])


def find_pin_fault(pin: Pin, chain: Chain) -> str | None:
    """Return why ``chain`` falls behind ``pin``, or None (the ids are the same already)."""
    if pin.version is None:
        return None
    if pin.version > len(chain.versions):
        return f"your pin names version {pin.version} of the keyring, here the newest is {len(chain.versions)}"
    if not chain.versions[pin.version - 1].digest.startswith(pin.start or ""):
        return f"version {pin.version} of the keyring is not the pinned one"
    return None


def read_pins(places: Places) -> dict[str, Pin]:
    """Return the user's pins by repository id; empty where there is no file.

    Raises :class:`SetupError` when the file lies in a git work tree, others may write it, or a line
    is not a pin: a pin that cannot be relied on pins nothing.
    """
    path = places.config / _FILE
    raw = read_decisive(path, "your pins", limit=_MAX_BYTES)
    return {} if raw is None else _parse_pins(raw, str(path))


def write_pin(places: Places, pin: Pin, *, note: str = "") -> None:
    """Write ``pin`` as the user's pin of its repository, in place of an older one.

    ``note`` (a folder's name, as a rule) is for people: nothing but plain characters of one line of
    it is kept, for a name can hold line ends, and a line is a pin.
    """
    pins = read_pins(places)
    pins[pin.repository_id] = pin
    _write_pins(places, pins, {pin.repository_id: note})


def delete_pin(places: Places, repository_id: str) -> bool:
    """Delete the pin of a repository and return whether there was one."""
    pins = read_pins(places)
    if pins.pop(repository_id, None) is None:
        return False
    _write_pins(places, pins, {})
    return True


def _write_pins(places: Places, pins: Mapping[str, Pin], notes: Mapping[str, str]) -> None:
    path = places.config / _FILE
    lines = []
    for pin in pins.values():
        note = _NOT_PLAIN.sub("?", notes.get(pin.repository_id, ""))[:_MAX_NOTE]
        lines.append(f"- {pin.text}" + (f"  # {note}" if note else "") + "\n")
    content = (_HEADER + "".join(lines)).encode("ascii")
    if _parse_pins(content, str(path)) != dict(pins):
        raise SetupError("your pins would not come back from their file; nothing was written", where=str(path))
    replace_decisive(places, path, content, "your pins")


def _parse_pins(raw: bytes, where: str) -> dict[str, Pin]:
    pins: dict[str, Pin] = {}
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), 1):
        text = line.rstrip()
        if not text or text.startswith("#"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise SetupError(
                "a line of your pins is not a pin",
                where=f"{where}:{number}",
                hint="each line is `- memfs1:REPOSITORY:VERSION:DIGEST`",
            )
        pin = parse_pin(match[1])
        if pin.repository_id in pins:
            raise SetupError("one repository is pinned twice", where=f"{where}:{number}", hint="keep one of the lines")
        pins[pin.repository_id] = pin
    return pins
