"""Progress bars for a person at a terminal, silence for everybody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.cli.session import Session

Show = Callable[[int, int], None]
"""Called with (done, total)."""


@contextmanager
def bars(session: Session, *titles: str) -> Iterator[tuple[Show, ...]]:
    """Give one function for each of ``titles``; its bar appears at the first call."""
    if not session.interactive:
        yield tuple(_silent for _ in titles)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:

        def bar(title: str) -> Show:
            task = progress.add_task(title, visible=False)
            return lambda done, total: progress.update(task, completed=done, total=total, visible=True)

        yield tuple(bar(title) for title in titles)


def _silent(_done: int, _total: int) -> None: ...
