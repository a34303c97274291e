"""Connecting and disconnecting: all files of an agent, or none of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memfs.connect.agents import AGENTS, load_agent
from memfs.connect.files import (
    Record,
    Snapshot,
    digest,
    drop_record,
    read_plain,
    read_record,
    read_snapshot,
    swap,
    write_record,
)
from memfs.connect.json_text import load
from memfs.connect.ours import find_places
from memfs.connect.targets import JsonTarget, OwnTarget, Target, TomlTarget, UnfitError
from memfs.connect.toml_text import parse_toml
from memfs.connect.wish import Wish, can_hook, skill_target, targets_of
from memfs.disk.places import Places
from memfs.errors import MemfsError, SetupError, UsageError
from memfs.model.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of one file: ``written``, ``restored`` (byte for byte), ``cleaned`` of memfs's entries only,
    ``deleted`` or ``unchanged``."""

    path: Path
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    target: Target
    snapshot: Snapshot
    record: Record | None
    before: bytes | None  # the file without anything of memfs's
    after: bytes | None  # the file as it is to be
    untouched: bool  # nobody wrote into the file since memfs did


def connect(wish: Wish, places: Places, *, here: Path | None = None) -> list[Change]:
    """Install what ``wish`` says and take out what it does not say any more; all files or none.

    ``here`` is the project that the user is in, whose own settings the agent would read as well.
    Raises :class:`UsageError` where memfs is installed already in a file that the agent reads too,
    or a file cannot be edited safely (the hint is what to paste).
    """
    other = find_other_install(wish, places, here=here)
    if other is not None:
        raise UsageError(
            "memfs is installed already in a file that this agent reads too: it would run twice",
            where=str(other),
            hint="nothing is left to do; or disconnect that one first",
        )
    return write_targets(targets_of(wish), places, within=wish.project)


def plan(wish: Wish, places: Places) -> list[Change]:
    """Return what :func:`connect` would do, and do nothing."""
    return write_targets(targets_of(wish), places, within=wish.project, dry_run=True)


def write_targets(
    targets: Sequence[Target], places: Places, *, within: Path | None, dry_run: bool = False
) -> list[Change]:
    """Put these targets in place, all or none, and return what became of each."""
    steps = [_plan(target, places, add=True, within=within) for target in targets]
    if dry_run:
        return [Change(path=step.target.path, what=_word(step)) for step in steps]
    return _carry_out(steps, places)


def disconnect(wish: Wish, places: Places) -> list[Change]:
    """Take everything of memfs out of the agent's files of this scope. A file that nobody else changed
    meanwhile is again what it was, byte for byte."""
    nothing = replace(wish, moments=(), mcp=False, skill=False)
    kept = skill_target(wish).path if _is_skill_shared(wish, places) else None
    targets = [target for target in targets_of(nothing) if target.path != kept]
    return _carry_out([_plan(target, places, add=False, within=wish.project) for target in targets], places)


def _is_skill_shared(wish: Wish, places: Places) -> bool:
    """Return whether another agent that is connected in this scope reads the same skill file."""
    others = [replace(wish, agent=agent, config_dir=None) for agent in AGENTS if agent != wish.agent]
    skill = skill_target(wish).path
    return any(skill_target(other).path == skill and is_connected(other, places) for other in others)


def is_connected(wish: Wish, places: Places) -> bool:
    """Return whether memfs's hooks, plugin or server are in one of the agent's files of this scope."""
    skill = skill_target(wish).path
    return any(_has_ours(target, places) for target in targets_of(wish) if target.path != skill)


def _has_ours(target: Target, places: Places) -> bool:
    try:
        snapshot = read_snapshot(target.path)
        text = (snapshot.content or b"").decode("utf-8")
        record = read_record(places, snapshot)
        return target.strip(text, record.commands if record else ()) != text
    except (MemfsError, UnicodeDecodeError):
        return False


def find_other_install(wish: Wish, places: Places, *, here: Path | None = None) -> Path | None:
    """Return a file of another scope, agent or plugin through which the agent runs memfs's hooks already."""
    if not wish.moments or not can_hook(wish.agent):
        return None
    candidates: list[Wish] = []
    if wish.project is None and here is not None:
        candidates.append(replace(wish, project=here, config_dir=None))
    if wish.project is not None:
        candidates.append(replace(wish, project=None))
        if wish.agent == "copilot":
            # In a trusted folder Copilot runs Claude Code's project hooks; memfs answers it in its shape.
            candidates.append(replace(wish, agent=wish.row.reads_hooks_of, config_dir=None))
    own = {target.path for target in targets_of(wish)}
    for other in candidates:
        for target in targets_of(other):
            if target.path not in own and holds_hook(target, places):
                return target.path
    return find_plugin(wish.agent, wish.home, wish.config_dir)


def holds_hook(target: Target, places: Places) -> bool:
    """Return whether a hook of memfs is in the file now."""
    try:
        snapshot = read_snapshot(target.path)
    except MemfsError:
        return False
    if snapshot.content is None:
        return False
    text = snapshot.content.decode("utf-8", "replace")
    if isinstance(target, OwnTarget):
        return target.strip(text) != text and '"hook"' in text
    record = read_record(places, snapshot)
    try:
        document = target.load(text) if isinstance(target, JsonTarget | TomlTarget) else None
        return bool(find_places(document, record.commands if record else ()))
    except ValueError:
        return False


def find_plugin(agent: str, home: Path, config_dir: Path | None = None) -> Path | None:
    """Return the settings file that switches memfs's plugin or extension on, or None."""
    row = load_agent(agent)
    folder = config_dir or home / row.folder
    if row.extension:
        return folder / row.extension if (folder / row.extension).is_file() else None
    if not row.plugins_in:
        return None
    settings = folder / row.plugins_in
    try:
        text = read_plain(settings).decode("utf-8")
        document = parse_toml(text) if settings.suffix == ".toml" else load(text)
        plugins = document.get("plugins" if settings.suffix == ".toml" else "enabledPlugins") or {}
        on = [name for name, value in plugins.items() if _is_on(value)]
    except (OSError, ValueError, AttributeError):
        return None
    return settings if any(name.startswith("memfs@") for name in on) else None


def _is_on(value: object) -> bool:
    return bool(value.get("enabled", True)) if isinstance(value, dict) else bool(value)


def _plan(target: Target, places: Places, *, add: bool, within: Path | None) -> _Step:
    snapshot = read_snapshot(target.path, within=within)
    record = read_record(places, snapshot)
    text = _decode(target, snapshot.content or b"")
    known = record.commands if record else ()
    untouched = record is not None and snapshot.content is not None and digest(snapshot.content) == record.after_digest
    bare = record.before if record and untouched else _without_ours(target, snapshot, record)
    after = bare
    if add and target.wanted:
        put = target.put(text, known)
        after = snapshot.content if put == text and snapshot.content is not None else put.encode("utf-8")
    return _Step(target=target, snapshot=snapshot, record=record, before=bare, after=after, untouched=untouched)


def _without_ours(target: Target, snapshot: Snapshot, record: Record | None) -> bytes | None:
    if snapshot.content is None:
        return None
    text = _decode(target, snapshot.content)
    before = record.before.decode("utf-8", "replace") if record and record.before is not None else None
    bare = target.strip(text, record.commands if record else (), before)
    if bare == text:
        return snapshot.content
    if not (record and record.before is not None) and target.is_bare(bare):
        return None  # memfs made this file, and nobody put anything into it
    return bare.encode("utf-8")


def _decode(target: Target, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise UnfitError("it is not UTF-8; nothing was written", where=str(target.path)) from None


def _carry_out(steps: Sequence[_Step], places: Places) -> list[Change]:
    done: list[_Step] = []
    try:
        for step in steps:
            if step.after != step.snapshot.content:
                swap(step.snapshot, step.after)
                done.append(step)
        for step in steps:
            _remember(step, places)
    except BaseException as error:
        for step in reversed(done):
            swap(replace(step.snapshot, content=step.after), step.snapshot.content)
        if isinstance(error, OSError):
            raise SetupError(
                f"what was there cannot be kept for the way back: {error.strerror}", where=str(places.state)
            ) from error
        raise
    return [Change(path=step.target.path, what=_word(step)) for step in steps]


def _remember(step: _Step, places: Places) -> None:
    if step.after == step.before:
        if step.record is not None:
            drop_record(places, step.snapshot, step.record)
        return
    if step.after == step.snapshot.content and step.record is not None:
        return
    assert step.after is not None
    made = step.record.made_folders if step.record else step.snapshot.missing_folders
    known = dict.fromkeys([*step.target.commands(), *(step.record.commands if step.record else ())])
    write_record(
        places,
        step.snapshot,
        Record(before=step.before, after_digest=digest(step.after), commands=tuple(known), made_folders=made),
    )


def _word(step: _Step) -> str:
    if step.after == step.snapshot.content:
        return "unchanged"
    if step.after is None:
        return "deleted"
    if step.after != step.before:
        return "written"
    return "restored" if step.untouched else "cleaned"
