"""Check every memory, or a change, against all rules.

Prints one line for each broken rule (path:line:column: rule sentence) and what to do about it. Ends
with 1 when there is an error (with --strict also when there is a warning), and with 2 when the
repository has a keyring that nobody has pinned on this machine.

  memfs check                         everything in this repository
  memfs check memories/team/billing   what lies below one folder
  memfs check --staged                what `git commit` would commit
  memfs check --base origin/main      what this branch changes, judged by the base's keyring
  memfs check --fix                   write files in memfs's form (approved ones are left)
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from os.path import normpath, realpath
from pathlib import Path
from typing import TYPE_CHECKING

from memfs import __version__, check, exporting
from memfs.admission.deep import DeepScanner, open_scanner
from memfs.disk.files import write_in_tree
from memfs.disk.installed import install_command
from memfs.disk.private import make_folder
from memfs.disk.worktree import WorkTree
from memfs.errors import EXIT_NO, EXIT_USAGE, EXIT_YES, SetupError, UsageError
from memfs.git.read import head_commit, index_of_commit
from memfs.git.snapshot import GitFiles
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "rdjson")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders below memories/")
    parser.add_argument("--staged", action="store_true", help="check the index instead of the work tree")
    parser.add_argument(
        "--hook", action="store_true", help="for pre-commit: the staged change, the pushed range, or HEAD's own change"
    )
    parser.add_argument("--base", metavar="REV", help="check what changed since the histories parted")
    parser.add_argument("--commit", metavar="REV", help="with --base: check this commit instead of the work tree")
    parser.add_argument("--fix", action="store_true", help="correct what is only a matter of form")
    parser.add_argument("--strict", action="store_true", help="let a warning fail too (the same as --fail-on warning)")
    add_strictness(parser)
    parser.add_argument(
        "--write-baseline", action="store_true", help="note what is found now as known, in .memfs/baseline.json"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print (default: text)")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument(
        "--pin", metavar="PIN", help="the keyring to judge by, as `memfs pin` prints it; or `here` (also: MEMFS_PIN)"
    )
    parser.add_argument("--scan", action="store_true", help="look for credentials with Kingfisher too (extra: scan)")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep results of earlier runs")


def run(args: argparse.Namespace, session: Session) -> int:
    if args.fix and (args.staged or args.commit):
        raise UsageError("--fix writes the work tree, so it cannot be combined with --staged or --commit")
    repository = session.open_repository()
    if args.hook:
        args.staged, args.base, args.commit = find_hook_target(repository.tree, session.environ)
    target = check.Target(
        paths=tuple(repository_paths(args.paths, session)),
        base=args.base,
        staged=args.staged,
        index=index_of_commit(repository.tree, session.environ),
        commit=args.commit,
        # TRUST 8: for `check` and `review` the environment may pin, so that CI can.
        pin=args.pin or session.environ.get("MEMFS_PIN") or None,
        fail_on="warning" if args.strict else args.fail_on,
        require_approval=args.require_approval,
    )
    tree, identities, sees = repository.tree, repository.identities(), repository.sight.for_caller(OWNER)
    scanner = _open_scanner(session) if args.scan else None
    whole = not (args.paths or args.staged or args.base or target.pin)  # by the word of this machine's pin

    def look() -> check.Check:
        return check.check_repository(
            tree,
            session.places,
            target,
            today=session.today,
            identities=identities,
            keep=not args.no_cache,
            scanner=scanner,
            sees=sees,
            more=tuple(exporting.find_behind(repository)) if whole else (),
            on_long=lambda files: session.note(f"looking at {files:,} memories for the first time …"),
        )

    found = look()
    report = found.report
    if args.fix:
        fixed, left = check.fix_format(tree, found)
        if fixed:
            found = look()
        report = check.with_fixes(found.report, fixed, left)
    if args.write_baseline:
        return _write_baseline(found.report, session)
    print_report(report, args.format, session)
    if found.unpinned and not _say_unpinned(session, is_staged=args.staged):
        return EXIT_USAGE
    return EXIT_YES if report.passed() else EXIT_NO


def _say_unpinned(session: Session, *, is_staged: bool) -> bool:
    """Say that no approval was judged; return whether the answer counts all the same."""
    session.note("memfs: nothing here is pinned, so no approval was judged")
    session.note("  run `memfs pin` once, or give --pin; `--pin here` trusts the keyring that is here unverified")
    return is_staged  # before a commit the rules are what counts, and not everybody has pinned


def find_hook_target(tree: WorkTree, environ: Mapping[str, str]) -> tuple[bool, str | None, str | None]:
    """Return (staged, base, commit) of what a pre-commit run is about.

    pre-commit names the two ends of a range where it has one; with `--all-files` and in CI nothing is staged,
    and then the whole work tree counts. Source: pre-commit's documentation, "pre-commit during push".
    """
    since, tip = environ.get("PRE_COMMIT_FROM_REF"), environ.get("PRE_COMMIT_TO_REF")
    if since and tip and set(since) != {"0"}:
        return False, since, tip
    head = head_commit(tree)
    if head is None:
        return True, None, None
    index = GitFiles(tree, None, index=index_of_commit(tree, environ)).entries
    committed = GitFiles(tree, head).entries
    staged = index.keys() != committed.keys() or any(
        entry.blob != committed[path].blob for path, entry in index.items()
    )
    return staged, None, None


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """Add what decides how strict a run is, beside the settings."""
    parser.add_argument("--fail-on", choices=("error", "warning", "note"), help="the lowest level that ends with 1")
    parser.add_argument("--require-approval", action="store_true", help="a text that nobody has approved is an error")


def _write_baseline(report: check.Report, session: Session) -> int:
    write_in_tree(session.open_repository().tree, check.BASELINE, check.format_baseline(report.results))
    known = sum(not check.RULES[result.rule].fixed for result in report.results)
    session.say(f"{check.BASELINE} written; commit it to leave out {check.counted(known, 'result')} from now on")
    return EXIT_YES


def _open_scanner(session: Session) -> DeepScanner:
    scanner = open_scanner(str(make_folder(session.places, "cache", "scanner")))
    if scanner is None:
        raise SetupError("the scanner is not installed", hint=install_command("scan"))
    return scanner


def print_report(report: check.Report, form: str, session: Session) -> None:
    """Write ``report`` to stdout in one of the forms."""
    if form == "json":
        session.emit("check", check.report_payload(report))
    elif form == "sarif":
        session.say(check.format_sarif(report, version=__version__))
    elif form == "text":
        session.say(check.format_text(report, color=session.color))
    else:
        write = {
            "github": check.format_github,
            "gitlab": check.format_gitlab,
            "rdjson": check.format_rdjson,
            "junit": check.format_junit,
        }[form]
        session.say(write(report))


def repository_paths(paths: list[str], session: Session) -> list[str]:
    """Return ``paths``, which people give from where they are, relative to the top of the repository."""
    root = Path(realpath(session.open_repository().tree.root))
    found = []
    for path in paths:
        place = Path(normpath(Path(realpath(session.cwd), path)))
        if place != root and root not in place.parents:
            raise UsageError("this path is not in the repository", where=path)
        found.append(place.relative_to(root).as_posix())
    return found
