"""The model of recall by meaning is made ready when a person sets memfs up, and not at the first question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.cli.progress import bars
from memfs.disk.worktree import WorkTree
from memfs.errors import MemfsError
from memfs.index.models import is_damaged
from memfs.index.semantic import find_model, prepare_if_possible
from memfs.standing.background import refresh_index

if TYPE_CHECKING:
    from memfs.cli.session import Session


def make_ready(session: Session, tree: WorkTree | None) -> None:
    """Prepare the model, and the index of ``tree``, where a person waits for it; say where there is no model.

    What goes wrong here does not fail what the person asked for; `memfs doctor` says more.
    """
    if not session.interactive or session.places.is_off:
        return
    prepared, reason = find_model(session.places)
    try:
        if prepared is None or is_damaged(prepared):
            with bars(session, "preparing the model for recall by meaning") as (show,):
                show(0, 1)
                prepared = prepare_if_possible(session.places)
                show(1, 1)
        if tree is not None:
            with bars(session, "reading", "embedding") as (words, meaning):
                refresh_index(tree, session.places, progress=words, embedding_progress=meaning)
    except MemfsError as error:
        session.note(f"the model or the index is not ready: {error}; `memfs doctor` says more")
        return
    if prepared is None and reason:
        session.advise(reason)
