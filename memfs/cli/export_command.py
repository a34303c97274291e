"""Export memories in use for agents and tools that do not ask memfs.

TARGET is a file that agents read (agents, claude, gemini, copilot, cursor): the memories go between markers, and all
else in the file stays. A text that somebody edited between the markers is never overwritten without --force.
`document` prints one Markdown text, `jsonl` one JSON object for each memory, which `memfs import` takes.

  memfs export agents              AGENTS.md has the approved, current memories
  memfs export agents --check      exit 1 where AGENTS.md is behind
  memfs export jsonl > memories.jsonl
  memfs export pack FOLDER         the files themselves with their approvals, and an index
  memfs export claude-memory FOLDER    in the form of Claude Code's own memory
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memfs import exporting
from memfs.cli.options import add_caller, add_json
from memfs.disk.files import read_if_there, write_in_tree
from memfs.disk.worktree import printable
from memfs.errors import EXIT_NO, EXIT_YES, UsageError
from memfs.model.codepoints import plain
from memfs.model.scope import parse_caller

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository
    from memfs.standing.assess import Assessment

_FOLDERS = ("pack", "claude-memory")


def configure(parser: argparse.ArgumentParser) -> None:
    names = [target.name for target in exporting.TARGETS]
    choices = [*names, "document", "jsonl", *_FOLDERS]
    parser.add_argument("target", metavar="TARGET", choices=choices, help=", ".join(choices))
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help="with pack and claude-memory: where it goes")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the file is behind")
    parser.add_argument("--force", action="store_true", help="overwrite what was edited between the markers")
    add_caller(parser)
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    repository = session.open_repository()
    caller = parse_caller(args.caller) if args.caller is not None else exporting.TEAM
    found = exporting.in_use(repository, caller)
    for notice in repository.notices:
        session.note(notice)
    if args.target in _FOLDERS:
        return _write_folder(args, session, repository, found)
    if args.folder:
        raise UsageError("a folder is for pack and claude-memory", where=plain(args.folder))
    target = next((one for one in exporting.TARGETS if one.name == args.target), None)
    if target is None:
        if args.json or args.check:
            raise UsageError("--json and --check are for the files that agents read", where=args.target)
        text = exporting.as_jsonl(found) if args.target == "jsonl" else exporting.as_document(found)
        session.say(text.rstrip("\n"))
        return EXIT_YES
    before = (read_if_there(repository.tree, target.path) or b"").decode("utf-8", "surrogateescape")
    after = exporting.with_block(before or target.head, exporting.as_document(found), force=args.force or args.check)
    is_behind = before != after
    if is_behind and not args.check:
        write_in_tree(repository.tree, target.path, after.encode("utf-8", "surrogateescape"))
    if args.json:
        ids = [one.file.id for one in found]
        session.emit("export", {"path": target.path, "memories": ids, "behind": is_behind, "written": not args.check})
    elif args.check:
        session.say(f"{target.path} {'is behind' if is_behind else 'has'} {len(found)} memories in use")
    else:
        done = "now has" if is_behind else "has already"
        session.say(f"{target.path} {done} {len(found)} memories in use; commit it yourself")
    return EXIT_NO if args.check and is_behind else EXIT_YES


def _write_folder(
    args: argparse.Namespace, session: Session, repository: Repository, found: Sequence[Assessment]
) -> int:
    if not args.folder or args.check:
        raise UsageError(f"name a folder: memfs export {args.target} FOLDER")
    folder = Path(session.cwd, args.folder).expanduser()
    files = exporting.as_pack(repository.tree, found) if args.target == "pack" else exporting.as_claude_memory(found)
    exporting.write_folder(folder, files)
    if args.json:
        ids = [one.file.id for one in found]
        session.emit("export", {"path": str(folder), "memories": ids, "behind": True, "written": True})
    else:
        session.say(f"{printable(str(folder))} now has {len(found)} memories in use")
    return EXIT_YES
