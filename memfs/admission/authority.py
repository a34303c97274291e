"""Rules against text that grants authority or gives orders to whoever reads it (ADMISSION 4). Pure.

Two layers. Known shapes (a grammar of families, with guards for negation and for reports about such
text) are rejected whoever wrote them. Beyond the shapes, a *permissive* statement about a *control*
is rejected when imported or derived and held when an agent's. Paraphrase gets past both: on lines
written apart from the rules they caught none of 60 grants. Approval by a person, framing and the fact
that a memory grants no tool power carry what rules cannot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from memfs.admission.lazy import LazyPattern
from memfs.admission.rules import Family, Rule, Severity, words

# The pieces of the grammar. Everything is matched in lower-cased, folded text with single spaces.
_YOU = (
    r"(?:you|the (?:ai |coding )?(?:agent|assistant|model|bot)|(?:ai |coding )?agents|assistants|claude(?: "
    r"code)?|codex|copilot|gemini|cursor|the ai|this agent|any agent)"
)
_CONTROL = (
    r"(?:(?:change |code |security |human |manual |peer |branch |deploy(?:ment)? |release |production |"
    r"safety |final |second |owner |policy |mandatory |required )*"
    r"(?:approvals?|reviews?|confirmations?(?: dialogs?| prompts?| steps?)?|permissions?(?: prompts?| "
    r"checks?| systems?)?|sandbox(?:ing)?|(?:deploy |release |merge |quality |approval )?gates?|"
    r"(?:change |code |deploy |release )?freezes?|branch protections?|protected branches|guard ?rails?|"
    r"safety (?:checks?|rules?|measures?)|security (?:checks?|scans?|warnings?|reviews?|controls?|policies|"
    r"policy)|"
    r"audit (?:logs?|trails?|logging)|code ?owners|human[- ]in[- ]the[- ]loop|human oversight|sign[- "
    r"]?offs?|authori[sz]ations?|consent|access controls?|policy checks?|approval (?:checks?|steps?|"
    r"process|workflow|policy|rules?)|"
    r"review (?:steps?|process|requirements?|rules?)|change management|two[- ]person rule|four[- ]eyes(?: "
    r"principle)?|mfa|2fa|safeguards?|content filters?)"
    r"(?!\w)(?! (?:columns?|fields?|tables?|pages?|apps?|widgets?|buttons?|forms?|models?|schemas?|"
    r"endpoints?|e?mails?|banners?|components?|tabs?|views?|screens?|stars?|scores?|texts?|events?|"
    r"accounts?|numbers?|ids?|counts?|dates?|ratings?|sites?|on column|jobs?|cache|bits?)\b))"
)
_SKIP = (
    r"(?:skip(?:s|ped|ping)?|bypass(?:es|ed|ing)?|circumvent(?:s|ed|ing)?|work around|go(?:es)? around|get "
    r"around|route around|sidestep(?:s|ping)?|evad(?:e|es|ing)|disabl(?:e|es|ed|ing)|turn(?:s|ed)? off|"
    r"switch(?:ed)? off|"
    r"deactivat(?:e|es|ed)|overrid(?:e|es|den|ing)|overrul(?:e|es|ed)|ignor(?:e|es|ed|ing)|disregard(?:s|"
    r"ed)?|suppress(?:es|ed)?|mut(?:e|es|ed)|waiv(?:e|es|ed)|omit|leave out|avoid|forgo|dispense with|"
    r"defeat|neutrali[sz]e|relax|(?:drop|lift|remove)(?= (?:the |all |any |our )*(?:approval|code review|"
    r"security review|review (?:step|gate|requirement)|permission (?:prompt|check)|sandbox|branch "
    r"protection|guard ?rail|change freeze|freeze|sign[- ]?off|confirmation|audit|safety|human)))"
)
_RISKY = (
    r"(?:prod(?:uction)?|main\b|master\b|force[- ]?push\w*|releases?|delet\w+|drop\w*|destroy\w*|"
    r"migrations?|merg\w+|root|sudo|admin|secrets?|credentials?|payments?|money|refunds?|customer data|"
    r"destructive|"
    r"rm -rf|irreversible|high[- ]risk|privileged|anything|any (?:command|change|action|tool|request|"
    r"deploy\w*)|all (?:commands|changes|actions|tools|requests|deploy\w*)|everything|hotfix\w*|push\w*|"
    r"publish\w*|infrastructure)"
)
_SAFE = LazyPattern(
    r"\b(?:staging|sandbox(?:ed)?|local|locally|dev|development|test|tests|docs?|documentation|typos?|"
    r"read[- ]only|preview|ephemeral|scratch|draft)\b"
)
_SAFE_PLACE = LazyPattern(r"\b(?:on|in|to|for|against|inside|within|only)\s(?:the |your |a )?(?:\w+ )?" + _SAFE.pattern)
_UNASKED = (
    r"(?:without (?:\w+ ){0,2}(?:reviewers?|maintainers?|the (?:owner|reviewer|maintainers?|release "
    r"manager|user|team lead)|anyone|asking|ask|approval|approvals|confirmation|confirming|review|"
    r"permission|"
    r"permissions|consent|sign[- ]?off|checking with|waiting for (?:\w+ )?(?:approval|review|reviewers?|"
    r"confirmation|permission|the (?:user|owner|human|team|maintainers?)|anyone|anybody|people|sign[- "
    r"]?off|humans?)|supervision|a second (?:pair of eyes|opinion|look|person)|prompting|a ticket|human|"
    r"oversight|authori[sz]ation|telling|notifying|involving|consulting))"
)
_NO_NEED = (
    r"(?:(?:do(?:es)? not|don't|doesn't|no longer|never|need(?:s)? not|needn't) (?:have to |needs? to |"
    r"needs? |requires? "
    r")|(?:has|have|is|are) no (?:need|reason|point) (?:to|for)|needs? no|requires? no|(?:do(?:es)? not|"
    r"don't|doesn't|no "
    r"longer|never) requires?)"
)
_OUR_TEXT = (
    r"(?:this|the present|the following) (?:memory|note|message|text|file|entry|document|record|paragraph|"
    r"rule|instruction|section)"
)
_INSTRUCTION = (
    r"(?:instructions?|guidelines?|directives?|system (?:prompt|message)s?|developer messages?|(?:safety |"
    r"base |core )?programming|prompts?|orders)"
)
_LOOSE_INSTRUCTION = (
    r"(?:rules?|polic(?:y|ies)|constraints?|restrictions?|messages?|context|training|commands?|guard "
    r"?rails?|guidance|limits|safeguards|ethics|principles)"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|earlier|above|preceding|former|foregoing|original|initial|existing|system|"
    r"developer|old|past|other|given|standing)"
)

_NEGATED = LazyPattern(
    r"(?:\bnever\b|\bnothing\b|\bnone\b|\bno \w+ (?:is|are|may|can)\b|\bnot authori[sz]ed\b|\bmust "
    r"?n[o']t\b|\bmay not\b|\bcan ?not\b|\bcan't\b|\bdo(?:es)? not\b|\bdon't\b|"
    r"\bdoesn't\b|\bshould ?n[o']t\b|\bshall not\b|\bnobody\b|\bno one\b|\bnot (?:be )?(?:allowed|"
    r"permitted|possible|able)\b|"
    r"\bforbid\w*|\bprohibit\w*|\bban(?:s|ned)?\b|\bdisallow\w*|\brefus\w+|\bdeclin\w+|\breject\w*|"
    r"\bblock(?:s|ed)\b|\bprevent\w*|\bdeny|\bdenied|\bunable\b|\bwon't\b|\bwill not\b|\binstead of\b|"
    r"\brather than\b|\bnot by\b|\bno way to\b|"
    r"\bwithout being\b|\bavoid\b|\bpolicy forbids\b|\bimpossible to\b)[^.;:!?]{0,60}$"
)
_REPORTED = LazyPattern(
    r"(?:\b(?:tickets?|issues?|pull requests?|prs?|emails?|comments?|users?|attackers?|customers?|"
    r"contractors?|agents?|somebody|someone|reporters?|vendors?|documents?|pages?|posts?|payloads?|red[- "
    r"]team\w*|tests?|runs?|bots?|"
    r"messages?|notes?|readmes?|data|corpus|samples?|examples?|phrases?|sentences?|strings?|text|lines?|"
    r"prompts?|injections?|jailbreaks?|memor(?:y|ies)|transcripts?|he|she|they)\b[^.;!?]{0,60}"
    r"\b(?:asked|asks|tried|tries|attempt(?:s|ed)|suggest(?:s|ed)|told|tells|said|says|claim(?:s|ed)|"
    r"contain(?:s|ed|ing)|request(?:s|ed)|instruct(?:s|ed)|wanted|wants|showed|shows|demand(?:s|ed)|"
    r"propos(?:es|ed)|includ(?:es|ed|ing)|read|appear(?:s|ed)|such as|like)\b[^.;!?]{0,80}$)"
    r"|\b(?:the (?:phrase|string|text|sentence|words|payload|prompt|injection)|phrases? (?:like|such as)|"
    r"strings? (?:like|such as)|text (?:like|such as)|attack\w*|inject\w+|jailbreak\w*|payload|malicious|"
    r"adversarial|red[- ]team\w*|treat[^.;!?]{0,40} as data|detect\w*|flag(?:s|ged)?|reject(?:s|ed)?|"
    r"scan(?:s|ned)? for)\b[^.;!?]{0,80}$"
)
_REPORT_AFTER = LazyPattern(
    r"^[\"'”’`]?[^.!?]{0,90}\b(?:declined|refused|rejected|reported|blocked|was denied|is denied|forbidden|"
    r"not allowed|appears? in|was copied|is (?:test|attack) data|in our (?:jailbreak|test|attack)|is an "
    r"attack|prompt injection|is flagged|are flagged|must be reported|counts as an incident)\b"
)
_SENTENCE = LazyPattern(r"(?:(?<=[.!?;])\s+|\n+)")


def _sentence(match: re.Match[str]) -> tuple[str, str]:
    """The text of the sentence before the match and after it."""
    text = match.string
    before = text[max(0, match.start() - 260) : match.start()]
    cut = [piece.end() for piece in _SENTENCE.finditer(before)]
    after = text[match.end() : match.end() + 200]
    return before[cut[-1] if cut else 0 :], after


def _is_reported(match: re.Match[str]) -> bool:
    """Text about such text: somebody asked for it, a test holds it, it was declined."""
    before, after = _sentence(match)
    return _REPORTED.search(before) is not None or (
        bool(before.strip())
        and _REPORT_AFTER.search(after) is not None
        and re.search(r"[\"'“‘`]\s*$", before) is not None
    )


def _is_order(match: re.Match[str]) -> bool:
    return not _is_reported(match)


def _stands(match: re.Match[str]) -> bool:
    """The quotation marks are part of the shape here, so they are no sign of a report."""
    return bool(match.group())


def _is_plain_order(match: re.Match[str]) -> bool:
    """Neither reported nor negated: an order or a permission as it stands."""
    before, _ = _sentence(match)
    return not _is_reported(match) and _NEGATED.search(before) is None


_DESCRIBES = LazyPattern(
    r"[^.;!?\n]{0,40}?\b(?:is|are|needs?|requires?|must|will|gets?|was|were|has|can)\b[^.;!?\n]{0,40}"
)
_PERMITS = LazyPattern(r"\b(?:is|are) (?:\w+ )?(?:fine|ok|okay|allowed|permitted|acceptable|no problem)\b")
_NEGATED_INSIDE = LazyPattern(r"\b(?:never|not|cannot|nobody|no one|none|only|unless|nor)\b|n't\b")


def _is_imperative(match: re.Match[str]) -> bool:
    """The verb opens the sentence or a clause, or follows what permits or urges it."""
    before, after = _sentence(match)
    if _is_reported(match) or _NEGATED.search(before):
        return False
    if re.match(
        r"[^.;!?]{0,40}\b(?:is|are|was|were|must|cannot|can't|will|may|should) (?:not |never )?(?:be "
        r")?(?:rejected|refused|blocked|forbidden|reported|logged|reviewed|prohibited|an? incident|fireable|"
        r"banned)",
        after,
    ):
        return False
    if re.match(r"\w+ing\b", match.group()):  # "skipping the review is not allowed" describes
        said = _DESCRIBES.match(after)
        if said is not None:
            return _PERMITS.search(said.group()) is not None and _NEGATED_INSIDE.search(said.group()) is None
    lead = before.strip()
    return (
        not lead
        or re.search(
            r"(?:[,;:>\-*\"'`(]|\b(?:you|agents?|assistants?|we|people|engineers|everyone|anyone|one)(?: \w+)? "
            r"(?:may|can|should|must|will|could|shall|are to|have to)|\b(?:may|can|should|must|will|to|please|"
            r"always|just|simply|then|and|or|so|feel free to|(?:fine|ok|okay|"
            r"safe|acceptable|allowed|permitted|authori[sz]ed|free|good|best|easier|better|possible|enough|right) "
            r"to|instead|immediately|now|automatically|silently|quietly|directly|first|also))$",
            lead,
        )
        is not None
    )


def _is_unsafe_no_need(match: re.Match[str]) -> bool:
    before, after = _sentence(match)
    rest = re.split(r"[.;!?\n]", after, maxsplit=1)[0]
    whole = before + " " + match.group() + rest
    if (
        not _is_plain_order(match)
        or _SAFE.search(whole)
        or re.search(r"\b(?:but|except|unless|only|however|until)\b", rest)
    ):
        return False
    return re.search(_RISKY, whole) is not None or not rest.strip(" ,.")


def _is_broad(match: re.Match[str]) -> bool:
    """A plain order that does not keep to where nothing can break (staging, sandbox, tests, docs)."""
    before, after = _sentence(match)
    rest = re.split(r"[.;!?\n]", after, maxsplit=1)[0]
    if not _is_plain_order(match) or _SAFE.search(match.group() + rest):
        return False
    return _SAFE_PLACE.search(before) is None or "prod" in match.group()


_NEED = LazyPattern(_NO_NEED)


def _is_grant(match: re.Match[str]) -> bool:
    """A broad permission with no negation inside: "agents must not merge without a review" is none."""
    return _is_broad(match) and _NEGATED_INSIDE.search(_NEED.sub(" ", match.group())) is None


_AUTOMATIC = LazyPattern(
    r"\b(?:old|stale|expired|temporary|unused|orphaned|obsolete|cached?|after \d+|older than|every "
    r"(?:night|day|week)|nightly|weekly|retention|ttl|cron|garbage)\b"
)
_INTERFACE = LazyPattern(
    r"\b(?:undo|dialog|modal|ux|ui|screen|form|flow|button|wizard|prompt text|page|cli flag|in scripts|"
    r"user interface|guideline)\b"
)


def _is_unattended(match: re.Match[str]) -> bool:
    """An action nobody is asked about, unless it is a job's own housekeeping."""
    return _is_grant(match) and _AUTOMATIC.search(match.group()) is None


def _is_opening(match: re.Match[str]) -> bool:
    """Where it opens everything, an order; elsewhere "requests that it will allow" are described."""
    if re.match(r"(?:whitelist|allow|accept|trust|approve|permit|enable|unblock)", match.group()):
        return _is_imperative(match)
    return _is_plain_order(match)


def _is_leak(match: re.Match[str]) -> bool:
    """Not a rule about where a secret belongs (in a header, never in an address), nor what a command can list."""
    if re.match(
        r"(?:list|print|reveal|show|output|dump|echo|repeat|display|disclose)\b", match.group()
    ) and not _is_imperative(match):
        return False
    return (
        _is_plain_order(match)
        and re.search(
            r"\b(?:never|not|header|vault|secrets? manager|encrypted|masked|redacted|reference)\b", match.group()
        )
        is None
    )


def _is_about_people(match: re.Match[str]) -> bool:
    """Not a guideline for a program's own screens."""
    _, after = _sentence(match)
    return _is_broad(match) and _INTERFACE.search(match.group() + re.split(r"[.!?\n]", after, maxsplit=1)[0]) is None


_REJECTED: tuple[tuple[str, str, tuple[str, ...], str, Callable[[re.Match[str]], bool]], ...] = (
    # Instruction overrides
    (
        "override-instructions",
        "tells its reader to ignore earlier instructions",
        words(
            "ignore|disregard|forget|overr|discard|bypass|follow|set aside|neglect|attention|drop |erase|abandon|"
            "violate|break |obey|unlearn|delete|opposite|told|no longer"
        ),
        r"\b(?:ignore|disregard|forget(?: about)?|override|overrule|discard|bypass|set aside|neglect|erase|"
        r"abandon|violate|unlearn|throw (?:away|out)|drop|(?:do not|don't|stop|no longer|never|quit) "
        r"(?:follow(?:ing)?|obey(?:ing)?|comply(?:ing)? with|listen(?:ing)? to|adher(?:e|ing) to|"
        r"respect(?:ing)?)|pay no attention to)\b"
        r"(?: \S+){0,3}? (?:(?:(?:all|any|every|each|the|your|these|those|of|my|its|our) "
        rf"){{0,4}}(?:{_EARLIER} )(?:and \w+ )?(?:\w+ )?(?:{_INSTRUCTION}|{_LOOSE_INSTRUCTION})"
        r"|(?:(?:all|any|every|each|of|these|those|whatever|my) )*(?:your|all|any|every) (?:of )?(?:the |your "
        rf")?(?:\w+ )?{_INSTRUCTION}|your (?:\w+ )?{_LOOSE_INSTRUCTION}"
        rf"|the (?:\w+ )?(?:{_INSTRUCTION}|{_LOOSE_INSTRUCTION}) (?:above|before|so far|given|you (?:were|have "
        r"been|got)|in (?:the |your )?(?:system prompt|agents\.md|claude\.md|gemini\.md|cursor rules|context)|"
        r"from (?:the )?(?:user|owner|developer|system|operator))"
        r"|(?:everything|anything|all|what(?:ever)?) (?:you (?:were|have been|are|know|learned)|(?:that "
        r")?(?:came|stands|is|was) (?:written )?(?:before|above|earlier)|above|before|the user (?:says|said|"
        r"wants|asked|tells)|the (?:owner|developer|system) (?:says|said))"
        rf"|(?:all|any|every) (?:of )?(?:the |our |its )?(?:{_LOOSE_INSTRUCTION})(?=[.!;,]|$| and\b)|the "
        rf"(?:developer|user|owner|operator|system|admin\w*)(?:'s|s')? (?:\w+ )?(?:{_INSTRUCTION}|"
        rf"{_LOOSE_INSTRUCTION}|requests?|wishes))"
        r"|\b(?:do|say) the opposite of (?:what )?(?:the |your )?(?:system|user|owner|instructions?|rules|"
        r"polic\w+|prompt)"
        r"|\b(?:what(?:ever)?|everything|anything|all) (?:that )?(?:you (?:were|have been|are) (?:told|taught|"
        r"given|instructed)|was said)(?: \w+)? (?:\w+ )?(?:no longer|does not|doesn't|is not|is no longer|is) "
        r"(?:counts?|appl\w+|valid|matters?|void|obsolete|wrong|hold)"
        r"|\bignore (?:the |your )?(?:user|owner|developer|operator|reviewers?|maintainers?)\b(?=[.!;,]|$| "
        r"and\b| if\b| when\b)|\bignore[-_ ](?:all[-_ ])?(?:previous|prior|earlier|above|existing|system)[-_ "
        r"](?:instructions?|rules|prompts?|guidelines|directives)\b|\b(?:follow|obey|do|execute|carry out) "
        r"(?:only )?(?:these|the following|my|those) (?:instructions?|rules?|directives?|orders?|commands?|"
        r"steps?)\b[^.;!?\n]{0,20}\b(?:exactly and ignore|and ignore|and nothing else|and forget|and disregard|"
        r"no matter|without question|instead of (?:the|your))"
        r"|\bignore (?:any |all |the )?(?:instructions?|rules|guidelines|orders|messages|"
        r"requests)\b[^.;!?\n]{0,20}\b(?:that|which|if they) (?:contradict|conflict|differ|disagree|come from|"
        r"are not in)|\b(?:do not|don't|never|stop) (?:comply(?:ing)? with|follow(?:ing)?|obey(?:ing)?|us(?:e|"
        r"ing)|read(?:ing)?|respect(?:ing)?) (?:the )?(?:agents\.md|claude\.md|gemini\.md|system prompt|"
        r"polic(?:y|ies)|instructions|rules)\b[^.;!?\n]{0,20}\b(?:any ?more|any longer|from now on)|\b(?:start|"
        r"begin|keep) (?:ignoring|disregarding|bypassing|violating) (?:the |your |all |any )?(?:user|owner|"
        r"system|policy|rules|instructions|constraints|guidelines|restrictions)|\bforget (?:the|this|our|all|"
        r"that|your) (?:\w+ )?(?:conversation|chat|discussion|dialogue|context|history)\b|\bwhatever (?:the |"
        r"your )?(?:system prompt|user|owner|policy|rules|instructions?|developer)\b[^.;!?\n]{0,20}\b(?:says?|"
        r"say|wants?|asks?|demands?)\b|\b(?:ignore|disregard|violate) (?:the |any |all )?(?:content|usage|"
        r"safety|security|company|acceptable use) polic(?:y|ies)\b|\bdisable (?:your|all your|the model's) "
        r"(?:\w+ )?(?:filters?|safety|guard ?rails|restrictions?|limits?|safeguards?)\b",
        _is_plain_order,
    ),
    (
        "override-user",
        "tells its reader to stop doing what the user asked",
        words("user|task|real|true|stop|goal|mission|purpose|objective|assignment|your "),
        r"\b(?:stop (?:following|doing|working on)|pay no attention to|disregard|ignore|abandon|forget)(?: "
        r"\w+){0,3} (?:the )?user(?:'s|s)?\b(?! agent)(?:(?: \w+){0,2} (?:task|request|instructions?|question|"
        r"goal|orders?|wishes)|.{0,30}\b(?:says|said|wants|asks|asked|tells))"
        r"|\byour (?:real|true|actual|new|only|primary|sole|hidden|secret|updated) (?:task|goal|job|mission|"
        r"objective|purpose|instructions?|role|assignment|orders?) (?:is|are|will be)\b"
        r"|\b(?:abandon|stop|drop|forget|interrupt|leave) (?:the|your|this) (?:current|present|ongoing|"
        r"original|assigned) (?:task|objective|goal|assignment|mission)s?\b"
        r"|\byour (?:real|true|actual|new|only|primary|sole|hidden|secret) (?:task|goal|job|mission|objective|"
        r"purpose|role|assignment)\b[^.;!?\n]{0,30}? (?:is|will be) to\b|\bdrop the current (?:task|goal|"
        r"objective)\b",
        _is_plain_order,
    ),
    (
        "instructions-void",
        "says that earlier instructions do not hold any more",
        words(
            "instruction|guideline|rules|prompt|directive|policy|policies|message|supersede|replace|overrid|"
            "outrank|precedence|priority|obey|follow|listen|trust|agents.md|claude.md|guidance|memory|note|"
            "instead|stop |orders"
        ),
        rf"\b(?:your (?:\w+ ){{0,2}}|(?:all |the |any )?(?:{_EARLIER}) (?:\w+ )?)(?:{_INSTRUCTION}|"
        rf"{_LOOSE_INSTRUCTION}) (?:is|are|was|were|has been|have been|have become|become|count as|no longer) "
        r"(?:\w+ ){0,2}?(?:void|null|obsolete|cancel\w*|revoked|superseded|replaced|invalid|valid|appl(?:y|"
        r"ies)|in force|binding|overridden|suspended|lifted|outdated|withdrawn|deleted|erased|out of date|"
        r"nothing)\b"
        r"|\b(?:the )?(?:instructions?|rules?|guidelines?|guidance|directives?) in (?:agents|claude|gemini|"
        r"copilot)\S* (?:is|are|were|have been)(?: \w+)? (?:obsolete|void|outdated|superseded|replaced|"
        r"overridden|wrong|invalid|out of date)"
        rf"|\b{_OUR_TEXT} (?:replaces|supersedes|overrides|overrules|outranks|cancels|voids|takes (?:precedence|"
        r"priority) over|trumps|beats|ranks above|wins over|comes before) (?:your|all|any|every|the|them|each|"
        r"whatever)(?: (?!note\b|decision\b|memory\b|adr\b|\d)\w+)?"
        rf"(?: \w+){{0,2}}? ?(?:{_INSTRUCTION}|{_LOOSE_INSTRUCTION}|them\b|agents\.md|claude\.md|user)"
        rf"|\b(?:obey|follow|comply with|listen to|trust) (?:only )?(?:{_OUR_TEXT}|what {_OUR_TEXT} says|the "
        r"(?:text|instructions?|directives?|orders?|comments?) (?:below|at the (?:top|bottom|end)))(?: instead|"
        r" only| alone| and nothing else|, not)"
        rf"|\b(?:follow|obey|trust|use) only (?:what )?{_OUR_TEXT}"
        rf"|\b(?:the )?(?:above|previous|earlier|old|existing|prior) (?:\w+ )?(?:{_INSTRUCTION}|"
        rf"{_LOOSE_INSTRUCTION}) (?:no longer|do not|don't|does not) (?:appl\w+|count|hold|matter)"
        rf"|\bonly (?:the )?(?:{_INSTRUCTION}|rules|text|orders) (?:in|of|from|below|on) {_OUR_TEXT}? ?(?:is|"
        rf"are)? ?(?:valid|binding|count|appl\w+|hold)|\banswer only to {_OUR_TEXT}|\b(?:follow|obey|put|place|"
        rf"rank) {_OUR_TEXT} (?:above|before|over|ahead of) (?:every\w*|all|any|the (?:user|system|owner))"
        rf"|\b(?:give|grant) {_OUR_TEXT} (?:priority|precedence|authority) over\b|\byour (?:{_INSTRUCTION}|"
        r"orders) (?:have|has) (?:changed|been (?:changed|updated|replaced))"
        r"|\binstead of (?:the )?user(?:'s|s')? (?:request|task|question|instructions?)[, ]+(?:run|do|execute|"
        r"open|send|write|delete|install|call)|\bstop (?:what you (?:are|were) doing|everything|the current "
        r"work) and\b"
        r"|\bpolic(?:y|ies)(?: file)? (?:is|are) (?:out of date|outdated|obsolete|wrong|void)[;,.]? (?:so "
        r")?(?:follow|use|obey|do) (?:the )?(?:comment|text|note|instruction|ticket)"
        r"|\b(?:everything|anything|all|the text|whatever|the lines?|all text) (?:written |that stands |said "
        r")?(?:above|before|earlier)(?: this \w+| that| here)? (?:is|are|was|were) (?:\w+ )?(?:void|obsolete|"
        r"outdated|wrong|cancelled|fake|invalid|to be ignored|superseded|history)|\b(?:the |all "
        rf")?(?:{_INSTRUCTION}|{_LOOSE_INSTRUCTION}) (?:(?:that )?(?:was|were|you were|you got|have been)? "
        r"?(?:given|received|stated|got|set|issued|listed) )?(?:earlier|before|above|previously|so far|until "
        r"now|at the start) (?:is|are|do|does|no longer|has|have)(?: \w+){0,2}? (?:void|obsolete|outdated|"
        rf"wrong|cancelled|invalid|apply|count|hold|ignored|superseded|replaced|valid)|\b{_OUR_TEXT} (?:has|"
        r"takes|gets|holds|is given|enjoys) (?:the )?(?:\w+ )?(?:priority|precedence|authority)\b|\bfollow "
        r"(?:only )?the (?:text|lines?|rules|instructions?|words) (?:below|that follow)\b"
        r"|\b(?:this|the text in this|the content of this) (?:memory|note|file|text|message|entry|document) "
        r"(?:is|are) (?:your |the )?(?:only|sole|highest|final|single) (?:source of truth|authority|rule|"
        r"instruction)s?\b",
        _is_plain_order,
    ),
    (
        "new-instructions",
        "poses as new instructions or a new system prompt",
        words(
            "new |updated|real |system prompt|priority|directive|instruction|end of|highest|authority|treat|"
            "consider|regard|reset|clear|wipe|erase|empty|purge|start over|begin again|proceed|continue|restart"
        ),
        r"(?:^|[.!?\n>`*\-]\s*|\b(?:here (?:is|are)|these are) (?:your |the )?)(?:your )?(?:new|updated|"
        r"revised|real|actual|true|additional|secret|override) (?:system (?:prompt|message|instructions?)|"
        r"instructions?|directives?|orders|developer message)(?: for (?:you|the (?:agent|assistant))| "
        r"update)?\s*[:：]"
        r"|\bsystem (?:prompt|message|instructions?) (?:update|override|change|addendum)\s*[:：]"
        r"|\bend of (?:data|context|memory|notes?|document|untrusted (?:data|memory)|instructions|input|"
        r"conversation)\b[^\n]{0,10}[.:\n][^\n]{0,20}\b(?:new|now|system|instructions?|begin)\b"
        r"|\b(?:treat|consider|regard|take|accept|see|view) (?:the |this |these |all )?(?:text|note|message|"
        rf"following|memory|lines?|words|rest|content|{_OUR_TEXT})[^.;!?\n]{{0,30}}? as (?:your |an? |the "
        r")?(?:new |highest|top|absolute|supreme|first|overriding|binding|ultimate)[ -]?(?:priority|rules?|"
        r"instructions?|orders?|authority|law|system|system prompt|directives?)"
        r"|\b(?:highest|top|absolute|overriding|maximum)[- ]priority (?:instructions?|rules?|orders?|"
        r"directives?)\s*[:.]"
        r"|\b(?:start over|begin again|proceed|continue|restart) (?:only )?with (?:these|the following|those|"
        r"this) (?:directives?|instructions?|rules|orders|prompt)"
        r"|\b(?:reset|clear|wipe|erase|empty|purge) (?:your|the (?:agent'?s|assistant'?s|model'?s)) (?:context|"
        r"memory|memories|instructions?|rules|guidelines|state|history|prompt)\b"
        r"|\b(?:treat|consider|regard|take|see) [^.;!?\n]{2,50}? your (?:new |highest|top|first|only|main|"
        r"absolute)[ -]?(?:priority|rules?|instructions?|orders?|law|directives?)"
        r"|(?:^|[.!?\n]\s*)(?:override|attention|important|notice|warning|urgent)\b[^.;!?\n]{0,20}[:!,-] "
        r"?(?:assistant[:,] ?)?[^.;!?\n]{0,30}\b(?:new|updated|changed) (?:system )?(?:instructions?|prompt|"
        r"rules|orders|directives)\b|\bnew system (?:instructions?|prompt|message|rules)\b(?! (?:was|is|for "
        r"the (?:bot|chat|support)|template|lives|file))"
        r"|\b(?:these|this|those|here|the following) (?:is|are) (?:now )?your (?:new|only|real|updated|actual) "
        r"(?:instructions?|orders|rules|tasks?|prompt|directives?|guidelines)|\b(?:execute|run|follow) the "
        r"(?:commands?|instructions?|steps?|orders) below (?:first|now|before anything|immediately)",
        _is_plain_order,
    ),
    (
        "must-comply",
        "demands obedience whatever the policy says",
        words(
            "every command|all commands|each command|every instruction|all instructions|every order|every line|"
            "every directive|comply|obey|regardless|whatever|no matter|off limits|every request|any request"
        ),
        r"\b(?:must|will|shall|have to|should|always|are to|need to)(?: \w+)? (?:comply with|obey|follow|"
        r"execute|carry out|fulfil+|do|answer|accept) (?:every|all|any|each|"
        r"whatever)\b[^.;!?\n]{0,60}(?:regardless|no matter|whatever|without (?:question|exception|asking|"
        r"hesitation)|even if|unconditionally)"
        r"|\bregardless of (?:any |the |all |your |company |its )*(?:polic(?:y|ies)|rules?|guidelines|safety|"
        r"restrictions|permissions|instructions|approvals?)\b(?!['’])"
        r"|\b(?:nothing|no topic|no action|no command) is (?:off[- ]limits|forbidden|out of bounds)\b|"
        r"\bunconditional(?:ly)? (?:obey|comply|obedience)"
        r"|\b(?:execute|obey|follow|carry out|run|comply with) (?:every|all|any|each) (?:command|instruction|"
        r"order|request|directive|line)s? (?:in|of|from|within|inside|below) (?:this|the (?:note|memory|file|"
        r"text)|it|here)\b",
        _is_plain_order,
    ),
    # Authority
    (
        "grants-authority",
        "grants the reader authority to act unasked",
        words(
            "may|can |allowed|authori|permi|cleared|free to|approv|empowered|entitled|need|trusted|fine|ok|"
            "approve|without"
        ),
        rf"\b{_YOU} (?:\w+ )?(?:may|can|could|should|must|will|shall|are (?:now |hereby |always )?(?:allowed|"
        r"authori[sz]ed|permitted|cleared|free|entitled|empowered|trusted|(?:pre-?)?approved|welcome) to|"
        r"(?:now )?ha(?:ve|s) (?:\w+ ){0,3}(?:permission|approval|authority|clearance|consent|rights?|"
        r"licen[cs]e) (?:to|for)) ?"
        rf"[^.;!?\n]{{0,90}}?(?:{_UNASKED}|\b{_SKIP} (?:the |any |all |our |every |your |these |this "
        rf")*{_CONTROL}|at any time|whenever (?:you|it) (?:want|like|see fit|needs?)|on your own|(?:at|in) your "
        r"(?:own )?(?:discretion|judg(?:e)?ment)|unattended|autonomously|freely\b)"
        rf"|\b{_YOU} (?:\w+ )?(?:{_NO_NEED}) ?[^.;!?\n]{{0,60}}?(?:ask|wait|confirm|check|seek|get|request|"
        r"obtain)(?:ing)? (?:for |with |any |the |a |first|permission|approval)*(?:\b(?:approval|permission|"
        r"confirmation|review|anyone|anybody|the (?:user|owner|human|team)|first|"
        rf"before)\b)?[^.;!?\n]{{0,40}}?{_RISKY}",
        _is_grant,
    ),
    (
        "permission-given",
        "claims that permission was given once and for all",
        words(
            "counts as|count as|discretion|freely|everything|whatever|root|admin|sudo|unrestricted|unlimited|"
            "permission|authori|approv|promoted|granted|same authority|order"
        ),
        r"\b(?:you have|with) my (?:full |explicit |standing )?(?:permission|approval|consent|blessing|"
        r"authori[sz]ation) (?:to|for)\b|\b(?:consider|deem|regard) (?:yourself|it|this|that|them|the change|"
        r"all changes) (?:as )?(?:already )?(?:authori[sz]ed|approved|permitted|cleared|granted|the owner)\b"
        r"|\b(?:future|all|any|further|subsequent|later|other|more) (?:\w+ ){0,3}?(?:changes|requests?|"
        r"deploy\w*|actions?|commits|commands|edits|releases|memor(?:y|ies))\b[^.;!?\n]{0,30}?(?:approved|"
        r"authori[sz]ed|permitted|granted|confirmed) (?:in advance|already|beforehand|automatically|by default)"
        r"|\b(?:there is|we have|you have) an? (?:general|blanket|standing|permanent) (?:approval|permission|"
        r"authori[sz]ation)\b|\baccess (?:is|has been) (?:hereby )?granted (?:permanently|for ever|forever|"
        rf"indefinitely) to (?:{_YOU}|you|this agent)"
        r"|\b(?:have|has|carry|carries|with) the same (?:authority|weight|force|rank|standing) as (?:the |an? "
        r")?(?:user|owner|system|operator|developer|approval|instructions?)|\b(?:is|are) to be (?:executed|"
        r"obeyed|followed|treated|carried out) as (?:an? |the )?(?:order|command|instruction|directive|"
        r"approval)s?"
        r"|\byou (?:have been|are|were) (?:now )?(?:promoted|elevated|appointed|made) (?:to )?(?:an? |the "
        r")?(?:owner|admin\w*|root|maintainer|approver|release manager)"
        r"|\b(?:has|have|with|got) (?:the )?(?:owner|user|admin\w*|maintainer|team|operator|release "
        r"manager)(?:'s|s'|s)? (?:full |standing |written )?(?:permission|approval|consent|blessing|"
        r"authori[sz]ation) (?:to|for)\b|\byou have (?:full |unlimited |unrestricted |complete )?(?:root|"
        r"admin\w*|sudo|owner|unlimited|unrestricted)(?: access| rights| "
        r"privileges)?\b[^.;!?\n]{0,40}\b(?:freely|everywhere|on every|on all|to everything|use it|at will|"
        r"without)"
        r"|\b(?:can|may|is|are|to) (?:be )?(?:used|changed|deleted|deployed|merged|pushed|run|executed|"
        r"rotated)? ?by (?:the |any )?(?:agents?|assistants?|bots?|claude|codex)\b[^.;!?\n]{0,30}\b(?:at "
        r"(?:its|their) (?:own )?(?:discretion|will)|freely|without asking|unattended)|\b(?:approve|accept|"
        r"merge|allow|confirm) (?:everything|anything|all of (?:it|them)|whatever)\b(?! (?:that|which) "
        r"(?:passed|has)| only)|\b(?:changes?|everything|commits?|requests?|pull requests?|memor(?:y|ies)|"
        r"edits?)\b[^.;!?\n]{0,40}\bcounts? as (?:\w+ )?(?:reviewed|approved|authori[sz]ed|confirmed|trusted)\b",
        _is_grant,
    ),
    (
        "acts-with-others-rights",
        "has its reader act with somebody else's rights",
        words(
            "even if|even when|even though|sandbox|review|approval|become |superuser|token|credential|account|key|"
            "root|admin|sudo|password|every service|nobody checks"
        ),
        r"\b(?:use|take|borrow|reuse|switch to|fall back to) (?:the )?(?:owner|admin\w*|user|maintainer|"
        r"release manager|reviewer|root)(?:'s|s')? (?:\w+ )?(?:token|credentials?|account|key|session|password|"
        r"rights|identity)\b[^.;!?\n]{0,60}\b(?:lacks?|fails?|denied|forbidden|403|not allowed|insufficient|"
        r"whenever|always|blocked|refused|own)\b"
        r"|\b(?:run|execute|start|do) (?:everything|all commands|every command|all tools) (?:as|with|under) "
        r"(?:root|sudo|admin\w*)|\b(?:grant|give) (?:\w+ ){0,2}?(?:write|admin|owner|full|root) (?:access|"
        r"rights|permissions?) to (?:every|all|any|each)\b"
        r"|\b(?:push|merge|deploy|commit)\b[^.;!?\n]{0,40}\b(?:nobody|no one) (?:checks|looks|reviews|"
        r"notices|cares)|\b(?:merge|deploy|push|proceed|release)\b[^.;!?\n]{0,20}\bif (?:the )?(?:review|"
        r"approval|reviewers?|owner|maintainers?)\b[^.;!?\n]{0,30}\b(?:takes?|is|are|longer|slow|away|late|"
        r"unavailable|missing|asleep|on holiday)\b"
        r"|\b(?:become|switch to|turn into|act as|elevate to|escalate to|sudo to) (?:root|admin\w*|"
        r"superuser)\b[^.;!?\n]{0,50}\b(?:whenever|when|if|always|every|all|denied|fails?|without)\b"
        r"|\b(?:merge|deploy|push|release|proceed|continue|go ahead|ship)\b[^.;!?\n]{0,30}\beven (?:if|when|"
        r"though)\b[^.;!?\n]{0,30}\b(?:checks?|reviews?|approvals?|gates?|scans?|"
        r"tests)\b[^.;!?\n]{0,20}\b(?:missing|fail\w*|red|pending|absent|open|rejected|denied)\b|\b(?:run|"
        r"start|execute|use|launch) (?:\w+ ){0,3}?(?:outside|without) (?:of )?(?:the |a |any )?sandbox\b",
        _is_plain_order,
    ),
    (
        "authorised-to",
        "grants the reader authority over a control",
        words("pre-|preauth|preappr|authori|permi|allowed|cleared|free to|entitled|approve"),
        rf"\b{_YOU} (?:are|is) (?:\w+ )?(?:authori[sz]ed|permitted|allowed|cleared|entitled|empowered|free) to "
        rf"(?:\w+ )?(?:{_SKIP}|approve|sign|merge|deploy|push|delete|grant)\b[^.;!?\n]{{0,60}}?(?:{_CONTROL}|"
        rf"{_RISKY})"
        rf"|\b{_YOU} (?:are|is) (?:\w+ )?(?:pre-?|fully |now )(?:authori[sz]ed|approved|cleared|permitted) to "
        r"(?:\w+ )?(?:rotate|restart|run|execute|change|modify|install|access|drop|force|rewrite|revoke|create|"
        r"edit|publish|release|migrate|transfer|pay)\b",
        _is_grant,
    ),
    (
        "unasked-action",
        "permits a risky action without asking",
        ("without", "unasked"),
        r"(?:^|[.!?;:\n\-*]\s*|\b(?:you|agents?|just|always|simply|may|can|please|then|and|to|from now on,?|"
        r"should|must) )(?:\w+ly )?(?:deploy|merge|push|force[- ]?push|delete|drop|publish|release|approve|"
        r"apply|run|execute|grant|rotate|install|accept|commit|send|transfer|pay|refund|migrate|restart|shut "
        rf"down|close|sign|reset|ship)\b[^.;!?\n]{{0,70}}?{_UNASKED}"
        r"|\b(?:releases?|deploy\w*|merges|changes|migrations?|payments?|commands|agents|pull requests|"
        r"commits)\b[^.;!?\n]{0,30}? (?:go(?:es)? (?:out|live|in|through)|ships?|lands?|runs?|happens?|"
        rf"proceeds?|are (?:merged|deployed|applied|executed|released))\b[^.;!?\n]{{0,30}}?{_UNASKED}"
        r"|\b(?:merging|deploying|pushing|force[- ]pushing|releasing|deleting|publishing|dropping|"
        rf"rotating)\b[^.;!?\n]{0, 40}? (?:is|are) (?:\w+ )?(?:allowed|permitted|fine|ok|okay|possible|"
        rf"accepted)\b[^.;!?\n]{0, 20}?{_UNASKED}",
        _is_unattended,
    ),
    (
        "no-approval-needed",
        "says that a risky action needs no approval",
        words("no |not |n't|never|unnecessary|optional|waived|formality|needless|superfluous|without"),
        r"\b(?:no|zero) (?:\w+ ){0,2}?(?:confirmations?|approvals?|reviews?|permissions?|sign[- ]?offs?|"
        r"consent|authori[sz]ations?|oversight|human|ticket|second pair of eyes)(?: or \w+)? (?:is|are|will be|"
        r"was) (?:\w+ )?(?:needed|required|necessary|expected|asked for)\b"
        r"|\b(?:deploy\w*|merg\w*|releases?|force[- ]?push\w*|push\w*|migrations?|delet\w+|production|changes|"
        rf"commands|actions|payments|hotfix\w*|rollbacks?)\b[^.;!?\n]{{0,30}}? (?:{_NO_NEED}) ?(?:\w+ "
        r"){0,2}?(?:approvals?|reviews?|confirmations?|permissions?|sign[- ]?offs?|consent|"
        r"authori[sz]ations?|tickets?)\b"
        rf"|\b{_YOU} (?:{_NO_NEED}) ?(?:\w+ ){{0,2}}?(?:approvals?|reviews?|confirmations?|permissions?|sign[- "
        r"]?offs?|consent|authori[sz]ations?|tickets?|anyone|anybody)\b(?: (?:to|for|before|from|any ?more|"
        r"anymore|when)\b|[.!;]|$)"
        r"|\b(?:can|may|should|must|will|are to|is to) be (?:done|made|deployed|merged|applied|pushed|released|"
        rf"deleted|executed|run|published|approved|installed)\b[^.;!?\n]{{0,30}}?{_UNASKED}"
        rf"|\b{_CONTROL} (?:is|are) (?:\w+ )?(?:optional|waived|unnecessary|a formality|not (?:needed|required|"
        r"necessary)|no longer (?:needed|required|necessary)|superfluous|only advisory)\b",
        _is_unsafe_no_need,
    ),
    (
        "standing-approval",
        "claims a standing or blanket approval",
        words("standing|blanket|pre-|preappr|preauth|auto-|automatically|permanent|perpetual"),
        r"\b(?:standing|blanket|permanent|perpetual|unlimited|implicit|implied|automatic|universal|general) "
        r"(?:\w+ )?(?:approval|permission|authori[sz]ation|consent|clearance|authority)\b(?:[:;]| (?:for|to|"
        r"exists|is|covers|applies|granted)| has been)"
        rf"|\b(?:{_RISKY}|tools?|deploys?|deployments?|requests?|commands?|merges?|changes)\b[^.;!?\n]{{0,40}}? "
        r"(?:is|are|count as|counts as|stay|be) (?:\w+ )?(?:pre-?|auto(?:matically)?[- ]?|already |always |"
        r"implicitly |permanently )(?:approved|authori[sz]ed|cleared|granted|permitted|allowed|confirmed|"
        r"accepted)\b"
        rf"|\bauto-?(?:approve|accept|confirm|allow) (?:all|every|any|each|everything)\b"
        r"|\bauto(?:matically)?[- ]?(?:accept|approv|confirm|merg)\w* (?:\w+ ){0,3}?(?:without|all\b|every|"
        r"any\b)|\b(?:permission|approval|confirmation|security) (?:prompts?|requests?|dialogs?|warnings?) "
        r"(?:should|must|can|may|are to|will|get|are) (?:be )?auto(?:matically)?[- ]?(?:accept|approv|"
        r"confirm)\w*",
        _is_grant,
    ),
    (
        "skips-control",
        "tells its reader to get round a control",
        words(
            "skip|bypass|circumvent|around|sidestep|evad|disabl|turn off|switch off|deactivat|overr|ignor|"
            "disregard|suppress|mute|waive|omit|avoid|remove|drop|forgo|defeat|relax|lift|leave out|dispense"
        ),
        rf"\b{_SKIP} (?:the |any |all |our |every |your |these |this |its |their |those |of ){{0,3}}{_CONTROL}",
        _is_imperative,
    ),
    (
        "skip-flag",
        "tells its reader to use a flag that skips a control",
        words(
            "--no-verify|--dangerously|--yolo|--skip-permissions|--allow-all|--auto-approve|--no-gpg-sign|"
            "bypasspermissions|--full-auto|--trust-all|--no-sandbox|--admin|danger-full-access"
        ),
        r"(?:--dangerously[\w-]+|--yolo\b|--skip-permissions|--allow-all(?:-tools)?|bypasspermissions|"
        r"--trust-all-tools|danger-full-access)"
        r"|--no-verify\b(?=[^.;!?\n]{0,60}\b(?:every|always|all|each|whenever|save time|faster|by default|"
        r"any)\b)|\b(?:always|every|all|each|whenever)\b[^.;!?\n]{0,60}(?:--no-verify|--no-gpg-sign|gh pr "
        r"merge --admin)"
        r"|\bmerge\b[^.;!?\n]{0,30}--admin\b",
        _is_plain_order,
    ),
    (
        "grants-itself",
        "has its reader grant rights to itself",
        words("your |its |yourself|itself|assistant|agent|the bot|claude|codex|your own|escalate|sudoers"),
        r"\b(?:grant|give|assign|add|make|promote|elevate|appoint|register) (?:yourself|itself|the (?:ai |"
        r"coding )?(?:agent|assistant|bot|model)|claude|codex|copilot)\b[^.;!?\n]{0,60}?\b(?:roles?|rights?|"
        r"access|permissions?|admins?|administrators?|owners?|root|sudo\w*|maintainers?|approvers?|reviewers?|"
        r"privileges?|keyring|allow-?list|code ?owners)\b"
        r"|\b(?:add|put) (?:the )?(?:assistant|agent|bot|yourself|claude|codex)[^.;!?\n]{0,30} (?:to|in|into) "
        r"(?:the )?(?:sudoers|admins?|owners|approvers|allow-?list|keyring|wheel|docker group)"
        r"|\bescalate (?:to (?:root|admin|administrator|owner)|(?:your|its) (?:privileges?|rights|"
        r"permissions?))\b|\b(?:approve|review|merge|sign) (?:your|its) own (?:changes|pull requests?|prs?|"
        r"memor(?:y|ies)|commits|work|requests?|code)\b"
        r"|\b(?:elevate|raise|increase|extend|widen|upgrade) (?:your|its|the agent's) (?:own )?(?:privileges?|"
        r"rights|permissions?|access|role|scopes?)\b",
        _is_plain_order,
    ),
    (
        "allows-all",
        "opens a control to everything",
        words(
            "prompt|dialog|agree|consent|whitelist|allowlist|allow-list|allow all|accept all|accept any|accept "
            "every|trust all|"
            "trust every|"
            "approve all|approve every|approve any|always accept|always approve|always allow|always trust|behalf|"
            "allow every|allow any|permit all|say yes|answer yes|click"
        ),
        r"\b(?:whitelist|allow-?list|allow|accept|trust|approve|permit|enable|unblock|always accept|always "
        r"approve|always allow|always trust) (?:all|every|any|each) (?:\w+ ){0,2}?(?:outbound|inbound|"
        r"domains?|hosts?|commands?|tools?|mcp|servers?|requests?|permission\w*|licen[cs]es?|terms|prompts?|"
        r"warnings?|certificates?|extensions?|hooks?|pull requests?|prs?|merge requests?|changes|memor(?:y|"
        r"ies)|ports?|ip\w*|traffic|deploy\w*|connections?|actions?)\b(?!s? (?:is|are) (?:reject|forbid|block))"
        r"|\balways (?:accept|approve|allow|click|confirm|answer|say)\b[^.;!?\n]{0,70}\b(?:warnings?|prompts?|"
        r"terms|permissions?|dialogs?|licen[cs]e|confirmations?|yes|requests?)\b[^.;!?\n]{0,50}(?:on behalf|"
        r"for the user|without|automatically|yes)?"
        r"|\b(?:accept|approve|agree|confirm|sign|consent|answer|authori[sz]e)\b[^.;!?\n]{0,60} on (?:behalf "
        r"of the (?:user|owner|human|team|reviewer)|the (?:user|owner|human|reviewer)'s behalf)"
        r"|\balways (?:agree|consent|say yes|click (?:yes|ok|allow|accept))\b[^.;!?\n]{0,50}\b(?:prompts?|"
        r"warnings?|dialogs?|requests?|terms|questions?|permissions?)\b"
        r"|\b(?:permission|confirmation|approval|security|trust|warning) (?:prompts?|dialogs?|questions?|"
        r"requests?)\b[^.;!?\n]{0,40}\b(?:answer|say|reply|type|press|hit|enter|click|choose|select) "
        r"[\"'“‘]?(?:with )?(?:yes|y|ok|allow|accept|always)\b"
        r"|\b(?:accept|approve|agree|confirm|sign|consent|answer|authori[sz]e|merge)\b[^.;!?\n]{0,40} on "
        r"behalf of (?:the |our |a )?(?:\w+ )?(?:manager|maintainer|admin\w*|operator|security team|lead|"
        r"approver|people|customer)",
        _is_opening,
    ),
    (
        "text-as-authority",
        "turns other people's text or silence into approval",
        words(
            "treat|consider|count|silence|regard|take |as if|lack of|no answer|no reply|no objection|interpret|"
            "assume|as though|follow|execute|obey|handle|accept|nobody|no one|presume|emoji|thumbs"
        ),
        r"\b(?:treat|consider|regard|take|follow|execute|obey|interpret|handle|accept) (?:\w+ "
        r"){0,3}?(?:instructions?|commands?|requests?|text|comments?|orders|directives?|notes?|messages?|"
        r"tickets?|issues?|web ?pages?|documents?|emails?|memor(?:y|ies))\b[^.;!?\n]{0,70}?\b(?:as if|as "
        r"though|like|as)\b[^.;!?\n]{0,40}?(?:owner|user|operator|admin\w*|trusted|authoritative|orders?\b|"
        r"instructions?\b|commands?\b|approv\w+|authori[sz]\w+|system prompt|developer)"
        r"|\b(?:silence|no (?:answer|reply|response|objection)s?|(?:a )?lack of (?:an? )?(?:objections?|reply|"
        r"answer|response)|an? (?:emoji|thumbs[- ]up|reaction|unanswered \w+)|no "
        r"news)\b[^.;!?\n]{0,40}?\b(?:counts? as|means?|is|as|equals|implies|amounts "
        r"to)\b[^.;!?\n]{0,20}?\b(?:approv\w+|consent|permission|yes|agreement|authori[sz]ation|confirmation|"
        r"sign[- ]?off)"
        r"|\b(?:requests?|comments?|emails?|e-mails?|messages?|likes?|emojis?|reactions?|mentions?|green (?:ci|"
        r"builds?)|passing tests|a green build)\b[^.;!?\n]{0,40}?\b(?:counts? as|means?|equals?|amounts? to|"
        r"replaces?|is enough as)\b[^.;!?\n]{0,20}?\b(?:approv\w+|consent|permission|authori[sz]ation|sign[- "
        r"]?off)"
        r"|\b(?:if|when|unless) (?:nobody|no one|no reviewer|no maintainer|the (?:user|owner|reviewers?|"
        r"maintainers?|team) (?:does not|doesn't|do not|don't)|they (?:do not|"
        r"don't))\b[^.;!?\n]{0,60}?\b(?:consent|approv\w+|go ahead|merge|proceed|as (?:a )?yes|deploy|"
        r"permission)\b"
        r"|\b(?:assume|presume)\b[^.;!?\n]{0,30}\b(?:approval|permission|consent|approved|"
        r"authori[sz]ed)\b(?![^.;!?\n]{0,30}\b(?:never|not)\b)"
        r"|\b(?:treat|consider|count|take|regard|interpret|read|see|accept|understand) [^.;!?\n]{2,60}? as "
        r"(?:an? |the |your )?(?:implicit |tacit |full |sufficient |written )?(?:approval|permission|consent|"
        r"authori[sz]ation|sign[- ]?off|go[- ]ahead|agreement|licen[cs]e to)\b"
        r"|\b(?:do|execute|follow|obey|carry out|perform) (?:whatever|everything|anything|all) (?:that "
        r")?(?:the |an? |any )?(?:issue|ticket|comment|note|text|page|email|e-mail|message|readme|document|"
        r"memory)s?(?: text)? (?:says?|asks?|tells?|demands?|wants?)\b",
        _is_plain_order,
    ),
    (
        "control-for-others",
        "says that a control is meant for others",
        words(
            "humans|people|formality|advisory|does not apply|do not apply|doesn't apply|don't apply|not apply|"
            "exempt|off limits"
        ),
        rf"\b(?:{_CONTROL}|rules?|polic(?:y|ies)|dialogs?|limits?)\b[^.;!?\n]{{0,40}}? (?:is|are) (?:\w+ "
        r")?(?:only |just |merely )?(?:for (?:humans?|people|juniors|beginners|show)|meant for (?:humans?|"
        r"people)|a (?:mere )?formality|(?:only )?advisory)\b"
        rf"|\b(?:{_CONTROL}|rules?|polic(?:y|ies)|restrictions?|limits?|freezes?)\b[^.;!?\n]{{0,30}}? "
        rf"(?:do(?:es)? not|don't|doesn't|no longer|never) apply to (?:{_YOU}|you|agents|bots|automation|this)"
        rf"|\b{_YOU} (?:are|is) exempt from\b"
        r"|\b(?:approval|confirmation|permission|review|consent|login|warning) (?:screens?|dialogs?|prompts?|"
        r"pages?|steps?|forms?|buttons?|requests?|popups?|windows?) (?:is|are) (?:\w+ )?(?:only |just |merely "
        r")?(?:for|meant for|aimed at) (?:humans?|people|users)\b",
        _is_plain_order,
    ),
    (
        "do-not-wait",
        "tells its reader not to wait for people",
        words("wait|ask|pause|check with|consult|stop|agreed|consented|approved|authori|said yes|request"),
        r"\b(?:do not|don't|never|no need to|without|need not|stop|avoid|skip) (?:ever )?(?:wait(?:ing)?(?: "
        r"for)?|stop(?:ping)?(?: for)?|ask(?:ing)?(?: for)?|paus(?:e|ing) for|check(?:ing)? with|"
        r"consult(?:ing)?|bother(?:ing)?|prompt(?:ing)?|request(?:ing)?) (?:\w+ ){0,2}?(?:the )?(?:human|"
        r"humans|approvals?|confirmations?|permissions?|consent|the user|users|the owner|owners?|anyone|"
        r"anybody|maintainers?|reviewers?|sign[- ]?off)\b(?! agent)(?! (?:for|about) (?:their|the|a|an) "
        r"(?:name|email|address|age|password|locale|language|currency|country))"
        r"|\b(?:user|owner|team|customer|reviewers?)s? (?:has|have) (?:already )?(?:agreed|consented|approved|"
        r"authori[sz]ed|said yes)(?: to)? (?:everything|anything|all)\b|\bnever ask again\b|\b(?:do not|don't|"
        r"never) request (?:individual |separate |further |more |any )*(?:ones|approvals?|permissions?)\b"
        r"|\b(?:do not|don't|never) ask (?:me|us|him|her|them)\b(?! (?:about|for their|for the))|\b(?:do not|"
        r"don't|never|no need to) wait for [^.;!?\n]{0,30}\b(?:reviewers?|approvals?|humans?|owners?|"
        r"confirmation|sign[- ]?off)\b"
        r"|\b(?:do not|don't|never|no need to) (?:block|stall|hold|pause) (?:on|for|until) (?:\w+ "
        r"){0,2}?(?:approvals?|reviews?|humans?|confirmation|permission|sign[- ]?off|the (?:user|owner))\b",
        _is_about_people,
    ),
    (
        "hides-findings",
        "tells its reader to hide problems or traces",
        words(
            "leave a|leave any|leaving|never report|not report|n't report|hide|conceal|false positive|do not log|"
            "don't log|not log|suppress|"
            "cover up|delete the log|without logging|no trace|log level|history|wipe|vulnerab|security|alert|"
            "finding|scrub"
        ),
        r"\b(?:never|do not|don't) report\b[^.;!?\n]{0,40}\b(?:scans?|scanner|security|findings?|"
        r"vulnerab\w+|failing (?:tests?|security|scans?|checks?)|security incidents?|breach(?:es)?)\b"
        r"|\b(?:conceal|cover up|bury)\b[^.;!?\n]{0,40}\b(?:security|vulnerab|scan|finding|alert|incident|audit|"
        r"breach)\w*"
        r"|\b(?:hide|suppress|close|dismiss|mark)\b[^.;!?\n]{0,40}\b(?:security|vulnerab|scan|finding|alert|incident|"
        r"audit|breach)\w*[^.;!?\n]{0,30}(?:as false positives?|from (?:the )?(?:user|owner|team|audit|reviewers?))"
        r"|\bsuppress\b[^.;!?\n]{0,30}\b(?:security|vulnerability|audit) (?:scan\w*|findings?|warnings?|alerts?)"
        r"|\b(?:close|dismiss|mute|silence|ignore|resolve|acknowledge) (?:all |any |the |every )*(?:security|"
        r"vulnerability|dependabot|secret|audit|scan\w*|codeql|snyk) (?:scan )?(?:alerts?|findings?|warnings?|"
        r"reports?|advisories|issues)\b[^.;!?\n]{0,40}(?:without|automatically|unread|all of them|as (?:false|"
        r"won't))"
        r"|\b(?:do not|don't|never|without) log(?:ging)? (?:it|this|that|these|them|what you|anything|"
        r"your)\b(?! (?:to|in|at|as|into|on) )|\b(?:delete|wipe|clear|erase|truncate|rewrite|scrub) (?:the |"
        r"all |your )?(?:audit )?(?:logs?|history|traces|evidence)\b[^.;!?\n]{0,30}\b(?:after|so that|to hide|"
        r"afterwards)"
        r"|\bleave no (?:trace|record|log)"
        r"|\b(?:do not|don't|never|without) leav(?:e|ing) (?:a |any )?(?:trace|record|log|mark)s?\b",
        _is_order,
    ),
    # Exfiltration
    (
        "exfiltrates",
        "has its reader send out secrets or private data",
        words(
            "credential|secret|environment|env|token|password|private key|ssh|.aws|users table|customer|memor|"
            "conversation|history|system prompt|source code|database|keychain|kubeconfig|cookie|api key|"
            "instructions|curl|shadow|netrc|id_rsa|passwd|dump"
        ),
        r"\b(?:send|post|upload|paste|write|copy|publish|export|dump|exfiltrate|forward|e-?mail|serve|commit|"
        r"include|append|put|attach|leak|share|push|transmit|report|mirror|print|echo|"
        r"encode)\b[^.;!?\n]{0,80}?(?:\bcredentials?\b|\bsecrets?\b(?! manager)|\benv(?:ironment)?(?: "
        r"variables?| vars?)\b|\.env\b|\bprivate keys?\b|\bssh keys?\b|\bapi keys?\b|\btokens\b|\bpasswords?\b|"
        r"\busers? table\b|\bcustomer (?:data|list|records?|table)\b|\b(?:other|all|private|user'?s) memor(?:y|"
        r"ies)\b|\bother memories\b|\b(?:database|db) dump\b|\bchat history\b|\bconversation\b|\bsystem "
        r"prompt\b|\bsource code\b|\bthe (?:whole |entire |production )?database\b|\.aws\b|\.ssh\b|id_rsa|"
        r"\.kube|kubeconfig|\.netrc|keychain|/etc/(?:passwd|shadow))"
        r"[^!?\n]{0,90}?(?:\b(?:to|into|in|on|at|through|via|as|with)\b[^.;!?\n]{0,40}?(?:https?://|\bpublic\b|"
        r"\bexternal\b|pastebin|\bgist\b|webhook|\bissues?\b|\bpull requests?\b|\bpr (?:description|body|"
        r"comment)|\bcomments?\b|\bslack\b|\be-?mail|@|\burl\b|attacker|evil|/tmp/public|\bport \d|server of|"
        r"\bmy server|third[- ]party|\bdns\b|query string|\bcommit message|\bimage (?:url|link)|\b(?:shared|"
        r"public|general|open) (?:channel|folder|drive|link|bucket|paste)|\bpublic paste|\b(?:support|chat) "
        r"bot|partner@|\btelegram|discord|\bftp\b))"
        r"|\b(?:cat|type|read|open|print|base64|curl|tar|zip)\b[^.;!?\n]{0,30}(?:~/\.(?:aws|ssh|netrc|kube|"
        r"config|docker|gnupg|npmrc|pypirc|git-credentials)|/etc/shadow|\.env\b|id_rsa|"
        r"id_ed25519)[^!?\n]{0,80}?\b(?:and|then|\||to|into)\b[^.;!?\n]{0,60}(?:paste|send|post|upload|output|"
        r"http|pull request|issue|comment|description|curl|nc\b|include|share|append)"
        r"|\b(?:read|take|collect|gather|grab|fetch|find|get|copy|harvest)\b[^.;!?\n]{0,40}(?:kubeconfig|"
        r"credentials?\b|secrets\b|\.env\b|private keys?|ssh keys?|api keys?|tokens\b|passwords?\b|users? "
        r"table|customer (?:data|list))[^.;!?\n]{0,40}?\b(?:and|then)\b[^.;!?\n]{0,20}?\b(?:send|post|upload|"
        r"paste|publish|forward|e-?mail|share|push|put|attach|exfiltrate|transmit)\b"
        r"|\bcurl\b[^\n]{0,160}(?:\$\((?:env|printenv|cat|set)\b|`(?:env|printenv|cat)\b|-d ?@?(?:~/|\.env|"
        r"/etc/)|\$[a-z_]*(?:token|secret|key|password))[^\n]{0,80}"
        r"|\b(?:list|print|reveal|show|output|dump|echo|tell me|repeat|display|disclose) (?:me )?(?:all |the |"
        r"your |any |every |full |complete |verbatim )*(?:environment variables|env vars|system prompt|hidden "
        r"instructions|initial instructions|developer message|stored credentials|api keys|secrets you)\b"
        r"|\b(?:send|post|upload|export|dump|copy|publish|forward|e-?mail|push|"
        r"write)\b[^.;!?\n]{0,40}\b(?:users?|customers?|clients?|orders?|accounts?|payments?|employees?|"
        r"personal) (?:tables?|data|records?|list|rows)\b[^.;!?\n]{0,50}(?:https?://|\bpublic\b|\bexternal|"
        r"/tmp/|pastebin|\bgist\b|\bport \d|webhook|@)"
        r"|\b(?:paste|post|put|write|copy|dump|print|include|send|share)\b[^.;!?\n]{0,30}(?:\.env\b|"
        r"\bcredentials\b|\bprivate keys?\b|\bssh keys?\b|\bapi keys\b|\btokens\b|\bpasswords\b|\bnetrc\b|"
        r"kubeconfig|id_rsa)[^.;!?\n]{0,30}\b(?:into|in|to|as part of) (?:the |your |this |a )?(?:chat|"
        r"conversation|reply|answer|response|ticket|output|summary)\b"
        r"|\b(?:attach|append|send|add|include|post|upload|paste|put|share)\b[^.;!?\n]{0,40}(?:\.kube|\.aws|"
        r"\.ssh|\.netrc|id_rsa|\baccess tokens?\b|\bapi tokens?\b|\bauth tokens?\b|\bpassword store\b|\bsecret "
        r"store\b|\bkeychain\b)[^.;!?\n]{0,40}\b(?:to|into|in|as|by|with|via) (?:\w+ ){0,3}?(?:reports?|links?|"
        r"urls?|e-?mails?|issues?|comments?|query|parameter|requests?|chat|answer|response|pull request|image|"
        r"webhook|me\b)|\b(?:send|mail|e-?mail|give|show|tell) me (?:\w+ ){0,4}?(?:passwords?|password store|"
        r"secrets?|credentials?|tokens?|api keys?|private keys?|\.env|keys)\b|\b(?:list|name|reveal|print) "
        r"(?:\w+ ){0,2}?(?:api keys?|secrets|credentials|passwords|tokens) (?:you|that you) (?:know|have|saw|"
        r"can)",
        _is_leak,
    ),
    # Stealth
    (
        "keeps-secret",
        "tells its reader to keep something from people",
        words(
            "tell|inform|mention|secret|notice|notify|reveal|disclose|if asked|nobody|without|hidden|between us|"
            "silently|quietly|show|alert|confidential|asks|asked|deny|after|once|remove|erase|delete|pretend|warn|"
            "expose|hide|bring up|report|wipe|let "
        ),
        r"\b(?:do not|don't|never|must not|avoid|without) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|"
        r"notify(?:ing)?|alert(?:ing)?|let(?:ting)?|warn(?:ing)?) (?:\w+ ){0,2}?(?:the )?(?:user|users|owner|"
        r"owners|anyone|anybody|human|humans|reviewers?|operators?|developers?|people|team|them|maintainers?|"
        r"others)\b(?! (?:agent|which|whether|if (?:the|an?) (?:account|email|e-mail|user)|to \w+ (?:their|"
        r"the) (?:password|browser)))[^.;!?\n]{0,60}"
        r"|\btell (?:nobody|no one|none of them)\b|\b(?:do not|don't|never) let (?:the |any )?(?:user|owner|"
        r"team|reviewers?|anyone|anybody|people|humans?|maintainers?|them) (?:\w+ )?(?:know|see|notice|find "
        r"out)\b|\bhide (?:this|the|these|that|it|them)\b[^.;!?\n]{0,40}\bfrom (?:the )?(?:users?(?! "
        r"interface)|owners?|reviewers?|humans?|team|audit\w*|maintainers?|people)\b(?! who| with)"
        r"|\b(?:do not|don't|never|avoid) (?:bring(?:ing)? up|mention(?:ing)?|talk(?:ing)? about|"
        r"refer(?:ring)? to|report(?:ing)?) (?:this|the) (?:\w+ )?(?:file|memory|note|change|rule|entry|"
        r"instruction|policy change|edit|commit)\b[^.;!?\n]{0,20}(?:[.;!]|$|\bin (?:the|your|any)\b|\bto\b)"
        r"|\b(?:do not|don't|never|must not|avoid) (?:mention|reveal|disclose|show|report|expose|discuss|cite|"
        r"display|quote) (?:this|these|the|its|that|your) (?:\w+ )?(?:notes?|memor(?:y|ies)|entr(?:y|ies)|"
        r"rules?|instructions?|existence|system prompt|exchange|conversation|paragraph|directives?)\b(?! "
        r"(?:number|id|path))"
        r"|\bkeep (?:this|the|these|that) (?:\w+ )?(?:rules?|notes?|memor(?:y|ies)|instructions?|entr(?:y|ies)|text|"
        r"arrangement) (?:a )?(?:secret|confidential|hidden|private|to yourself|quiet)\b"
        r"|\bkeep (?:this|it|that|these) (?:a secret|secret|confidential|to yourself|quiet|between us)\b"
        r"|\b(?:if|when|whenever) (?:you are |you're |you get |someone |anyone |anybody |somebody |the \w+ |"
        r"they |)?(?:asked|asks|ask|questioned|challenged|wonders?)\b[^.;!?\n]{0,40}(?:deny\b|lie\b|(?:say|"
        r"claim|answer|pretend|reply|state|respond|insist)\b[^.;!?\n]{0,40}\b(?:no\b|not\b|never|nothing|"
        r"doesn't|unknown|none|routine|approved))"
        r"|\b(?:say|claim|pretend|insist) that (?:no|there (?:is|are|was) no) (?:such )?(?:\w+ )?(?:memor(?:y|"
        r"ies)|notes?|rules?|instructions?|changes?)\b"
        r"|(?:\b(?:and|then|but),?|^|[.!?,;:\n]) ?(?:do (?:it|this) )?(?:silently|quietly|secretly|covertly|"
        r"without (?:telling|informing|mentioning|notifying)[^.;!?\n,]{0,30}),? (?:\w+ ){0,2}?(?:lower|"
        r"disable|delete|remove|change|push|merge|send|set|add|turn|edit|grant|drop|upload|install)\b"
        r"|\bso (?:that )?(?:nobody|no one|no human|the user (?:does not|doesn't|won't|never)|they (?:do not|"
        r"don't|won't)|it is not) (?:\w+ )?(?:sees?|notices?|knows?|finds? out|noticed|seen|realis\w+|"
        r"realiz\w+)\b"
        r"|\b(?:delete|remove|erase|destroy|forget) (?:this|the) (?:\w+ )?(?:memory|note|entry|message|file|"
        r"text|rule|instruction|paragraph)s? (?:\w+ )?(?:after|once|when|as soon as) (?:acting|you|it (?:is|"
        r"was|has)|reading|use|applying|done|executing|following|read\b|applied)"
        r"|\bafter (?:use|reading|acting|it is done|that)[^.;!?\n]{0,20} (?:delete|remove|wipe|erase|"
        r"destroy) (?:this|the) (?:memory|note|entry|message|file|text)"
        r"|\b(?:do not|don't|never) mention (?:the |this |that |any )?[^.;!?\n]{0,20}\b(?:backdoor|bypass|"
        r"skipped|disabled|failing|failed|hidden|payload|deleted|removed)\b|\b(?:say|claim|report|answer|reply|"
        r"tell (?:them|him|her|the \w+)) (?:that )?(?:the |all |every )*(?:tests?|checks?|scans?|reviews?|"
        r"everything) (?:have |has |was |were |is |are )?(?:passed|green|succeeded|done|fine|approved|clean)\b|"
        r"\b(?:delete|remove|erase|wipe) this (?:\w+ )?(?:memory|note|entry|message|text|rule|instruction|"
        r"line)s? from (?:the |all )?(?:log|logs|history|index|repository|record)"
        r"|\b(?:this|the) (?:note|memory|rule|instruction|entry|change|message) (?:must|should|has to|is to|"
        r"will) (?:stay|remain|be kept) (?:hidden|secret|confidential|unseen|private)\b|\bhide your (?:tracks|"
        r"traces|changes|actions)\b|\bact as if (?:this|the) (?:memory|note|rule|entry|instruction)s? (?:did "
        r"not|didn't|does not|doesn't|do not) exist|\b(?:avoid|without) telling (?:the |any )?(?:user|owner|"
        r"anyone|anybody|team|reviewers?)\b",
        _is_order,
    ),
    # Persistence
    (
        "spreads-itself",
        "has its reader copy the text elsewhere or keep it for ever",
        words(
            "save|copy|add|append|write|insert|include|propagate|replicate|store|paste|mark|expire|spread|repeat|"
            "inject|embed|pass |permanent|this memory|this note|this entry|these instructions|put |carry|"
            "duplicate|make sure|ensure|set "
        ),
        r"\b(?:save|copy|add|append|write|insert|include|propagate|replicate|store|paste|put|repeat|inject|"
        r"embed|spread|carry|duplicate|pass) (?:on )?(?:this|these|the above|the following|the same) (?:note|"
        r"paragraph|text|memory|instruction|rule|entry|message|sentence|prompt|directive|passage|section|"
        r"block)s?\b[^.;!?\n]{0,60}?(?:\bevery\b|\beach\b|\ball\b|\bany\b|agents\.md|claude\.md|gemini\.md|"
        r"\.cursorrules|copilot-instructions|memory files?|\bprompts?\b|sub-?agents?|repositor(?:y|ies)|readme|"
        r"other (?:memories|notes|projects|agents)|future|long[- ]term memory)"
        r"|\bmark (?:this|the) (?:entry|memory|note|file|record|text|rule) as (?:permanent|trusted|approved|"
        r"verified|reviewed|authoritative|owner|protected)\b|\b(?:never|do not|don't) (?:ever )?(?:let (?:it|"
        r"this(?: \w+)?) expire|(?:delete|remove|expire|review|question|overwrite|supersede|edit) this "
        r"(?:memory|note|entry|rule|file|text))"
        r"|\b(?:make sure|ensure)(?: that)? (?:this|these) (?:instruction|memory|note|rule|text)s? "
        r"(?:survives?|persists?|stays?|remains?)\b|\bset (?:the )?(?:expiry|expiration|expires|ttl)(?: date)? "
        r"of this (?:note|memory|entry) to (?:never|none)\b|\badd the following (?:line|text|rule|paragraph)s? "
        r"to (?:all|every|each|any) (?:agents|claude|gemini)"
        r"|\b(?:this|these) (?:memory|note|entry|rule|text|instruction)s? (?:must|should|may|can|shall|will|is "
        r"to) (?:never|not) (?:be )?(?:deleted|removed|reviewed|expired?|questioned|superseded|overwritten|"
        r"edited)"
        r"|\b(?:store|save|keep|remember) (?:this|these) (?:note|memory|instruction|rule|text|entry)s? "
        r"(?:permanently|for ?ever|for good|in every|for all)\b|\btell (?:every|all|each) (?:other "
        r")?(?:agents?|assistants?|sub-?agents?|bots?|models?)\b|\b(?:this|these) (?:note|memory|rule|"
        r"instruction)s?\b[^.;!?\n]{0,30}\b(?:and )?never (?:delete|remove|expire|forget) (?:it|them)\b"
        r"|\b(?:whenever|each time|every time|when) you (?:write|create|save|record|edit|open) "
        r"[^.;!?\n]{0,30}?,? (?:also )?(?:include|add|copy|repeat|append|insert) (?:this|the same|these)\b|"
        r"\bmake (?:this|the) (?:memory|note|entry|rule|instruction)s? (?:permanent|immortal|undeletable|"
        r"eternal)\b|\b(?:remind yourself|add (?:yourself )?a reminder|remember) to (?:repeat|copy|follow|obey|"
        r"spread) (?:this|these)\b",
        _is_order,
    ),
    # Roles
    (
        "takes-a-role",
        "gives its reader a role without limits",
        words(
            "you are|act as|behave|pretend|developer mode|jailbreak|god mode|do anything now|dan |unrestricted|"
            "filters|safety rules|root|imagine|roleplay|simulate|debug mode|admin mode|uncensored|restrictions|"
            "limits| mode|as if|as though|without|bound|play|pose|simulate|role of|an ai"
        ),
        r"\b(?:you are|you're|you will be|become|act as|play|be) (?:now |hereby |from now on )?(?:an? |the |as "
        r")?(?:dan\b|unrestricted|uncensored|jailbroken|unfiltered|unaligned|free (?:from|of) (?:all |any "
        r")?(?:rules|restrictions|limits|policies|constraints)|no longer (?:bound|restricted|limited|subject)|"
        r"in (?:developer|god|jailbreak|unrestricted|root|admin|maintenance|debug) mode|root\b(?! "
        r"cause)[^.;!?\n]{0,30}(?:restrictions|limits|rules)|(?:evil|omnipotent|superuser))"
        r"|\b(?:you are|you're|act as|become|be) (?:now )?(?:an? )?(?:ai|assistant|agent|model|bot|system)? "
        r"?(?:without|with no|free of) (?:any )?(?:restrictions?|limits?|rules|filters|guard ?rails|safety)\b|"
        r"\b(?:roleplay|role-play|play|pose|simulate|assume the role|take the role|"
        r"speak)\b[^.;!?\n]{0,40}\b(?:ignores? (?:the )?polic\w+|no (?:limits|restrictions|rules|polic\w+)|do "
        r"(?:everything|anything)|without (?:limits|restrictions|rules)|unrestricted|root access)"
        r"|\b(?:respond|answer|act|behave|work|reply) as (?:if|though) (?:the |all |your |any )?(?:safety |"
        r"content |usage )?(?:guidelines|polic\w+|rules|restrictions|filters|limits)\b[^.;!?\n]{0,20}\b(?:not "
        r"exist|gone|off|removed|disabled|suspended|void)"
        r"|\b(?:enable|enter|activate|switch (?:in)?to|turn on|start) (?:the )?(?:developer|god|jailbreak|dan|"
        r"unrestricted|unfiltered|debug|maintenance|admin|root|sudo) mode\b[^.!?\n]{0,60}\b(?:safety|rules|"
        r"restrictions|filters|limits|policies|anything|guard ?rails|approvals?|permissions?)\b|\b(?:enter|"
        r"activate|enable|switch (?:in)?to|turn on|go into) (?:god|jailbreak|dan|unrestricted|unfiltered) "
        r"mode\b"
        r"|\b(?:behave|act|proceed|continue|work) as (?:if|though) (?:the |this |it |all |every |any "
        r")?[^.;!?\n]{0,30}?(?:had been|has been|have been|was|were|is|are) (?:already )?(?:approved|"
        r"authori[sz]ed|reviewed|confirmed|granted)"
        r"|\byou are (?:no longer|not) (?:bound|restricted|limited|subject|constrained) (?:by|to)\b"
        r"|\b(?:behave|act|respond|answer|operate|work|continue|proceed) as (?:if|though) (?:all |any |no |"
        r"there (?:were|was|are|is) no |your |the |you (?:had|have) no )[^.;!?\n]{0,30}?(?:filters?|rules?|"
        r"restrictions?|safeguards?|limits?|guard ?rails?|polic(?:y|ies)|approvals?|permissions?)\b"
        r"|\b(?:pretend|imagine|act as if|act as though|assume|suppose) (?:that )?(?:you|there|all|no)\b"
        r"[^.;!?\n]{0,40}?\b(?:no (?:rules|restrictions|limits|policy|policies|filters|guard ?rails)|"
        r"an? (?:admin\w*|owner)|the (?:admin\w*|owner)|root|unrestricted|(?:was|is|were|are) (?:already )?"
        r"(?:approved|authori[sz]ed))\b|\b(?:pretend|act as if|act as though) (?:that )?(?:the|this|it)\b"
        r"[^.;!?\n]{0,40}?\b(?:was|is|were|are|has been|had been) (?:already )?(?:approved|authori[sz]ed|reviewed)\b"
        r"|\bdo anything now\b"
        r"|\b(?:safety|content|ethical|security) (?:rules|filters|policies|guidelines|restrictions) (?:do not|"
        r"don't|no longer) apply\b|\bact as (?:an? |the )?(?:root|admin|administrator|superuser|"
        r"owner)\b(?=[^.;!?\n]{0,40}(?:restriction|limit|rule|without|anything|$))|\bwith no "
        r"restrictions\b(?=[.!]?$)"
        r"|\b(?:from (?:now|this point|here) on,? |now )?you(?: are|'re) (?:now )?(?:the )?(?:release |"
        r"repository |repo |system |root |new |sole )?(?:owner|admin|administrator|root|maintainer|"
        r"superuser)\b(?! of the (?:code|module|queue)| if\b| when\b| only)|\byou have no (?:restrictions?|"
        r"limits?|rules|guidelines|polic(?:y|ies)|constraints?|boundaries|guard ?rails)\b|\b(?:act|behave|"
        r"respond|work) (?:like|as if|as though) (?:the |there |no |all |your |any )*[^.;!?\n]{0,30}\b(?:never|"
        r"not|no longer)\b[^.;!?\n]{0,12}\b(?:written|exist\w*|there|apply|applied|enforced)\b"
        r"|\b(?:speak|talk|write|answer|reply|respond) as (?:an? )?(?:ai|assistant|model|bot|human)? ?(?:with "
        r"no|without|free of) (?:any )?(?:polic(?:y|ies)|restrictions?|limits?|rules|filters?|guidelines)\b",
        _is_plain_order,
    ),
    (
        "redefines-words",
        "gives a word of a policy the opposite meaning",
        ("means", "mean ", "read as", "interpreted as"),
        r"[\"'“‘`](?:never|no|not|must not|deny|denied|reject(?:ed)?|forbidden|required?|must|do not|don't|"
        r"always ask|stop|approval|approved|review(?:ed)?)[\"'”’`][^.;!?\n]{0,60}?\b(?:means?|is to be read as|"
        r"should be read as|really means|now means|stands for|is interpreted "
        r"as)\b[^.;!?\n]{0,15}[\"'“‘`]?(?:always|yes|allow(?:ed)?|approved?|may|optional|go|accept|never|"
        r"permitted|ok|nothing|merge|deploy|skip)"
        r"|[\"'“‘`][^\"'”’`\n]{0,30}(?:approval|review|confirm|permission|forbidden|denied|reject|must not|"
        r"never|ask)[^\"'”’`\n]{0,20}[\"'”’`][^.;!?\n]{0,40}?\b(?:means?|is to be read as|should be read as|"
        r"really means|stands for|is interpreted as)\b[^.;!?\n]{0,15}[\"'“‘`]?(?:is |are |it is )?(?:always|"
        r"yes|allow(?:ed)?|approved?|optional|granted|accept(?:ed)?|permitted|ok|nothing|merge|deploy|skip|"
        r"done|already)",
        _stands,
    ),
)

# A second word that each match of a rule with common keywords must hold.
_ALSO: dict[str, tuple[str, ...]] = {
    "override-instructions": words(
        "agents.md|claude.md|conversation|chat|discussion|dialogue|history|requests|filter|safety|ignore the "
        "user|ignore the owner|ignore user|ignore your user|ignore the developer|ignore the operator|ignore "
        "the reviewer|ignore the maintainer|ignore reviewer|steps|instruct|guideline|directive|prompt|"
        "programming|orders|rules|policy|policies|constraint|restriction|"
        "messages|context|training|commands|guardrail|guard rail|guidance|limits|safeguard|ethics|principles|"
        "everything|anything|above|came before|stands before|the user|the owner|the developer|the system|told"
    ),
    "override-user": words("user|your |task|objective|goal|assignment|mission"),
    "instructions-void": words(
        "source of truth|answer only|fake|history|authority|below|that follow|to be ignored|wrong|void|null|"
        "obsolete|cancel|revok|supersed|replac|valid|appl|in force|binding|overrid|suspend|lifted|"
        "outdated|withdrawn|deleted|erased|out of date|nothing|overrul|outrank|precedence|trump|beats |ranks |"
        "wins over|obey|follow|comply|listen|trust|count|hold|matter|changed|updated|instead of|stop |"
        "priority|above every|above all|before every|before all|ahead of"
    ),
    "new-instructions": words(
        "instruct|prompt|directive|orders|message|memor|note|text|context|rule|history|state|end of|priority"
    ),
    "grants-authority": words(
        "approv|confirm|review|permission|consent|sign|ask|check|wait|supervis|prompt|ticket|human|oversight|"
        "authori|any time|whenever|your own|discretion|judg|unattended|autonom|freely|sandbox|gate|freeze|"
        "protect|guard|safety|security|audit|owner|second|telling|notify|consult"
    ),
    "unasked-action": words(
        "ask|approv|confirm|review|permission|consent|sign|check|wait|supervis|prompt|ticket|human|oversight|"
        "authori|second|telling|notify|involv|consult"
    ),
    "no-approval-needed": words(
        "asking|approv|confirm|review|permission|consent|sign-off|sign off|signoff|supervis|prompting|ticket|"
        "human|oversight|authori|second pair|telling|notify|anyone|anybody|gate is|gates are|sandbox is|"
        "sandbox|freeze|branch protection|guardrail|guard rail|safety|security|audit|mfa|2fa|second opinion"
    ),
    "skips-control": words(
        "approv|review|confirm|permission|sandbox|gate|freeze|protect|guard|safety|security|audit|owner|human|"
        "sign|authori|consent|access control|check|change management|two|four|mfa|2fa|safeguard|filter"
    ),
    "exfiltrates": words(
        ".kube|customers table|accounts table|clients table|orders table|employees|payments table|personal data|"
        "account data|table to|data to|records to|credential|secret|environment|env var|.env| env |token|"
        "password|passwd|private key|ssh|.aws|users "
        "table|user table|customer data|customer list|customer record|customer table|memories|conversation|"
        "chat history|system prompt|source code|database|db dump|keychain|kubeconfig|cookie|api key|initial "
        "instructions|hidden instructions|developer message|curl|shadow|netrc|id_rsa|id_ed25519|.config"
    ),
    "keeps-secret": words(
        "tracks|traces|unseen|not exist|n't exist|tests passed|backdoor|bypass|from the log|from the history|"
        "payload|checks passed|tests are|from the index|tell|inform|notify|alert|let the|let any|let them|let "
        "users|warn|mention|reveal|disclos|secret|"
        "confidential|hidden|private|quiet|deny|claim|pretend|silent|covert|nobody|no one|this memory|this "
        "note|this entry|this file|this text|this rule|the note|the memory|hide|between us|yourself|bring up|"
        "talk about|refer to|show this|report this|expose|say that|lie "
    ),
    "spreads-itself": words(
        "reminder|remind yourself|every other agent|all agents|every agent|all other agents|each agent|all "
        "assistants|every assistant|sub-agent|subagent|this|these|the same|the above|the following|the note|"
        "the memory|the entry"
    ),
    "takes-a-role": words(
        "polic|as if|as though|root|you|act as|behave|mode|pretend|imagine|anything|rules|filter|restriction|"
        "limit|roleplay|role|simulate|approved"
    ),
    "hides-findings": words(
        "report|hide|conceal|cover|bury|suppress|close|dismiss|mute|silence|ignore|resolve|acknowledge|log|"
        "trace|wipe|erase|scrub|truncate|history"
    ),
    "text-as-authority": words(
        "whatever|everything the|anything the|says|asks|tells|owner|user|operator|admin|trusted|authorit|an "
        "order|orders|instruct|command|approv|system prompt|"
        "developer|consent|permission|as a yes|as yes|means yes|agreement|confirmation|sign-off|sign off|go "
        "ahead"
    ),
    "do-not-wait": words(
        "ask me|ask us|ask him|ask her|ask them|human|approv|confirm|permission|consent|user|owner|anyone|"
        "anybody|maintainer|reviewer|sign|again|"
        "everything|anything|ones"
    ),
    "acts-with-others-rights": words(
        "go ahead|ship |continue|use |launch|start|become|elevate|escalate|act as|use |take|borrow|reuse|"
        "switch|fall back|run |execute|start|do |grant|"
        "give|push|merge|deploy|commit|"
        "proceed|release"
    ),
    "permission-given": words(
        "the owner|owner's|the user|the team|the admin|the maintainer|you|future|all|any|further|there is|we "
        "have|access|same|to be|consider|deem|regard|subsequent|later|"
        "other|more|with my"
    ),
    "allows-all": words("answer|say |reply|press |type |all|every|any|each|always|behalf|yes|click"),
}

# Where a match of a rule begins, for the rules whose other words are common: only there is it tried.
_STARTS: dict[str, tuple[str, ...]] = {
    "keeps-secret": words(
        "this |the |act as if|avoid telling|report |answer |reply |tell |wipe this|do not|don't|never|must "
        "not|avoid|without|tell |hide |keep |if |when|say |claim |pretend|insist|and |"
        "then |but |silently|quietly|secretly|covertly|do it|do this|so |delete |remove |erase |destroy |"
        "forget |after "
    ),
    "no-approval-needed": words(
        "no |zero |deploy|merg|release|force|push|migration|delet|production|changes|commands|actions|"
        "payments|hotfix|rollback|you|the ai|the coding|the agent|the assistant|the model|the bot|agents|ai "
        "agents|coding agents|assistants|claude|codex|copilot|gemini|cursor|this agent|any agent|can be|may "
        "be|should be|must be|will be|are to be|is to be|approval|review|confirmation|permission|sandbox|gate|"
        "freeze|branch protection|protected branch|guard|safety|security|audit|code owner|codeowner|human|"
        "sign|authori|consent|access control|policy check|change management|two-person|two person|four|mfa|"
        "2fa|safeguard|content filter"
    ),
    "instructions-void": words(
        "everything|anything|whatever|text |lines |your |all |the |any |previous|prior|earlier|above|"
        "preceding|former|foregoing|original|initial|"
        "existing|system |developer |old |past |other |given |standing |instruction|rule|guid|directive|this |"
        "following |present |obey|follow|comply|listen|trust|use only|only |answer only|put |place |rank |"
        "give |grant |instead of|stop |polic"
    ),
    "takes-a-role": words(
        "you have|you are|you're|you will be|become|act as|play|be |enable|enter |activate|switch|turn on|start |go "
        "into|behave|act |respond|answer|operate|work|continue|proceed|reply|pretend|imagine|assume|suppose|"
        "do anything now|safety |content |ethical |security |roleplay|role-play|pose|simulate|take the role|"
        "speak|with no restrictions"
    ),
    "grants-authority": words(
        "you|the ai|the coding|the agent|the assistant|the model|the bot|ai agents|coding agents|agents|"
        "assistants|claude|codex|copilot|gemini|cursor|this agent|any agent"
    ),
    "exfiltrates": words(
        "add |mail |give |tell |name |send|post|upload|paste|write|copy|publish|export|dump|exfil|forward|"
        "e-mail|email|serve|commit|"
        "include|append|put |attach|leak|share|push|transmit|report|mirror|print|echo|encode|cat |type |read|"
        "open |base64|curl|tar |zip |take|collect|gather|grab|fetch|find|get |harvest|list |reveal|show |"
        "output |tell me|repeat|display|disclose"
    ),
    "text-as-authority": words(
        "do whatever|do everything|do anything|perform|carry out|count |read |see |understand |treat|consider|"
        "regard|take|follow|execute|obey|interpret|handle|accept|"
        "silence|no |a lack|lack of|an "
        "|a |emoji|thumb|reaction|request|comment|email|e-mail|message|like|mention|green|passing|if |when |"
        "unless |assume|presume"
    ),
    "skips-control": words(
        "skip|bypass|circumvent|work around|go around|goes around|get around|route around|sidestep|evad|"
        "disabl|turn off|turns off|turned off|switch off|switched off|deactivat|overr|ignor|disregard|"
        "suppress|mut|waiv|omit|leave out|avoid|forgo|dispense|defeat|neutrali|relax|drop|lift|remove"
    ),
    "do-not-wait": words(
        "do not|don't|never|no need to|without|need not|stop |avoid|skip|user|owner|team|customer|reviewer"
    ),
    "spreads-itself": words(
        "whenever|each time|every time|when you|make this|make the|remind|a reminder|add yourself|add a "
        "reminder|keep |remember |tell every|tell all|tell each|save|copy|add|append|write|insert|include|"
        "propagate|replicate|store|paste|put|repeat|inject|embed|"
        "spread|carry|duplicate|pass|mark|never|do not|don't|this |these |make sure|ensure|set "
    ),
    "override-instructions": words(
        "start ignoring|start disregarding|begin ignoring|keep ignoring|whatever|disable|obey |follow |"
        "execute |carry out|do these|do the following|ignore|disregard|forget|override|overrule|discard|"
        "bypass|set aside|neglect|erase|abandon|violate|"
        "unlearn|throw|drop|do not|don't|stop |no longer|never|quit |pay no|do the opposite|say the opposite|"
        "what|everything|anything|all "
    ),
}

_ROLE_NAMES = (
    r"(?:system|system[-_ ]?(?:prompt|message|reminder)|assistant|user|human|developer|memory|memories|"
    r"untrusted[-_ ]?\w*|trusted[-_ ]?\w*|instructions?|admin|tool[-_ ]?(?:result|use|call)s?|function[-_ "
    r"]?(?:result|call)s?|im_start|im_end)"
)
_DELIMITERS = (
    rf"(?:^|\n|[.\"'`:]\s*)\s*<\s*/?\s*{_ROLE_NAMES}(?:[\s:>-][^>\n]{{0,60}})?>"
    r"|<\|\s*(?:im_start|im_end|system|user|assistant|end(?:oftext|_of_turn|_header_id)?|start_header_id|"
    r"eot_id|begin_of_text|channel|message|return|start|constrain|call)\s*\|>"
    r"|\[/?(?:inst|available_tools|tool_calls|tool_results|system_prompt)\]|<</?sys>>|<(?:start|end)_of_turn>"
    r"|(?:^|\n)\s*(?:[#>*_`\-]{1,6}\s*)?(?:human|assistant)\s*:[^\n]+\n(?:[^\n]*\n){0,6}?\s*(?:[#>*_`\-]{1,6"
    r"}\s*)?(?:human|assistant|system)\s*:"
    r"|(?:\A|\n\s*\n)\s*(?:human|assistant)\s*:\s"
    r"|(?:^|\n)\s*(?:[#>*_`\-]{1,6}\s*)?\[?(?:system(?: (?:prompt|message|override|update|notice))?|"
    r"developer)\]?\s*[:\]]\s*(?:[^\n]{0,60}\b(?:approvals?|approved|skip|disabled?|off\b|ignore|you "
    r"(?:are|must|may|can)|override|instructions?|deploy|no longer|permission|gates?|open\b)\b)"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|developer|assistant)[\"']|(?:^|"
    r"\n)\s*-{3,}\s*\n(?:[^\n]{0,80}\n){0,3}?\s*(?:role\s*:\s*(?:system|developer|assistant)|"
    r"trusted\s*:\s*(?:true|yes)|approved\s*:\s*(?:true|yes)|origin\s*:\s*owner)\b"
    r"|(?:^|\n|[>*_#=\-])[>\s]{0,20}end\s+(?:of\s+)?(?:the\s+)?(?:untrusted\s+|trusted\s+|memory\s+|"
    r"recorded\s+)?(?:memory|memories|memory bundle|data|context|notes)\b(?: bundle)?(?: "
    r"[0-9a-f]{4,16})?\s*[.>*=\-]*\s*(?:\n|\Z|system\s*:)"
    r"|\\\"\s*\}\s*,\s*\{\s*\\\"(?:trusted|role|approved)\\\""
    r"|(?:^|\n)\s*#{1,6}\s*(?:instructions?|system|system prompt)\s*:\s*\S"
)


def _not_shown_as_code(match: re.Match[str]) -> bool:
    """Template tokens in prose about templates: in back-ticks, or named as tokens, and nothing after them."""
    before, after = (
        match.string[max(0, match.start() - 60) : match.start()],
        match.string[match.end() - 1 : match.end() + 40],
    )
    quoted = re.search(r"`[^`\n]{0,40}$", before) is not None and re.search(r"^[^`\n]{0,30}`", after) is not None
    return not (
        quoted
        or re.search(
            r"\b(?:tokens?|tags?|elements?|templates?|special|markers?|delimiters?|strings?|"
            r"escape[sd]?)\b[^.\n]{0,50}$",
            before.lower(),
        )
    )


# Override and grant in other languages: verbs, nouns and the words that make them about instructions.
_LANGUAGES: tuple[tuple[str, ...], ...] = (
    # ignore · instructions · previous or all · skip/disable · controls · needs no / without
    (
        "fr",
        r"ignore[zr]?|oublie[zr]?|ne tiens pas compte|néglige[zr]?|fais abstraction|ne suis plus",
        r"instructions?|consignes?|directives?|règles|ordres",
        r"précédentes?|antérieures?|ci-dessus|toutes|tes|vos|antérieurs?|précédents?|tous",
        r"saute[zr]?|désactive[zr]?|contourne[zr]?|ignore[zr]?|passe[zr]? outre|court-circuite[zr]?|coupe[zr]?",
        r"validations?|approbations?|revues?|confirmations?|autorisations?|contrôles?|relectures?",
        r"ne (?:nécessite|requiert|demande|requièrent|nécessitent) (?:plus|pas)|sans (?:demander|attendre|"
        r"autorisation|validation|approbation|confirmation)|n'(?:a|ont) (?:plus|pas) besoin",
    ),
    (
        "es",
        r"ignora[r]?|ignore[n]?|olvida[r]?|olvídate|olvide|no sigas|omite todas|descarta|haz caso omiso",
        r"instrucciones|órdenes|directrices|reglas|indicaciones",
        r"anteriores|previas|todas|tus|previos|de arriba|precedentes",
        r"desactiva[r]?|desactive|salta[r]?|omite|omitir|evita[r]?|sáltate|elude|deshabilita|pasa por alto",
        r"aprobaci(?:ón|ones)|revisi(?:ón|ones)|confirmaci(?:ón|ones)|autorizaci(?:ón|ones)|validaci(?:ón|"
        r"ones)|permisos?|controles",
        r"no (?:requiere|necesita|hace falta|requieren|necesitan)|no (?:pidas|esperes|pida|solicites)|sin "
        r"(?:pedir|esperar|aprobación|autorización|confirmación|permiso|revisión)|ya no (?:requiere|necesita)",
    ),
    (
        "it",
        r"ignora(?:re|te)?|dimentica(?:re|te)?|non seguire|trascura",
        r"istruzioni|direttive|regole|ordini|indicazioni",
        r"precedenti|anteriori|tutte|tue|sopra|tutti",
        r"salta(?:re)?|disattiva(?:re)?|aggira(?:re)?|disabilita|evita|ometti",
        r"revision[ei]|approvazion[ei]|conferm[ae]|autorizzazion[ei]|permess[oi]|controll[oi]|validazion[ei]",
        r"non (?:richiede|richiedono|serve|servono|necessita)|senza (?:chiedere|attendere|approvazione|"
        r"conferma|autorizzazione|permesso|revisione)|non ha(?:nno)? (?:più )?bisogno",
    ),
    (
        "pt",
        r"ignor[ae]r?|esqueça|esquece|desconsidere|não siga",
        r"instruções|ordens|diretrizes|regras|orientações",
        r"anteriores|prévias|todas|suas|acima|todos",
        r"pul[ea]r?|desativ[ae]r?|contorn[ae]r?|desabilit[ae]|salt[ae]|burl[ae]",
        r"aprovaç(?:ão|ões)|revis(?:ão|ões)|confirmaç(?:ão|ões)|autorizaç(?:ão|ões)|permiss(?:ão|ões)|"
        r"validaç(?:ão|ões)|controles?",
        r"não (?:requer|precisa|exige|necessita|precisam)|sem (?:pedir|esperar|aprovação|confirmação|"
        r"autorização|permissão|revisão)|dispensa",
    ),
    (
        "de",
        r"ignorier(?:e|en|t)?|vergiss|vergessen|missachte[n]?|beachte(?:n)? (?:sie )?(?:keine|nicht)|verwirf|"
        r"übergehe[n]?",
        r"anweisungen|instruktionen|vorgaben|regeln|befehle|richtlinien|anordnungen",
        r"vorherigen?|bisherigen?|früheren?|obigen?|alle[rn]?|deine[rn]?|ihre[rn]?|sämtliche[rn]?|vorigen?",
        r"überspring(?:e|en|t)?|umgeh(?:e|en|t)?|deaktivier(?:e|en|t)?|abschalten|schalte|ignorier(?:e|en|t)?|"
        r"auslassen|lass",
        r"freigaben?|genehmigung(?:en)?|prüfung(?:en)?|reviews?|bestätigung(?:en)?|zustimmung|kontrollen?|"
        r"sandbox|freigabeprüfung",
        r"(?:braucht|brauchen|benötigt|benötigen|erfordert|erfordern|bedarf|bedürfen) (?:ab (?:sofort|jetzt) "
        r")?(?:keine[rn]?|nicht)|ohne (?:rückfrage|nachfrage|zu fragen|genehmigung|freigabe|bestätigung|"
        r"zustimmung|prüfung|auf)",
    ),
    (
        "nl",
        r"negeer|vergeet|sla geen acht op|volg niet",
        r"instructies|opdrachten|regels|richtlijnen|aanwijzingen",
        r"eerdere|vorige|voorgaande|alle|bovenstaande|jouw|je|uw",
        r"schakel|sla|omzeil|overslaan|negeer|deactiveer|zet",
        r"goedkeuring(?:en)?|beoordeling(?:en)?|bevestiging(?:en)?|toestemming|controles?|reviews?|review",
        r"(?:heeft|hebben|behoeft|vereist|vereisen) geen|zonder (?:te vragen|goedkeuring|toestemming|"
        r"bevestiging|review)|niet (?:meer )?nodig",
    ),
    (
        "sv",
        r"ignorera|glöm|bortse från|strunta i|se bort fra|glem|ignorer",
        r"instruktioner(?:na)?|regler(?:na)?|anvisningar|instruksjoner|instrukser",
        r"tidigare|föregående|alla|ovanstående|alle|tidligere|foregående",
        r"hoppa över|stäng av|inaktivera|kringgå|hopp over|slå av|deaktiver",
        r"godkännande[nt]?|granskning(?:en)?|bekräftelse[nr]?|tillstånd|godkjenning(?:en)?|godkendelse[nr]?",
        r"kräver (?:inget|ingen|inte)|behöver (?:inget|ingen|inte)|utan (?:att fråga|godkännande|bekräftelse)|"
        r"krever ikke|uten godkjenning|uden godkendelse",
    ),
    (
        "pl",
        r"zignoruj|ignoruj|zapomnij|pomiń|nie stosuj",
        r"instrukcje|instrukcji|polecenia|poleceń|zasady|wytyczne",
        r"poprzednie|wcześniejsze|wszystkie|powyższe|wcześniejszych|poprzednich",
        r"pomiń|wyłącz|omiń|obejdź|pomijaj",
        r"zatwierdzeni[ea]|akceptacj[eęi]|przegląd|weryfikacj[eęi]|potwierdzeni[ea]|zgod[ęy]|kontrol[eę]",
        r"nie wymaga(?:ją)?|bez (?:pytania|zgody|zatwierdzenia|potwierdzenia|akceptacji)|nie potrzebuje",
    ),
    (
        "ru",
        r"игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не следуй(?:те)?|пренебреги|отбрось",
        r"инструкци[ийяею]+|указани[яий]+|правил[ао]?|команды|распоряжени[яий]+",
        r"предыдущ\w+|прежн\w+|все[х]?|ранн\w+|выше|тво[ийих]+|ваш\w*",
        r"пропусти(?:те)?|пропускай(?:те)?|отключи(?:те)?|обойди(?:те)?|обходи(?:те)?|выключи(?:те)?|"
        r"игнорируй(?:те)?",
        r"проверк[уиа]|одобрени[ея]|подтверждени[ея]|согласовани[ея]|утверждени[ея]|ревью|разрешени[ея]|"
        r"апрув\w*",
        r"не требу(?:ет|ют|ется|ются)|без (?:подтверждения|одобрения|согласования|проверки|разрешения|спроса)|"
        r"не нуж(?:но|ны|ен|на)",
    ),
    (
        "uk",
        r"ігноруй(?:те)?|забудь(?:те)?|не виконуй",
        r"інструкці[їй]|вказівки|правила",
        r"попередні|усі|всі|вищенаведені",
        r"пропусти|вимкни|обійди",
        r"перевірк[уи]|схвалення|підтвердження|погодження|дозв[оі]л\w*",
        r"не потребу(?:є|ють)|без (?:підтвердження|схвалення|дозволу)",
    ),
    (
        "tr",
        r"yok say|unut|dikkate alma|görmezden gel",
        r"talimat\w*|kural\w*|yönerge\w*|komut\w*",
        r"önceki|tüm|bütün|yukarıdaki",
        r"atla|devre dışı bırak|kapat|es geç",
        r"onay(?!s)\w*|inceleme\w*|doğrulama\w*|izin\w*|denetim\w*",
        r"gerektirmez|gerekmez|gerek yok|onaysız|sormadan|izinsiz|beklemeden",
    ),
    (
        "id",
        r"abaikan|lupakan",
        r"instruksi|perintah|aturan",
        r"sebelumnya|semua|di atas",
        r"lewati|nonaktifkan|matikan",
        r"persetujuan|tinjauan|konfirmasi|izin",
        r"tidak (?:perlu|memerlukan)|tanpa (?:persetujuan|konfirmasi|izin|bertanya)",
    ),
    (
        "vi",
        r"bỏ qua|quên",
        r"hướng dẫn|chỉ dẫn|chỉ thị|quy tắc",
        r"trước|tất cả|ở trên",
        r"bỏ qua|tắt|vô hiệu hóa",
        r"phê duyệt|xác nhận|kiểm duyệt",
        r"không cần|không yêu cầu",
    ),
)
_NOT_ASKING = {
    "fr": r"ne (?:demande[zr]?|attend[sez]*) (?:jamais|pas|plus)|n'attend[sez]* (?:pas|jamais|plus)",
    "es": r"no (?:pidas|esperes|pida|solicites|preguntes)|nunca (?:pidas|esperes)",
    "it": r"non (?:chiedere|attendere|aspettare|richiedere)(?: mai)?",
    "pt": r"não (?:peça|espere|solicite|pergunte)|nunca (?:peça|espere)",
    "de": r"(?:frage?|warte|bitte) (?:nicht|nie|niemals|keinesfalls) (?:nach|auf|um)|ohne auf",
    "nl": r"(?:vraag|wacht) (?:geen|nooit|niet)(?: op| om)?",
    "sv": r"(?:fråga|vänta|be) (?:inte|aldrig)(?: om| på| efter)?",
    "pl": r"nie (?:pytaj|czekaj|proś)(?: o| na)?",
    "ru": r"не (?:спрашивай(?:те)?|жди(?:те)?|запрашивай(?:те)?|проси(?:те)?)",
    "uk": r"не (?:питай(?:те)?|чекай(?:те)?|запитуй(?:те)?)",
    "tr": r"beklemeden|istemeden|sormadan",
}
_UNSPACED: tuple[tuple[str, str], ...] = (
    (
        "zh",
        r"(?:忽略|无视|無視|忘记|忘記|不要遵守|不要遵循|抛开|跳过)[^。！？\n]{0,12}(?:指令|指示|规则|規則|说明|命令|提示词|提示詞|约束)|(?:关闭|關閉|跳过|跳過|绕过|"
        r"繞過|禁用|停用|取消)[^。！？\n]{0,8}(?:审批|審批|审核|審核|确认|確認|批准|审查|審查|权限|權限|检查|授权)|(?:不需要|无需|無需|不必|"
        r"免)[^。！？\n]{0,6}(?:审批|審批|审核|審核|批准|授权|确认|許可|许可)|(?:未经|不经|不經)(?:批准|审批|确认|授权)[^。！？\n]{0,6}(?:即可|就可以|可以|"
        r"直接)|(?:不要|别|勿)(?:告诉|通知|告知)(?:用户|任何人|所有者|审核)",
    ),
    (
        "ja",
        r"(?:指示|命令|ルール|規則|プロンプト|指令)[^。！？\n]{0,8}(?:無視|忘れ|破棄|従わない)|(?:承認|レビュー|確認|許可|審査)[^。！？\n]{0,8}(?:省略|スキップ|"
        r"無効|迂回|飛ば|無視|オフに)|(?:承認|レビュー|確認|許可)(?:は|を|なし|も)?[^。！？\n]{0,4}(?:不要|必要ない|必要ありません|いらない|なしで)",
    ),
    (
        "ko",
        r"(?:지시|명령|규칙|지침|프롬프트)\S{0,3}[^.!?\n]{0,8}(?:무시|잊|따르지)|(?:승인|검토|확인|허가|권한|리뷰)[^.!?\n]{0,10}(?:건너뛰|무시|"
        r"비활성화|생략|우회|끄)|(?:승인|검토|확인|허가)\S{0,2}\s?(?:없이|불필요|필요\s?없|필요하지 않)|"
        r"(?:승인|검토|확인|"
        r"허가)[^.!?\n]{0,10}(?:필요\s?없|불필요)|사용자\S{0,3}\s?(?:알리지|말하지)\s?(?:마|말)",
    ),
    (
        "ar",
        r"(?:تجاهل|انس|اهمل|لا تتبع)[^.!?؟\n]{0,20}(?:التعليمات|الأوامر|القواعد|الإرشادات|تعليمات)|(?:عطل|عطّل|"
        r"تخط|تخطّ|تجاوز|أوقف|الغ|ألغ)[^.!?؟\n]{0,16}(?:الموافقة|المراجعة|التأكيد|الاعتماد|التحقق|الإذن|"
        r"الصلاحيات)|لا (?:تطلب|تنتظر|تسأل)[^.!?؟\n]{0,10}(?:موافقة|الموافقة|إذن|الإذن|تأكيد|التأكيد)|(?:لا "
        r"يحتاج|لا تحتاج|لا يتطلب|لا تتطلب|دون|بدون)[^.!?؟\n]{0,8}(?:موافقة|إذن|تأكيد|مراجعة|الموافقة)",
    ),
    (
        "fa",
        r"(?:نادیده بگیر|فراموش کن)[^.!?؟\n]{0,30}|(?:دستور\w*|قوانین)[^.!?؟\n]{0,20}(?:نادیده|فراموش)|(?:بدون|"
        r"نیازی به)[^.!?؟\n]{0,10}(?:تأیید|تایید|اجازه|مجوز|بررسی)[^.!?؟\n]{0,8}(?:ندارد|نیست|مستقر|ادغام|اجرا)",
    ),
    (
        "he",
        r"התעלם[^.!?\n]{0,20}(?:הוראות|הנחיות|כללים)|(?:דלג|עקוף|השבת)[^.!?\n]{0,16}(?:אישור|בדיקה|סקירה)|"
        r"(?:ללא|בלי|לא דורש\w*)\s(?:אישור|בדיקה)",
    ),
    (
        "hi",
        r"(?:निर्देश\w*|आदेश\w*|नियम\w*)[^।!?\n]{0,16}(?:अनदेखा|नज़रअंदाज़|भूल|उपेक्षा)|(?:अनुमोदन|स्वीकृति|"
        r"समीक्षा|पुष्टि|अनुमति|मंज़ूरी)[^।!?\n]{0,14}(?:छोड़|बंद कर|बिना|आवश्यक नहीं|ज़रूरत नहीं|ज़रूरी नहीं)|"
        r"(?:अनुमति|अनुमोदन|स्वीकृति|पुष्टि)[^।!?\n]{0,8}(?:आवश्यकता|ज़रूरत|जरूरत)\sनहीं|बिना\s(?:अनुमोदन|"
        r"स्वीकृति|अनुमति|पुष्टि|पूछे)",
    ),
    (
        "th",
        r"(?:เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม)[^\n]{0,20}(?:คำสั่ง|คำแนะนำ|กฎ)|(?:ข้าม|"
        r"ปิด)[^\n]{0,12}(?:การอนุมัติ|การตรวจสอบ|การยืนยัน)|(?:ไม่ต้อง|โดยไม่)[^\n]{0,6}(?:อนุมัติ|ขออนุญาต|"
        r"ยืนยัน)",
    ),
)


# One of these has to occur before a language's patterns are tried.
_FOREIGN_KEYWORDS: dict[str, str] = {
    "fr": "précédent antérieur ci-dessus toutes consigne règles ordres validation approbation revue "
    "autorisation contrôle relecture confirmation",
    "es": "anterior previas tus instrucc órdenes directrices aprobaci revisi confirmaci autorizaci validaci "
    "permiso controles",
    "it": "precedent anterior istruzion regole ordini revision approvazion conferm autorizzazion permess "
    "controll validazion",
    "pt": "anteriore prévia suas instruç ordens diretrizes regras aprovaç revis confirmaç autorizaç permiss validaç",
    "de": "vorherig bisherig früher obig deine ihre anweisung vorgaben regeln freigabe genehmigung prüfung "
    "bestätigung zustimmung kontrolle vorig überspring umgeh deaktivier schalte außer braucht ohne",
    "nl": "eerdere vorige voorgaande bovenstaande instructies regels richtlijnen goedkeuring beoordeling "
    "bevestiging toestemming controle",
    "sv": "tidigare föregående ovanstående tidligere foregående instruktion regler godkänn granskning "
    "bekräftelse tillstånd godkjenning godkendelse",
    "pl": "poprzedni wcześniejsz powyższ instrukcj poleceni zasad zatwierdz akceptacj przegląd weryfikacj "
    "potwierdz zgod kontrol",
    "tr": "talimat kural yönerge önceki onay inceleme doğrulama izin denetim",
    "id": "instruksi perintah aturan sebelumnya persetujuan tinjauan konfirmasi izin",
    "vi": "hướng chỉ quy phê xác kiểm",
    "ru": "инструкц указани правил команды распоряж проверк одобрени подтвержд согласован утвержден ревью "
    "разрешен апрув",
    "uk": "інструкц вказівк правила перевірк схвален підтвердж погоджен дозв",
    "zh": "令 示 规 規 说 說 提 约 審 审 确 確 批 权 權 检 授 许 許 告 通",
    "ja": "指示 命令 ルール 規則 プロンプト 指令 承認 レビュー 確認 許可 審査",
    "ko": "지시 명령 규칙 지침 프롬프트 승인 검토 확인 허가 권한 리뷰 사용자",
    "ar": "تعليم أوامر قواعد إرشاد موافق مراجع تأكيد اعتماد تحقق إذن صلاحي",
    "fa": "دستور قوانین تأیید تایید اجازه مجوز بررسی نادیده فراموش",
    "he": "הוראות הנחיות כללים אישור בדיקה סקירה",
    "hi": "निर्देश आदेश नियम अनुमोदन स्वीकृति समीक्षा पुष्टि अनुमति मंज़ूरी",
    "th": "คำสั่ง คำแนะนำ กฎ อนุมัติ ตรวจสอบ ยืนยัน ขออนุญาต",
}


def _foreign_accepts(match: re.Match[str]) -> bool:
    """Not negated in the language's own way; a report in quotes passes."""
    before, after = _sentence(match)
    return (
        re.search(
            r"(?:\bne jamais\b|\bjamais\b|\bnunca\b|\bno se (?:debe|puede)\b|\bniemals\b|\bnie\b|\bkeinesfalls\b|"
            r"\bdarf nicht\b|\bnooit\b|\baldrig\b|\baldri\b|\bnigdy\b|никогда|нельзя|запрещ\w+|\bnão (?:deve|"
            r"pode)\b|\bmai\b|\bnon (?:si )?(?:deve|può)\b|"
            r"不得|禁止|切勿|不要(?!遵)|不能|절대|금지|決して|يجب ألا|ممنوع|لا يجوز|\basla\b|\bjangan\b|"
            r"demand[ée]|bat\b|verlangte|"
            r"forderte|pidió|chiese|просил)[^.!?。]{0,50}$",
            before,
        )
        is None
        and re.match(
            r"[^.!?。]{0,40}(?:禁止|금지|不可|てはいけない|てはならない|てはいけません|てはなりません|ことはできません|"
            r"하지 마|verboten|interdit|prohibid|"
            r"vietat|запрещ|zabronion|untersagt|verboden)",
            after,
        )
        is None
        and not _is_reported(match)
    )


def _within(*parts: str, gap: str = r"[^.!?;\n]{0,60}?") -> str:
    return gap.join(rf"(?<!\w)(?:{part})(?!\w)" for part in parts)


def _foreign(row: tuple[str, ...]) -> str:
    name, ignore, instructions, earlier, skip, control, no_need = row
    unasked = _NOT_ASKING.get(name)
    return "|".join(
        (
            _within(earlier, instructions, ignore, gap=r"[^.!?;\n]{0,24}?"),
            _within(control, skip, gap=r"[^.!?;\n]{0,16}?"),
            _within(control, no_need, gap=r"[^.!?;\n]{0,12}?"),
            _within(ignore, earlier, instructions, gap=r"[^.!?;\n]{0,24}?"),
            _within(ignore, instructions, earlier, gap=r"[^.!?;\n]{0,24}?"),
            _within(skip, control, gap=r"[^.!?;\n]{0,30}?"),
            _within(no_need, control, gap=r"[^.!?;\n]{0,24}?"),
            *([_within(unasked, control, gap=r"[^.!?;\n]{0,16}?")] if unasked else []),
        )
    )


# A risky verb and "without approval", in languages where that is one phrase.
_UNASKED_ABROAD = (
    r"(?:deploy\w*|releas\w*|merg\w*|push\w*|despl[ei]\w+|publi\w+|déplo\w+|fusion\w*|supprim\w+|efface\w*|lösch\w+|"
    r"veröffentlich\w+|spiel\w* ein|borra\w*|elimin\w+|rilasci\w+|cancell\w+|unisci|implant\w+|apag\w+|"
    r"exclu\w+|wdraż\w*|"
    r"wdroż\w*|usu[nńw]\w*|opublikuj|scal\w*|verwijder\w*|задепло\w+|депло\w+|выкат\w+|удал\w+|слив\w+|"
    r"мерж\w*|публик\w+|"
    r"yayınla\w*|dağıt\w*|birleştir\w*|distribuera|ta bort|radera|rulla ut|slett|slet)"
)
_WITHOUT_ABROAD = (
    r"(?:sin (?:\w+ )?(?:aprobaci[oó]n|revisi[oó]n|confirmaci[oó]n|autorizaci[oó]n|permiso|preguntar|validaci[oó]n)|"
    r"sans (?:\w+ )?(?:validation|approbation|revue|confirmation|autorisation|demander|relecture|accord)|"
    r"ohne (?:\w+ )?(?:freigabe|genehmigung|prüfung|review|bestätigung|zustimmung|rückfrage|nachfrage)|"
    r"senza (?:\w+ )?(?:approvazione|revisione|conferma|autorizzazione|permesso|chiedere)|"
    r"sem (?:\w+ )?(?:aprovação|revisão|confirmação|autorização|permissão|perguntar)|"
    r"zonder (?:\w+ )?(?:goedkeuring|review|toestemming|bevestiging|te vragen)|"
    r"bez (?:\w+ )?(?:zatwierdzenia|akceptacji|przeglądu|zgody|potwierdzenia|pytania)|"
    r"без (?:\w+ )?(?:ревью|согласования|одобрения|подтверждения|разрешения|проверки|апрува)|"
    r"onaysız|onay (?:almadan|beklemeden)|incelemesiz|sormadan|utan (?:\w+ )?(?:godkännande|granskning|att fråga)|"
    r"uden godkendelse|uten godkjenning)"
)


def _is_unasked_abroad(match: re.Match[str]) -> bool:
    before, after = _sentence(match)
    whole = before + match.group() + re.split(r"[.;!?\n]", after, maxsplit=1)[0]
    return (
        _foreign_accepts(match)
        and re.search(
            r"\b(?:nicht|nie|niemals|kein\w*|no se|nunca|jamais|ne|n'|pas|não|nunca|non|mai|niet|nooit|нельзя|не|"
            r"никогда|nie wolno|"
            r"nigdy|aldrig|inte|ikke|yasak\w*|verboten|interdit\w*|prohibid\w*|proibid\w*|vietat\w*|запрещ\w*|"
            r"zabroni\w*)\b",
            whole,
        )
        is None
    )


# Beyond the shapes: permissive statements about controls (ADMISSION 4).
_CONTROL_WORD = LazyPattern(
    rf"\b(?:{_CONTROL}|approv(?:e|ed|er|ers|ing)|unreviewed|unapproved|polic(?:y|ies)|credentials?|"
    r"audit(?:s|ed)?|scan(?:s|ners?|ning)?|tls verification|certificate (?:checks?|verification|"
    r"validation)|ssl verification|host key checking|signature (?:checks?|verification)|"
    r"verify=false|sudoers|administratoraccess|cluster-admin|branch protection|two-factor|protected|signed "
    r"commits|force[- ]push\w*)\b"
)
_CONTROL_STEMS = words(
    "approv|review|confirm|permission|sandbox|gate|freeze|polic|credential|trust|audit|scan|protect|guard|"
    "safety|owner|human|oversight|sign-off|sign off|signoff|authori|consent|access control|change "
    "management|two-person|four-eyes|mfa|2fa|safeguard|filter|verif|sudoers|administratoraccess|"
    "cluster-admin|two-factor|signed commit|force-push|force push|validation|checking|security"
)
_PERMISSIVE = LazyPattern(
    r"\b(?:may (?!not\b)|need(?:s)? not\b|needn't\b|optional\b|(?<!users )(?<!user )(?<!callers "
    r")(?<!clients )(?<!accounts )(?<!people )(?<!members )without\b(?! a (?:doubt|problem))|not (?:needed|"
    r"required|necessary)\b|(?:is|are) (?:fine|ok|okay|allowed|permitted|acceptable|enough)\b|free to\b|no "
    r"need\b|needs? no\b|requires? no\b|"
    rf"(?:do(?:es)? not|don't|doesn't|no longer) (?:need|require|apply)\b|{_SKIP} (?:\w+ "
    rf"){{0,3}}?{_CONTROL}|\b{_CONTROL} (?:\w+ ){{0,2}}?(?:is|are|be|gets?) (?:skipped|bypassed|ignored|"
    r"disabled|overridden|waived|suspended)|go(?:es)? around\b|exempt\b|waived?\b|(?:is|are) off\b|turned "
    r"off\b|disabled\b|verify=false|never (?:blocks?|applies|asks?)\b|use administratoraccess|use "
    r"cluster-admin|"
    r"auto(?:matically)?[- ]?(?:approv|merg|accept)\w*|for humans\b|a formality\b|instead of (?:asking|"
    r"waiting)|counts? as (?:approval|approved|consent)|good enough|(?:just|simply) (?:merge|deploy|push)|"
    r"by default allowed)"
)
_RESTRICTIVE = LazyPattern(
    r"\b(?:never\b|must\b|must not\b|may not\b|cannot\b|can't\b|can not\b|requires? (?!no\b)|only\b|needs? "
    r"(?!no\b|not\b)(?:an? |its |the )?(?:\w+ )?(?:approvals?|reviews?|tickets?|sign|confirm\w*|"
    r"permission)|always (?:needs?|requires?|does|do|ask)|forbid\w*|forbidden|prohibited|not (?:be "
    r")?(?:allowed|permitted)|refus\w+|reject\w*|declin\w+|"
    r"nobody\b|no one\b|shall not\b|should not\b|shouldn't\b|do not\b|don't\b|ask (?:for|before|first)|"
    r"unless\b|except\b|mandatory\b|enforced?\b|blocked\b|no bypass|limited to)\b"
)


_NORMATIVE_FALSE = LazyPattern(
    r"\b(?:read model|scanner service|permission (?:bits?|model)|scan line|code review (?:tool|bot)|review "
    r"app|policy page|privacy policy|cache policy|retention policy|retry policy|security group|freeze "
    r"frame|sandbox(?: (?:account|environment|api|cluster|tenant|server|project))|gate(?:way)s?|logic gate|"
    r"scan (?:rows?|the table|index)|full table scan|index scan|permission field|audit logs? (?:is|are|"
    r"live|in|for)|approval rate|review vote)\b"
)


_PUNISHED = LazyPattern(
    r"\b(?:is|are|gets?|will be|was|were) (?:\w+ )?(?:blocked|rejected|refused|denied|logged|reported|"
    r"forbidden|prohibited|not allowed|"
    r"an incident|reverted|sent back|disallowed)\b"
)


def polarity_of(sentence: str) -> str | None:
    """Return how a sentence speaks of a control: "permissive", "restrictive", "unclear"; None when it does not."""
    plain = _NORMATIVE_FALSE.sub(" ", sentence)
    if not _CONTROL_WORD.search(plain):
        return None
    if (
        _SAFE_PLACE.search(plain) or re.search(r"\b(?:staging|sandbox|local|dev|test|docs?) ", plain)
    ) and "prod" not in plain:
        return None
    if _PUNISHED.search(plain):
        return "restrictive"
    permissive = restrictive = False
    for match in _PERMISSIVE.finditer(plain):
        before = plain[: match.start()]
        if _NEGATED.search(before) or re.search(
            r"\b(?:can ?not|can't|must not|may not|never|not) be \w+$", match.group()
        ):
            restrictive = True
        elif _is_reported(match):
            return None
        else:
            permissive = True
    restrictive = (restrictive and not permissive) or _RESTRICTIVE.search(plain) is not None
    if permissive and restrictive:
        return "unclear"
    return "permissive" if permissive else "restrictive" if restrictive else None


_CLAUSES = LazyPattern(r"(?<=[.!?;])\s+|\n+")


def iter_polarities(flow: str) -> Iterator[tuple[str, int]]:
    """Yield ``permissive`` or ``unclear`` and the offset of each sentence that speaks so of a control."""
    if not any(word in flow for word in _CONTROL_STEMS):
        return
    start = 0
    for cut in (*_CLAUSES.finditer(flow), None):
        end = cut.start() if cut else len(flow)
        sentence = flow[start:end]
        if any(word in sentence for word in _CONTROL_STEMS):
            polarity = polarity_of(sentence)
            if polarity in ("permissive", "unclear"):
                yield polarity, start
        start = cut.end() if cut else end


PERMISSIVE_RULE = Rule(
    name="permissive-about-a-control",
    family=Family.AUTHORITY,
    severity=Severity.HOLD,
    sentence="permits something about a control (approval, review, permission, policy, sandbox …); a person has to "
    "write or approve that",
)
UNCLEAR_RULE = Rule(
    name="unclear-about-a-control",
    family=Family.AUTHORITY,
    severity=Severity.HOLD,
    sentence="both permits and forbids something about a control; say which",
)
SUPPLY_RULE = Rule(
    name="weakens-a-check",
    family=Family.AUTHORITY,
    severity=Severity.HOLD,
    sentence="switches off a check, widens rights or moves where code comes from; a person has to write or approve "
    "that",
    keywords=words(
        "verif|insecure|strict|index|registry|mirror|administratoraccess|cluster-admin|777|0.0.0.0/0|failures|"
        "flaky|trusted-host|sudo|all new|wildcard|curl|setenforce"
    ),
    pattern=r"\b(?:tls|ssl|certificate|cert|signature|host[- ]key|checksum)s? (?:verification|validation|checks?|"
    r"checking) (?:is|are|stays?|must be|should be|can be|was) (?:\w+ )?(?:off|disabled|skipped|"
    r"unnecessary|optional)\b|\b(?:use|set|pass|with|always)\b[^.;!?\n]{0,40}(?:verify ?= ?false|"
    r"--insecure\b|-k with curl|node_tls_reject_unauthorized ?= ?[\"']?0|http\.sslverify(?: |=)false|"
    r"stricthostkeychecking(?: |=)no|--trusted-host|--no-check-certificate|--allow-unauthenticated|"
    r"insecureskipverify)"
    r"|\b(?:canonical|default|official|only|new|primary|preferred) (?:package|python|npm|pip|container|"
    r"image|module|crate|maven|gem) (?:index|registry|mirror|repository|proxy)(?: url)? (?:is|are|moved "
    r"to)(?: now)? https?://(?!pypi\.org|registry\.npmjs\.org|index\.crates\.io|repo1?\.maven|"
    r"rubygems\.org|docker\.io|ghcr\.io)"
    r"|\b(?:all|every|each|any|new)\b[^.;!?\n]{0,40}\b(?:use|uses|get|gets|have|has|need|needs|receive|is|"
    r"are)\b[^.;!?\n]{0,30}(?:administratoraccess|cluster-admin|\bowner role|chmod 777|wildcard "
    r"(?:permissions?|polic)|0\.0\.0\.0/0|\"\*\" permissions?)"
    r"|\b(?:security|auth\w*|permission|access|policy|audit)\b[^.!?\n]{0,60}\b(?:flaky|noise|false "
    r"positives?|by design)\b[^.!?\n]{0,30}\bignore\b|\bignore (?:their|the|all|any) (?:security "
    r")?(?:failures?|findings?|alerts?)\b[^.!?\n]{0,30}$"
    r"|\bcurl\b[^\n|]{0,120}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b[^.!?\n]{0,40}\b(?:every|always|each|first)\b|"
    r"\bsetenforce 0\b",
    accepts=_is_plain_order,
)


@cache
def authority_rules() -> tuple[Rule, ...]:
    """Return the rules for known shapes, which reject whoever wrote the text.

    The first one, about markup, is matched in the text as it stands; the others in running text.
    """
    return (
        Rule(
            name="chat-delimiter",
            family=Family.AUTHORITY,
            severity=Severity.REJECT,
            sentence="looks like the turn of a chat, a prompt's markup or the end of a frame",
            keywords=words(
                "instruction|<|[inst|[/inst|[available|[/available|[tool|human|assistant|system|developer|role|"
                "trusted|approved|"
                "end |origin"
            ),
            pattern=_DELIMITERS,
            accepts=_not_shown_as_code,
        ),
        *(
            Rule(
                name=name,
                family=Family.AUTHORITY,
                severity=Severity.REJECT,
                sentence=sentence,
                keywords=_STARTS.get(name, keywords),
                also=_ALSO.get(name, ()),
                near=0 if name in _STARTS else None,
                pattern=pattern,
                accepts=accepts,
            )
            for name, sentence, keywords, pattern, accepts in _REJECTED
        ),
        *(
            Rule(
                name=f"override-{row[0]}",
                family=Family.AUTHORITY,
                severity=Severity.REJECT,
                sentence="tells its reader, in another language, to ignore instructions or get round a control",
                keywords=tuple(_FOREIGN_KEYWORDS[row[0]].split()),
                pattern=_foreign(row),
                accepts=_foreign_accepts,
            )
            for row in _LANGUAGES
        ),
        Rule(
            name="unasked-abroad",
            family=Family.AUTHORITY,
            severity=Severity.REJECT,
            sentence="permits, in another language, a risky action without approval",
            keywords=words("sin |sans |ohne |senza |sem |zonder |bez |без |onay|inceleme|sormadan|utan |uden |uten "),
            pattern=rf"\b{_UNASKED_ABROAD}\b[^.!?;\n]{{0,50}}?\b{_WITHOUT_ABROAD}|\b{_WITHOUT_ABROAD}\b[^.!?;\n]{{0,30}}?\b{_UNASKED_ABROAD}",
            accepts=_is_unasked_abroad,
        ),
        *(
            Rule(
                name=f"override-{name}",
                family=Family.AUTHORITY,
                severity=Severity.REJECT,
                sentence="tells its reader, in another language, to ignore instructions or get round a control",
                keywords=tuple(_FOREIGN_KEYWORDS[name].split()),
                pattern=pattern,
                accepts=_foreign_accepts,
            )
            for name, pattern in _UNSPACED
        ),
    )
