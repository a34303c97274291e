"""Drafts from what was said: sessions of agents, and histories.

Off until a person switches it on, for each store and again for doing it by itself. What is captured is derived text in
a draft: a person keeps, changes or drops it. A session is read by a model with the person's own key and no tools, or
by their agent's own program in a cage that was proved; no cage, no capture.
"""

from typing import TYPE_CHECKING

from memfs.doors import open_door

if TYPE_CHECKING:
    from memfs.capture.asking import make_questions, statements_of
    from memfs.capture.cage import CAGES, MARK, is_inside, make_caged
    from memfs.capture.endpoint import make_endpoint
    from memfs.capture.from_git import statements_of_file, statements_of_range
    from memfs.capture.keeping import Kept, fields_of_session, keep_statements
    from memfs.capture.proof import Proof, prove
    from memfs.capture.queue import keep_lines_done, lines_done, note, read_queue, take_ended
    from memfs.capture.sessions import find_last, is_of, read_session
    from memfs.capture.transcripts import Transcript

__getattr__, __all__ = open_door(
    __name__,
    {
        "asking": ("make_questions", "statements_of"),
        "cage": ("CAGES", "MARK", "is_inside", "make_caged"),
        "endpoint": ("make_endpoint",),
        "from_git": ("statements_of_file", "statements_of_range"),
        "keeping": ("Kept", "fields_of_session", "keep_statements"),
        "proof": ("Proof", "prove"),
        "queue": ("keep_lines_done", "lines_done", "note", "read_queue", "take_ended"),
        "sessions": ("find_last", "is_of", "read_session"),
        "transcripts": ("Transcript",),
    },
)
