"""Find out what is wrong with an installation: this machine, this repository, and the agents.

Each hook in your own settings that runs this memfs is tried, and its answer is read as the agent reads
it. Hooks in a project's files are named and never run. Every finding comes with one thing to do. With an
AGENT only that one is looked at; without, all that memfs is connected to. Exit code 1 when something is
wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memfs import __version__, capture, postgres
from memfs.cli.asking import find_signer
from memfs.cli.connect_command import agent_of, find_project
from memfs.cli.looks import Looks
from memfs.cli.options import add_json
from memfs.connect.agents import AGENTS, find_agent
from memfs.connect.command import own_scripts
from memfs.connect.doctor import Finding, Level, check_agent, find_hooks
from memfs.connect.install import find_plugin, is_connected
from memfs.connect.wish import Wish
from memfs.disk import private
from memfs.disk.installed import install_command
from memfs.disk.settings import find_user_misfits, read_user_settings
from memfs.disk.worktree import printable
from memfs.errors import MemfsError, RefusedError, UsageError
from memfs.git.process import find_program
from memfs.index.models import is_damaged
from memfs.index.refresh import index_status
from memfs.index.semantic import find_model
from memfs.model.codepoints import plain
from memfs.model.values import replace
from memfs.repository.stores import Stores
from memfs.trust.opening import open_view
from memfs.trust.signing import KEYGEN, PassphraseError, SshSigner

if TYPE_CHECKING:
    from memfs.cli.session import Session
    from memfs.repository.repository import Repository

_MARKS = {Level.GOOD: "ok   ", Level.UNWISE: "note ", Level.WRONG: "WRONG"}
_EXTRAS = {"mcp": ("mcp", "there is no MCP server"), "onnxruntime": ("semantic", "recall is by words alone")}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT|cage", nargs="?", help=f"{', '.join(AGENTS)}; or cage")
    parser.add_argument("caged", metavar="AGENT", nargs="?", help="with cage: only this agent")
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="the agent's settings folder, if you moved it")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:
    if args.agent == "cage":
        return _tell(session, list(_prove_cages(args.caged, session)), as_json=args.json)
    findings = [
        *_check_machine(session),
        *_check_folders(session),
        *_check_repository(session),
        *_check_shared(session),
    ]
    prompt = _known_words(session)
    here = find_project(session.cwd)
    scripts = own_scripts(Path(sys.prefix), Path(sys.argv[0]))
    for agent in [agent_of(args.agent)] if args.agent else AGENTS:
        wish = Wish(
            agent=agent, project=None, home=session.agent_home, script="memfs",
            config_dir=args.config_dir.absolute() if args.config_dir else None,
        )  # fmt: skip
        if args.agent or _is_connected(wish, session, here):
            findings += check_agent(
                wish, session.places, here=here, environ=session.environ, prompt=prompt, scripts=scripts
            )
    return _tell(session, findings, as_json=args.json)


def _tell(session: Session, findings: Sequence[Finding], *, as_json: bool) -> int:
    if as_json:
        rows = [
            {"level": found.level.value, "about": found.about, "message": found.message, "fix": found.fix}
            for found in findings
        ]
        session.emit("doctor", {"findings": rows})
    else:
        for found in findings:
            _say(session, found)
    return 1 if any(found.level is Level.WRONG for found in findings) else 0


def _say(session: Session, found: Finding) -> None:
    mark, text, fix = _MARKS[found.level], f"{found.about}: {found.message}", f"→ {found.fix}"
    if not session.draws:
        session.say(f"{mark} {text}")
        if found.fix:
            session.say(f"        {fix}")
        return
    looks = Looks(session)
    styles = {Level.GOOD: looks.good, Level.UNWISE: looks.warn, Level.WRONG: looks.bad}
    head, *rest = looks.wrap(text, first=" " * 6, rest=" " * 6)
    session.say("\n".join([f"{styles[found.level](mark)} {head.replace(' ' * 6, '', 1)}", *rest]))
    if found.fix:
        session.say("\n".join(map(looks.bold, looks.wrap(fix, first=" " * 6, rest=" " * 8))))


def _prove_cages(wanted: str | None, session: Session) -> Iterator[Finding]:
    """Try the cage of each agent whose program is here against a model of our own on this machine."""
    known = find_agent(wanted) if wanted else None
    if wanted and known not in capture.CAGES:
        raise UsageError("memfs has no cage for this agent", where=plain(wanted), hint=", ".join(capture.CAGES))
    if capture.is_inside(session.environ):
        raise RefusedError("this process was started by a capture, so it proves nothing")
    for agent in [known] if known else capture.CAGES:
        if find_program(capture.CAGES[agent].program, session.environ.get("PATH")) is None:
            yield _finding(
                Level.UNWISE, agent, f"{capture.CAGES[agent].program} is not on the PATH, so nothing was tried"
            )
            continue
        try:
            proof = capture.prove(agent, session.places, session.environ)
        except MemfsError as error:
            yield _finding(Level.WRONG, agent, f"the cage could not be tried: {error}")
            continue
        for fact, fine in proof.facts:
            yield _finding(Level.GOOD if fine else Level.WRONG, agent, fact if fine else f"NOT SO: {fact}")
        said = "the cage holds" if proof.holds else "the cage is not proved, so nothing is captured with it"
        yield _finding(Level.GOOD if proof.holds else Level.WRONG, agent, said)


def _is_connected(wish: Wish, session: Session, here: Path) -> bool:
    scopes = wish, replace(wish, project=here)
    connected = any(is_connected(scope, session.places) or find_hooks(scope, session.places) for scope in scopes)
    return connected or find_plugin(wish.agent, wish.home, wish.config_dir) is not None


def _check_machine(session: Session) -> Iterator[Finding]:

    yield _finding(Level.GOOD, "memfs", f"{__version__} on Python {sys.version.split()[0]} ({sys.prefix})")
    for name, needed in (("git", "to record and to read history"), ("ssh-keygen", "to approve")):
        if find_program(name, session.environ.get("PATH")) is None:
            yield _finding(Level.WRONG, name, f"it is not on the PATH; memfs needs it {needed}", f"install {name}")
    for module, (extra, what) in _EXTRAS.items():
        if find_spec(module) is None:
            message = f"the extra {extra!r} is not installed, so {what}"
            yield _finding(Level.UNWISE, "memfs", message, install_command(extra))
    shim = find_program("memfs", session.environ.get("PATH"))
    if shim is not None and "shims" in Path(shim).parts:
        message = f"`memfs` on the PATH is a version manager's shim ({shim}): a tenth of a second a call"
        yield _finding(
            Level.UNWISE, "memfs", message, "let `memfs connect` name the script itself (it does by default)"
        )


def _check_repository(session: Session) -> Iterator[Finding]:
    try:
        repository = session.open_repository()
    except MemfsError as error:
        yield _finding(Level.UNWISE, "repository", str(error), "go to a repository, or make one with memfs init")
        return
    yield from _check_trust(repository, session)
    yield from _check_index(repository)
    yield from _check_model(repository)


def _check_trust(repository: Repository, session: Session) -> Iterator[Finding]:

    view = open_view(repository.tree, session.places, today=session.today)
    for notice in view.notices:
        yield _finding(Level.UNWISE, "trust", notice, "memfs status")
    if view.repository_id is None:
        yield _finding(Level.UNWISE, "keyring", "there is none, so nothing can be approved", "memfs init")
    elif not view.pinned:
        message = "this repository is not pinned on this machine, so nothing in it counts as approved"
        yield _finding(Level.WRONG, "pin", message, "compare with a colleague, then: memfs pin")
    elif view.keyring is None:
        reason = view.notices[0] if view.notices else "the keyring does not count"
        yield _finding(Level.WRONG, "keyring", reason, "memfs keys")
    else:
        yield _finding(Level.GOOD, "pin", f"memfs1:{view.repository_id} is pinned and its keyring is good")
        try:
            key = find_signer(session, view.keyring, wanted=lambda line: line.approves_on(view.today))
            yield _try_key(key, interactive=session.interactive)
        except MemfsError as error:
            yield _finding(Level.UNWISE, "keys", str(error), error.hint or "memfs keys")


def _try_key(key: SshSigner, *, interactive: bool) -> Finding:
    """Sign a text of no meaning with ``key``, where that asks nobody for a touch, a passphrase or a click."""
    if key.public.is_security_key:
        return _finding(Level.GOOD, "keys", f"{key.name} can approve for you, with a touch")
    if key.program != KEYGEN and not interactive:
        return _finding(Level.GOOD, "keys", f"{key.name} is to approve for you; it was not asked without a terminal")
    try:
        replace(key, interactive=False).sign("doctor@memfs", b"memfs doctor tries this key\n")
    except PassphraseError:
        return _finding(Level.GOOD, "keys", f"{key.name} can approve for you, with its passphrase")
    except MemfsError as error:
        return _finding(Level.UNWISE, "keys", str(error), error.hint or "memfs keys")
    return _finding(Level.GOOD, "keys", f"{key.name} can approve for you (it signed a test)")


def _check_folders(session: Session) -> Iterator[Finding]:
    places = session.places
    if places.is_off:
        message = (
            f"uid {os.getuid()} has no home folder in the password database: no pin, no memory and no index is kept"
        )
        yield _finding(Level.UNWISE, "folders", message, "run as a user with a home folder (useradd -m NAME)")
        return
    home = session.environ.get("HOME")
    if home and os.path.realpath(home) != os.path.realpath(places.home):
        message = (
            f"HOME is {printable(home)}; memfs keeps pins in {printable(places.home)}, agents keep settings in HOME"
        )
        yield _finding(Level.UNWISE, "folders", message, "name a key that is elsewhere with --key FILE")
    for fault in private.mend_folders(places):
        yield _finding(Level.WRONG, "folders", str(fault), fault.hint or "delete it, or give it to yourself")


def _check_shared(session: Session) -> Iterator[Finding]:
    """Look at the shared indexes of the user's settings."""
    if not session.places.has_settings():
        return

    try:
        settings = read_user_settings(session.places)
    except MemfsError as error:
        yield _finding(Level.WRONG, "settings", str(error), error.hint or "look at your settings")
        return
    for problem in settings.problems or find_user_misfits(session.places):
        yield _finding(Level.UNWISE, "settings", problem, "correct it in your settings")
    for store in settings.shared:
        for remark in postgres.check_store(store, session.places, now=session.now()):
            bad = Level.WRONG if remark.is_fault else Level.UNWISE
            level = Level.GOOD if remark.fix is None else bad
            yield _finding(level, f"store {plain(store.name)}", remark.message, remark.fix)


def _check_index(repository: Repository) -> Iterator[Finding]:

    status = index_status(repository.tree, repository.places)
    words = f"{status.state}, {status.memories} memories"
    if status.state in ("damaged", "refused"):
        yield _finding(Level.WRONG, "index", f"{words}: {status.detail or ''}", "memfs index --rebuild")
    elif status.state in ("behind", "missing"):
        yield _finding(Level.UNWISE, "index", words, "memfs index")
    else:
        yield _finding(Level.GOOD, "index", words)
    if status.unreadable:
        yield _finding(Level.UNWISE, "memories", f"{status.unreadable} files cannot be read", "memfs check")


def _check_model(repository: Repository) -> Iterator[Finding]:

    prepared, reason = find_model(repository.places)
    if prepared is not None and is_damaged(prepared):
        yield _finding(Level.UNWISE, "model", f"{prepared.model.id} is damaged on the disk", "memfs index")
    elif prepared is not None:
        yield _finding(Level.GOOD, "model", f"{prepared.model.id} is ready")
    elif find_spec("onnxruntime") is not None:
        yield _finding(Level.UNWISE, "model", reason or "no model is ready", "memfs index")


def _known_words(session: Session) -> str:
    """Return a question to which recall must have an answer: the words of the first good memory."""

    stores = Stores.open(session.cwd, places=session.places, today=session.today)
    for _, repository in stores.repositories():
        for file in repository.files()[0]:
            if file.memory is not None:
                return " ".join(file.memory.statement.split()[:24])
    return ""


def _finding(level: Level, about: str, message: str, fix: str | None = None) -> Finding:
    return Finding(level=level, about=about, message=message, fix=fix)
