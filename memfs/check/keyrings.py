"""What a change does to the keyring, and which approvals end with it; receipts and trailers that prove nothing."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.check.change import Between
from memfs.check.judging import Judging
from memfs.check.results import Level, Result
from memfs.check.rules import make_result
from memfs.check.states import States, differs
from memfs.check.words import counted, memories, names_of
from memfs.git.log import read_messages
from memfs.model.codepoints import plain
from memfs.model.memory import MemoryFile
from memfs.model.reader import read_memory
from memfs.trust.check import check_keyring, check_receipts, describe_keyring_change
from memfs.trust.judge import Reason, Verdict
from memfs.trust.keyring import Keyring, KeyringError, parse_file, version_of_name
from memfs.trust.opening import HERE, view_of_files
from memfs.trust.record import Record, find_records
from memfs.trust.view import TrustView


def check_keyring_files(keyrings: dict[str, bytes], *, is_change: bool) -> Iterator[Result]:
    """Yield why the keyring of one state is refused, as one result: the first reason."""
    fix = "Do not merge it: nothing here would be approved any more." if is_change else None
    for problem in check_keyring(keyrings):
        newest = max(keyrings, key=lambda path: (len(path), path), default=".memfs/keyring.1")
        message = f"The keyring is refused: {plain(problem.message, limit=300)}."
        yield make_result("keyring-refused", message, path=newest, fix=fix)


def check_keyring_change(between: Between) -> Iterator[Result]:
    """Yield what a change does to the keyring, and whose approval ends with it."""
    before, after = between.keyrings_before, between.keyrings_after
    for path in sorted(before):
        if path not in after:
            message = f"It deletes {path}: without it no approval in this repository would count."
            yield make_result("keyring-deleted", message, path=path)
        elif after[path] != before[path]:
            yield make_result("keyring-rewritten", f"It rewrites {path}, on which everybody's pin rests.", path=path)
    added = sorted((path for path in after if path not in before), key=lambda path: (len(path), path))
    if not added:
        return
    yield from _check_added(between, added)
    if not check_keyring(after):
        yield from _check_losses(between, added[-1])


def _check_added(between: Between, added: list[str]) -> Iterator[Result]:
    old = between.view.keyring if between.view is not None else None
    meanwhile = between.theirs
    sound = not check_keyring(between.keyrings_after)
    for path in added:
        if meanwhile.blob_of(path) not in (None, between.now.blob_of(path)):
            message = f"The base has got another {path} meanwhile: this one follows a keyring of before."
            yield make_result("keyring-refused", message, path=path)
        try:
            keyring = parse_file(between.keyrings_after[path], where=path).keyring
        except KeyringError:
            continue  # keyring-refused says it
        for sentence in describe_keyring_change(old, keyring):
            ids = _denied_ids(between, old, keyring, sentence)
            of = f" (of {names_of(ids)})" if ids else ""
            message = f"The new {path} {plain(sentence, limit=400)}{of}."
            yield make_result("keyring-changed", message, path=path, level=None if sound else Level.ERROR, ids=ids)
        old = keyring


def _denied_ids(between: Between, old: Keyring | None, new: Keyring, sentence: str) -> tuple[str, ...]:
    """Return the ids of the memories whose text the sentence says is denied."""
    denied = {digest for digest in new.denied if (old is None or digest not in old.denied) and digest[:12] in sentence}
    return tuple(file.id for _, file in _all_files(between) if file.digest in denied) if denied else ()


def _all_files(between: Between) -> Iterator[tuple[str, MemoryFile]]:
    """Yield the memories that some receipt speaks of: no other one is approved."""
    ids = between.view.ids_with_receipts() if between.view is not None else frozenset()
    wanted = [path for path in between.now.memories()[0] if path.rpartition("/")[2].removesuffix(".md") in ids]
    for path, raw in between.now.read_many(wanted):
        if isinstance(raw, bytes):
            yield path, read_memory(path, raw)


def _check_losses(between: Between, path: str) -> Iterator[Result]:
    """Yield how many approvals the new keyring ends, by reason: a key that is gone, more people needed."""
    view = between.view
    if view is None:
        return
    after = view_of_files(between.keyrings_after, between.receipts_after, today=view.today, pin=HERE)
    ended: dict[str, list[str]] = {}
    for _, file in _all_files(between):
        if view.verdict(file).trusted:
            verdict = after.verdict(file)
            if not verdict.trusted:
                ended.setdefault(_why(verdict, after, file), []).append(file.id)
    for why, ids in sorted(ended.items()):
        ids.sort()
        verb = "loses its" if len(ids) == 1 else "lose their"
        message = f"With it {memories(len(ids))} {verb} approval, because {why}: {names_of(ids)}."
        yield make_result("approvals-end", message, path=path, ids=tuple(ids))


def _why(verdict: Verdict, view: TrustView, file: MemoryFile) -> str:
    if verdict.reason is Reason.NOT_ENOUGH_PEOPLE:
        scope = file.memory.scope if file.memory else ""
        return f"{counted(view.need(scope), 'person', 'people')} must approve it"
    words = {
        Reason.KEY_UNKNOWN: "the key that approved it is removed",
        Reason.KEY_RETIRED: "the key that approved it is retired",
        Reason.KEY_EXPIRED: "the key that approved it has expired",
        Reason.DENIED: "the new keyring denies the text",
    }
    return words.get(verdict.reason or Reason.NO_APPROVAL, f"of {verdict.reason}")


# -- receipts and trailers ---------------------------------------------------------------------------


def check_receipt_files(judging: Judging, states: States, doubtful: dict[str, bytes]) -> Iterator[Result]:
    """Yield receipts that are not one record, and receipts whose record does not count."""
    view = judging.view
    if view is None:
        return
    is_change = states.base is not None
    if states.base is not None:
        doubtful = {path: raw for path, raw in doubtful.items() if differs(states.base, states.now, path)}
    for path, raw in doubtful.items():
        for problem in check_receipts({path: raw}, view):
            unread = problem.rule in ("bad-receipt", "misnamed-receipt")
            message = plain(problem.message, limit=400)
            records = find_records(raw)
            claim = "" if unread else f" {_claim(records[0])}"
            yield make_result(
                "receipt-unreadable" if unread else "receipt-refused",
                f"{message}.{claim}",
                path=path,
                ids=tuple(item.id for record in records[:1] for item in record.statement.items),
                level=Level.ERROR if is_change else None,
            )


def _claim(record: Record) -> str:
    verb = "approved" if record.statement.verb.value == "approve" else "withdrew"
    ids = names_of(item.id for item in record.statement.items)
    return f"It claims that {record.statement.by} {verb} {ids}."


def check_trailers(between: Between) -> Iterator[Result]:
    """Yield approvals in the messages of the change's commits that prove nothing."""
    view, states = between.view, between.states
    if view is None or states.since is None or states.tip is None:
        return
    for commit, message in read_messages(between.tree, [states.tip], since=states.since, word="Memory-Approval:"):
        for record in find_records(message):
            first = record.statement.items[0].id
            failures = [
                one.failure
                for one in view.records_with(first, [record])
                if one.record.line == record.line and one.failure
            ]
            if failures:
                text = f"The message of commit {commit[:12]} contains an approval that does not count ({failures[0]})."
                ids = tuple(item.id for item in record.statement.items)
                yield make_result("trailer-refused", f"{text} {_claim(record)}", ids=ids)


def find_keyring_versions(keyrings: dict[str, bytes]) -> list[int]:
    """Return the versions that the files name, ascending."""
    names = (version_of_name(path.rpartition("/")[2]) for path in keyrings)
    return sorted(version for version in names if version is not None)
