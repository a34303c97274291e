"""What a changed memory says about itself: its scope, who wrote it, and what it replaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfs.check.change import Between, MemoryChange, Writer, say
from memfs.check.results import Level, Result
from memfs.check.words import names_of, who_sees
from memfs.disk.settings import REPOSITORY_FILE
from memfs.model.codepoints import plain
from memfs.model.scope import is_wider


def check_fields(between: Between) -> Iterator[Result]:
    """Yield what the front matter of each changed memory claims, or gives to other people."""
    for change in between.memories:
        if change.new is not None and change.what != "approvals":
            yield from _check_scope(between, change)
            yield from _check_origin(change, between.writers.get(change.path, ()))
            yield from _check_supersession(between, change)


def _check_scope(between: Between, change: MemoryChange) -> Iterator[Result]:
    scope, before, settings = change.scope, change.scope_before, between.settings
    if scope and not settings.allows(scope):
        message = f"The base's {REPOSITORY_FILE} does not name the scope {scope}."
        yield say(change, "scope-unknown", message)
    if before is None or before == scope or not scope:
        return
    then, now = who_sees(before, settings), who_sees(scope, settings)
    # The whole team sees the memories of its groups already: fewer filters, and no new reader.
    within = scope == "team" and before.startswith("team/") and not settings.readers.get(before)
    if is_wider(scope, before) and not within:
        message = f"More people would see it: until now {then}, from now on {now}."
        may = between.view.approvers(scope) if between.view is not None else ()
        fix = f"Somebody who may approve for {scope} must agree: {names_of(may, joiner='or')}." if may else None
        level = Level.WARNING if change.is_trusted else None
        yield say(change, "scope-wider", message, level=level, fix=None if change.is_trusted else fix)
    else:
        rule = "scope-moved" if within else "scope-narrower"
        yield say(change, rule, f"It moves: until now {then} saw it, from now on {now}.")


def _check_origin(change: MemoryChange, writers: Sequence[Writer]) -> Iterator[Result]:
    new = change.new.memory if change.new is not None else None
    old = change.old.memory if change.old is not None else None
    if new is None:
        return
    if old is not None and old.origin is not new.origin:
        message = f"Its origin changes from {old.origin.value} to {new.origin.value}; only its writer can know that."
        yield say(change, "origin-changed", message)
    robots = [writer.name for writer in writers if writer.is_robot]
    if new.origin.value == "owner" and robots:
        message = f"It says that a person wrote it (origin owner), but {names_of(robots)} committed it."
        yield say(change, "origin-robot", message)
    if new.author and old is None and writers and not any(_may_be(writer, new.author) for writer in writers):
        message = f"It names {plain(new.author)} as its author, but {names_of(w.name for w in writers)} committed it."
        yield say(change, "author-other", message)


def _may_be(writer: Writer, author: str) -> bool:
    """Return whether the commit can be the author's own: a forge's private address could be anybody's."""
    address = writer.address.casefold()
    return address == author.casefold() or "noreply" in address.partition("@")[2] or address.startswith("noreply@")


def _check_supersession(between: Between, change: MemoryChange) -> Iterator[Result]:
    view = between.view
    memory = change.new.memory if change.new is not None else None
    before = change.old.memory.supersedes if change.old is not None and change.old.memory is not None else ()
    if memory is None or view is None or change.is_trusted:
        return
    for old in memory.supersedes:
        people = [one.checked.person for one in view.approvals(old) if one.grants]
        if people and old not in before:
            message = f"It replaces {plain(old)}; the approval of that one by {names_of(people)} ends with its own."
            yield say(change, "replaces-approved", message)
