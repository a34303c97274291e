"""Whether a prompt asks about anything, and whether a candidate answers it (RETRIEVAL 4).

Most prompts in a coding session are steps of a conversation ("yes, do it", ``git status``) and want
no memory. Scores alone do not tell them apart: one common word in one memory looks like an answer,
and a floor high enough to stop that lost ten points of hit@5. So the words are looked at first: a
prompt made of conversation alone finds nothing, and what is left must be known to the memories.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from math import log

STRONG_WORDS = 0.6
"""Summed weight of the known topic words, in units of a word that one memory alone holds, that is enough."""

NEAR = 0.45
"""A cosine that is enough by itself to let a prompt look."""


_CONVERSATION = """
sound sounds sounded yes yep yeah yup no nope nah ok okay okey sure fine good great nice cool perfect awesome
excellent wonderful super lovely amazing right correct exactly indeed thanks thank thx ty cheers welcome hello hi
hey morning evening afternoon night bye goodbye sorry pardon hmm hm um uh oh ah wow lol haha lgtm sgtm please pls
go going gone ahead continue proceed carry keep move moving next previous last first second third step steps start
begin stop pause wait hold done finish finished ready again retry try trying tried attempt repeat redo undo back
instead anyway maybe perhaps probably actually really very much lot bit little quite enough do did does doing make
making made get getting got give take put set let lets use using used want wanted need needed like think thought
guess mean means meant know knew see saw look looks looking looked seem seems find check show tell say said ask
asked answer explain describe help understand agree disagree believe decide choose pick best better worse bad wrong
broken works work worked working happen happens happened change changed update updated add added remove removed
delete deleted edit fix fixed fixes fixing clean cleanup rename open close save run running ran execute launch
create generate write rewrite read print list summarize summarise simplify shorten shorter longer simpler faster
smaller bigger short long quick quickly careful carefully sense ship thing things stuff way ways part parts point
one ones two three same other another different new old everything anything something nothing someone anyone
everyone people guy guys man time times today now tomorrow yesterday moment minute minutes sec seconds while soon
later already still yet ever never always also too just only even mind joke question questions idea ideas option
options problem issue line lines file files folder code comment comments plan plans approach document documents
module modules model format summary double break variable variables function functions diff status commit commits
push pull log output message prompt response да нет ага угу ок окей хорошо ладно спасибо пожалуйста привет
здравствуйте пока давай давайте продолжай дальше сделай делай попробуй
еще еще раз снова стоп подожди готово понял
понятно отлично супер класс верно правильно
"""

_FLAGS = r"(?:\s+(?:-{1,2}[\w=./-]+|\.{1,2}|[\w.-]*/[\w./-]*))*"
_PATTERN = (
    r"\s*[$>%]?\s*(?:"
    r"git(?:\s+(?:status|diff|log|show|add|commit|push|pull|fetch|stash|branch|checkout|switch|restore|rebase|merge))?"
    r"|(?:npm|yarn|pnpm)(?:\s+(?:install|ci|test|start|build|(?:run\s+)?[\w:-]+))?"
    r"|cargo(?:\s+(?:build|test|run|check|clippy|fmt))?|go\s+(?:build|test|run|vet|fmt|mod\s+tidy)"
    r"|pip3?\s+(?:install|list|freeze)(?:\s+[\w.-]+)?"
    r"|python3?(?:\s+-m\s+[\w.]+)?(?:\s+[\w./-]+\.py)?|node(?:\s+[\w./-]+\.js)?"
    r"|make(?:\s+[a-z-]+)?|docker(?:\s+compose)?\s+(?:ps|up|down|build|images|logs)|kubectl\s+get\s+[a-z]+"
    r"|(?:cd|ls|ll|cat|less|head|tail|rm|mkdir|touch)(?:\s+[\w.-]+\.\w+)?"
    r"|pytest|tox|nox|ruff|mypy|eslint|tsc|pwd|clear|exit|quit|history|whoami|date|top|htop|ps|df|du|env"
    rf"){_FLAGS}\s*"
)
_TOOL_NAMES = """
git npm yarn pnpm cargo go pip pip3 python python3 node make docker kubectl cd ls ll cat less head tail rm
mkdir touch pytest tox nox ruff mypy eslint tsc pwd clear exit quit history whoami date top htop ps df du env
"""
_TOOLS = frozenset(_TOOL_NAMES.split())


def is_command(text: str) -> bool:
    """Return whether ``text`` is nothing but a plain shell command, such as ``git status`` or ``ls -la``."""
    words = text[:90].lower().lstrip("$>% \t").split(None, 1)
    if len(text) > 80 or not words or words[0] not in _TOOLS:
        return False
    return re.fullmatch(_PATTERN, text, re.IGNORECASE) is not None


def topic_terms(terms: Sequence[str]) -> list[str]:
    """Return the query terms that are about something: those that are no conversation."""
    conversation = _conversation_terms()
    return [term for term in terms if term not in conversation and not (len(term) == 1 and term.isascii())]


def is_question(
    topics: Sequence[str],
    frequencies: Sequence[int],
    *,
    documents: int,
    covered: bool,
    nearest: float | None,
    near: float = NEAR,
) -> bool:
    """Return whether a prompt with these topic words should find anything.

    ``frequencies`` are the documents that hold each word; ``covered`` says that one of them holds all;
    ``nearest`` is the best cosine, None without a model, and ``near`` the one that is enough.
    """
    if not topics:
        return False
    known = sum(log(1 + (documents - n + 0.5) / (n + 0.5)) for n in frequencies if n)
    rarest = log(1 + max(0.0, documents - 0.5) / 1.5)
    if covered or (known > 0 and known >= STRONG_WORDS * rarest):
        return True
    return nearest is not None and nearest >= near


@cache
def _conversation_terms() -> frozenset[str]:
    from memfs.index.tokenizer import stem_words

    return stem_words(_CONVERSATION.split())
