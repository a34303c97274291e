"""What a range of commits means for the memories, for a person who must say yes or no.

``review_range`` asks the rules of :mod:`memfs.check` and orders their results by memory, with the words that change;
``format_comment``, ``terminal_lines`` and ``review_payload`` write it.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.review.change import Change, Review, review_range
    from memfs.review.forms import (
        STYLES,
        format_comment,
        format_plain,
        headline,
        in_markdown,
        review_payload,
        terminal_lines,
    )
    from memfs.review.notes import Note, Tone
    from memfs.review.words import compare_words, context_rows

__getattr__, __all__ = open_door(
    __name__,
    {
        "change": (
            "Change",
            "Review",
            "review_range",
        ),
        "forms": (
            "STYLES",
            "format_comment",
            "format_plain",
            "headline",
            "in_markdown",
            "review_payload",
            "terminal_lines",
        ),
        "notes": (
            "Note",
            "Tone",
        ),
        "words": (
            "compare_words",
            "context_rows",
        ),
    },
)
