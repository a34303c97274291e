"""``memfs check``: every rule over a state of the repository, or over what changed in it.

A change is judged by what it would change: the keyring of its base, never its own (DESIGN 6).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from memfs.check.across import Pair, check_clashes, check_ids, check_supersession, describe_pairs, find_pairs
from memfs.check.bench import Bench, Standing
from memfs.check.cache import Cache
from memfs.check.report import Level, Report, Result, sort_results
from memfs.check.rules import RULES, SKIP_RULES
from memfs.check.single import Known, check_name, glance, make_result, normal_form
from memfs.check.workers import look_at_many
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, UsageError
from memfs.git.read import head_commit, read_git
from memfs.git.snapshot import GitFiles, Snapshot, WorkFiles, merge_base, require_commit
from memfs.model.codepoints import plain
from memfs.model.memory import Memory, MemoryFile
from memfs.model.reader import content_digest, read_memory
from memfs.model.scope import is_wider, scope_of_path
from memfs.model.values import dataclass, field, replace

if TYPE_CHECKING:
    from memfs.admission.deep import DeepScanner
    from memfs.trust.judge import Verdict
    from memfs.trust.view import TrustView

APPROVALS = ".memfs/approvals"
HERE = "here"
"""As a pin: take the keyring that is here at its word."""

_MANY = 1_000  # files; looking at them takes more than a second
_MAX_MESSAGE = 64 * 1024
_HELD = 64 * 1024 * 1024  # bytes of files that are kept from reading to judging
_BATCH = 32 * 1024 * 1024  # bytes of files that are held at once
_ATTRIBUTES = {"memories/** text eol=lf": "memories/", ".memfs/** -text": ".memfs/"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is checked. ``commit``: that commit's files; ``staged``: the index; else the work tree.

    ``base``: only what changed since the histories parted. ``paths``: results about these only.
    """

    paths: tuple[str, ...] = ()
    base: str | None = None
    staged: bool = False
    commit: str | None = None
    pin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One run: what was read, and what was found. ``report`` is the answer; the rest is for review.

    ``unpinned``: the repository has a keyring, and nothing says that it is the right one.
    """

    snapshot: Snapshot
    files: dict[str, Known]
    standings: dict[str, Standing]
    verdicts: dict[str, Verdict]
    view: TrustView | None
    unpinned: bool
    report: Report
    raw: dict[str, bytes] = field(default_factory=dict)  # of the changed files, or of all


def check_repository(
    tree: WorkTree,
    places: Places | None,
    target: Target,
    *,
    today: date,
    identities: Collection[str] = (),
    keep: bool = True,
    keep_raw: bool = False,
    on_long: Callable[[int], None] | None = None,
    scanner: DeepScanner | None = None,
) -> Check:
    """Return what is wrong in ``target``. ``places`` None: without the user's pin and cache.
    ``keep_raw``: the answer holds the bytes of every file, not only of the changed ones. ``on_long`` is
    called with the number of files when many must be looked at for the first time. ``scanner`` looks
    for credentials besides the own rules.

    Raises :class:`UsageError` for a base, a commit or a pin that is none.
    """
    if target.staged and (target.base or target.commit):
        raise UsageError("--staged goes with neither --base nor --commit")
    if target.commit and not target.base:
        raise UsageError("--commit needs --base", hint="what is checked is the change from one to the other")
    states = _open(tree, target)
    now, base = states.now, states.base
    changed = None if base is None else find_changes(base, now)
    cache = Cache(tree, places if keep else None)
    files, raw, cached = _read(
        now, cache, changed, _identities(tree, identities, states.tip), keep_raw=keep_raw, on_long=on_long
    )
    every = list(files.values())
    _, others = now.memories()
    only = _chosen(target.paths, files, others, changed)
    chosen = [file for path, file in files.items() if path in only]
    judging = _open_judging(states, places, target.pin, today)
    bench = Bench(now, cache, tip=states.tip, safe=states.named if target.base else None, today=today)
    memories = {file.path: file.memory() for file in chosen if file.is_memory}
    verdicts = _judge_trust(judging.view, now, chosen, memories, raw)
    trusted = {path: verdict.trusted for path, verdict in verdicts.items()}
    standings = bench.judge(chosen, memories, every, trusted=trusted)
    across = [*check_clashes([*files, *others]), *check_ids(every), *check_supersession(every)]
    across += describe_pairs(_pairs(every, cache, only if changed is not None or target.paths else None))
    results = [
        *(result for file in chosen for result in file.results),
        *(result for file in chosen for result in file.held if not is_trusted(verdicts.get(file.path))),
        *check_skipped({path: reason for path, reason in others.items() if path in only}),
        *(result for standing in standings.values() for result in standing.results),
        *(result for result in across if result.path in only),
        *_check_trust(judging, states, verdicts),
    ]
    if scanner is not None:
        scanned = list(_scan(scanner, now, [file.path for file in chosen], raw))
        for path in {result.path for result in scanned}:
            cache.forget(path)
        results += scanned
    if not target.paths:
        results += [*_check_oddities(now), *_check_repository_files(now, base)]
    if base is not None and changed is not None:
        results += _check_change(states, changed)
    if target.base and states.since and states.tip:
        results += check_messages(tree, states.since, states.tip)
    cache.save(whole=changed is None)
    notices = [*judging.notices, *bench.notices, *((cache.notice,) if cache.notice else ())]
    report = Report(
        results=sort_results(results),
        files=len(only & set(files)),
        cached=cached,
        notices=tuple(dict.fromkeys(notices)),
    )
    return Check(
        snapshot=now,
        files=files,
        standings=standings,
        verdicts=verdicts,
        view=judging.view,
        unpinned=judging.unpinned,
        report=report,
        raw=raw,
    )


def fix_format(tree: WorkTree, check: Check) -> tuple[list[str], list[str]]:
    """Write the normal form of files whose only fault is their form; return (fixed, left) paths.

    An approved text is left: its approval would be lost by a blank that nobody sees.
    """
    from memfs.disk.files import UnreadableFile, read_file, write_in_tree

    fixed: list[str] = []
    left: list[str] = []
    for path in dict.fromkeys(result.path for result in check.report.results if result.fixable):
        if is_trusted(check.verdicts.get(path)):
            left.append(path)
            continue
        try:
            raw = read_file(tree, path)
        except UnreadableFile:
            continue
        normal = normal_form(raw)
        before, after = read_memory(path, raw), read_memory(path, normal or raw)
        if normal is None or normal == raw or (before.memory is None) != (after.memory is None):
            continue
        write_in_tree(tree, path, normal)
        fixed.append(path)
    return fixed, left


def find_changes(base: Snapshot, now: Snapshot) -> dict[str, str | None]:
    """Return the memory paths that differ, each with its path in ``base`` (None: it is new).

    A file of the same id in another folder counts as moved, not as deleted and added.
    """
    old, _ = base.memories()
    new, others = now.memories()
    by_name: dict[str, list[str]] = {}
    for path in old:
        if path not in new:
            by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    changed: dict[str, str | None] = {}
    for path in new:
        if path in old:
            blob = base.blob_of(path)
            if blob != now.blob_of(path, like=blob):
                changed[path] = path
        else:
            moved = by_name.get(path.rsplit("/", 1)[-1], [])
            changed[path] = moved[0] if len(moved) == 1 else None
    for path in others:
        changed[path] = path if path in old else None
    return changed


def check_skipped(others: Mapping[str, str]) -> Iterator[Result]:
    """Yield a result for each path that is no file to be read."""
    for path, reason in others.items():
        if reason == "unmerged":
            memory_id = path.rsplit("/", 1)[-1].removesuffix(".md")
            fix = (RULES["unmerged"].fix or "").replace("ID", plain(memory_id))
            yield make_result("unmerged", path=path, fix=fix)
        else:
            yield make_result(SKIP_RULES.get(reason, "not-a-file"), path=path)
            yield from check_name(path) if reason == "bad-name" else ()


# -- reading -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _States:
    """What is compared: ``base`` is None when everything is checked. ``since`` is the commit that the
    base's files are read from (where the histories parted), ``named`` the one that was asked for and
    ``theirs`` its files: who may approve is what *they* say today. ``tip`` is the commit whose history
    counts."""

    now: Snapshot
    base: GitFiles | None
    theirs: GitFiles | None
    since: str | None
    named: str | None
    tip: str | None


def _open(tree: WorkTree, target: Target) -> _States:
    head = head_commit(tree)
    if target.staged:
        base = GitFiles(tree, head) if head else None
        return _States(now=GitFiles(tree, None), base=base, theirs=base, since=head, named=head, tip=head)
    if target.base:
        tip = require_commit(tree, target.commit) if target.commit else head
        named = require_commit(tree, target.base)
        since = (merge_base(tree, named, tip) or named) if tip else named
        now: Snapshot = GitFiles(tree, tip) if target.commit else WorkFiles(tree)
        base = GitFiles(tree, since)
        theirs = base if named == since else GitFiles(tree, named)
        return _States(now=now, base=base, theirs=theirs, since=since, named=named, tip=tip)
    return _States(now=WorkFiles(tree), base=None, theirs=None, since=None, named=None, tip=head)


def _read(
    snapshot: Snapshot,
    cache: Cache,
    changed: Mapping[str, str | None] | None,
    identities: Collection[str],
    *,
    keep_raw: bool,
    on_long: Callable[[int], None] | None,
) -> tuple[dict[str, Known], dict[str, bytes], int]:
    sizes, _ = snapshot.memories()
    files: dict[str, Known] = {}
    kept: dict[str, bytes] = {}
    cached = 0
    waiting: list[tuple[str, bytes]] = []
    weight = held = 0

    def look() -> None:
        if on_long is not None and len(waiting) >= _MANY:
            on_long(len(waiting))
        for known in look_at_many(waiting, identities=identities):
            cache.keep(known)
            files[known.path] = known
        waiting.clear()

    for path, raw in snapshot.read_many(sizes):
        if isinstance(raw, str):
            sentence = "The file is larger than 256 KiB." if raw == "too-large" else f"The file cannot be read: {raw}."
            result = make_result("unreadable-file", sentence, path=path)
            files[path] = Known(path=path, digest="", id="", results=(result, *check_name(path)))
            continue
        known = cache.find(path, content_digest(raw))
        if known is not None and known.own == tuple(a for a in known.addresses if a.casefold() in identities):
            cached += 1
            files[path] = known
        elif changed is not None and path not in changed:
            files[path] = glance(path, raw)
        else:
            waiting.append((path, raw))
            weight += len(raw)
            if weight > _BATCH:
                look()
                weight = 0
        if keep_raw or (path in changed if changed is not None else held < _HELD):
            kept[path] = raw
            held += len(raw)
    look()
    return dict(sorted(files.items())), kept, cached


def _identities(tree: WorkTree, given: Collection[str], tip: str | None) -> frozenset[str]:
    """Return the addresses that a memory may name: those given, and those that the history's authors
    have published already by committing here."""
    found = {address.casefold() for address in given}
    if tip is not None:
        raw = read_git(tree, "log", "--no-show-signature", "--no-mailmap", "--format=%ae%n%ce", tip)
        found.update(line.casefold() for line in set(raw.decode("utf-8", "replace").split("\n")) if line)
    return frozenset(found)


def _chosen(
    paths: Sequence[str], files: Iterable[str], others: Iterable[str], changed: Mapping[str, str | None] | None
) -> set[str]:
    chosen = set(changed) if changed is not None else {*files, *others}
    if not paths:
        return chosen
    wanted = [path.rstrip("/") for path in paths]
    found = {path for path in chosen if any(want in (path, ".") or path.startswith(f"{want}/") for want in wanted)}
    if changed is None:
        for want in wanted:
            if want != "." and not any(path == want or path.startswith(f"{want}/") for path in found):
                raise UsageError("no memory lies at this path", where=plain(want))
    return found


def _pairs(files: Sequence[Known], cache: Cache, among: Collection[str] | None) -> list[Pair]:
    """Return the near duplicates; of a whole repository, those of the same files are remembered."""
    if among is not None:
        return find_pairs(files, among=among)
    digest = hashlib.sha256(
        "\0".join(f"{file.digest} {file.path}" for file in files).encode("utf-8", "surrogateescape")
    )
    kept = cache.find_pairs(digest.hexdigest())
    if kept is not None:
        return kept
    pairs = find_pairs(files)
    cache.keep_pairs(digest.hexdigest(), pairs)
    return pairs


# -- trust -------------------------------------------------------------------------------------------


def read_folder(snapshot: Snapshot, folder: str) -> dict[str, bytes]:
    """Return the files that lie directly in ``folder`` of a snapshot, by path; what is unreadable is left out."""
    paths = [f"{folder}/{name}" for name in snapshot.folder(folder)]
    return {path: raw for path, raw in snapshot.read_many(paths) if isinstance(raw, bytes)}


def read_keyrings(snapshot: Snapshot) -> dict[str, bytes]:
    """Return the keyring files of a snapshot by path. What is there and cannot be read (a symlink, a
    FIFO, a folder) counts as empty: then there is no keyring that holds, not no keyring at all."""
    from memfs.trust.keyring import version_of_name

    names = set(snapshot.folder(".memfs"))
    names |= {path.removeprefix(".memfs/") for path in snapshot.oddities(".memfs")}
    paths = [f".memfs/{name}" for name in sorted(names) if version_of_name(name) is not None]
    return {path: raw if isinstance(raw, bytes) else b"" for path, raw in snapshot.read_many(paths)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judging:
    view: TrustView | None = None
    receipts: Mapping[str, bytes] = field(default_factory=dict)  # of the state that is checked
    unpinned: bool = False
    notices: tuple[str, ...] = ()


def _open_judging(states: _States, places: Places | None, pin: str | None, today: date) -> _Judging:
    """Return by whose word approvals are judged: the keyring of the base where there is one."""
    keyrings = read_keyrings(states.theirs if states.theirs is not None else states.now)
    if not keyrings:
        return _Judging()
    here = read_folder(states.now, APPROVALS)
    receipts = dict(here)
    if states.base is not None and states.theirs is not None:
        # What the base has got since, a withdrawal above all, will be there after the merge.
        old = states.base.entries
        receipts |= {path: raw for path, raw in read_folder(states.theirs, APPROVALS).items() if path not in old}
    history = [commit for commit in (states.tip, states.named) if commit is not None]
    view, pinned = judging_view(
        keyrings, receipts, places, today=today, pin=pin, messages=approval_messages(states.now.tree, history)
    )
    notices = list(view.notices) if view.trouble is None else []
    unpinned = states.base is None and not pinned and pin != HERE
    if not pinned and not unpinned:
        whose = "this repository's own" if states.base is None else "the base's"
        notices.append(f"nothing is pinned: approvals are judged by {whose} keyring at its word")
    return _Judging(view=view, receipts=here, unpinned=unpinned, notices=tuple(notices))


def judging_view(
    keyrings: Mapping[str, bytes],
    receipts: Mapping[str, bytes],
    places: Places | None,
    *,
    today: date,
    pin: str | None,
    messages: Sequence[bytes],
) -> tuple[TrustView, bool]:
    """Return a view on keyrings and receipts by path, and whether somebody pinned them: ``pin``, else
    the user's own. Records in commit ``messages`` can take trust away: a withdrawal counts although
    its receipt was deleted (TRUST 6)."""
    from memfs.trust.pin import read_pins
    from memfs.trust.view import view_of_files

    given = None if pin in (None, "", HERE) else pin
    view = view_of_files(keyrings, receipts, today=today, pin=given, places=places, messages=messages)
    if given is None and pin != HERE and places is not None and view.repository_id is not None:
        own = read_pins(places).get(view.repository_id)
        if own is not None:
            view = view_of_files(keyrings, receipts, today=today, pin=own.text, places=places, messages=messages)
    return view, view.pinned


def approval_messages(tree: WorkTree, tips: Collection[str]) -> list[bytes]:
    """Return the commit messages in the history of ``tips`` that may hold records."""
    if not tips or tree.git_dir is None:
        return []
    switches = ("--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-z", "--format=%B")
    raw = read_git(tree, "log", *switches, "--fixed-strings", "--grep=Memory-Approval:", *sorted(set(tips)))
    return [message for message in raw.split(b"\0") if message]


def _judge_trust(
    view: TrustView | None,
    snapshot: Snapshot,
    files: Sequence[Known],
    memories: Mapping[str, Memory],
    raw: Mapping[str, bytes],
) -> dict[str, Verdict]:
    """Return the verdict of each memory; ``raw`` holds the bytes that were kept, the others are read again."""
    if view is None or view.keyring is None:
        return {}
    wanted = {file.path: file for file in files if file.is_memory}
    again = snapshot.read_many(path for path in wanted if path not in raw)
    found: dict[str, Verdict] = {}
    for path, content in chain(((path, raw[path]) for path in wanted if path in raw), again):
        known = wanted[path]
        # What is known of exactly these bytes needs no second parsing; the view hashes them itself.
        if isinstance(content, bytes) and content_digest(content) == known.digest:
            file = MemoryFile(
                id=known.id, path=path, raw=content, digest=known.digest, document=None, memory=memories[path]
            )
            found[path] = view.verdict(file)
    return found


def _scan(scanner: DeepScanner, snapshot: Snapshot, paths: Sequence[str], raw: Mapping[str, bytes]) -> Iterator[Result]:
    """Yield what a second scanner takes for credentials; the value is in none of the results."""
    again = snapshot.read_many(path for path in paths if path not in raw)
    for path, content in chain(((path, raw[path]) for path in paths if path in raw), again):
        if isinstance(content, bytes):
            for finding in scanner.check_text("file", content.decode("utf-8", "replace")):
                yield make_result(
                    "secret", f"It {finding.message}.", path=path, line=finding.line, column=finding.column
                )


def is_trusted(verdict: Verdict | None) -> bool:
    """Return whether there is a verdict, and it is that the text is trusted."""
    return verdict is not None and verdict.trusted


def _check_trust(judging: _Judging, states: _States, verdicts: Mapping[str, Verdict]) -> Iterator[Result]:
    from memfs.trust.check import check_keyring, check_receipts
    from memfs.trust.judge import Reason

    view = judging.view

    keyrings = read_keyrings(states.now)
    for problem in check_keyring(keyrings):
        newest = max(keyrings, key=lambda path: (len(path), path), default=".memfs/keyring.1")
        yield make_result(
            "keyring-refused", f"The keyring is refused: {plain(problem.message, limit=300)}.", path=newest
        )
    if view is None:
        return
    doubtful = _doubtful(judging.receipts, verdicts)
    if states.base is not None:
        doubtful = {path: raw for path, raw in doubtful.items() if _differs(states.base, states.now, path)}
    by_name = {plain(path, limit=1_000): path for path in doubtful}
    for problem in check_receipts(doubtful, view):
        path = by_name.get(problem.message.split(" ", 1)[0], "")
        rule = "receipt-unreadable" if problem.rule in ("bad-receipt", "misnamed-receipt") else "receipt-refused"
        yield make_result(rule, f"{problem.message}.", path=path)
    for path, verdict in verdicts.items():
        if verdict.reason in (Reason.CHANGED, Reason.OLDER_TEXT):
            detail = verdict.detail or "the text is not the one that was approved"
            yield make_result("approval-lost", f"{detail[0].upper()}{detail[1:]}.", path=path)


def _doubtful(receipts: Mapping[str, bytes], verdicts: Mapping[str, Verdict]) -> dict[str, bytes]:
    """Return the receipts that must be looked at one by one.

    Left out are those of a memory that as many people approved as it has receipts, and that no batch
    speaks of: each of them granted, so each was read and verified for the verdict.
    """
    from memfs.trust.record import find_records, receipt_subject

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


def _differs(base: Snapshot, now: Snapshot, path: str) -> bool:
    old = base.blob_of(path)
    return old != now.blob_of(path, like=old)


# -- the repository, and a change of it --------------------------------------------------------------


def _check_repository_files(snapshot: Snapshot, base: Snapshot | None) -> Iterator[Result]:
    from memfs.disk.settings import parse_repository_settings
    from memfs.recall.evaluate import parse_suite

    questions = [f"evals/{name}" for name in snapshot.folder("evals") if name.endswith((".yaml", ".yml"))]
    wanted = [".gitattributes", ".memfs/config.yaml", *questions]
    if base is not None:
        wanted = [path for path in wanted if _differs(base, snapshot, path)]
    for path, raw in snapshot.read_many(wanted):
        if path == ".gitattributes":
            text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""
            yield from _check_attributes(text)
        elif path in questions:
            from memfs.recall.evaluate import parse_suite  # brings the whole of recall along

            try:
                parse_suite(path, raw if isinstance(raw, bytes) else b"")
            except InvalidMemoryError as error:
                yield make_result("bad-questions", f"{plain(str(error), limit=300)}.", path=path)
        elif isinstance(raw, bytes):
            for problem in parse_repository_settings(raw).problems:
                yield make_result("bad-settings", f"{plain(problem, limit=300)}.", path=path)
        elif raw != "missing":
            yield make_result("bad-settings", f"The file cannot be read: {plain(raw)}.", path=path)


def _check_oddities(snapshot: Snapshot) -> Iterator[Result]:
    """Yield what under ``.memfs/`` is not what its name says: nobody would read it, and trust would end
    without a word."""
    found = {**snapshot.oddities(".memfs"), **snapshot.oddities(".memfs/approvals")}
    for path, reason in sorted(found.items()):
        what = {"symlink": "A symlink", "not-a-folder": "No folder"}.get(reason, "No regular file")
        message = f"{what} stands here; it is not read, and what it should hold counts as missing."
        yield make_result("not-a-file", message, path=path, fix="Put the file or folder itself here.")


def _check_attributes(text: str) -> Iterator[Result]:
    lines = [" ".join(line.split()) for line in text.split("\n") if not line.lstrip().startswith("#")]
    for wanted in _ATTRIBUTES:
        pattern, *attributes = wanted.split(" ")
        if not any(line.split(" ")[0] == pattern and set(attributes) <= set(line.split(" ")[1:]) for line in lines):
            yield make_result("attributes", f"The line {wanted!r} is missing.", path=".gitattributes")
    for number, line in enumerate(text.split("\n"), 1):
        if "merge=union" in line and not line.lstrip().startswith("#"):
            message = "merge=union joins two people's versions into a text that nobody wrote."
            yield make_result("attributes", message, path=".gitattributes", line=number, column=1)


def _check_change(states: _States, changed: Mapping[str, str | None]) -> Iterator[Result]:
    base, now = states.base, states.now
    assert base is not None
    for path, old in changed.items():
        before, after = scope_of_path(old) if old else None, scope_of_path(path)
        if before is not None and after is not None and is_wider(after, before):
            yield make_result("scope-wider", f"It moves from {before} to {after}: more people would see it.", path=path)
    theirs = states.theirs
    if theirs is not None and theirs is not base:
        for path, old in changed.items():
            there = old or path
            blob = theirs.blob_of(there)
            if base.blob_of(there) != blob and blob != now.blob_of(path, like=blob):
                yield make_result("base-moved", path=path)


def check_messages(tree: WorkTree, since: str, tip: str) -> Iterator[Result]:
    """Yield what admission says about the commit messages between two commits."""
    from memfs.admission.gate import Severity, judge_text
    from memfs.check.single import rule_of

    switches = ("--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-z", "--format=%H%n%B")
    raw = read_git(tree, "log", *switches, f"{since}..{tip}")
    for part in raw.split(b"\0"):
        commit, _, message = part.partition(b"\n")
        text = message[:_MAX_MESSAGE].decode("utf-8", "replace")
        for finding in judge_text(text, field="commit message").findings:
            if finding.severity is Severity.REJECT:
                short = commit[:12].decode("ascii", "replace")
                yield make_result(
                    rule_of(finding),
                    f"The message of commit {short}: {finding.message} ({finding.rule}).",
                    fix="Reword the commit before it is pushed (`git commit --amend`, `git rebase -i`).",
                    level=Level.ERROR,
                )


def with_fixes(report: Report, fixed: Sequence[str], left: Sequence[str]) -> Report:
    """Return ``report`` with what ``--fix`` did."""
    notices = (
        *report.notices,
        *(
            f"{plain(path)} is approved as it is, so its form was left: approve it again after changing it"
            for path in left
        ),
    )
    return replace(report, fixed=tuple(fixed), notices=notices)
