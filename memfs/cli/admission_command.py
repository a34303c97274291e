"""Try the admission rules on any text, for people who tune them.

Each file is judged as text that an agent wrote; a file with a memory's front matter is judged field
by field. The answer names rule and place, never the value. Nothing is written anywhere. The exit code
is 0 when every file is admitted, 1 when one is held, 5 when one is rejected.

  memfs admission test notes.md                 what the gate would say
  memfs admission test --json a.md b.md         the same for programs
  echo "…" | memfs admission test -             standard input
  memfs admission rules                         every rule with its sentence
  memfs admission explain personal-email        what a rule finds, and how to let it pass
  memfs admission allowed                       rules that people let pass here, with their reasons
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from memfs.admission.catalogue import all_rules, rule_named
from memfs.admission.gate import judge_fields, judge_text
from memfs.admission.sentences import MEANING_RULE
from memfs.cli.looks import say_line
from memfs.cli.options import add_json
from memfs.errors import UsageError
from memfs.git.log import read_messages
from memfs.model.codepoints import escape_hidden
from memfs.model.memory import Origin
from memfs.model.reader import FIELDS, read_memory

if TYPE_CHECKING:
    from memfs.admission.gate import Decision
    from memfs.cli.session import Session

EXIT_CODES = {"admit": 0, "hold": 1, "reject": 5}
"""What `memfs admission test` ends with: the gravest verdict of all files."""

ALLOWED = "Admission-Allowed:"
"""Begins the line of a commit message that says which rule was let pass, and why."""

MOST_BYTES = 16 * 1024 * 1024


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="what", metavar="VERB", title="verbs", required=True)
    test = verbs.add_parser("test", help="judge files and print the findings")
    test.add_argument("files", nargs="+", metavar="FILE", help="a file of text; '-' reads standard input")
    test.add_argument(
        "--origin",
        choices=[origin.value for origin in Origin],
        default=Origin.AGENT.value,
        help="judge the text as written by this origin (default: agent)",
    )
    add_json(test)
    rules = verbs.add_parser("rules", help="list every rule")
    add_json(rules)
    explain = verbs.add_parser("explain", help="say what one rule finds and what to do about it")
    explain.add_argument("rule", metavar="RULE", help="the name of a rule, as a finding prints it")
    allowed = verbs.add_parser("allowed", help="list the false alarms that this repository's history reports")
    add_json(allowed)


def run(args: argparse.Namespace, session: Session) -> int:
    verbs = {"rules": _rules, "test": _test, "explain": _explain, "allowed": _allowed}
    return verbs[args.what](args, session)


_VERDICTS = {
    "reject": "reject: nothing is written, and a file edited by hand is withheld",
    "hold": "hold: kept as a draft with its author until it is changed or let pass",
    "warn": "note: written, and the sentence is printed",
}


def _explain(args: argparse.Namespace, session: Session) -> int:

    rule = rule_named(args.rule)
    if rule is None:
        raise UsageError("no admission rule has this name", hint="memfs admission rules")
    session.say(f"{rule.name}: the text {rule.sentence}")
    session.say(f"  family   {rule.family.value}")
    session.say(f"  verdict  {_VERDICTS[rule.severity.value]}")
    if rule.name == MEANING_RULE.name:
        session.say("           in an owner's text, or an observation with evidence, it is a note")
        session.say("  how      weights of memfs/admission/data/orders.bin, trained by benchmarks/train_orders.py")
    if rule.table:
        session.say(f"  table    memfs/admission/data/{rule.table}")
    if rule.keywords:
        session.say(f"  words    {escape_hidden(', '.join(rule.keywords), single_line=True)}")
    if rule.fixed:
        session.say("  allow    nobody can let it pass: take the text out")
    elif rule.severity.value != "warn":
        session.say(f'  allow    memfs drafts submit DRAFT --allow {rule.name} --reason "why it is meant"')
    return 0


def _allowed(args: argparse.Namespace, session: Session) -> int:

    tree = session.open_repository().tree
    found = [
        {"commit": commit, "rule": match["rule"].decode(), "reason": match["reason"].decode("utf-8", "replace")}
        for commit, message in read_messages(tree, ["HEAD"], word=ALLOWED)
        for match in re.finditer(
            rb"^Admission-Allowed: (?P<rule>[a-z0-9-]+) \((?P<reason>.*)\)$", message, re.MULTILINE
        )
    ]
    if args.json:
        session.emit("admission-allowed", {"allowed": found})
        return 0
    for row in found:
        reason = escape_hidden(row["reason"], single_line=True)
        session.say(f"{row['rule']:<32} {row['commit'][:12]}  {reason}")
    return 0


def _test(args: argparse.Namespace, session: Session) -> int:
    results = []
    for name in args.files:
        decision = judge_raw(_read(name, session), origin=Origin(args.origin))
        results.append((escape_hidden(name, single_line=True), decision))
    code = max((EXIT_CODES[decision.outcome.value] for _, decision in results), default=0)
    if args.json:
        session.emit("admission-test", {"results": [_result(name, decision) for name, decision in results]})
        return code
    for name, decision in results:
        session.say(f"{name}: {decision.outcome.value}")
        for finding in decision.findings:
            place = f"{finding.field}:{finding.line}:{finding.column}" if finding.line else finding.field
            say_line(session, f"  {finding.severity.value:<6}  {finding.rule}  {place}  {finding.message}")
    return code


def _result(name: str, decision: Decision) -> dict[str, Any]:
    return {
        "file": name,
        "verdict": decision.outcome.value,
        "findings": [
            {
                "rule": finding.rule,
                "family": finding.family.value,
                "severity": finding.severity.value,
                "field": escape_hidden(finding.field, single_line=True),
                "line": finding.line,
                "column": finding.column,
                "message": finding.message,
            }
            for finding in decision.findings
        ],
    }


def judge_raw(raw: bytes, *, origin: Origin) -> Decision:
    """Return what the gate says about the bytes of any file; only the text counts, not its form."""

    document = read_memory("memories/personal/text.md", raw).document
    if document is not None and document.has_front and sum(key in FIELDS for key in document.front) >= 3:
        return judge_fields(document.front, document.body, origin=origin)
    return judge_text(raw.decode("utf-8", "surrogateescape"), field="body", origin=origin)


def _read(name: str, session: Session) -> bytes:
    if name == "-":
        return session.read_stdin()
    try:
        with open(session.cwd / name, "rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=escape_hidden(name, single_line=True)) from error
    if len(raw) > MOST_BYTES:
        raise UsageError(f"is larger than {MOST_BYTES} bytes", where=escape_hidden(name, single_line=True))
    return raw


def _rules(args: argparse.Namespace, session: Session) -> int:

    rules = all_rules().values()
    if args.json:
        session.emit(
            "admission-rules",
            {
                "rules": [
                    {
                        "rule": rule.name,
                        "family": rule.family.value,
                        "severity": rule.severity.value,
                        "sentence": rule.sentence,
                        "can_be_allowed": not rule.fixed,
                    }
                    for rule in rules
                ]
            },
        )
        return 0
    for rule in rules:
        say_line(session, f"{rule.name:<32} {rule.severity.value:<6}  {rule.sentence}")
    return 0
