"""The strict reader and writer as a handler of python-frontmatter, for code that speaks its interface.

``frontmatter.loads(text, handler=MemoryHandler())`` gives the same values as
:func:`memfs.model.frontmatter.parse_document`, and refuses the same. memfs itself calls the functions:
python-frontmatter strips bodies, takes a block that it cannot split for no block, and costs a hook
another 5 ms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from frontmatter.default_handlers import BaseHandler

from memfs.model.flatyaml import UnreadableError, format_entry, scan
from memfs.model.frontmatter import format_document, split_document
from memfs.model.memory import FrontValue, Problem

if TYPE_CHECKING:
    from frontmatter import Post


class MemoryHandler(BaseHandler):
    """Detects, splits, loads and exports the flat subset between ``---`` lines."""

    FM_BOUNDARY = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        """Return whether ``text`` starts with front matter; raise :class:`UnreadableError` where it is not closed."""
        return split_document(text) is not None

    def split(self, text: str) -> tuple[str, str]:
        """Return front matter and body; raise :class:`ValueError`, as the interface wants, where there is none."""
        layout = split_document(text)
        if layout is None:
            raise ValueError("no front matter")
        return text[layout.front_start : layout.front_end], text[layout.body_start :]

    def load(self, fm: str) -> dict[str, Any]:
        """Return the values; raise :class:`UnreadableError` for what is outside the subset."""
        problems: list[Problem] = []
        entries = scan(fm.replace("\r\n", "\n"), 2, problems)
        fatal = [problem for problem in problems if problem.fatal]
        if fatal:
            raise UnreadableError(fatal)
        return {entry.key: entry.value for entry in entries}

    def export(self, metadata: dict[str, object], **_kwargs: object) -> str:
        """Return the lines of ``metadata`` (texts and lists of texts)."""
        front = cast(dict[str, FrontValue], metadata)
        return "\n".join(line for key, value in front.items() for line in format_entry(key, value))

    def format(self, post: Post, **_kwargs: object) -> str:
        """Return the whole file."""
        return format_document(cast(dict[str, FrontValue], post.metadata), post.content).decode("utf-8")
