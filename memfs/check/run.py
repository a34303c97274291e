"""``memfs check``: every rule over a state of the repository, or over what changed in it.

A change is judged by what it would change: the keyring of its base, never its own (DESIGN 6).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date

from memfs.admission.deep import DeepScanner
from memfs.check.across import Pair, check_clashes, check_ids, check_supersession, describe_pairs, find_pairs
from memfs.check.approvals import check_approvals
from memfs.check.bench import Bench, Standing
from memfs.check.cache import Cache
from memfs.check.change import Between, read_settings
from memfs.check.drift import check_drift
from memfs.check.fields import check_fields
from memfs.check.grouping import group_results
from memfs.check.house import check_house
from memfs.check.judging import (
    Judging,
    check_texts_approved,
    find_doubtful,
    is_trusted,
    judge_trust,
    open_judging,
    scan,
)
from memfs.check.keyrings import check_keyring_change, check_keyring_files, check_receipt_files, check_trailers
from memfs.check.policy import Policy, apply_policy, check_house_rules, demand, read_policy
from memfs.check.reading import Reader, choose, find_identities
from memfs.check.results import Report, Result, sort_results
from memfs.check.single import Known, glance, normal_form
from memfs.check.states import States, Target, find_changes, open_states
from memfs.check.surroundings import (
    check_merge,
    check_messages,
    check_oddities,
    check_repository_files,
    check_skipped,
)
from memfs.check.texts import check_texts
from memfs.check.words import counted
from memfs.disk.files import UnreadableFile, read_file, write_in_tree
from memfs.disk.places import Places
from memfs.disk.settings import read_user_settings
from memfs.disk.worktree import WorkTree
from memfs.git.snapshot import Snapshot
from memfs.model.codepoints import plain
from memfs.model.reader import id_of_path, read_memory
from memfs.model.values import dataclass, field, replace
from memfs.trust.carriers import APPROVALS, read_keyrings
from memfs.trust.judge import Verdict
from memfs.trust.view import TrustView


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
    between: Between | None = None  # the facts of a change


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
    sees: Callable[[str], bool] | None = None,
    more: Sequence[Result] = (),
) -> Check:
    """Return what is wrong in ``target``. ``places`` None: without the user's pin and cache.
    ``sees`` says of a path whether the reader may see that file: a result that names another one is withheld, and
    counts all the same. None: every file. ``more`` are results of rules that other rooms judge.
    ``keep_raw``: the answer contains the bytes of every file, not only of the changed ones. ``on_long`` is
    called with the number of files when many must be looked at for the first time. ``scanner`` looks
    for credentials besides the own rules.

    Raises :class:`UsageError` for a base, a commit or a pin that is not one.
    """
    states = open_states(tree, target)
    cache = Cache(tree, places if keep else None)
    changed = None if states.base is None else find_changes(states.base, states.now)
    reader = Reader(
        states.now,
        cache,
        find_identities(tree, identities, states.tip),
        changed=changed,
        keep_raw=keep_raw,
        on_long=on_long,
    )
    reader.read()
    judging = open_judging(states, places, target.pin, today)
    run = _Run(states, target, cache, reader, changed=changed, judging=judging, today=today)
    files = states.theirs or states.now
    own = read_user_settings(places).check if places is not None else None
    policy, complaint = read_policy(read_settings(files).check, own, files)
    run.notices += [complaint] if complaint else []
    policy = demand(policy, fail_on=target.fail_on, require_approval=target.require_approval)
    return run.finish(scanner, policy, sees, more)


class _Run:
    """One run: the files that were read, and the results of every rule about them."""

    def __init__(
        self,
        states: States,
        target: Target,
        cache: Cache,
        reader: Reader,
        *,
        changed: dict[str, str | None] | None,
        judging: Judging,
        today: date,
    ) -> None:
        self.states = states
        self.target = target
        self.cache = cache
        self.files = reader.files
        self.raw = reader.raw
        self.cached = reader.cached
        self.changed = changed
        self.judging = judging
        self.today = today
        self.notices: list[str] = []
        _, self.others = states.now.memories()
        self.only = choose(target.paths, self.files, self.others, changed)
        self.chosen = [file for path, file in self.files.items() if path in self.only]
        self.memories = {file.path: file.memory() for file in self.chosen if file.is_memory}
        self.verdicts = judge_trust(judging.view, states.now, self.chosen, self.memories, self.raw)
        self.bench = Bench(states.now, cache, tip=states.tip, safe=states.named if target.base else None, today=today)
        every = list(self.files.values())
        self.standings = self.bench.judge(self.chosen, self.memories, every, is_trusted=self._is_trusted)
        self.between: Between | None = None
        if states.base is not None and changed is not None:
            self.between = Between(states, judging, changed=changed, files=self.files, verdicts=self.verdicts)

    def _is_trusted(self, path: str) -> bool:
        """Return whether the text at ``path`` is approved, also where only other files were chosen."""
        view = self.judging.view
        if view is None or path in self.verdicts:
            return is_trusted(self.verdicts.get(path))
        # Other files were only glanced at: this one is read whole.
        return any(
            isinstance(raw, bytes) and view.verdict(read_memory(path, raw)).trusted
            for _, raw in self.states.now.read_many([path])
        )

    def finish(
        self,
        scanner: DeepScanner | None,
        policy: Policy,
        sees: Callable[[str], bool] | None,
        more: Sequence[Result],
    ) -> Check:
        """Return the answer of all rules."""
        results = [*more, *self._of_files(), *self._across(), *self._of_the_repository(policy), *self._of_the_change()]
        results += check_house_rules(policy, self.chosen, self.verdicts, today=self.today)
        if scanner is not None:
            scanned = list(scan(scanner, self.states.now, [file.path for file in self.chosen], self.raw))
            for path in {result.path for result in scanned}:
                self.cache.forget(path)
            results += scanned
        self.cache.save(whole=self.changed is None)
        results, left_out = apply_policy(policy, results, files=self.files, verdicts=self.verdicts)
        notices = [*self.judging.notices, *self.bench.notices, *self.notices, *left_out]
        notices += [self.cache.notice] if self.cache.notice else []
        seen = results if sees is None else self._leave_seen(results, sees)
        withheld = set(results) - set(seen)
        looked = [path for path in self.only & set(self.files) if sees is None or sees(path)]
        if withheld:
            notices.append(
                f"{counted(len(withheld), 'result')} about memories that this user may not read, counted too"
            )
        report = Report(
            results=sort_results(group_results(seen)),
            files=len(looked),
            cached=min(self.cached, len(looked)),
            notices=tuple(dict.fromkeys(notices)),
            fail_on=policy.fail_on,
            withheld=tuple(sorted(result.level for result in withheld)),
        )
        return Check(
            snapshot=self.states.now,
            files=self.files,
            standings=self.standings,
            verdicts=self.verdicts,
            view=self.judging.view,
            unpinned=self.judging.unpinned,
            report=report,
            raw=self.raw,
            between=self.between,
        )

    def _leave_seen(self, results: list[Result], sees: Callable[[str], bool]) -> list[Result]:
        """Return the results that name no memory at a path that is hidden from the reader."""
        states = [state for state in (self.states.now, self.states.base, self.states.theirs) if state is not None]
        paths = {path for state in states for found in state.memories() for path in found}
        hidden = {path for path in paths if not sees(path)}
        ids = {id_of_path(path) for path in hidden}
        return [
            result
            for result in results
            if hidden.isdisjoint((result.path, *result.others))
            and ids.isdisjoint((*result.ids, _id_of_receipt(result)))
        ]

    def _of_files(self) -> Iterator[Result]:
        for file in self.chosen:
            yield from file.results
            if not is_trusted(self.verdicts.get(file.path)):
                yield from file.held
        yield from check_skipped({path: reason for path, reason in self.others.items() if path in self.only})
        for standing in self.standings.values():
            yield from standing.results

    def _across(self) -> Iterator[Result]:
        every = [*self.files.values(), *self._of_the_base_alone()]
        among = self.only if self.changed is not None or self.target.paths else None
        results = [*check_clashes([*self.files, *self.others]), *check_ids(every), *check_supersession(every)]
        results += describe_pairs(_find_pairs(every, self.cache, among))
        yield from (result for result in results if result.path in self.only)

    def _of_the_base_alone(self) -> Iterator[Known]:
        """Yield what the base has got since the histories parted, where no merge could be judged."""
        states = self.states
        if states.is_merged or states.theirs is None or states.base is None:
            return
        old, there = states.base.memories()[0], states.theirs.memories()[0]
        for path, raw in states.theirs.read_many(path for path in there if path not in old and path not in self.files):
            if isinstance(raw, bytes):
                yield glance(path, raw)

    def _of_the_repository(self, policy: Policy) -> Iterator[Result]:
        yield from self.judging.results
        if self.target.paths and self.changed is None:
            yield from check_texts_approved(self.verdicts, is_required=bool(policy.require_approval))
            return
        yield from check_keyring_files(read_keyrings(self.states.now), is_change=self.changed is not None)
        doubtful = find_doubtful(self.judging.receipts, self.verdicts)
        yield from check_receipt_files(self.judging, self.states, doubtful)
        if self.changed is None:
            yield from check_texts_approved(self.verdicts, is_required=bool(policy.require_approval))
        yield from check_oddities(self.states.now)
        yield from check_repository_files(self.states.now, self.states.base)

    def _of_the_change(self) -> Iterator[Result]:
        between = self.between
        if between is None:
            return
        yield from check_merge(between)
        yield from check_approvals(between)
        yield from check_keyring_change(between)
        yield from check_fields(between)
        yield from check_texts(between)
        yield from check_house(between)
        yield from check_drift(between, today=self.today)
        if self.target.base and self.states.since and self.states.tip:
            yield from check_messages(self.states.now.tree, self.states.since, self.states.tip)
            yield from check_trailers(between)


def _id_of_receipt(result: Result) -> str:
    """Return the id in the name of the receipt that ``result`` is about, "" where it is about something else."""
    folder, _, name = result.path.rpartition("/")
    return name.partition(".")[0] if folder == APPROVALS else ""


def fix_format(tree: WorkTree, check: Check) -> tuple[list[str], list[str]]:
    """Write the normal form of files whose only fault is their form; return (fixed, left) paths.

    An approved text is left: its approval would be lost by a blank that nobody sees.
    """
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


def _find_pairs(files: Sequence[Known], cache: Cache, among: Collection[str] | None) -> list[Pair]:
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
