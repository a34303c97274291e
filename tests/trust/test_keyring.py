"""The keyring: one text form, one chain, and everything else refused (TRUST 5)."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from people import Person
from security_key import SecurityKey

from memfs.model.values import replace
from memfs.trust import sshsig
from memfs.trust.changing import new_keyring, next_keyring, sign_keyring
from memfs.trust.keyring import (
    NAMESPACE,
    Chain,
    Key,
    Keyring,
    KeyringError,
    SignedKeyring,
    check_chain,
    format_allowed_signers,
    format_body,
    format_file,
    parse_body,
    parse_file,
    scope_matches,
)
from memfs.trust.sshsig import PublicKey

WHERE = ".memfs/keyring.1"


def first(alice: Person, *others: Person, **changes: Any) -> SignedKeyring:
    keyring = new_keyring(alice.signer, alice.principal, salt="0" * 32).keyring
    changes.setdefault("keys", (*keyring.keys, *(person.key_line() for person in others)))
    return sign_keyring(replace(keyring, **changes), [alice.signer])


def chain_of(*versions: SignedKeyring) -> Chain:
    files = {number: format_file(one.body, one.signatures) for number, one in enumerate(versions, 1)}
    return check_chain(files, sshsig.verify)


def follow(chain: Chain, *signers: Person, **changes: Any) -> SignedKeyring:
    return sign_keyring(next_keyring(chain, **changes), [person.signer for person in signers])


def _public(seed: int) -> PublicKey:
    point = hashlib.sha256(seed.to_bytes(8, "big")).digest()
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + point[:31] + bytes([point[31] & 0x3F])
    return sshsig.parse_public_key(f"ssh-ed25519 {b64encode(blob).decode()}")


patterns = st.sampled_from(["*", "personal", "team", "team/*", "team/billing", "restricted/*", "restricted/hr"])
keys = st.lists(
    st.builds(
        lambda principal, roles, seed, after, before, scopes: Key(
            principal=principal,
            roles=roles,
            public=_public(seed),
            after=after,
            before=before,
            scopes=tuple(scopes),
        ),
        st.from_regex(r"[a-z0-9._+-]{1,20}@[a-z0-9.-]{1,20}", fullmatch=True),
        st.sampled_from([("root",), ("approve",), ("root", "approve"), ("retired",)]),
        st.integers(0, 2**32),
        st.none() | st.dates(),
        st.none() | st.dates(),
        st.lists(patterns, max_size=3),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda key: key.public.blob,
)
keyrings = st.builds(
    lambda version, keys, approve, needs, denied: Keyring(
        version=version,
        previous="c" * 64 if version > 1 else None,
        salt=None if version > 1 else "d" * 32,
        root=1,
        approve=approve,
        needs=tuple(needs.items()),
        keys=tuple(keys),
        denied=tuple(denied),
    ),
    st.integers(1, 99_999),
    keys,
    st.integers(1, 99),
    st.dictionaries(patterns, st.integers(1, 99), max_size=4),
    st.lists(st.text("0123456789abcdef", min_size=64, max_size=64), unique=True, max_size=3),
).filter(lambda keyring: keyring.principals("root"))


@given(keyrings)
def test_a_keyring_comes_back_from_its_text(keyring: Keyring) -> None:
    assert parse_body(format_body(keyring), where=WHERE) == keyring


@given(keyrings, st.data())
def test_a_changed_keyring_is_refused_or_is_the_only_spelling_of_itself(keyring: Keyring, data: st.DataObject) -> None:
    raw = bytearray(format_body(keyring))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    try:
        read = parse_body(bytes(raw), where=WHERE)
    except KeyringError:
        return
    assert format_body(read) == bytes(raw)


@given(st.binary(max_size=500))
def test_any_bytes_are_refused_with_a_reason(raw: bytes) -> None:
    with pytest.raises(KeyringError) as caught:
        parse_file(raw, where=WHERE)
    assert caught.value.reason == "keyring-broken"
    assert caught.value.exit_code == 6


def test_the_first_keyring_names_the_repository(alice: Person) -> None:
    signed = first(alice)
    chain = chain_of(signed)
    raw = format_file(signed.body, signed.signatures)
    body = raw.split(b"--signatures\n", maxsplit=1)[0]
    assert chain.repository_id == hashlib.sha256(body).hexdigest()[:32]


def test_two_repositories_of_the_same_person_have_different_ids(alice: Person) -> None:
    one, two = (chain_of(new_keyring(alice.signer, alice.principal)) for _ in range(2))
    assert one.repository_id != two.repository_id


def body_of(alice: Person, bob: Person) -> str:
    return first(alice, bob).body.decode()


def is_refused(raw: bytes) -> bool:
    try:
        parse_file(raw, where=WHERE)
    except KeyringError:
        return True
    return False


def test_lines_that_are_refused(alice: Person, bob: Person) -> None:
    """Everything in TRUST 5's list, each put where a good line stood (trust cases 47-50, 58)."""
    body = body_of(alice, bob)
    bob_line = body.splitlines()[-1]
    encoded = bob_line.split(" ")[4]
    broken = {
        "an unknown keyword": body + "trust everybody\n",
        "a comment": body.replace("root 1\n", "# a note\nroot 1\n"),
        "an empty line": body.replace("root 1\n", "\nroot 1\n"),
        "lines in another order": body.replace("root 1\napprove 1\n", "approve 1\nroot 1\n"),
        "a line twice": body.replace("root 1\n", "root 1\nroot 1\n"),
        "a threshold of nobody": body.replace("approve 1\n", "approve 0\n"),
        "a number with a zero before it": body.replace("approve 1\n", "approve 01\n"),
        "a negative number": body.replace("approve 1\n", "approve -1\n"),
        "more root people than there are": body.replace("root 1\n", "root 2\n"),
        "upper case": body.replace("version 1", "Version 1"),
        "two spaces": body.replace("version 1", "version  1"),
        "a trailing blank": body.replace("version 1\n", "version 1 \n"),
        "a tab": body.replace("version 1", "version\t1"),
        "another header": body.replace("memory-keyring v1", "memory-keyring v2"),
        "everybody": body.replace("bob@example.com", "*"),
        "everybody at a host": body.replace("bob@example.com", "*@example.com"),
        "a list of people": body.replace("bob@example.com", "bob@example.com,*"),
        "a negated person": body.replace("bob@example.com", "!bob@example.com"),
        "a quoted person": body.replace("bob@example.com", '"bob example"@example.com'),
        "an upper-case person": body.replace("bob@example.com", "Bob@example.com"),
        "no person": body.replace("bob@example.com ", ""),
        "cert-authority": body.replace("bob@example.com approve", "bob@example.com cert-authority,approve"),
        "an option cert-authority": body.rstrip("\n") + " cert-authority\n",
        "an unknown role": body.replace("bob@example.com approve", "bob@example.com admin"),
        "roles in another order": body.replace("alice@example.com root,approve", "alice@example.com approve,root"),
        "retired and approve": body.replace("bob@example.com approve", "bob@example.com approve,retired"),
        "a certificate": body.replace(bob_line, bob_line.replace("ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com")),
        "a DSA key": body.replace(bob_line, bob_line.replace("ssh-ed25519", "ssh-dss")),
        "a key of another type than it says": body.replace(bob_line, bob_line.replace("ssh-ed25519", "ssh-rsa")),
        "a broken key": body.replace(encoded, encoded[:-8]),
        "touch of a key that cannot": body.rstrip("\n") + " touch=required\n",
        "an unknown option": body.rstrip("\n") + " trust=full\n",
        "an option twice": body.rstrip("\n") + " before=2027-01-01 before=2028-01-01\n",
        "options in another order": body.rstrip("\n") + " before=2027-01-01 after=2026-01-01\n",
        "a day that is none": body.rstrip("\n") + " before=2027-02-30\n",
        "a day in another form": body.rstrip("\n") + " before=20270101\n",
        "a scope that is none": body.rstrip("\n") + " scope=everything\n",
        "a scope with a wildcard inside": body.rstrip("\n") + " scope=te*\n",
        "a need without a number": body.replace("approve 1\n", "approve 1\nneed team\n"),
        "a need of nobody": body.replace("approve 1\n", "approve 1\nneed team 0\n"),
        "a need for what is no scope": body.replace("approve 1\n", "approve 1\nneed ** 2\n"),
        "two needs for one scope": body.replace("approve 1\n", "approve 1\nneed team 2\nneed team 1\n"),
        "one key for two people": body + bob_line.replace("bob@", "carol@") + "\n",
        "one key twice": body + bob_line + "\n",
        "a denied text that is no digest": body + "deny abc\n",
        "a denied text in upper case": body + f"deny {'A' * 64}\n",
        "a denied text twice": body + f"deny {'a' * 64}\ndeny {'a' * 64}\n",
        "the signatures' mark in the body": body.replace("root 1\n", "--signatures\nroot 1\n"),
        "CRLF": body.replace("\n", "\r\n"),
        "a lone CR": body.replace("root 1\n", "root 1\r\n"),
        "a byte order mark": "\ufeff" + body,
        "a letter that is not ASCII": body.replace("alice@", "\u0430lice@"),
        "NUL": body.replace("root 1", "root 1\0"),
    }  # fmt: skip
    parse_file(format_file(body.encode(), first(alice, bob).signatures), where=WHERE)
    for what, text in broken.items():
        assert text != body, what
        assert is_refused(format_file(text.encode(), ())), what


def test_an_error_names_the_line(alice: Person, bob: Person) -> None:
    body = body_of(alice, bob).replace("bob@example.com", "*@example.com")
    with pytest.raises(KeyringError, match="wildcards") as caught:
        parse_file(format_file(body.encode(), ()), where=WHERE)
    assert caught.value.where == f"{WHERE}:8"


def test_what_may_follow_the_signatures_is_nothing(alice: Person) -> None:
    signed = first(alice)
    raw = format_file(signed.body, signed.signatures)
    encoded = raw.split(b"--signatures\n")[1]
    for tail in (
        b"\n",
        b"garbage\n",
        b"# note\n",
        encoded[:-2] + b"\n",
        encoded.rstrip() + b" \n",
        b"key mallory@x root\n",
    ):
        with pytest.raises(KeyringError):
            chain_of_raw({1: raw + tail})
    for changed in (raw.rstrip(b"\n"), raw.replace(b"--signatures\n", b"--signatures\n\n"), raw + encoded[:4] + b"\n"):
        with pytest.raises(KeyringError):
            chain_of_raw({1: changed})


def chain_of_raw(files: dict[int, bytes]) -> Chain:
    return check_chain(files, sshsig.verify)


def test_a_keyring_over_256_kib_is_refused(alice: Person) -> None:
    with pytest.raises(KeyringError, match="256 KiB"):
        parse_file(b"a" * (256 * 1024 + 1), where=WHERE)


def test_a_chain_holds_when_old_and_new_people_signed(alice: Person, bob: Person, carol: Person) -> None:
    one = first(alice, bob)
    two = follow(chain_of(one), alice, keys=(*one.keyring.keys, carol.key_line()))
    three = follow(chain_of(one, two), alice, approve=2)
    chain = chain_of(one, two, three)
    assert chain.keyring.approve == 2
    assert chain.repository_id == chain_of(one).repository_id


def test_a_version_that_its_own_people_alone_signed_is_refused(alice: Person, mallory: Person) -> None:
    one = first(alice)
    takeover = follow(chain_of(one), mallory, keys=(mallory.key_line("root", "approve"),))
    with pytest.raises(KeyringError, match="not enough people of the version before"):
        chain_of(one, takeover)


def test_a_version_that_the_old_people_alone_signed_is_refused(alice: Person, bob: Person) -> None:
    one = first(alice)
    handover = follow(chain_of(one), alice, keys=(bob.key_line("root", "approve"),))
    with pytest.raises(KeyringError, match="own root people"):
        chain_of(one, handover)
    assert chain_of(one, follow(chain_of(one), alice, bob, keys=(bob.key_line("root", "approve"),)))


def test_an_approver_cannot_sign_a_keyring(alice: Person, bob: Person) -> None:
    one = first(alice, bob)
    with pytest.raises(KeyringError, match="may not sign keyrings"):
        chain_of(one, follow(chain_of(one), bob, approve=1, keys=one.keyring.keys, needs=(("team", 2),)))


def test_an_unsigned_version_is_refused(alice: Person) -> None:
    one = first(alice)
    with pytest.raises(KeyringError, match="not enough"):
        chain_of(one, follow(chain_of(one), approve=2))
    with pytest.raises(KeyringError, match="not enough of its own"):
        chain_of(replace(one, signatures=()))


def test_one_person_with_two_keys_is_one_root_person(alice: Person, bob: Person, carol: Person) -> None:
    second_key = replace(carol.key_line("root"), principal=alice.principal)
    one = first(alice, keys=(alice.key_line("root", "approve"), bob.key_line("root"), second_key), root=2)
    with pytest.raises(KeyringError, match="not enough"):
        chain_of(one)
    twice = sign_keyring(one.keyring, [alice.signer, carol.signer])
    with pytest.raises(KeyringError, match="not enough"):
        chain_of(twice)
    assert chain_of(sign_keyring(one.keyring, [alice.signer, bob.signer]))


def test_the_same_signature_twice_is_one_person(alice: Person, bob: Person) -> None:
    one = first(alice, keys=(alice.key_line("root", "approve"), bob.key_line("root")), root=2)
    with pytest.raises(KeyringError, match="not enough"):
        chain_of(replace(one, signatures=one.signatures * 2))


def test_a_gap_a_wrong_prev_and_a_wrong_number_are_refused(alice: Person) -> None:
    one = first(alice)
    two = follow(chain_of(one), alice, approve=2)
    three = follow(chain_of(one, two), alice, approve=1)
    raw = {number: format_file(signed.body, signed.signatures) for number, signed in enumerate((one, two, three), 1)}
    assert chain_of_raw(raw)
    with pytest.raises(KeyringError, match="missing"):
        chain_of_raw({1: raw[1], 3: raw[3]})
    with pytest.raises(KeyringError, match="missing"):
        chain_of_raw({2: raw[2], 3: raw[3]})
    with pytest.raises(KeyringError, match="version"):
        chain_of_raw({1: raw[1], 2: raw[3]})
    with pytest.raises(KeyringError, match="version"):
        chain_of_raw({1: raw[1], 2: raw[2], 3: raw[3], 4: raw[3]})
    other = follow(chain_of(one), alice, approve=3)
    with pytest.raises(KeyringError, match="does not follow"):
        chain_of_raw({1: raw[1], 2: format_file(other.body, other.signatures), 3: raw[3]})
    with pytest.raises(KeyringError, match="there is no keyring"):
        chain_of_raw({})


def test_one_bad_version_in_the_middle_breaks_the_whole_chain(alice: Person) -> None:
    one = first(alice)
    two = follow(chain_of(one), alice, approve=2)
    three = follow(chain_of(one, two), alice, approve=1)
    with pytest.raises(KeyringError):
        chain_of(one, replace(two, signatures=()), three)


def test_a_second_version_with_a_salt_or_a_first_with_a_prev_is_refused(alice: Person) -> None:
    one = first(alice)
    salted = sign_keyring(replace(next_keyring(chain_of(one)), salt="1" * 32), [alice.signer])
    with pytest.raises(KeyringError, match="does not follow"):
        chain_of(one, salted)
    for changed in (replace(one.keyring, previous="a" * 64), replace(one.keyring, salt=None)):
        with pytest.raises(KeyringError, match="prev none"):
            chain_of(sign_keyring(changed, [alice.signer]))


def test_a_signature_of_another_version_or_purpose_does_not_fit(alice: Person) -> None:
    one = first(alice)
    two = follow(chain_of(one), alice, approve=2)
    with pytest.raises(KeyringError, match="does not fit"):
        chain_of(one, replace(two, signatures=one.signatures))
    other = alice.signer.sign("memory-approval@v1", two.body)
    with pytest.raises(KeyringError, match="does not fit"):
        chain_of(one, replace(two, signatures=(other,)))
    assert alice.signer.sign(NAMESPACE, two.body) == two.signatures[0]


def test_a_stray_signature_breaks_the_version(alice: Person, mallory: Person) -> None:
    one = first(alice)
    stray = mallory.signer.sign(NAMESPACE, one.body)
    with pytest.raises(KeyringError, match="may not sign keyrings"):
        chain_of(replace(one, signatures=(*one.signatures, stray)))
    with pytest.raises(KeyringError, match="cannot be read"):
        chain_of(replace(one, signatures=(*one.signatures, b"junk")))


def test_a_root_key_that_needs_a_touch_signs_keyrings_touched_only(alice: Person) -> None:
    security = SecurityKey()
    line = Key(principal="alice@example.com", roles=("root", "approve"), public=security.public, touch=True)
    keyring = replace(first(alice).keyring, keys=(line,))
    assert chain_of(sign_keyring(keyring, [security]))
    security.touched = False
    with pytest.raises(KeyringError, match="not enough"):
        chain_of(sign_keyring(keyring, [security]))


def test_a_root_key_that_needs_a_touch_hands_over_touched_only(alice: Person) -> None:
    security = SecurityKey()
    line = Key(principal="alice@example.com", roles=("root", "approve"), public=security.public, touch=True)
    one = sign_keyring(replace(first(alice).keyring, keys=(line,)), [security])
    relaxed = next_keyring(chain_of(one), keys=(replace(line, touch=False),))
    assert chain_of(one, sign_keyring(relaxed, [security]))
    security.touched = False
    with pytest.raises(KeyringError, match="people of the version before"):
        chain_of(one, sign_keyring(relaxed, [security]))


def test_a_version_that_says_another_number_is_refused(alice: Person) -> None:
    one = first(alice)
    third = sign_keyring(replace(next_keyring(chain_of(one)), version=3), [alice.signer])
    with pytest.raises(KeyringError, match="the file says version 3"):
        chain_of(one, third)


def test_a_root_key_whose_time_is_over_does_not_undo_the_keyrings_it_signed(alice: Person) -> None:
    """`before` limits approvals; the chain must hold for as long as the repository lives."""
    line = alice.key_line("root", "approve", before=date(2020, 1, 1))
    one = first(alice, keys=(line,))
    assert chain_of(one, follow(chain_of(one), alice, approve=2))


def test_scopes_match_whole_names() -> None:
    assert scope_matches("team/*", "team/billing")
    assert not scope_matches("team/*", "team")
    assert not scope_matches("team/bill", "team/billing")
    assert not scope_matches("team", "team/billing")
    assert not scope_matches("team/*", "teamster/x")
    assert scope_matches("*", "restricted/hr")
    assert scope_matches("restricted/*", "restricted/hr")


def test_the_first_need_that_matches_decides(alice: Person) -> None:
    keyring = first(alice, needs=(("team/security", 3), ("team/*", 2))).keyring
    assert [keyring.need(scope) for scope in ("team/security", "team/x", "team")] == [3, 2, 1]


def test_export_names_live_keys_with_their_purpose(alice: Person, bob: Person, carol: Person) -> None:
    keyring = first(
        alice,
        keys=(
            alice.key_line("root", "approve"),
            bob.key_line("approve", before=date(2027, 12, 31)),
            carol.key_line("retired"),
        ),
    ).keyring
    lines = format_allowed_signers(keyring).splitlines()
    assert lines[0].startswith('alice@example.com namespaces="memory-keyring@v1,memory-approval@v1" ssh-ed25519 ')
    assert lines[1].startswith('bob@example.com namespaces="memory-approval@v1",valid-before="20271231" ssh-ed25519 ')
    assert len(lines) == 2
