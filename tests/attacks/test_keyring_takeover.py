"""Threat: somebody changes who may approve (trust cases 41-59)."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest
from people import Person, Team, found_team, make_record, memory_text, sees_all
from security_key import SecurityKey
from support import git

from memfs.disk.places import Places
from memfs.errors import TrustError, UsageError
from memfs.model.reader import content_digest
from memfs.model.values import replace
from memfs.trust import changing, pinning
from memfs.trust.approve import approve
from memfs.trust.keyring import Key, format_file
from memfs.trust.opening import open_view
from memfs.trust.pin import parse_pin, read_pins
from memfs.trust.plan import plan_approval


def add(team: Team, signers: list[Person], *keys: Key) -> None:
    """Write keyring.2 with more keys, signed by whoever signs."""
    chain = pinning.read_chain(team.tree)
    keyring = changing.next_keyring(chain, keys=(*chain.keyring.keys, *keys))
    team.write_keyring(changing.sign_keyring(keyring, [person.signer for person in signers]))


def says_broken(team: Team) -> str:
    verdict = team.verdict()
    assert not verdict.trusted
    assert verdict.detail in team.view().notices, "it must be said loudly"
    return str(verdict.reason)


def test_a_pull_request_cannot_add_its_own_key(team: Team, mallory: Person, bob: Person) -> None:
    for signers in ([mallory], [bob], [bob, mallory], []):
        add(team, signers, mallory.key_line("root", "approve"))
        assert says_broken(team) == "keyring-broken"
        (team.root / ".memfs/keyring.2").unlink()
    assert team.says() == "trusted"


def test_root_alone_can_add_a_key(team: Team, alice: Person, carol: Person) -> None:
    add(team, [alice], carol.key_line("approve"))
    assert team.says() == "trusted"
    team.write("b", memory_text("By Carol."))
    team.approve(carol, "b")
    assert team.says("b") == "trusted"


def test_editing_the_first_keyring_makes_another_repository(team: Team, alice: Person, mallory: Person) -> None:
    chain = pinning.read_chain(team.tree)
    edited = replace(chain.keyring, keys=(*chain.keyring.keys, mallory.key_line("approve")))
    team.write_keyring(changing.sign_keyring(edited, [alice.signer]))
    assert says_broken(team) == "keyring-broken"
    shutil.rmtree(team.places.state)
    assert says_broken(team) == "not-pinned"
    path = team.root / ".memfs/keyring.1"
    path.write_bytes(path.read_bytes().replace(b"approve 1", b"approve 2"))
    assert says_broken(team) == "keyring-broken"


def test_replacing_every_key_is_noticed(team: Team, mallory: Person) -> None:
    team.write_keyring(changing.new_keyring(mallory.signer, "alice@example.com"))
    team.put_receipt(
        make_record(mallory, team, "a", content_digest(team.path("a").read_bytes()), by="alice@example.com")
    )
    assert says_broken(team) == "keyring-broken"
    shutil.rmtree(team.places.state)
    assert says_broken(team) == "not-pinned"


def test_another_pinned_repository_cannot_be_slipped_under_this_one(
    team: Team, tmp_path: Path, places: Places, alice: Person
) -> None:
    """Both repositories are pinned; a pull request exchanges the one for the other, receipts and all."""
    other_root = tmp_path / "other"
    other_root.mkdir()
    git(other_root, "init", "-q")
    other = found_team(other_root, places, [alice])
    other.write("a", memory_text("Approved in the other repository only."))
    other.approve(alice, "a")
    assert other.says() == "trusted"
    assert team.says() == "trusted"
    shutil.rmtree(team.root / ".memfs")
    shutil.copytree(other_root / ".memfs", team.root / ".memfs")
    team.path("a").write_bytes(other.path("a").read_bytes())
    assert says_broken(team) == "keyring-broken"
    team.pin()  # a person may say that it is right
    assert team.says() == "trusted"


def test_deleting_the_keyring_is_noticed(team: Team) -> None:
    assert team.says() == "trusted"
    (team.root / ".memfs/keyring.1").unlink()
    assert says_broken(team) == "keyring-broken"
    shutil.rmtree(team.places.state)
    assert says_broken(team) == "no-approval"


@pytest.mark.parametrize("how", ["gap", "wrong name", "extra", "empty", "symlink", "folder", "later garbage"])
def test_files_that_do_not_make_a_chain(team: Team, alice: Person, how: str) -> None:
    folder = team.root / ".memfs"
    team.change_keyring([alice], approve=1)
    team.change_keyring([alice], approve=1)
    assert team.says() == "trusted"
    if how == "gap":
        (folder / "keyring.2").unlink()
    elif how == "wrong name":
        (folder / "keyring.3").rename(folder / "keyring.4")
    elif how == "extra":
        (folder / "keyring.4").write_bytes((folder / "keyring.3").read_bytes())
    elif how == "empty":
        (folder / "keyring.4").write_bytes(b"")
    elif how == "symlink":
        (folder / "keyring.3").rename(folder / "elsewhere")
        (folder / "keyring.3").symlink_to("elsewhere")
    elif how == "folder":
        (folder / "keyring.4").mkdir()
    else:
        with (folder / "keyring.3").open("ab") as file:
            file.write(b"# nothing\n")
    assert says_broken(team) == "keyring-broken"


@pytest.mark.parametrize(
    "name", ["keyring.01", "keyring.2.bak", "keyring.proposed", "keyring.two", "Keyring.2", "keyring.2 "]
)
def test_other_names_are_no_versions(team: Team, name: str) -> None:
    (team.root / ".memfs" / name).write_text("anything\n")
    assert team.says() == "trusted"


def test_crlf_or_a_byte_order_mark_in_a_keyring_is_refused(team: Team) -> None:
    path = team.root / ".memfs/keyring.1"
    raw = path.read_bytes()
    for changed in (raw.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + raw, raw + b"x\n", raw + b"\n"):
        path.write_bytes(changed)
        assert says_broken(team) == "keyring-broken"
    path.write_bytes(raw)
    assert team.says() == "trusted"


def test_a_removed_approver_takes_their_approvals_with_them(team: Team, alice: Person, bob: Person) -> None:
    team.write("b", memory_text("By Bob."))
    team.approve(bob, "b")
    assert team.says("b") == "trusted"  # and the signature is in the cache now
    team.change_keyring([alice], keys=team.keys()[:1])
    assert team.says("b") == "key-unknown"
    assert team.says("a") == "trusted"


def test_going_back_to_an_older_keyring_is_noticed_where_the_newer_was_seen(
    team: Team, alice: Person, bob: Person
) -> None:
    team.write("b", memory_text("By Bob."))
    team.approve(bob, "b")
    team.change_keyring([alice], keys=team.keys()[:1])
    assert team.says("b") == "key-unknown"
    (team.root / ".memfs/keyring.2").unlink()
    assert says_broken(team) == "keyring-rolled-back"
    # A pin with a version notices it on a fresh machine too; one without cannot (stated in the docs).
    versioned = read_pins(team.places)[team.repository_id]
    assert versioned.version == 1
    team.commit("roll back")
    shutil.rmtree(team.places.state)
    assert team.says("b") == "trusted"


def test_a_pin_with_a_version_notices_a_rolled_back_keyring_on_a_fresh_machine(
    team: Team, alice: Person, tmp_path: Path
) -> None:
    team.change_keyring([alice], approve=1)
    pin = pinning.pin_repository(team.places, team.tree)
    assert pin.version == 2
    shutil.rmtree(team.places.state)
    (team.root / ".memfs/keyring.2").unlink()
    assert says_broken(team) == "keyring-rolled-back"
    assert team.view(pin=f"memfs1:{pin.repository_id}").verdict(team.read("a")).trusted
    assert team.view(pin=pin.text).verdict(team.read("a")).reason == "keyring-rolled-back"


def test_a_fork_of_the_keyring_is_noticed(team: Team, alice: Person, carol: Person) -> None:
    team.change_keyring([alice], approve=1, keys=team.keys()[:1])
    assert team.says() == "trusted"
    (team.root / ".memfs/keyring.2").unlink()
    add(team, [alice], carol.key_line("approve"))
    assert says_broken(team) == "keyring-rolled-back"


def test_a_pin_of_another_fork_is_noticed(team: Team, alice: Person) -> None:
    team.change_keyring([alice], approve=1)
    pin = pinning.pin_repository(team.places, team.tree)
    other = f"memfs1:{pin.repository_id}:2:00000000"
    assert team.view(pin=other).verdict(team.read("a")).reason == "keyring-rolled-back"


def test_nothing_is_trusted_without_a_pin(team: Team, tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    home.mkdir()
    clone = team.clone(tmp_path / "clone", home, pin=False)
    verdict = clone.verdict()
    assert verdict.reason == "not-pinned"
    assert "memfs pin" in (verdict.detail or "")
    with pytest.raises(TrustError) as caught:
        plan_approval(clone.tree, clone.places, ["a"], sees=sees_all, today=clone.today)
    assert caught.value.reason == "not-pinned"
    assert caught.value.exit_code == 6


def test_a_pin_given_by_a_flag_stands_in_for_the_users_own(team: Team, tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    home.mkdir()
    clone = team.clone(tmp_path / "clone", home, pin=False)
    view = open_view(clone.tree, clone.places, today=clone.today, pin=f"memfs1:{team.repository_id}")
    assert view.verdict(clone.read("a")).trusted
    assert clone.says() == "not-pinned"  # it pinned nothing
    wrong = open_view(clone.tree, clone.places, today=clone.today, pin="memfs1:" + "0" * 32)
    assert wrong.verdict(clone.read("a")).reason == "not-pinned"
    with pytest.raises(UsageError):
        open_view(clone.tree, clone.places, today=clone.today, pin="memfs1:nonsense")


@pytest.mark.parametrize("verb", ["show", "recall", "list", "trust", "mcp"])
def test_no_pin_can_be_given_where_text_is_shown_to_an_agent(team: Team, memfs, verb: str) -> None:  # type: ignore[no-untyped-def]
    arguments = {"show": ["a"], "recall": ["migrations"], "trust": ["a"]}.get(verb, [])
    run = memfs(verb, *arguments, "--pin", f"memfs1:{team.repository_id}", cwd=team.root)
    assert run.code == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "memfs1:",
        "memfs1:abc",
        "memfs2:" + "0" * 32,
        "memfs1:" + "0" * 32 + ":1",
        "memfs1:" + "0" * 32 + ":0:00000000",
        "memfs1:" + "G" * 32,
    ],
)
def test_a_pin_has_one_form(text: str) -> None:
    with pytest.raises(UsageError):
        parse_pin(text)


def test_two_people_are_needed_where_the_keyring_says_so(team: Team, alice: Person, bob: Person) -> None:
    team.change_keyring([alice], needs=(("team", 2),))
    verdict = team.verdict()
    assert verdict.reason == "not-enough-people"
    assert verdict.people == ("alice@example.com",)
    assert verdict.detail == "1 of 2 people approved this text"
    team.approve(bob, "a")
    assert team.says() == "trusted"
    assert team.verdict().people == ("alice@example.com", "bob@example.com")
    assert [name[:4] for name in team.receipts()] == ["a.1.", "a.1."]


def test_one_person_with_two_keys_is_one_person(team: Team, alice: Person, carol: Person) -> None:
    second = replace(carol.key_line("approve"), principal=alice.principal)
    team.change_keyring([alice], keys=(*team.keys(), second), approve=2)
    digest = content_digest(team.path("a").read_bytes())
    team.put_receipt(make_record(carol, team, "a", digest, by=alice.principal))
    assert team.says() == "not-enough-people"
    assert team.verdict().people == ("alice@example.com",)


def test_one_person_twice_is_one_person(team: Team, alice: Person, bob: Person) -> None:
    team.change_keyring([alice], approve=2)
    digest = content_digest(team.path("a").read_bytes())
    for minute in range(3):
        team.put_receipt(make_record(alice, team, "a", digest, at=f"2026-11-30T04:0{minute}:00Z"))
    assert team.says() == "not-enough-people"


def test_two_people_must_have_approved_the_same_text(team: Team, alice: Person, bob: Person) -> None:
    team.change_keyring([alice], approve=2)
    team.put_receipt(make_record(bob, team, "a", "0" * 64))
    assert team.says() == "two-texts"
    team.put_receipt(make_record(bob, team, "a", content_digest(team.path("a").read_bytes()), seq=2))
    assert team.says() == "not-enough-people"  # Bob stands alone at the new top
    assert team.verdict().people == ("bob@example.com",)


def test_a_key_for_one_scope_does_not_grant_in_another(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], scopes=("team/*",))))
    team.write("b", memory_text("Outside.", scope="team"))
    team.write("c", memory_text("Inside.", scope="team/x"), scope="team/x")
    team.put_receipt(make_record(bob, team, "b", content_digest(team.path("b").read_bytes())))
    team.put_receipt(make_record(bob, team, "c", content_digest(team.path("c", "team/x").read_bytes())))
    assert team.says("b") == "not-enough-people"
    assert team.verdict("b").detail == "bob@example.com may not approve for team"
    assert team.says("c", "team/x") == "trusted"
    with pytest.raises(TrustError, match="may not approve for team"):
        team.approve(bob, "b")


def test_an_approval_in_a_narrow_scope_is_not_carried_to_a_wider_one(team: Team, alice: Person, bob: Person) -> None:
    """Widening the scope changes the bytes, and moving the file alone makes it no memory."""
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], scopes=("team/x",))))
    team.write("c", memory_text("Inside.", scope="team/x"), scope="team/x")
    team.approve(bob, "c")
    assert team.says("c", "team/x") == "trusted"
    team.path("c", "team/x").rename(team.path("c"))
    assert team.says("c") == "bad-file"
    team.write("c", memory_text("Inside.", scope="team"))
    assert team.says("c") == "changed"


def test_a_denied_text_is_denied_whoever_approves_it(team: Team, alice: Person, bob: Person) -> None:
    digest = content_digest(team.path("a").read_bytes())
    team.change_keyring([alice], denied=(digest,))
    verdict = team.verdict()
    assert verdict.level == "denied"
    assert verdict.reason == "denied"
    with pytest.raises(TrustError, match="denies"):
        team.approve(bob, "a")
    team.put_receipt(make_record(bob, team, "a", digest, seq=7))
    assert team.says() == "denied"
    # Under another id and in another folder it is the same text.
    team.path("b").write_bytes(team.path("a").read_bytes())
    assert team.says("b") == "denied"


def test_a_touch_that_the_keyring_requires_is_checked(team: Team, alice: Person) -> None:
    security = SecurityKey()
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public, touch=True)
    team.change_keyring([alice], keys=(*team.keys(), line))
    team.write("b", memory_text("Touched."))
    security.touched = False
    plan = plan_approval(team.tree, team.places, ["b"], sees=sees_all, today=team.today)
    with pytest.raises(TrustError, match="does not count") as caught:
        approve(plan, security, now=team.now())
    assert caught.value.reason == "no-touch"
    assert team.says("b") == "no-approval"
    from memfs.trust.record import Record, parse_statement, signed_bytes

    digest = content_digest(team.path("b").read_bytes())
    head = f"v1 approve repo={team.repository_id} by=dave@example.com at=2026-11-30T03:11:00Z"
    text = f"{head} id=b seq=1 sha256={digest}"
    blob = security.sign("memory-approval@v1", signed_bytes(text))
    path = team.put_receipt(Record(statement=parse_statement(text), text=text, signature=blob))
    assert team.says("b") == "no-touch"
    path.unlink()
    security.touched = True
    approve(plan, security, now=team.now())
    assert team.says("b") == "trusted"


def test_an_untouched_withdrawal_by_such_a_key_takes_nothing_away(team: Team, alice: Person) -> None:
    """A program in the person's account must not be able to block a memory either."""
    from memfs.trust.record import Record, parse_statement, signed_bytes

    security = SecurityKey()
    line = Key(principal="dave@example.com", roles=("approve",), public=security.public, touch=True)
    team.change_keyring([alice], keys=(*team.keys(), line))
    security.touched = False
    text = (
        f"v1 revoke repo={team.repository_id} by=dave@example.com at=2026-11-30T03:11:00Z id=a seq=9 sha256={'0' * 64}"
    )
    record = Record(
        statement=parse_statement(text), text=text, signature=security.sign("memory-approval@v1", signed_bytes(text))
    )
    team.put_receipt(record)
    assert team.says() == "trusted"


def test_a_review_judges_by_the_keyring_of_the_base(team: Team, mallory: Person, alice: Person) -> None:
    """The head of a pull request brings its own keyring and its own receipt; the base's decides."""
    base = {".memfs/keyring.1": (team.root / ".memfs/keyring.1").read_bytes()}
    team.write("b", memory_text("Smuggled in."))
    record = make_record(mallory, team, "b", content_digest(team.path("b").read_bytes()), by="alice@example.com")
    path = team.put_receipt(record)
    receipts = {
        f".memfs/approvals/{name}": (team.root / ".memfs/approvals" / name).read_bytes() for name in team.receipts()
    }
    view = team.view_of(base, receipts)
    assert view.verdict(team.read("a")).trusted
    assert view.verdict(team.read("b")).reason == "key-unknown"
    assert not view.pinned
    chain = pinning.read_chain(team.tree)
    forged = changing.sign_keyring(
        changing.next_keyring(chain, keys=(*chain.keyring.keys, mallory.key_line("approve"))), [mallory.signer]
    )
    head = {**base, ".memfs/keyring.2": format_file(forged.body, forged.signatures)}
    assert team.view_of(head, receipts).verdict(team.read("a")).reason == "keyring-broken"
    assert path.exists()
    pinned = team.view_of(base, receipts, pin="memfs1:" + "0" * 32)
    assert pinned.verdict(team.read("a")).reason == "not-pinned"
    elsewhere = {f"docs/{path}": raw for path, raw in receipts.items()}
    assert team.view_of(base, elsewhere).verdict(team.read("a")).reason == "no-approval"


def test_withdrawals_in_the_messages_of_a_review_count(team: Team, bob: Person) -> None:
    from memfs.trust.record import Verb, format_record

    base = {".memfs/keyring.1": (team.root / ".memfs/keyring.1").read_bytes()}
    receipts = {
        f".memfs/approvals/{name}": (team.root / ".memfs/approvals" / name).read_bytes() for name in team.receipts()
    }
    revoke = make_record(bob, team, "a", "0" * 64, seq=2, verb=Verb.WITHDRAW)
    view = team.view_of(base, receipts, messages=(format_record(revoke).encode(),))
    assert view.verdict(team.read("a")).reason == "withdrawn"
    approval = make_record(bob, team, "b", content_digest(team.path("a").read_bytes()))
    view = team.view_of(base, {}, messages=(format_record(approval).encode(),))
    assert view.verdict(team.read("a")).reason == "no-approval"


def test_a_lapsed_key_of_ones_own_cannot_be_used(team: Team, alice: Person, bob: Person) -> None:
    lines = team.keys()
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], before=date(2026, 1, 1))))
    team.write("b", memory_text("Too late."))
    with pytest.raises(TrustError, match="could approve before"):
        team.approve(bob, "b")
    team.change_keyring([alice], keys=(lines[0], replace(lines[1], roles=("retired",))))
    with pytest.raises(TrustError, match="is retired"):
        team.approve(bob, "b")
    team.revoke(bob, "a")
    assert team.says() == "withdrawn"
