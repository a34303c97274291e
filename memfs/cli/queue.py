"""A queue of texts to approve, walked as `git add -p` walks changes: each is shown once, one answer at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from memfs.cli.edit_command import edit_file
from memfs.cli.looks import Looks
from memfs.cli.verifying import verify_one
from memfs.errors import MemfsError
from memfs.render.views import Detail, render_bundle
from memfs.repository.shown import shown_of
from memfs.sight import OWNER
from memfs.trust.plan import narrow

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.trust.plan import Plan, PlanItem


class Show(Protocol):
    """What writes one text of a plan to the terminal."""

    def __call__(self, session: Session, plan: Plan, item: PlanItem, place: str = "") -> None: ...


QUESTION = "Approve this text [a,s,e,v,o,q,?]?"
HELP = """\
a  approve it (signed at the end, all with one signature)
s  skip it; so does Enter
e  edit it, and see it again
v  verify it: look at its evidence as it was and is now, and tie it anew
o  open it: its state and its evidence
q  quit: what you chose so far is still asked about"""

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
_ONES += ["seventeen", "eighteen", "nineteen"]
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(count: int) -> str:
    """Return ``count`` as an English word; from a hundred on in digits."""
    if count < len(_ONES):
        return _ONES[count]
    if count > 99:
        return str(count)
    return _TENS[count // 10] + (f"-{_ONES[count % 10]}" if count % 10 else "")


class Queue:
    """One walk. ``show`` writes one text with its place in the queue; ``again`` plans ids anew, after their files
    changed."""

    def __init__(
        self, session: Session, repository: Repository, *, show: Show, again: Callable[[Sequence[str]], Plan]
    ) -> None:
        self.session = session
        self.repository = repository
        self.show = show
        self.again = again

    def walk(self, plan: Plan) -> Plan | None:
        """Return the plan of what a person at the terminal chose, None where that is nothing.

        What is not the text that was shown any more is left out, and said.
        """
        chosen: dict[str, str] = {}
        for number, item in enumerate(plan.items, 1):
            answer, digest = self._ask(plan, item, f"{number} of {len(plan.items)}")
            if answer == "a":
                chosen[item.id] = digest
            if answer == "q":
                break
        final = self.again(list(chosen)) if chosen else None
        for item in final.items if final is not None else ():
            if chosen[item.id] != item.digest:
                self.session.note(f"{item.id}: the file is not the one that you saw; left out")
                del chosen[item.id]
        if final is None or not chosen or not self._confirm(len(chosen)):
            return None
        return narrow(final, [item for item in final.items if item.id in chosen])

    def _confirm(self, count: int) -> bool:
        word = in_words(count)
        what = "this text" if count == 1 else f"these {count} texts"
        answer = self.session.ask(f"Type {word} to approve {what} with one signature (nothing: none):")
        return answer.lower() in (word, str(count))

    def _ask(self, plan: Plan, item: PlanItem, place: str) -> tuple[str, str]:
        """Return a person's answer (``a``, ``s`` or ``q``) and the digest of the text that it is about."""
        session = self.session
        self.show(session, plan, item, place)
        while True:
            answer = session.ask(QUESTION).lower()[:1]
            if answer in ("a", "q"):
                return answer, item.digest
            if answer in ("", "s", "n"):
                return "s", item.digest
            try:
                changed = self._act(answer, item.id)
            except MemfsError as error:
                session.note(f"{error}")
                continue
            if changed is None:
                continue
            if not changed.items:
                return "s", item.digest
            if changed.items[0].digest != item.digest:
                plan, item = changed, changed.items[0]
                self.show(session, plan, item, place)

    def _act(self, answer: str, memory_id: str) -> Plan | None:
        """Edit or verify the memory and return its new plan; None where only something was shown."""
        if answer == "e":
            edit_file(self.session, self.repository, memory_id)
        elif answer == "v":
            verify_one(self.session, self.repository, memory_id)
        else:
            if answer == "o":
                _open(self.session, self.repository, memory_id)
            else:
                self.session.note(HELP)
            return None
        return self.again([memory_id])


def _open(session: Session, repository: Repository, memory_id: str) -> None:
    assessment = repository.assess(repository.find(memory_id, OWNER), OWNER)
    text = render_bundle([shown_of(assessment)], draw_nonce=session.draw_nonce, detail=Detail.FULL).rstrip("\n")
    session.note(Looks(session).frame(text) if session.draws else text)
