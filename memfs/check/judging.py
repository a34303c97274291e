"""By whose word approvals are judged, and the verdict on each memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date

from memfs.admission.deep import DeepScanner
from memfs.check.results import Result
from memfs.check.rules import make_result
from memfs.check.single import Known
from memfs.check.states import States
from memfs.disk.places import Places
from memfs.git.snapshot import Snapshot, read_folder
from memfs.model.memory import Memory, MemoryFile
from memfs.model.reader import content_digest
from memfs.model.values import dataclass, field
from memfs.trust.carriers import APPROVALS, FilesCarrier, read_keyrings
from memfs.trust.judge import Reason, Verdict
from memfs.trust.opening import HERE, open_view
from memfs.trust.record import find_records, receipt_subject
from memfs.trust.view import TrustView


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """By whose word approvals are judged. ``before`` sees the base's receipts, ``view`` those after the change."""

    view: TrustView | None = None
    before: TrustView | None = None
    receipts: Mapping[str, bytes] = field(default_factory=dict)  # of the state that is checked
    unpinned: bool = False
    notices: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()


def open_judging(states: States, places: Places | None, pin: str | None, today: date) -> Judging:
    """Return by whose word approvals are judged: the keyring of the base where there is one, under the person's
    own pin and with what this machine remembers, as `show` judges; or by ``pin``, which is for CI (TRUST 8)."""
    tree = states.now.tree
    here = read_folder(states.now, APPROVALS)
    if states.base is None or states.theirs is None:
        view = open_view(tree, places, today=today, pin=pin)
        return _judging(view, None, here, pin)
    keyrings = read_keyrings(states.theirs)
    old = read_folder(states.theirs, APPROVALS)
    receipts = dict(here)
    if not states.is_merged:
        # What the base has got since, a withdrawal above all, will be there after the merge.
        receipts |= {path: raw for path, raw in old.items() if path not in states.base.entries}
    tips = [commit for commit in (states.tip, states.named) if commit is not None]
    carrier, carrier_before = FilesCarrier(keyrings, receipts), FilesCarrier(keyrings, old)
    view = open_view(tree, places, today=today, pin=pin, carrier=carrier, tips=tips)
    before = open_view(tree, places, today=today, pin=pin, carrier=carrier_before, tips=tips[1:])
    return _judging(view, before, receipts, pin)


def _judging(view: TrustView, before: TrustView | None, receipts: Mapping[str, bytes], pin: str | None) -> Judging:
    trouble = view.trouble.reason if view.trouble is not None else None
    if trouble is Reason.NO_APPROVAL:  # there is no keyring, and there was none
        return Judging()
    notices = list(view.notices) if trouble is None else []
    if pin == HERE and trouble is None:
        whose = "this repository's own" if before is None else "the base's"
        notices.append(f"no pin was given: {whose} keyring was taken unverified")
    return Judging(
        view=view,
        before=before,
        receipts=receipts,
        unpinned=trouble is Reason.NOT_PINNED and not pin,
        notices=tuple(notices),
        results=tuple(_check_pin(view, pin)),
    )


def _check_pin(view: TrustView, pin: str | None) -> Iterator[Result]:
    """Yield why the keyring that is here is not the pinned one; what is wrong with its files is another rule."""
    trouble = view.trouble
    if trouble is None:
        return
    if trouble.reason is Reason.KEYRING_ROLLED_BACK:
        yield make_result("keyring-older", f"The keyring is older: {trouble.detail}.", path=".memfs")
    elif trouble.reason is Reason.NOT_PINNED and pin:
        yield make_result("keyring-missing", "The pin names another repository's keyring than this one.", path=".memfs")
    elif trouble.reason is Reason.KEYRING_BROKEN and view.chain is not None:
        yield make_result("keyring-missing", f"Another keyring is pinned: {trouble.detail}.", path=".memfs")
    elif trouble.reason is Reason.KEYRING_BROKEN and not view.has_keyring:
        yield make_result("keyring-missing", path=".memfs")


def judge_trust(
    view: TrustView | None,
    snapshot: Snapshot,
    files: Sequence[Known],
    memories: Mapping[str, Memory],
    raw: Mapping[str, bytes],
) -> dict[str, Verdict]:
    """Return the verdict of each memory; ``raw`` contains the bytes that were kept, the others are read again."""
    if view is None:
        return {}
    wanted = {file.path: file for file in files if file.is_memory}
    found: dict[str, Verdict] = {}
    for path, content in _contents(snapshot, wanted, raw):
        known = wanted[path]
        # What is known of exactly these bytes needs no second parsing; the view hashes them itself.
        if content_digest(content) == known.digest:
            file = MemoryFile(
                id=known.id, path=path, raw=content, digest=known.digest, document=None, memory=memories[path]
            )
            found[path] = view.verdict(file)
    return found


def scan(scanner: DeepScanner, snapshot: Snapshot, paths: Sequence[str], raw: Mapping[str, bytes]) -> Iterator[Result]:
    """Yield what a second scanner takes for credentials; the value is in none of the results."""
    for path, content in _contents(snapshot, paths, raw):
        for finding in scanner.check_text("file", content.decode("utf-8", "replace")):
            yield make_result("secret", f"It {finding.message}.", path=path, line=finding.line, column=finding.column)


def _contents(snapshot: Snapshot, paths: Collection[str], raw: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each path: those that were kept, and the others read again."""
    yield from ((path, raw[path]) for path in paths if path in raw)
    again = snapshot.read_many(path for path in paths if path not in raw)
    yield from ((path, content) for path, content in again if isinstance(content, bytes))


def is_trusted(verdict: Verdict | None) -> bool:
    """Return whether there is a verdict, and it is that the text is trusted."""
    return verdict is not None and verdict.trusted


def check_texts_approved(verdicts: Mapping[str, Verdict], *, is_required: bool) -> Iterator[Result]:
    """Yield the memories of a whole repository whose approval does not cover the text, or is not enough."""
    for path, verdict in verdicts.items():
        if verdict.reason in (Reason.CHANGED, Reason.OLDER_TEXT, Reason.TWO_TEXTS):
            detail = verdict.detail or "the text is not the one that was approved"
            yield make_result("approval-lost", f"{detail[0].upper()}{detail[1:]}.", path=path)
        elif verdict.reason in (Reason.KEY_EXPIRED, Reason.KEY_RETIRED):
            yield make_result("approval-lapsed", f"The approval does not count: {verdict.detail}.", path=path)
        elif verdict.reason is Reason.NOT_ENOUGH_PEOPLE:
            yield make_result("needs-approval", f"More people must approve it: {verdict.detail}.", path=path)
        elif verdict.reason is Reason.NO_APPROVAL and is_required:
            yield make_result("needs-approval", "Nobody has approved this text.", path=path)


def find_doubtful(receipts: Mapping[str, bytes], verdicts: Mapping[str, Verdict]) -> dict[str, bytes]:
    """Return the receipts that must be looked at one by one.

    Left out are those of a memory that as many people approved as it has receipts, and that no batch
    speaks of: each of them granted, so each was read and verified for the verdict.
    """
    people = {path.rsplit("/", 1)[-1].removesuffix(".md"): len(v.people) for path, v in verdicts.items() if v.trusted}
    by_id: dict[str, list[str]] = {}
    found: dict[str, bytes] = {}
    for path, raw in receipts.items():
        subject = receipt_subject(path.removeprefix(f"{APPROVALS}/"))
        if subject:
            by_id.setdefault(subject, []).append(path)
        else:
            found[path] = raw
            for record in find_records(raw):
                people.update({item.id: 0 for item in record.statement.items})
    for memory_id, paths in by_id.items():
        if people.get(memory_id) != len(paths):
            found.update({path: receipts[path] for path in paths})
    return found
