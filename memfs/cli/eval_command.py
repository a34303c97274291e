"""Measure recall against this repository's questions (evals/*.yaml): hit@k, MRR, leaks.

Exits with 1 when a forbidden memory was found, when something was found where nothing may be, or when
the figures are below what the file requires (by default every question must find what it expects).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from memfs.cli.options import add_json
from memfs.model.codepoints import one_line

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.recall.evaluate import SuiteResult


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="these files only, relative to the repository")
    parser.add_argument(
        "--mode", choices=["auto", "lexical", "hybrid"], default="auto", help="how to recall (default: auto)"
    )
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    from memfs.recall.evaluate import read_suites, run_suite

    tree = session.open_repository().tree
    suites = read_suites(tree, args.files)
    results = [run_suite(tree, session.places, suite, today=session.today, mode=args.mode) for suite in suites]
    passed = all(result.passed for result in results)
    if args.json:
        session.emit("eval", {"passed": passed, "mode": args.mode, "suites": [_row(result) for result in results]})
    else:
        for result in results:
            _say(result, session)
    return 0 if passed else 1


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
