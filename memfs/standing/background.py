"""The index as recall keeps it: behind the read-time gate, and refreshed by processes of its own.

A value that the gate rejects is copied nowhere (ADMISSION 1), the index's files included: of such a
memory only the words of its id are indexed. The gate's answers are kept by digest, so each text is judged
once under each version of the gate.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from memfs import index
from memfs.admission.gate import GATE_VERSION, Decision, Finding, Outcome, judge_reading, settle_reading
from memfs.admission.rules import Family, Severity
from memfs.disk.private import make_folder, own_lock
from memfs.errors import SetupError
from memfs.index.facts import FactCache
from memfs.index.folder import make_index_folder
from memfs.index.opening import Opened, open_index

if TYPE_CHECKING:
    from memfs.disk.places import Places
    from memfs.disk.worktree import WorkTree
    from memfs.model.memory import MemoryFile


class KeptGate:
    """The read-time gate of one work tree, its answers kept beside the index."""

    version = GATE_VERSION

    def __init__(self, facts: FactCache) -> None:
        self._facts = facts

    def judge(self, file: MemoryFile) -> Decision:
        """Return what the gate says about ``file``."""
        decision = _parse(self._facts.get(file.digest).get("gate"))
        if decision is None:
            decision = judge_reading(file)
            self._facts.put(file.digest, "gate", _format(decision))
        return decision

    def admits(self, file: MemoryFile) -> bool:
        """Return whether the text of ``file`` may be indexed."""
        # What its approvers let pass is indexed: whether it is shown is decided when its trust is known.
        return settle_reading(self.judge(file), file, trusted=True).outcome is not Outcome.REJECT

    def save(self) -> None:
        """Write the new answers."""
        self._facts.save(wait=True)


def open_recall_index(tree: WorkTree, places: Places) -> Opened:
    """Return the index of ``tree`` as far as a recall can wait; a detached process does the rest."""
    opened = open_index(tree, places, KeptGate(FactCache(tree, places)))
    if opened.behind or opened.unlooked:
        refresh_detached(tree, places)
    return opened


def refresh_index(
    tree: WorkTree,
    places: Places,
    *,
    progress: index.Progress | None = None,
    embedding_progress: index.Progress | None = None,
    wait: bool = True,
    anew: bool = False,
) -> index.RefreshReport | None:
    """Bring words and vectors of the index up to date: :func:`memfs.index.bring_up_to_date` behind the gate."""
    gate = KeptGate(FactCache(tree, places))
    return index.bring_up_to_date(
        tree, places, gate, progress=progress, embedding_progress=embedding_progress, wait=wait, anew=anew
    )


def refresh_detached(tree: WorkTree, places: Places) -> None:
    """Start a process of its own that refreshes the index, and do not wait for it.

    None is started while another one is at work, or where the folder must not be used.
    """
    from memfs.git.process import spawn_own

    try:
        with own_lock(f"{make_index_folder(tree, places)}/refresh.lock", wait=False) as is_free:
            if not is_free:
                return
    except (OSError, SetupError):
        return
    spawn_own("memfs.standing.background:run_detached", str(places.home), str(tree.root))


def run_detached(home: str, root: str) -> None:
    """Refresh the index of the tree at ``root``: the body of the detached process."""
    from pathlib import Path

    from memfs.disk.places import Places
    from memfs.disk.worktree import find_work_tree

    refresh_index(find_work_tree(Path(root)), Places(home=Path(home)), wait=False)


def start_preparing(tree: WorkTree, places: Places) -> bool:
    """Start a process that prepares the model and embeds ``tree``; return whether it was started.

    Once only: where that fails, `memfs index` says why.
    """
    from memfs.index.embedding import is_available
    from memfs.index.models import can_prepare, chosen_runtime

    if not is_available(chosen_runtime(places)) or not can_prepare(places):
        return False
    mark = os.path.join(places.cache, "models", ".started")
    try:
        make_folder(places, "cache", "models")
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except (OSError, SetupError):
        return False
    refresh_detached(tree, places)
    return True


def _format(decision: Decision) -> list[Any]:
    findings = [
        [one.rule, one.family.value, one.severity.value, one.message, one.field, one.line, one.column]
        for one in decision.findings
    ]
    return [GATE_VERSION, decision.outcome.value, findings]


def _parse(kept: object) -> Decision | None:
    if not isinstance(kept, list) or len(kept) != 3 or kept[0] != GATE_VERSION:
        return None
    _, outcome, findings = kept
    try:
        return Decision(
            outcome=Outcome(outcome),
            findings=tuple(
                Finding(
                    rule=str(rule),
                    family=Family(family),
                    severity=Severity(severity),
                    message=str(message),
                    field=str(name),
                    line=line,
                    column=column,
                )
                for rule, family, severity, message, name, line, column in findings
            ),
        )
    except (TypeError, ValueError):
        return None
