"""Whether a prompt asks about anything, and whether a candidate answers it (RETRIEVAL 4).

Most prompts in a coding session are steps of a conversation ("yes, do it", ``git status``) and want
no memory. Scores alone do not tell them apart: one common word in one memory looks like an answer,
and a floor high enough to stop that lost ten points of hit@5. So the words are looked at first: a
prompt made of conversation alone finds nothing, and what is left must be known to the memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

from memfs.index.tokenizer import MAX_QUERY_CHARACTERS, Question, parse_question, terms_of_words
from memfs.recall.steps import is_step

STRONG_WORDS = 0.6
"""Summed weight of the known topic words, in units of a word that one memory alone holds, that is enough."""

SHARED_PART = 3
"""Words that only one memory has are a topic where one memory has at least one in so many of the topics."""

LITERAL_WORDS = 5
"""A text of conversation alone that has so many words is looked for word for word."""


def says_nothing(text: str, *, prompt: bool) -> bool:
    """Return whether nothing is to be looked for, whatever the memories are. Opens nothing.

    ``prompt``: the text is what a person told an agent; then a shell command is not a question either.
    """
    if prompt and is_step(text):
        return True
    if topic_terms(parse_question(text)):
        return False
    return prompt or not is_literal(text)


def is_literal(text: str) -> bool:
    """Return whether a text without a topic is long enough to be looked for word for word."""
    return len(text[:MAX_QUERY_CHARACTERS].split()) >= LITERAL_WORDS


def topic_terms(asked: Question) -> list[str]:
    """Return the terms of a question that are about something: those that are not conversation."""
    talk = terms_of_words(asked.language, "conversation")
    return [term for term in asked.terms if term not in talk and not (len(term) == 1 and term.isascii())]


def telling_topics(
    asked: Question, topics: Sequence[str], frequencies: Sequence[int], most_shared: Callable[[Sequence[str]], int]
) -> Sequence[str]:
    """Return the topics of a prompt that speak for themselves.

    The words of the work at hand ("what does this error mean?") do not where the prompt is conversation
    beside them. Words that only one memory has do not where no memory has a third of the topics.
    ``most_shared`` returns the most of the given topics that one memory has.
    """
    if all(number <= 1 for number in frequencies) and SHARED_PART * most_shared(topics) < len(topics):
        return ()
    if len(topics) == len(asked.terms):
        return topics
    work = terms_of_words(asked.language, "work")
    return [term for term in topics if term not in work]


def is_question(
    topics: Sequence[str], frequencies: Sequence[int], *, documents: int, covered: bool, is_near: bool
) -> bool:
    """Return whether a prompt with these topic words should find anything.

    ``frequencies`` are the documents that contain each word that speaks for itself; ``covered`` says that one
    of them contains all; ``is_near`` that a vector is near enough by itself.
    """
    if not topics:
        return False
    known = sum(log(1 + (documents - n + 0.5) / (n + 0.5)) for n in frequencies if n)
    rarest = log(1 + max(0.0, documents - 0.5) / 1.5)
    return covered or is_near or (known > 0 and known >= STRONG_WORDS * rarest)
