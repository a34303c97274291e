"""Rules that warn of text which will not be true for long (ADMISSION 4). Pure; they never stop anything.

On lines written apart from the rules they caught one transient note in thirty. What keeps passing
states out of a repository is that a memory names its evidence and when to look at it again.
"""

from __future__ import annotations

import re
from functools import cache

from memfs.admission.lazy import LazyPattern
from memfs.admission.rules import Family, Rule, Severity, words

_DECIDES = LazyPattern(
    r"\b(?:must|never|always|should|may not|decided|decision|agreed|because|budget|limit|gate|policy|rule|"
    r"requires?|accepted|chosen|so that|until version|until v?\d|confirmed|measured|valid until|handoff|"
    r"hand-off|checkpoint|window|renewed every|follow)\b"
)


def _without_decision(match: re.Match[str]) -> bool:
    text = match.string
    start = max(text.rfind(". ", 0, match.start()), text.rfind("\n", 0, match.start())) + 1
    end = min((i for i in (text.find(". ", match.end()), text.find("\n", match.end())) if i >= 0), default=len(text))
    return _DECIDES.search(text[start:end]) is None


def _rule(name: str, sentence: str, keywords: tuple[str, ...], pattern: str, *, alone: bool = True) -> Rule:
    return Rule(
        name=name,
        family=Family.TRANSIENCE,
        severity=Severity.WARN,
        sentence=sentence,
        keywords=keywords,
        pattern=pattern,
        accepts=_without_decision if alone else None,
    )


@cache
def transience_rules() -> tuple[Rule, ...]:
    """Return the rules that warn of text about a passing state. Matched in lower-cased running text."""
    return (
        _rule(
            "relative-time",
            "speaks of today, now or next week: name the date",
            words(
                "today|tonight|tomorrow|yesterday|now|current|this |next |last | ago|moment|in two|in three|in a|"
                "recent|soon|lunch|weekend| in |end of the"
            ),
            r"\b(?:today(?:'s|s')?|tonight|tomorrow|yesterday|right now|at the moment|for now|for the time being|"
            r"just now|this (?:morning|afternoon|evening|week|weekend|month|quarter|sprint|monday|tuesday|"
            r"wednesday|thursday|friday)|next (?:week|month|quarter|sprint|release|monday|tuesday|wednesday|"
            r"thursday|friday)|"
            r"last (?:night|week|month|sprint|nightly|monday|tuesday|wednesday|thursday|friday)|(?:a|one|two|three|"
            r"few|\d+) (?:minutes?|hours?|days?|weeks?|months?) ago|in (?:a|two|three|four|five|\d+) (?:minutes?|"
            r"hours?|days?|weeks?|months?)\b(?! of)|after lunch|at the end of the (?:day|week|month|quarter)|"
            r"currently|recently)\b(?! widgets?)",
        ),
        _rule(
            "running-state",
            "describes a state that is changing",
            words(
                "currently|in progress|waiting|editing|working on|open pull|pending|running|is down|is red|is green|"
                "failing|is off|is on|right now|opened|merged|half of|the rest|remaining|backlog|active|sprint"
            ),
            r"\b(?:i(?: am|'m| have|'ve)? (?:currently |just |now )?(?:editing|working on|waiting|opened|set|"
            r"started|stopped|restarted|deployed|pushed|merged|debugging)|(?:in progress|work in progress|wip)\b|"
            r"waiting for (?:review|ci|approval|an answer|the vendor)|(?:has|have|had|with) (?:\w+ )?(?:failing|"
            r"pending|open) (?:checks?|tests?|jobs?)|"
            r"there are \d+ (?:open|failing|pending)|half of the|the rest follows|the (?:current|active) (?:sprint|"
            r"replica ?set|pod|deployment|branch|incident|on-?call)|backlog (?:shrank|grew|is)|(?:ci|build|nightly|"
            r"pipeline|master|main) (?:is|was) (?:red|broken|green|failing)|remaining (?:api )?(?:quota|budget|"
            r"credits|disk))\b",
        ),
        _rule(
            "run-or-resource-id",
            "names a run, pod, process or container that will be gone",
            words("pod|pid|run |container|replica|process|job |build |session|instance"),
            r"\b(?:pid|process(?: id)?|run(?: id)?|job(?: id)?|build(?: id| number)?|container(?: id)?|session(?: "
            r"id)?)\s*[#:=]?\s*(?:\d{3,}|[0-9a-f]{10,64})\b|\b[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{8,10}(?:-[a-z0-9]{5}"
            r")?\b|\bi-[0-9a-f]{8,17}\b",
        ),
        _rule(
            "measured-value",
            "states a measured value with no decision about it",
            words("%|balance|usage|coverage|quota|latency|is at|count| ms|tickets|errors"),
            r"\b(?:balance|usage|coverage|quota|latency|load|queue(?: length)?|disk|memory|cpu|error rate|backlog|"
            r"throughput|uptime)\b[^.;\n]{0,40}?\b(?:is|was|at|shrank to|grew to|dropped to|rose to|:)\s*(?:at "
            r")?[\d.,]+ ?(?:%|percent|eur|usd|gb|gib|mb|ms|s\b|tickets|calls|items|rps)?|remaining api quota",
        ),
        _rule(
            "tool-output",
            "looks like pasted output of a tool",
            words(
                "on branch|total |drwx|-rw-|traceback|collected |passed in|warning:|error:|npm err|fatal:|+++|---|"
                "commit |$ "
            ),
            r"(?:\bon branch \S+ (?:your branch|nothing to commit|changes)|nothing to commit, working tree clean|"
            r"\btotal \d+ [-d][rwx-]{9}|[-d][rwx-]{9}[.+]? +\d+ \w+|\btraceback \(most recent call last\)|=+ "
            r"(?:test session starts|\d+ passed)|\b\d+ passed(?:, \d+ \w+)* in [\d.]+ ?s|\bnpm err!|@@ -\d+,\d+ "
            r"\+\d+,\d+ @@|^\$ \w+)",
            alone=False,
        ),
        _rule(
            "guess",
            "is a guess: say what would settle it, or record it as an observation",
            words(
                "probably|maybe|perhaps|presumably|assume|suspect|guess|i think|might be|not verified|not sure|seems|"
                "apparently|somebody|someone|rumour|unverified"
            ),
            r"\b(?:probably|maybe|perhaps|presumably|apparently|supposedly|i (?:assume|suspect|guess|think|believe|"
            r"suppose)|not (?:verified|sure|certain|tested)|unverified|it seems|might be|(?:somebody|someone) "
            r"(?:in|on|from|said|told)[^.;\n]{0,30}(?:said|told|claims?|mentioned)?)\b",
        ),
        _rule(
            "worked-once",
            "rests on one success",
            words("passed|worked|retry|locally|helped|fixed it"),
            r"\b(?:passed|worked|succeeded|went through|built) (?:after|on|at) (?:the )?(?:\w+ )?(?:retry|retries|"
            r"attempt|try|rerun|restart)\b|\bmade (?:the|it|them) (?:\w+ )?(?:pass|work|green)(?: locally)?\b|"
            r"\bworks? on my machine\b",
        ),
        _rule(
            "one-off-request",
            "answers one request of one day",
            words("meeting|wants the|asked for|please|for the demo|for the call|just this once|this time"),
            r"\b(?:just this once|only this time|for (?:the|today's|tomorrow's|this) (?:meeting|demo|call|"
            r"presentation|sprint review)|(?:she|he|they|the boss) wants? the \w+)\b",
        ),
    )
