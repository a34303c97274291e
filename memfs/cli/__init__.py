"""The command line: ``memfs VERB``. One file a command, imported when it is called."""

from __future__ import annotations

import os
import sys

from memfs.errors import EXIT_BUG, EXIT_ENVIRONMENT, EXIT_INTERRUPTED, EXIT_USAGE, EXIT_YES, MemfsError

TYPE_CHECKING = False  # `typing` takes longer to load than a hook's call without memories
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from memfs.disk.places import Places


def entry_point() -> None:
    """Run the command line and end the process with its exit code."""
    leave_python_path()
    sys.exit(run_process(sys.argv[1:]))


def leave_python_path() -> None:
    """Import nothing from folders that PYTHONPATH names, which a project may set: only what is installed.

    A folder that memfs itself came from stays. Runs before anything but built-in modules is imported here.
    """
    given = os.environ.get("PYTHONPATH") if not sys.flags.ignore_environment else None
    if given:
        site = sys.modules.get("site")
        stdlib, own = os.path.dirname(os.__file__), os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
        kept = [stdlib, os.path.join(stdlib, "lib-dynload"), own, *(site.getsitepackages() if site else ())]
        dropped = set(map(os.path.realpath, given.split(os.pathsep))) - set(map(os.path.realpath, kept))
        sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) not in dropped]


def run_process(argv: Sequence[str], *, places: Places | None = None) -> int:
    """Return the exit code of ``memfs ARGV`` in a process of its own, whatever its streams are like.

    A hook ends with 0 whatever happens: an agent takes another code as "stop what the user asked".
    """
    import gc

    from memfs.cli import streams

    is_hook = list(argv[:1]) == ["hook"]
    try:
        streams.guard_streams()
        code = main(argv, places=places)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            streams.drop_answer()
        except MemfsError as error:
            if not code:
                _print_error(error)
            code = code or error.exit_code
            streams.drop_answer()
    except BaseException:
        if not is_hook:
            raise
        code = EXIT_YES
    # The process is about to end: the interpreter need not walk every object twice more (a tenth of a cold recall).
    gc.freeze()
    return EXIT_YES if is_hook else code


def main(argv: Sequence[str], *, places: Places | None = None) -> int:
    """Return the exit code of ``memfs ARGV``. The only place that catches errors and prints them."""
    if list(argv) in (["--version"], ["-V"]):
        from memfs import __version__

        print(f"memfs {__version__}")
        return EXIT_YES
    try:
        return _run(list(argv), places)
    except MemfsError as error:
        _print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("memfs: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`memfs list | head`): nothing is left to say.
        from memfs.cli.streams import drop_answer

        drop_answer()
        return EXIT_YES
    except OSError as error:
        if error.filename is None:
            return _report_bug()
        _print_error(_explain_disk(error))
        return EXIT_ENVIRONMENT
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    except Exception:  # noqa: BLE001 - the last line of defence: a bug becomes one report, never a half-printed answer
        return _report_bug()


def _report_bug() -> int:
    import traceback

    traceback.print_exc()
    print("memfs: this is a bug in memfs; nothing else was done", file=sys.stderr)
    return EXIT_BUG


def _explain_disk(error: OSError) -> MemfsError:
    """Return what a disk refused, as the user's environment: a name that is too long, a folder that is not theirs."""
    from memfs.disk.worktree import printable
    from memfs.errors import SetupError

    name = error.filename if isinstance(error.filename, str | bytes | os.PathLike) else str(error.filename)
    hint = "look at the file or folder; `memfs doctor` looks at memfs's own"
    return SetupError(error.strerror or str(error), where=printable(os.fsdecode(name)[:300]), hint=hint)


def _run(argv: list[str], places: Places | None) -> int:
    if argv[:1] == ["hook"] and not {"-h", "--help"} & set(argv):
        # Agents call hooks all day long: no parser, no session, only what the answer needs.
        from memfs.hooks.run import run_fast

        return run_fast(argv, places)
    from memfs.cli.parser import parse_command
    from memfs.cli.table import command_module

    verb, args = parse_command(argv)
    session = make_session(args, places)
    code = int(command_module(verb).run(args, session))
    sys.stdout.flush()  # a reader that went away is noticed here, not at the end of the interpreter
    return code


def make_session(args: argparse.Namespace, places: Places | None):  # type: ignore[no-untyped-def]
    """Return the session of this run: the only reader of the clock, the environment and the terminal."""
    from datetime import date
    from pathlib import Path

    from memfs.cli.session import Session
    from memfs.disk.places import find_places

    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Session(
        places=places or find_places(),
        cwd=Path(args.directory) if args.directory else Path.cwd(),
        today=date.today(),
        environ=dict(os.environ),
        interactive=interactive,
        color=color,
        terminal=sys.stdout.isatty(),
    )


def _print_error(error: MemfsError) -> None:
    from memfs.model.codepoints import escape_hidden, one_line

    lines = [f"memfs: {error}"]
    for finding in getattr(error, "findings", ()):
        place = f" {finding.field}" if finding.field else ""
        line = f":{finding.line}:{finding.column}" if finding.line else ""
        lines.append(f"  {finding.rule}{place}{line}: {finding.message}")
    # A message may name a file or quote a repository: nothing of that reaches the terminal as it is.
    shown = [one_line(line) for text in lines for line in text.split("\n")]
    if error.hint:
        shown.append(f"  {escape_hidden(error.hint)}")  # perhaps something to paste, over several lines
    print("\n".join(shown), file=sys.stderr)
