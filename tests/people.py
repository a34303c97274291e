"""People with keys and machines, and a repository with a keyring: what the tests of trust share."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from support import TODAY, git

from memfs.cli.queue import in_words
from memfs.disk.places import Places
from memfs.disk.worktree import WorkTree, find_work_tree
from memfs.model.memory import MemoryFile
from memfs.model.reader import read_memory
from memfs.model.values import replace
from memfs.trust import changing, pinning
from memfs.trust.approve import Approved, approve
from memfs.trust.judge import Verdict
from memfs.trust.keyring import Key, SignedKeyring, format_file
from memfs.trust.opening import open_view, view_of_files
from memfs.trust.plan import plan_approval, plan_withdrawal
from memfs.trust.record import (
    NAMESPACE,
    Item,
    Record,
    Statement,
    Verb,
    find_records,
    format_record,
    format_statement,
    parse_statement,
    signed_bytes,
)
from memfs.trust.remembered import by_id
from memfs.trust.signing import SshSigner, load_key
from memfs.trust.view import TrustView

NOW = datetime(2026, 11, 30, 3, 11, tzinfo=UTC)

MEMORY = """---
kind: decision
origin: owner
scope: {scope}
evidence:
  - said by alice@example.com on 2026-11-01
recorded: 2026-11-30
review_trigger: on 2027-11-30
---
{statement}
"""


def sees_all(_path: str) -> bool:
    """Return whether a person sees the file at a path, where nobody is kept out."""
    return True


def memory_text(
    statement: str = "Migrations stay additive.", *, scope: str = "team", extra: Mapping[str, str] | None = None
) -> str:
    """Return a well-formed memory file."""
    text = MEMORY.format(scope=scope, statement=statement)
    for name, value in (extra or {}).items():
        text = text.replace("review_trigger:", f"{name}: {value}\nreview_trigger:", 1)
    return text


@dataclass(frozen=True)
class Person:
    """Somebody with a principal and a private key file."""

    name: str
    key: Path

    @property
    def principal(self) -> str:
        return f"{self.name}@example.com"

    @property
    def signer(self) -> SshSigner:
        return load_key(self.key, environ={"PATH": "/usr/bin:/bin"})

    def key_line(self, *roles: str, **options: Any) -> Key:
        return Key(principal=self.principal, roles=roles or ("approve",), public=self.signer.public, **options)


@dataclass
class Team:
    """One clone of a repository on one person's machine, with shortcuts to what people do there."""

    root: Path
    places: Places
    today: date = TODAY
    clock: datetime = field(default=NOW)

    @property
    def tree(self) -> WorkTree:
        return find_work_tree(self.root)

    def git(self, *arguments: str, **kwargs: Any) -> str:
        return git(self.root, *arguments, **kwargs)

    def path(self, memory_id: str, scope: str = "team") -> Path:
        return self.root / "memories" / scope / f"{memory_id}.md"

    def write(self, memory_id: str, text: str | None = None, *, scope: str = "team", commit: bool = False) -> Path:
        path = self.path(memory_id, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((text if text is not None else memory_text(scope=scope)).encode())
        if commit:
            self.commit(f"write {memory_id}")
        return path

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def now(self) -> datetime:
        self.clock += timedelta(minutes=1)
        return self.clock

    def view(self, **kwargs: Any) -> TrustView:
        return open_view(self.tree, self.places, today=kwargs.pop("today", self.today), **kwargs)

    def view_of(
        self,
        keyrings: Mapping[str, bytes],
        receipts: Mapping[str, bytes],
        *,
        pin: str = "here",
        messages: tuple[bytes, ...] = (),
    ) -> TrustView:
        """Return the view on keyrings and receipts by path, as a CI has it that says by what to judge."""
        view = view_of_files(keyrings, receipts, today=self.today, pin=pin)
        view.use_beside(by_id(record for message in messages for record in find_records(message)))
        return view

    def read(self, memory_id: str, scope: str = "team") -> MemoryFile:
        path = self.path(memory_id, scope)
        return read_memory(path.relative_to(self.root).as_posix(), path.read_bytes())

    def verdict(self, memory_id: str = "a", scope: str = "team", **kwargs: Any) -> Verdict:
        return self.view(**kwargs).verdict(self.read(memory_id, scope))

    def says(self, memory_id: str = "a", scope: str = "team", **kwargs: Any) -> str:
        """Return "trusted" or the reason, which is what most tests are about."""
        verdict = self.verdict(memory_id, scope, **kwargs)
        return "trusted" if verdict.trusted else str(verdict.reason)

    def approve(self, person: Person, *ids: str, until: date | None = None) -> Approved:
        plan = plan_approval(self.tree, self.places, ids, sees=sees_all, today=self.today, until=until)
        return approve(plan, person.signer, now=self.now())

    def revoke(self, person: Person, *ids: str) -> Approved:
        plan = plan_withdrawal(self.tree, self.places, ids, sees=sees_all, today=self.today)
        return approve(plan, person.signer, now=self.now())

    def pin(self) -> str:
        return pinning.pin_repository(self.places, self.tree).text

    @property
    def repository_id(self) -> str:
        return pinning.read_chain(self.tree).repository_id

    def change_keyring(self, signers: list[Person], **changes: Any) -> SignedKeyring:
        """Write the next keyring, signed by ``signers``, and commit it."""
        chain = pinning.read_chain(self.tree)
        signed = changing.sign_keyring(changing.next_keyring(chain, **changes), [person.signer for person in signers])
        self.write_keyring(signed)
        self.commit(f"keyring {signed.keyring.version}")
        return signed

    def write_keyring(self, signed: SignedKeyring, *, number: int | None = None) -> Path:
        path = self.root / ".memfs" / f"keyring.{number or signed.keyring.version}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(format_file(signed.body, signed.signatures))
        return path

    def keys(self) -> tuple[Key, ...]:
        return pinning.read_chain(self.tree).keyring.keys

    def receipts(self) -> list[str]:
        folder = self.root / ".memfs" / "approvals"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def put_receipt(self, record: Record, *, name: str | None = None) -> Path:
        folder = self.root / ".memfs" / "approvals"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (name or record.receipt_name)
        path.write_text(format_record(record))
        return path

    def clone(self, where: Path, home: Path | None = None, *options: str, pin: bool = True) -> Team:
        """Return a clone, on another machine when ``home`` is given."""
        git(where.parent, "clone", "-q", *options, str(self.root), str(where))
        places = self.places if home is None else Places(home=home)
        other = Team(root=where, places=places, today=self.today, clock=self.clock)
        if pin:
            other.pin()
        return other


def found_team(
    root: Path, places: Places, people: list[Person], *, approve_memory: bool = True, **changes: Any
) -> Team:
    """Return a team in the repository ``root``: the first of ``people`` is root and approves, the
    others approve, and ``memories/team/a.md`` is approved by the first."""
    team = Team(root=root, places=places)
    first = people[0]
    setup_keyring = changing.new_keyring(first.signer, first.principal)
    keys = (*setup_keyring.keyring.keys, *(person.key_line() for person in people[1:]))
    keyring = replace(setup_keyring.keyring, keys=keys, **changes)
    team.write_keyring(changing.sign_keyring(keyring, [first.signer]))
    team.write("a")
    team.commit("found")
    team.pin()
    if approve_memory:
        team.approve(first, "a")
    return team


def approving(*ids: str) -> list[tuple[str, str]]:
    """Return the questions of `memfs trust` for these memories, and the answers that approve them all."""
    if len(ids) == 1:
        return [(f"Type {ids[0].partition('-')[0]} to approve", ids[0])]
    word = in_words(len(ids))
    return [("Approve this text", "a")] * len(ids) + [(f"Type {word} to approve", word)]


def sign_statement(person: Person, text: str, *, namespace: str = NAMESPACE) -> Record:
    """Return the record of a statement's text, signed by ``person`` whatever it says."""
    blob = person.signer.sign(namespace, signed_bytes(text))
    return Record(statement=parse_statement(text), text=text, signature=blob)


def make_record(
    person: Person,
    team: Team,
    memory_id: str,
    digest: str,
    *,
    seq: int = 1,
    verb: Verb = Verb.APPROVE,
    by: str | None = None,
    repo: str | None = None,
    at: str = "2026-11-30T03:11:00Z",
    until: date | None = None,
) -> Record:
    """Return a record that ``person`` signs, true or not."""
    statement = Statement(
        verb=verb,
        repo=repo or team.repository_id,
        by=by or person.principal,
        at=at,
        until=until,
        items=(Item(id=memory_id, seq=seq, digest=digest),),
    )
    return sign_statement(person, format_statement(statement))


def ssh_verifies(public: str, message: bytes, armored: str, folder: Path, *, namespace: str = NAMESPACE) -> bool:
    """Return what ``ssh-keygen -Y verify`` says: the oracle."""
    principal = "alice@example.com"
    allowed = folder / "allowed"
    allowed.write_text(f"{principal} {public}\n")
    signature = folder / "oracle.sig"
    signature.write_text(armored)
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", namespace, "-f", str(allowed), "-I", principal, "-s", str(signature)],
        input=message,
        capture_output=True,
    )
    return done.returncode == 0


class Terminal:
    """A real process on a real terminal of its own, answered as a person would."""

    def __init__(self, argv: list[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        import fcntl
        import pty
        import termios

        self._master, slave = pty.openpty()

        def take_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self._child = subprocess.Popen(
            argv, cwd=cwd, env=dict(env), stdin=slave, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=take_terminal,  # noqa: PLW1509 - no threads here
        )  # fmt: skip
        import os

        os.close(slave)
        self.text = ""

    def answer(self, *exchanges: tuple[str, str], timeout: float = 30) -> tuple[int, str]:
        """Wait for each question, type its answer, and return exit code and everything shown."""
        import os
        import select
        import time

        deadline = time.monotonic() + timeout
        waiting = list(exchanges)
        seen = 0
        try:
            while time.monotonic() < deadline:
                if waiting and waiting[0][0] in self.text[seen:]:
                    seen = self.text.index(waiting[0][0], seen) + len(waiting[0][0])
                    time.sleep(0.02)  # a passphrase prompt throws away what was typed before it
                    os.write(self._master, f"{waiting.pop(0)[1]}\n".encode())
                ready, _, _ = select.select([self._master], [], [], 0.05)
                if ready:
                    try:
                        piece = os.read(self._master, 65536)
                    except OSError:
                        break
                    if not piece:
                        break
                    self.text += piece.decode("utf-8", "replace").replace("\r\n", "\n")
                elif self._child.poll() is not None:
                    break
            else:
                self._child.kill()
                raise AssertionError(f"the command did not end; it showed:\n{self.text}")
            code = self._child.wait(10)
        finally:
            if self._child.poll() is None:
                self._child.kill()
                self._child.wait()
            os.close(self._master)
        assert not waiting, f"never asked {waiting[0][0]!r}; it showed:\n{self.text}"
        return code, self.text
