"""Turn a session with an agent, or a history, into drafts that you keep, change or drop.

Off until you switch it on for a repository: --on, and once more with --automatic for sessions that have ended by
themselves. What reads a session is in your own settings, as `capture: {by: …}`: an agent's own program in a cage
(`memfs doctor cage` proves it), or a model with your key. Memories that were put into the session are taken out, and
what looks private is masked, before anything leaves this machine. Nothing is recorded: `memfs drafts` lists what came
of it.

  memfs capture --on                     allow it for this repository
  memfs capture --last                   the last session that an agent had here
  memfs capture --last --dry-run         print what would be sent, and send nothing
  memfs capture ~/.claude/projects/x/session.jsonl
  memfs capture --from-git main~50..main    decisions that commits state, without a model
  memfs capture --from-git review.md        a saved review or pull request
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memfs import capture
from memfs.cli import run_process
from memfs.cli.options import add_json
from memfs.disk.changing import set_switches
from memfs.disk.places import Places
from memfs.disk.settings import read_user_settings
from memfs.errors import EXIT_NO, EXIT_YES, MemfsError, RefusedError, SetupError, UsageError
from memfs.model.codepoints import escape_hidden, plain
from memfs.model.values import replace
from memfs.repository.named import store_of
from memfs.repository.repository import Repository

if TYPE_CHECKING:
    from memfs.capture import Kept, Transcript
    from memfs.cli.session import Session

_HOW = "memfs capture --on"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("transcripts", nargs="*", metavar="TRANSCRIPT", help="the file that an agent wrote")
    parser.add_argument("--last", action="store_true", help="the last session that an agent had in this repository")
    parser.add_argument("--from-git", metavar="RANGE|FILE", help="what commits, or a saved review, state as decided")
    parser.add_argument("--on", action="store_true", help="allow it for this repository, in your own settings")
    parser.add_argument("--automatic", action="store_true", help="with --on: sessions that have ended, by themselves")
    parser.add_argument("--off", action="store_true", help="allow it no longer")
    parser.add_argument("-n", "--dry-run", action="store_true", help="print what would be sent, and send nothing")
    parser.add_argument("--queued", action="store_true", help=argparse.SUPPRESS)  # what the detached process does
    add_json(parser)


def run_queued(home: str) -> None:
    """Capture what waits, once it has ended: the body of the detached process."""
    raise SystemExit(run_process(["capture", "--queued"], places=Places(home=Path(home))))


def run(args: argparse.Namespace, session: Session) -> int:
    if capture.is_inside(session.environ):
        raise RefusedError("this process was started by a capture, so it captures nothing")
    if args.queued:
        return _run_queue(session)
    repository = session.open_repository()
    if args.on or args.off:
        set_switches(session.places, repository.tree, capture=args.on, automatic=args.on and args.automatic)
        session.say(_state(session, repository))
        return EXIT_YES
    if args.from_git:
        return _tell(session, _from_git(args, session, repository), as_json=args.json)
    if not args.last and not args.transcripts:
        session.say(_state(session, repository))
        return EXIT_YES
    _require_on(session, repository)
    places = [Path(session.cwd, name).expanduser() for name in args.transcripts]
    found = [capture.read_session(place) for place in places]
    if args.last:
        found.append(capture.find_last(session.agent_home, repository.tree.root))
    if args.dry_run:
        for transcript in found:
            for question in capture.make_questions(transcript.turns):
                session.say(question.record)
        session.note("nothing was sent")
        return EXIT_YES
    ask = _asker(session)
    kept = [_capture(repository, transcript, ask) for transcript in found]
    return _tell(session, _sum(kept), as_json=args.json)


def _capture(repository: Repository, transcript: Transcript, ask: Callable[[str, str], str]) -> Kept:
    found, dropped = [], 0
    masked = sum(question.masked for question in capture.make_questions(transcript.turns))
    for statements, left in capture.statements_of(transcript.turns, ask):
        dropped += left
        found += [
            (
                one.text,
                f"captured from {plain(transcript.agent)}, {plain(transcript.name)} line {one.line}",
                capture.fields_of_session(transcript, one),
            )
            for one in statements
        ]
    return capture.keep_statements(repository, found, dropped=dropped, masked=masked)


def _from_git(args: argparse.Namespace, session: Session, repository: Repository) -> Kept:
    place = Path(session.cwd, args.from_git).expanduser()
    if place.is_file():
        found = list(capture.statements_of_file(repository, place))
    else:
        found = list(capture.statements_of_range(repository, args.from_git))
    if args.dry_run:
        for text, why, _ in found:
            session.say(f"{why}: {escape_hidden(text, single_line=True)}")
        return capture.keep_statements(repository, ())
    return capture.keep_statements(repository, found)


def _require_on(session: Session, repository: Repository) -> None:
    store = store_of(session.places, repository.tree)
    if store is None or not store.capture:
        raise RefusedError("capture is off for this repository; nothing was read", hint=_HOW)


def _asker(session: Session) -> Callable[[str, str], str]:
    wanted = read_user_settings(session.places).capture
    if wanted is None:
        file = session.places.config / "config.yaml"
        raise SetupError(
            "nothing is named that reads sessions",
            where=str(file),
            hint="write `capture: {by: claude-code}` there (or codex, gemini, copilot, opencode, anthropic, openai)",
        )
    cage = capture.CAGES.get(wanted.by)
    if cage is not None:
        return capture.make_caged(cage, session.places, session.environ)
    return capture.make_endpoint(wanted, session.environ)


def _run_queue(session: Session) -> int:
    """Capture the sessions that have ended, one after the other, each only where it is switched on."""
    for waiting in capture.take_ended(session.places):
        try:
            repository = Repository.open(waiting.cwd, places=session.places, today=session.today)
            store = store_of(session.places, repository.tree)
            is_off = read_user_settings(session.places).is_off(waiting.cwd)
            if is_off or store is None or not (store.capture and store.automatic):
                continue
            transcript = capture.read_session(waiting.transcript)
            if not capture.is_of(transcript, repository.tree.root):
                continue
            before = capture.lines_done(session.places, waiting.transcript)
            new = replace(transcript, turns=tuple(turn for turn in transcript.turns if turn.line > before))
            _capture(repository, new, _asker(session))
            last = max((turn.line for turn in transcript.turns), default=before)
            capture.keep_lines_done(session.places, waiting.transcript, last)
        except (MemfsError, OSError) as error:
            session.note(f"{waiting.transcript.name}: {error}")
    return EXIT_YES


def _state(session: Session, repository: Repository) -> str:
    store = store_of(session.places, repository.tree)
    if store is None or not store.capture:
        return f"capture is off for this repository; `{_HOW}` allows it"
    by = read_user_settings(session.places).capture
    how = f"read by {by.by}" if by is not None else "nothing is named that reads sessions"
    when = "by itself when a session has ended" if store.automatic else "when you ask for it"
    waiting = len(capture.read_queue(session.places))
    return f"capture is on for this repository, {when}; {how}; sessions that wait: {waiting}"


def _sum(kept: Sequence[Kept]) -> Kept:
    if not kept:
        raise UsageError("name a transcript, or --last")
    return replace(
        kept[0],
        drafts=tuple(name for one in kept for name in one.drafts),
        known=sum(one.known for one in kept),
        refused=sum(one.refused for one in kept),
        dropped=sum(one.dropped for one in kept),
        masked=sum(one.masked for one in kept),
    )


def _tell(session: Session, kept: Kept, *, as_json: bool) -> int:
    if as_json:
        session.emit(
            "captured",
            {
                "drafts": list(kept.drafts),
                "known": kept.known,
                "refused": kept.refused,
                "dropped": kept.dropped,
                "masked": kept.masked,
            },
        )
        return EXIT_YES if kept.drafts else EXIT_NO
    for name in kept.drafts:
        session.say(name)
    for count, what in (
        (kept.masked, "places were masked before they left this machine"),
        (kept.known, "were there already"),
        (kept.refused, "were refused by admission and kept nowhere"),
        (kept.dropped, "were not in the session's own words, and were left out"),
    ):
        if count:
            session.note(f"{count} {what}")
    if kept.drafts:
        session.note("`memfs drafts show NAME` shows one, `memfs drafts submit NAME` records it, `drop` deletes it")
        return EXIT_YES
    session.note("nothing that should be remembered was found")
    return EXIT_NO
