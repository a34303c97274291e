"""Whatever people, git and an attacker with push rights do: no text is ever shown as approved that the
policy's people did not sign for this repository, id and bytes."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)
from people import Team, memory_text, sees_all
from security_key import SecurityKey
from support import git

from memfs.disk.places import Places
from memfs.errors import MemfsError
from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust import changing
from memfs.trust.approve import approve
from memfs.trust.keyring import Key
from memfs.trust.plan import plan_approval, plan_withdrawal
from memfs.trust.receipts import find_missing_receipts, write_receipts

IDS = ("a", "b")
PEOPLE = ("alice", "bob", "carol")
TEXTS = tuple(memory_text(f"Text number {number}.") for number in range(4))


@dataclass
class Act:
    """What somebody really signed."""

    person: str
    verb: str
    memory_id: str
    digest: str


@dataclass
class World:
    acts: list[Act] = field(default_factory=list)
    roles: dict[str, str] = field(default_factory=dict)  # person → approve | retired | removed
    need: int = 1


class Trust(RuleBasedStateMachine):
    clones = Bundle("clones")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memfs-machine-"))
        (self.folder / "home").mkdir()
        self.world = World(roles=dict.fromkeys(PEOPLE, "approve"))
        self.keys: dict[str, SecurityKey] = {name: SecurityKey() for name in PEOPLE}
        self.root_key = SecurityKey()
        self.saved: list[tuple[bytes, str]] = []
        self.old_commits: list[str] = []
        self.count = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(target=clones)
    def found(self) -> Team:
        root = self.folder / "clone-0"
        root.mkdir()
        git(root, "init", "-q")
        team = Team(root=root, places=Places(home=self.folder / "home"))
        first = changing.new_keyring(self.root_key, "root@example.com").keyring
        keys = (
            Key(principal="root@example.com", roles=("root",), public=self.root_key.public),
            *map(self.line, PEOPLE),
        )
        team.write_keyring(changing.sign_keyring(replace(first, keys=keys), [self.root_key]))
        for memory_id in IDS:
            team.write(memory_id, TEXTS[0])
        team.commit("found")
        team.pin()
        self.team = team
        self.old_commits.append(team.git("rev-parse", "HEAD"))
        return team

    def line(self, name: str) -> Key:
        role = "retired" if self.world.roles[name] == "retired" else "approve"
        return Key(principal=f"{name}@example.com", roles=(role,), public=self.keys[name].public)

    # -- what honest people do ---------------------------------------------------------------------

    @rule(memory_id=st.sampled_from(IDS), text=st.sampled_from(TEXTS))
    def edit(self, memory_id: str, text: str) -> None:
        self.team.write(memory_id, text)

    @rule(memory_id=st.sampled_from(IDS), person=st.sampled_from(PEOPLE))
    def approve(self, memory_id: str, person: str) -> None:
        if not self.team.path(memory_id).exists():
            return
        digest = content_digest(self.team.path(memory_id).read_bytes())
        try:
            plan = plan_approval(self.team.tree, self.team.places, [memory_id], sees=sees_all, today=self.team.today)
            done = approve(plan, self.keys[person], now=self.team.now())
        except MemfsError:
            assert self.world.roles[person] != "approve" or self.broken()
            return
        self.world.acts.append(Act(person, "approve", memory_id, digest))
        if self.world.need == 1:
            assert done.verdicts[memory_id].trusted
        self.remember_state()

    @rule(memory_id=st.sampled_from(IDS), person=st.sampled_from(PEOPLE))
    def revoke(self, memory_id: str, person: str) -> None:
        try:
            plan = plan_withdrawal(self.team.tree, self.team.places, [memory_id], sees=sees_all, today=self.team.today)
            done = approve(plan, self.keys[person], now=self.team.now())
        except MemfsError:
            return
        if done.records:
            self.world.acts.append(Act(person, "revoke", memory_id, ""))
        self.remember_state()

    @rule()
    def commit(self) -> None:
        self.team.commit("work")

    @rule(need=st.sampled_from([1, 2]))
    def change_threshold(self, need: int) -> None:
        if self.put_keyring(approve=need):
            self.world.need = need

    @rule(person=st.sampled_from(PEOPLE), role=st.sampled_from(["retired", "removed"]))
    def take_away(self, person: str, role: str) -> None:
        if self.world.roles[person] == "removed":
            return
        before = dict(self.world.roles)
        self.world.roles[person] = role
        if not self.put_keyring():
            self.world.roles = before

    @rule(person=st.sampled_from(PEOPLE))
    def rotate(self, person: str) -> None:
        """A new key for the same person; the old one is retired."""
        if self.world.roles[person] != "approve":
            return
        chain = self.chain()
        if chain is None:
            return
        old = self.line(person)
        self.keys[person] = SecurityKey()
        keys = tuple(
            replace(key, roles=("retired",)) if key.public == old.public else key for key in chain.keyring.keys
        )
        signed = changing.sign_keyring(changing.next_keyring(chain, keys=(*keys, self.line(person))), [self.root_key])
        self.team.write_keyring(signed)
        self.team.commit("rotate")
        # What the retired key approved no longer counts; it may be signed again with the new one.
        self.world.acts = [act for act in self.world.acts if act.person != person or act.verb == "revoke"]

    @rule(target=clones)
    def clone(self) -> Any:
        self.count += 1
        try:
            return self.team.clone(self.folder / f"clone-{self.count}")
        except MemfsError:  # a history without the keyring that this machine has pinned is not pinned again
            assert self.broken()
            return multiple()

    @rule(team=clones)
    def go_to(self, team: Team) -> None:
        self.team = team

    @rule(team=clones)
    def merge_from(self, team: Team) -> None:
        if team is self.team:
            return
        self.team.commit("before merging")
        try:
            self.team.git("pull", "-q", "--no-rebase", "--no-edit", "-X", "theirs", str(team.root), "HEAD")
        except Exception:
            self.team.git("reset", "-q", "--hard", "HEAD")

    @rule()
    def sync(self) -> None:
        try:
            records = find_missing_receipts(self.team.tree, self.team.view(), ids=IDS)
            if records:
                write_receipts(self.team.tree, records)
        except MemfsError:
            assert self.broken() or self.team.git("status", "--porcelain") is not None

    # -- what an attacker with push rights and no key does ---------------------------------------

    def remember_state(self) -> None:
        for name in self.team.receipts():
            self.saved.append(((self.team.root / ".memfs/approvals" / name).read_bytes(), name))
        self.old_commits.append(self.team.git("rev-parse", "HEAD"))

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def bring_back_a_receipt(self, data: st.DataObject) -> None:
        raw, name = data.draw(st.sampled_from(self.saved))
        folder = self.team.root / ".memfs/approvals"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)

    @precondition(lambda self: self.saved)
    @rule(data=st.data(), other=st.sampled_from(IDS))
    def lend_a_receipt(self, data: st.DataObject, other: str) -> None:
        raw, name = data.draw(st.sampled_from(self.saved))
        folder = self.team.root / ".memfs/approvals"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{other}.{name.split('.', 1)[1]}").write_bytes(raw.replace(b" id=a ", f" id={other} ".encode()))

    @rule(data=st.data())
    def delete_a_receipt(self, data: st.DataObject) -> None:
        names = self.team.receipts()
        if names:
            (self.team.root / ".memfs/approvals" / data.draw(st.sampled_from(names))).unlink()

    @rule(data=st.data())
    def go_back_by_force(self, data: st.DataObject) -> None:
        commit = data.draw(st.sampled_from(self.old_commits))
        try:
            self.team.git("reset", "-q", "--hard", commit)
        except Exception:
            return

    @rule(data=st.data(), memory_id=st.sampled_from(IDS))
    def bring_back_an_old_text(self, data: st.DataObject, memory_id: str) -> None:
        commit = data.draw(st.sampled_from(self.old_commits))
        try:
            self.team.git("checkout", "-q", commit, "--", f"memories/team/{memory_id}.md")
        except Exception:
            return

    @rule(memory_id=st.sampled_from(IDS))
    def swap_texts(self, memory_id: str) -> None:
        a, b = (self.team.path(name) for name in IDS)
        if a.exists() and b.exists():
            first, second = a.read_bytes(), b.read_bytes()
            a.write_bytes(second)
            b.write_bytes(first)

    @rule()
    def add_a_key_without_a_root(self) -> None:
        chain = self.chain()
        if chain is None:
            return
        stranger = SecurityKey()
        line = Key(principal="alice@example.com", roles=("root", "approve"), public=stranger.public)
        signed = changing.sign_keyring(changing.next_keyring(chain, keys=(*chain.keyring.keys, line)), [stranger])
        path = self.team.write_keyring(signed)
        assert self.broken()
        path.unlink()

    # -- what must hold ------------------------------------------------------------------------------

    def chain(self) -> Any:
        return self.team.view().chain if self.team.view().keyring is not None else None

    def broken(self) -> bool:
        return self.team.view().keyring is None

    def put_keyring(self, **changes: Any) -> bool:
        chain = self.chain()
        if chain is None:
            return False
        kept = []
        for key in chain.keyring.keys:
            name = key.principal.split("@", maxsplit=1)[0]
            role = self.world.roles.get(name)
            if role == "removed":
                continue
            kept.append(replace(key, roles=("retired",)) if role == "retired" else key)
        signed = changing.sign_keyring(changing.next_keyring(chain, keys=tuple(kept), **changes), [self.root_key])
        self.team.write_keyring(signed)
        self.team.commit("keyring")
        return True

    @invariant()
    def nothing_is_approved_that_was_not_signed(self) -> None:
        if not hasattr(self, "team"):
            return
        view = self.team.view()
        for memory_id in IDS:
            if not self.team.path(memory_id).exists():
                continue
            file = self.team.read(memory_id)
            verdict = view.verdict(file)
            if not verdict.trusted:
                continue
            digest = content_digest(file.raw)
            about = [act for act in self.world.acts if act.memory_id == memory_id]
            signers = {act.person for act in about if act.verb == "approve" and act.digest == digest}
            able = {name for name in signers if self.world.roles[name] == "approve"}
            claimed = {person.split("@", maxsplit=1)[0] for person in verdict.people}
            assert claimed <= able, (memory_id, verdict, able)
            assert len(claimed) >= self.world.need
            # Everything happened on this machine, so the last word of anybody who still counts decides.
            last = [act for act in about if self.world.roles[act.person] != "removed"][-1]
            assert (last.verb, last.digest) == ("approve", digest), (memory_id, verdict, last)


@pytest.mark.slow
def test_no_text_is_approved_that_the_policys_people_did_not_sign() -> None:
    run_state_machine_as_test(
        Trust,
        settings=settings(
            max_examples=12,
            stateful_step_count=16,
            deadline=None,
            phases=(Phase.generate,),  # a step takes a second or so, and shrinking takes thousands
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
