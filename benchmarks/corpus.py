"""A repository of made-up engineering memories, the same for the same seed. Standard library only."""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

SCOPES = ("team", "team/billing", "team/web", "team/platform", "personal")
KINDS = ("decision", "procedure", "observation", "preference")
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
_SUBJECTS = (
    "the deploy job",
    "the billing worker",
    "the search index",
    "the session store",
    "the invoice export",
    "the rate limiter",
    "the feature flag service",
    "the nightly backup",
    "the image resizer",
    "the login page",
    "the audit log",
    "the message queue",
)
_VERBS = ("retries", "rejects", "caches", "locks", "rotates", "compresses", "validates", "replays", "throttles")


def make_words(seed: int, count: int = 8_000) -> list[str]:
    """Return ``count`` different made-up words."""
    draw = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(draw.choices(_SYLLABLES, k=draw.randint(2, 4)))] = None
    return list(words)


def write_corpus(root: Path, count: int, *, seed: int = 11) -> list[str]:
    """Write ``count`` memories below ``root`` and return a question for each hundredth of them."""
    draw = random.Random(seed)
    words = make_words(seed)
    weights = list(accumulate(1 / (place + 12) for place in range(len(words))))

    def sentence(length: int) -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=length))

    questions = []
    for number in range(count):
        scope = draw.choice(SCOPES)
        folder = root / "memories" / scope
        folder.mkdir(parents=True, exist_ok=True)
        subject, verb = draw.choice(_SUBJECTS), draw.choice(_VERBS)
        first = sentence(14)
        text = (
            f"---\nkind: {draw.choice(KINDS)}\norigin: owner\nscope: {scope}\nevidence:\n"
            f"  - said by alice on 2026-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}\n"
            f"recorded: 2026-0{draw.randint(1, 9)}-2{draw.randint(0, 8)}\nreview_trigger: on 2040-01-01\n"
            f'applies_to: ["services/{draw.choice(words)}/**"]\n---\n'
            f"{subject.capitalize()} {verb} {first}.\n\nWhy: {sentence(30)}.\n"
        )
        (folder / f"memory-{number}-{words[number % len(words)]}.md").write_text(text, encoding="utf-8")
        if number % 100 == 0:
            questions.append(f"why {subject} {verb} {' '.join(first.split()[3:8])}?")
    return questions
