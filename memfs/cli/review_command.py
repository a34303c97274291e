"""Say what a change means for the memories, and approve it.

Reads commits as objects, without checking anything out, and judges them by the keyring and the policy
of their base. Without a range: what HEAD changes since it left the main branch. Ends with 1 when
something must be settled before a merge.

  memfs review                                what this branch changes
  memfs review origin/main..origin/theirs     somebody else's branch
  memfs review main..HEAD --format markdown   the comment of a pull request
  memfs review --approve                      look at each memory of this branch and sign once
  memfs review 12 --approve                   pull request 12, fetched to pr/12 and checked out
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memfs import propose, review
from memfs.check import counted
from memfs.cli.check_command import add_strictness
from memfs.cli.trust_command import approve_ids
from memfs.disk.worktree import WorkTree
from memfs.errors import EXIT_NO, EXIT_YES, UsageError
from memfs.git.read import branch_name, head_commit, ref_commit
from memfs.sight import OWNER

if TYPE_CHECKING:
    from memfs.cli.session import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "range", nargs="?", metavar="RANGE", help="BASE..HEAD, or a pull request's number (default: main branch..HEAD)"
    )
    parser.add_argument(
        "--approve", action="store_true", help="walk through the memories and approve with one signature"
    )
    parser.add_argument("--key", metavar="FILE", help="with --approve: the key to sign with")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="how to print")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument(
        "--pin", metavar="PIN", help="the keyring to judge by, as `memfs pin` prints it; or `here` (also: MEMFS_PIN)"
    )
    add_strictness(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    base, head = find_range(repository.tree, args.range)
    found = review.review_range(
        repository.tree,
        session.places,
        base,
        head,
        today=session.today,
        pin=args.pin or session.environ.get("MEMFS_PIN") or None,
        identities=repository.identities(),
        fail_on=args.fail_on,
        require_approval=args.require_approval,
        sees=repository.sight.for_caller(OWNER),
    )
    if args.format == "json":
        session.emit("review", review.review_payload(found))
    elif args.format == "markdown":
        session.say(review.format_comment(found).rstrip("\n"))
    else:
        # Each text is shown once: where it is approved, the queue of `memfs trust` shows it.
        print_review(found, session, most_rows=0 if args.approve else 200)
    if args.approve:
        return approve(found, repository.tree, session, key=args.key)
    return EXIT_YES if found.report.passed() else EXIT_NO


def find_range(tree: WorkTree, given: str | None) -> tuple[str, str]:
    """Return base and head of ``BASE..HEAD``, of ``BASE`` alone (to HEAD), of a pull request's number, or of nothing.

    Raises :class:`UsageError` where no main branch can be found, and for a pull request that was not fetched.
    """
    if given is not None and not given.isascii():
        raise UsageError("that is not a range of commits", hint="memfs review BASE..HEAD")
    if given is not None and given.isdecimal():
        return find_range(tree, None)[0], _find_request(tree, given)
    if given is not None:
        base, dots, head = given.partition("..")
        head = head.removeprefix(".")  # BASE...HEAD means the same here
        return base or "HEAD", (head or "HEAD") if dots else "HEAD"
    main = propose.find_main_branch(tree)
    if main is None:
        raise UsageError("say what to compare with", hint="memfs review BASE..HEAD")
    return main, "HEAD"


def _find_request(tree: WorkTree, number: str) -> str:
    """Return the ref that a pull request was fetched to."""
    places = {f"pr/{number}": "refs/heads/", f"origin/pr/{number}": "refs/remotes/", f"pull/{number}/head": "refs/"}
    found = next((name for name, where in places.items() if ref_commit(tree, where + name) is not None), None)
    if found is None:
        hint = f"git fetch origin pull/{number}/head:pr/{number} && git switch pr/{number}"
        raise UsageError(f"pull request {number} is not in this clone yet", hint=hint)
    return found


def approve(found: review.Review, tree: WorkTree, session: Session, *, key: str | None) -> int:
    """Walk through what is not approved yet and sign once. The reviewed commit must be checked out."""
    if branch_name(tree) is None:
        raise UsageError("no branch is checked out, so an approval could not be committed", hint="git switch BRANCH")
    if head_commit(tree) != found.head:
        raise UsageError(
            "only what is checked out can be approved: the receipts are committed to this branch",
            hint=_how_to_switch(tree, found.head_name),
        )
    ids = [change.id for change in found.unapproved if change.id]
    if not ids:
        session.note("everything that this change brings is approved already")
        return EXIT_YES
    if found.stops_for_others:
        what = counted(found.stops_for_others, "thing")
        session.note(f"an approval does not settle {what} above; the merge stays blocked until that is done")
    return approve_ids(ids, session, key=key)


def _how_to_switch(tree: WorkTree, name: str) -> str | None:
    """Return the command that checks out the branch of this name, where it is one of this clone or of its remotes."""
    if ref_commit(tree, f"refs/heads/{name}") is not None:
        return f"git switch {name}"
    if ref_commit(tree, f"refs/remotes/{name}") is not None:
        return f"git switch {name.partition('/')[2]}"
    return None


def print_review(found: review.Review, session: Session, *, most_rows: int = 200) -> None:
    """Write a review: through rich on a terminal, with marks round changed words elsewhere."""
    if not session.color:
        session.say(review.format_plain(review.terminal_lines(found, most_rows=most_rows)))
        return
    from rich.console import Console  # costly, and only for a terminal
    from rich.text import Text

    console = Console(file=session.out, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in review.terminal_lines(found, most_rows=most_rows, width=min(console.width, 110)):
        console.print(Text.assemble(*((text, review.STYLES[style]) for text, style in line)))
