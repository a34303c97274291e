"""Measure recall against this repository's questions (evals/*.yaml): hit@k, MRR, leaks.

Exits with 1 when a forbidden memory was found, when something was found where nothing may be, or when
the figures are below what the file requires (by default every question must find what it expects).
With --against the same questions are asked twice, and each difference comes with its 95 % interval.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memfs.cli.options import add_json
from memfs.model.codepoints import one_line
from memfs.model.values import asdict
from memfs.recall.compare import compare
from memfs.recall.evaluate import read_suites, run_suite

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.recall.compare import Difference
    from memfs.recall.evaluate import SuiteResult


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="these files only, relative to the repository")
    parser.add_argument(
        "--mode", choices=["auto", "lexical", "hybrid"], default="auto", help="how to recall (default: auto)"
    )
    parser.add_argument(
        "--against", choices=["lexical", "hybrid"], help="ask again in this mode, and say which differences are real"
    )
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    tree = session.open_repository().tree
    suites = read_suites(tree, args.files)
    results = [run_suite(tree, session.places, suite, today=session.today, mode=args.mode) for suite in suites]
    against = suites if args.against else []
    others = [run_suite(tree, session.places, suite, today=session.today, mode=args.against) for suite in against]
    found = _compare(results, others)
    passed = all(result.passed for result in results)
    if args.json:
        document = {"passed": passed, "mode": args.mode, "suites": [_row(result) for result in results]}
        if args.against:
            differences = [{**asdict(one), "beyond_chance": one.beyond_chance} for one in found]
            document |= {"against": args.against, "differences": differences}
        session.emit("eval", document)
        return 0 if passed else 1
    for result in results:
        _say(result, session)
    for one in found:
        verdict = "beyond chance" if one.beyond_chance else "may be chance"
        session.say(
            f"{one.figure}: {args.mode} {one.first:.3f}, {args.against} {one.second:.3f}, "
            f"difference {one.second - one.first:+.3f} [{one.low:+.3f}, {one.high:+.3f}]: {verdict}"
        )
    return 0 if passed else 1


def _compare(results: Sequence[SuiteResult], others: Sequence[SuiteResult]) -> list[Difference]:

    if not others:
        return []
    return compare([one for result in results for one in result.results], [one for o in others for one in o.results])


def _say(result: SuiteResult, session: Session) -> None:
    path = one_line(result.suite.path)
    for one in result.results:
        missed = one.case.expect and one.rank is None
        for failure in (*one.failures, *(["nothing expected was found"] if missed else [])):
            session.say(f"{path}: {one_line(one.case.name)}: {failure}")
    verdict = "passed" if result.passed else "FAILED"
    session.say(
        f"{path}: {verdict}, {len(result.results)} cases, "
        f"hit {result.hit:.3f} (required {result.suite.hit:.3f}), MRR {result.mrr:.3f}, {result.leaks} leaks"
    )


def _row(result: SuiteResult) -> dict[str, Any]:
    return {
        "path": one_line(result.suite.path),
        "passed": result.passed,
        "hit": result.hit,
        "mrr": result.mrr,
        "leaks": result.leaks,
        "required": {"hit": result.suite.hit, "mrr": result.suite.mrr},
        "cases": [
            {
                "name": one_line(one.case.name),
                "rank": one.rank,
                "found": list(one.found),
                "failures": list(one.failures),
            }
            for one in result.results
        ],
    }
