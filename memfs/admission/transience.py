"""Rules that warn of text which will not be true for long (ADMISSION 4). Pure; they never stop anything.

The rules are in ``data/passing.rules``.
"""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.lazy import LazyPattern
from memfs.admission.rules import Rule
from memfs.admission.tables import read_rules

_DECIDES = LazyPattern(
    r"\b(?:must|never|always|should|may not|decided|decision|agreed|because|budget|limit|gate|policy|rule|"
    r"requires?|accepted|chosen|so that|until version|until v?\d|confirmed|measured|valid until|handoff|"
    r"hand-off|checkpoint|window|renewed every|follow)\b"
)


def _no_decision(match: re.Match[str]) -> bool:
    """Whether the sentence decides nothing."""
    text = match.string
    start = max(text.rfind(". ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
    end = min((i for i in (text.find(". ", match.end()), text.find("\n", match.end())) if i >= 0), default=len(text))
    return _DECIDES.search(text[start:end]) is None


@cache
def transience_rules() -> tuple[Rule, ...]:
    """Return the rules that warn of text about a passing state. Matched in lower-cased running text."""
    return read_rules("passing.rules", globals())
