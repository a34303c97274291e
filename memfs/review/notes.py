"""What a reviewer is told, sentence by sentence: facts in, notes out. Pure.

Written for somebody tired: what is different, for whom, what to do. Text of the repository is escaped
before it enters a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from memfs.check.results import Level, Result
from memfs.check.rules import RULES
from memfs.disk.settings import REPOSITORY_FILE, RepositorySettings
from memfs.model.codepoints import plain
from memfs.model.memory import Memory
from memfs.model.scope import is_wider
from memfs.model.values import dataclass
from memfs.trust.judge import Reason, Verdict
from memfs.trust.view import Approval, TrustView

MAX_PEOPLE = 6


class Tone(StrEnum):
    """How loud a sentence is: ``stop`` must be settled before a merge, ``look`` needs a person's eyes."""

    STOP = "stop"
    LOOK = "look"
    FINE = "fine"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One sentence about a change. ``about`` is a stable slug, a rule of ``memfs check`` where it is one."""

    tone: Tone
    about: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Where the signatures of one memory stand after the change."""

    people: tuple[str, ...]  # whose approval fits the new text
    lost: tuple[str, ...]  # who approved the text that the base has, and not this one
    gained: tuple[str, ...]  # who approves now and did not before
    need: int
    missing: int
    may: tuple[str, ...]  # who could give what is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who a commit says its author is; anybody can write anything there."""

    name: str
    address: str

    @property
    def is_robot(self) -> bool:
        return "[bot]" in self.name or "[bot]" in self.address


def loudest(notes: Iterable[Note]) -> Tone:
    """Return the loudest tone, ``plain`` where there is none."""
    tones = {note.tone for note in notes}
    return next((tone for tone in (Tone.STOP, Tone.LOOK, Tone.FINE) if tone in tones), Tone.PLAIN)


_REASONS = {
    Reason.NO_APPROVAL: "Nobody has approved these words.",
    Reason.CHANGED: "These are not the words that were approved.",
    Reason.OLDER_TEXT: "It brings back an older text; a newer one was approved since.",
    Reason.DENIED: "The keyring forbids this text for good.",
    Reason.KEY_UNKNOWN: "Its approval is by a key that the base's keyring does not list. It does not count.",
    Reason.KEY_EXPIRED: "Its approval has run out.",
    Reason.KEY_RETIRED: "Its approval is by a key that is retired.",
    Reason.WRONG_REPOSITORY: "Its approval was made for another repository. It does not count.",
    Reason.WRONG_NAMESPACE: "Its signature was made for another purpose. It does not count.",
    Reason.BAD_SIGNATURE: "The signature of its approval is not valid. It does not count.",
    Reason.NO_TOUCH: "Its approval was signed without a touch of the security key. It does not count.",
    Reason.DUPLICATE_ID: "Another file has this id; only one of them can be approved.",
}
_SUSPICIOUS = {
    Reason.OLDER_TEXT,
    Reason.DENIED,
    Reason.KEY_UNKNOWN,
    Reason.WRONG_REPOSITORY,
    Reason.WRONG_NAMESPACE,
    Reason.BAD_SIGNATURE,
    Reason.NO_TOUCH,
}


def notes_on_approval(
    approvals: Approvals,
    after: Verdict | None,
    approved: Sequence[Approval],
    *,
    changed_fields: Sequence[str] = (),
    has_keyring: bool,
) -> Iterator[Note]:
    """Yield what became of the approvals. ``changed_fields`` names the front matter that differs where
    the text below it is the same."""
    if after is None:
        if has_keyring:
            yield Note(tone=Tone.LOOK, about="approval", text="It cannot be approved as it is.")
        return
    if after.trusted:
        yield Note(tone=Tone.FINE, about="approval", text=f"Approved by {names_of(after.people)}: exactly these words.")
        if approvals.lost:
            text = f"The approval of the old text by {names_of(approvals.lost)} ends with it."
            yield Note(tone=Tone.PLAIN, about="approval", text=text)
        return
    if approvals.lost:
        dates = {one.person: one.on for one in approved if one.verb == "approve"}
        who = names_of(
            f"{person} ({dates[person].isoformat()})" if person in dates else person for person in approvals.lost
        )
        text = f"The approved words are exchanged: the approval by {who} was for the old text "
        text += "and does not cover this one."
        if changed_fields:
            fields = names_of(changed_fields)
            text = f"The approval is lost: {who} approved this memory with another {fields}."
        yield Note(tone=Tone.STOP, about="approval-lost", text=text)
    elif after.reason is Reason.WITHDRAWN:
        yield Note(
            tone=Tone.STOP, about="withdrawn", text=f"{names_of(after.people)} withdrew the approval of this memory."
        )
    elif after.reason is Reason.BAD_FILE:
        yield Note(
            tone=Tone.LOOK,
            about="approval",
            text=f"It cannot be approved as it is: {plain(after.detail or 'the form')}.",
        )
        return
    elif after.reason in _REASONS and after.reason is not Reason.NO_APPROVAL:
        tone = Tone.STOP if after.reason in _SUSPICIOUS else Tone.LOOK
        yield Note(tone=tone, about=str(after.reason), text=_REASONS[after.reason])
    if approvals.people and not after.trusted:
        text = f"Approved by {names_of(approvals.people)}; {approvals.need} people are needed."
        yield Note(tone=Tone.PLAIN, about="approval", text=text)
    if approvals.missing:
        many = "one approval" if approvals.missing == 1 else f"{approvals.missing} approvals"
        whom = (
            f" from {names_of(approvals.may, joiner='or')}"
            if approvals.may
            else "; nobody in the keyring could give it"
        )
        yield Note(tone=Tone.LOOK, about="approval-needed", text=f"It needs {many}{whom}.")


def notes_on_scope(
    scope: str, before: str | None, approvals: Approvals, settings: RepositorySettings, *, trusted: bool
) -> Iterator[Note]:
    if before is not None and scope and is_wider(scope, before):
        then, now = who_sees(before, settings), who_sees(scope, settings)
        text = f"More people would see it: until now {then}, from now on {now}."
        if not trusted and approvals.may:
            text += f" Somebody who may approve for {scope} must agree: {names_of(approvals.may, joiner='or')}."
        yield Note(tone=Tone.LOOK if trusted else Tone.STOP, about="scope-wider", text=text)
    elif before is not None and before != scope:
        text = f"It moves: until now {who_sees(before, settings)} saw it, from now on {who_sees(scope, settings)}."
        yield Note(tone=Tone.LOOK, about="scope-moved", text=text)
    if scope and not settings.allows(scope):
        text = f"The base's {REPOSITORY_FILE} does not name the scope {scope}."
        yield Note(tone=Tone.LOOK, about="scope-unknown", text=text)


def notes_on_origin(old: Memory | None, new: Memory | None, writers: Sequence[Writer]) -> Iterator[Note]:
    if new is None:
        return
    if old is not None and old.origin is not new.origin:
        text = f"Its origin changes from {old.origin.value} to {new.origin.value}; only its writer can know that."
        yield Note(tone=Tone.LOOK, about="origin", text=text)
    robots = [writer for writer in writers if writer.is_robot]
    if new.origin.value == "owner" and robots:
        text = f"It says that a person wrote it (origin owner), but {names_of(w.name for w in robots)} committed it."
        yield Note(tone=Tone.LOOK, about="origin", text=text)
    if new.author and writers and not any(writer.address.casefold() == new.author.casefold() for writer in writers):
        text = f"It names {plain(new.author)} as its author, but {names_of(w.name for w in writers)} committed it."
        yield Note(tone=Tone.LOOK, about="author", text=text)


def notes_on_supersession(new: Memory | None, view: TrustView | None) -> Iterator[Note]:
    for old in new.supersedes if new is not None else ():
        text = f"It replaces {plain(old)}."
        approvals = view.approvals(old) if view is not None and view.keyring is not None else ()
        people = [one.person for one in approvals if one.verb == "approve"]
        if people:
            text += f" The approval of that one by {names_of(people)} is withdrawn when this one is approved."
        yield Note(tone=Tone.LOOK if people else Tone.PLAIN, about="supersedes", text=text)


def who_sees(scope: str, settings: RepositorySettings) -> str:
    """Return in words on whose behalf a memory of ``scope`` is recalled."""
    words = {
        "personal": "only the owner of this repository",
        "team": "everybody on the team",
        "": "nobody: the folder is no scope",
    }.get(scope)
    if words is None:
        words = f"those with the scope {scope}" + (" and the whole team" if scope.startswith("team/") else " alone")
    readers = settings.readers.get(scope)
    return f"{words}, limited to {names_of(readers)}," if readers is not None else words


_RESULT_TONES = {Level.ERROR: Tone.STOP, Level.WARNING: Tone.LOOK, Level.NOTE: Tone.PLAIN}
_TOLD_ELSEWHERE = {"approval-lost", "scope-wider", "keyring-refused", "receipt-refused"}
_HEADLINES = {
    "evidence-no-commit": "Its evidence does not exist: ",
    "evidence-no-path": "Its evidence does not exist: ",
    "hidden-character": "Hidden characters, which the difference on the forge does not show: ",
    "secret": "It looks like a credential: ",
    "personal-data": "It looks like personal data: ",
    "held": "Admission holds it for a person to decide: ",
    "evidence-changed": "Its evidence has drifted: ",
    "evidence-gone": "Its evidence has drifted: ",
}


def is_told(result: Result) -> bool:
    return result.rule in _TOLD_ELSEWHERE


def note_of(result: Result) -> Note:
    message = result.message
    if result.rule in ("hidden-character", "secret", "personal-data", "authority", "held") and result.line:
        message = f"line {result.line}, column {result.column or 1} {message.removeprefix('body: ')}"
    headline = _HEADLINES.get(result.rule, "")
    # What repeats nothing of the rule's own sentence is said without it.
    text = f"{headline}{message}" if headline else message
    fix = (
        f" {result.fix}"
        if result.fix and result.level is not Level.NOTE and result.fix != RULES[result.rule].fix
        else ""
    )
    return Note(tone=_RESULT_TONES[result.level], about=result.rule, text=text + fix)


def names_of(people: Iterable[str], *, joiner: str = "and") -> str:
    names = [plain(person, limit=80) for person in dict.fromkeys(people)]
    if len(names) > MAX_PEOPLE:
        names = [*names[:MAX_PEOPLE], f"{len(names) - MAX_PEOPLE} more"]
    if len(names) < 2:
        return names[0] if names else "nobody"
    return f"{', '.join(names[:-1])} {joiner} {names[-1]}"
