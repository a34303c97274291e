"""Show or change who may approve.

The keyring is a chain: every version is signed by people whom the version before names as root, so a
pull request cannot add its own key. A change that needs more root people than one is kept as a
proposal; each of them signs it with `memfs keys sign`, and with the last signature it counts.

  memfs keys                                      who may do what
  memfs keys create                               the first keyring, with your key, and your pin
  memfs keys add bob@example.com bob.pub          bob may approve
  memfs keys add bob@example.com bob.pub --role root,approve --touch --scope 'team/*'
  memfs keys set bob@example.com --role root,approve --before 2028-01-01
  memfs keys retire bob@example.com               his approvals end, his withdrawals stay
  memfs keys remove SHA256:…                      as if that key had never been listed
  memfs keys threshold --approve 2 --need team/security=3
  memfs keys deny ID                              the text of today never again
  memfs keys rotate ~/.ssh/new_key                your new key for your old one, approvals carried over
  memfs keys sign                                 sign the proposal
  memfs keys export                               an OpenSSH allowed-signers file
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from memfs.cli.asking import announce, confirm, find_signer, require_terminal
from memfs.cli.looks import say_line
from memfs.cli.options import add_json
from memfs.cli.pin_command import ask_for_pin
from memfs.cli.trust_command import payload_of
from memfs.errors import EXIT_NO, EXIT_YES, NotFoundError, SetupError, TrustError, UsageError
from memfs.git.commit import commit_changes
from memfs.git.process import run as run_program
from memfs.git.read import without_git_variables
from memfs.model.codepoints import escape_hidden
from memfs.sight import OWNER, open_sight
from memfs.trust.approve import approve
from memfs.trust.carriers import TreeCarrier
from memfs.trust.changing import (
    add_key,
    keyring_change,
    new_keyring,
    next_keyring,
    read_proposal,
    remove_keys,
    require_body,
    retire_keys,
    rotate_key,
    save_keyring,
    set_keys,
    set_thresholds,
    sign_keyring,
)
from memfs.trust.check import describe_keyring, describe_keyring_change, find_new_shortages
from memfs.trust.keyring import APPROVE, Key, format_allowed_signers
from memfs.trust.opening import open_view
from memfs.trust.pin import pin_of
from memfs.trust.pinning import pin_repository, read_chain
from memfs.trust.plan import find_key, plan_approval, plan_kept_withdrawals
from memfs.trust.signing import parse_public_line, read_public_key
from memfs.trust.sshsig import SignatureError
from memfs.trust.texts import find_files, ids_to_renew
from memfs.trust.view import require_keyring

if TYPE_CHECKING:
    from datetime import date

    from memfs.cli.session import Session
    from memfs.disk.worktree import WorkTree
    from memfs.trust.keyring import Chain, Keyring, SignedKeyring
    from memfs.trust.plan import Plan
    from memfs.trust.signing import Signer
    from memfs.trust.sshsig import PublicKey


def configure(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    verbs = parser.add_subparsers(dest="action", metavar="ACTION")
    show = verbs.add_parser("show", help="who may do what (the default)")
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON document")
    create = verbs.add_parser("create", help="make the first keyring with your key")
    create.add_argument("--principal", metavar="ADDRESS", help="your address (default: git's user.email)")
    add = verbs.add_parser("add", help="list another key")
    add.add_argument("principal", metavar="ADDRESS", help="whose key it is")
    add.add_argument("public", metavar="PUBLIC_KEY", help="a .pub file, or the key's text")
    add.add_argument("--role", choices=("approve", "root", "root,approve"), default="approve", help="default: approve")
    add.add_argument("--touch", action="store_true", help="a security key whose every signature needs a touch")
    add.add_argument("--after", metavar="DATE", help="approves from this day on")
    add.add_argument("--before", metavar="DATE", help="approves before this day")
    add.add_argument("--scope", metavar="SCOPE", action="append", default=[], help="approves here only; repeatable")
    change = verbs.add_parser("set", help="change what a listed key may do")
    change.add_argument("who", metavar="ADDRESS|FINGERPRINT", help="all keys of a person, or one key")
    change.add_argument("--role", choices=("approve", "root", "root,approve"), help="what it may do")
    change.add_argument("--scope", metavar="SCOPE", action="append", help="here only; repeatable; '*' is everywhere")
    change.add_argument("--after", metavar="DATE", help="approves from this day on")
    change.add_argument("--before", metavar="DATE", help="approves before this day")
    change.add_argument("--touch", action="store_true", default=None, help="every signature needs a touch")
    for name, text in (("retire", "may only take away from now on"), ("remove", "as if it had never been listed")):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("who", metavar="ADDRESS|FINGERPRINT", help="all keys of a person, or one key")
    threshold = verbs.add_parser("threshold", help="how many people it takes")
    threshold.add_argument("--root", type=int, metavar="N", help="for the next keyring")
    threshold.add_argument("--approve", type=int, metavar="N", help="for a memory")
    threshold.add_argument("--need", metavar="SCOPE=N", action="append", default=[], help="for a scope; 0 removes it")
    deny = verbs.add_parser("deny", help="never trust a text again")
    deny.add_argument("text", metavar="ID|DIGEST", help="a memory's text of today, or a content digest")
    rotate = verbs.add_parser("rotate", help="put your new key in the place of your old one")
    rotate.add_argument("new", metavar="NEW_KEY", help="the new private key (or its .pub, with the key in your agent)")
    rotate.add_argument("--touch", action="store_true", help="require a touch of the new security key")
    verbs.add_parser("sign", help="sign the proposed keyring")
    verbs.add_parser("export", help="print an OpenSSH allowed-signers file")
    for name, verb in verbs.choices.items():
        if name not in ("show", "export"):
            verb.add_argument("--key", metavar="FILE", help="the key to sign with")


def run(args: argparse.Namespace, session: Session) -> int:
    tree = session.open_repository().tree
    action = args.action or "show"
    if action == "create":
        return _create(args, session, tree)

    chain = read_chain(tree)
    if action == "show":
        return _show(args, session, tree, chain)
    if action == "export":
        session.say(format_allowed_signers(chain.keyring).rstrip("\n"))
        return EXIT_YES
    require_terminal(session, "changing the keyring")
    _require_pinned(session, tree)
    if action == "sign":
        return _sign(args, session, tree, chain)
    if action == "rotate":
        return _rotate(args, session, tree, chain)
    return _change(args, session, tree, chain, action)


def _show(args: argparse.Namespace, session: Session, tree: WorkTree, chain: Chain) -> int:

    proposal = read_proposal(tree, chain)
    if args.json:
        session.emit("keys", {"pin": pin_of(chain).text, **_payload(chain.keyring), "proposal": proposal is not None})
        return EXIT_YES
    say_line(session, f"version {chain.keyring.version}, repository {chain.repository_id}")
    for line in describe_keyring(chain.keyring):
        say_line(session, line)
    if proposal is not None:
        session.say("\nproposed, waiting for signatures (`memfs keys sign`):")
        for line in describe_keyring_change(chain.keyring, proposal.keyring):
            say_line(session, f"  {line}")
    return EXIT_YES


def _payload(keyring: Keyring) -> dict[str, Any]:
    return {
        "version": keyring.version,
        "root": keyring.root,
        "approve": keyring.approve,
        "needs": [{"scope": scope, "people": count} for scope, count in keyring.needs],
        "keys": [
            {
                "principal": key.principal,
                "roles": list(key.roles),
                "type": key.public.type,
                "fingerprint": key.public.fingerprint,
                "touch": key.touch,
                "after": key.after.isoformat() if key.after else None,
                "before": key.before.isoformat() if key.before else None,
                "scopes": list(key.scopes),
            }
            for key in keyring.keys
        ],
        "denied": list(keyring.denied),
    }


def _create(args: argparse.Namespace, session: Session, tree: WorkTree) -> int:
    require_terminal(session, "making a keyring")

    if TreeCarrier(tree).keyrings():
        raise TrustError(
            "this repository has a keyring already", where=".memfs/keyring.1", hint="`memfs keys` shows it"
        )
    principal = args.principal or _git_address(session)
    signer = find_signer(session, None, key=args.key)
    session.note(f"{principal} becomes root and approves, with {signer.name} ({signer.public.fingerprint})")
    if not confirm(session, f"Type {principal} to make this the first keyring:", principal):
        session.note("no keyring was made")
        return EXIT_NO
    announce(session, [signer])
    commit = commit_changes(tree, [keyring_change(new_keyring(signer, principal))], "Found the keyring")
    session.say(f"pinned: {pin_repository(session.places, tree).text}")
    session.say(f"commit {commit[:12]}")
    return EXIT_YES


def _change(args: argparse.Namespace, session: Session, tree: WorkTree, chain: Chain, action: str) -> int:

    keyring = chain.keyring
    changes: dict[str, Any]
    if action == "add":
        changes, subject = {"keys": _add(args, session, keyring)}, f"Keyring: add {args.principal}"
    elif action == "set":
        changes, subject = {"keys": _set(args, keyring)}, f"Keyring: change {_one_word(args.who)}"
    elif action in ("retire", "remove"):
        take = remove_keys if action == "remove" else retire_keys
        changes, subject = {"keys": take(keyring, args.who)}, f"Keyring: {action} {_one_word(args.who)}"
    elif action == "threshold":
        changes, subject = _threshold(args, keyring), "Keyring: change how many people it takes"
    else:
        changes, subject = _deny(args, session, tree, keyring), "Keyring: deny a text"
    return _put(args, session, tree, chain, next_keyring(chain, **changes), subject=subject)


def _put(
    args: argparse.Namespace,
    session: Session,
    tree: WorkTree,
    chain: Chain,
    keyring: Keyring,
    *,
    subject: str,
    signers: Sequence[Signer] | None = None,
) -> int:
    """Show what ``keyring`` changes, ask, sign and commit it: as the next version, or as a proposal."""

    if read_proposal(tree, chain) is not None:
        raise TrustError(
            "another change of the keyring waits for signatures",
            where=".memfs/keyring.proposed",
            hint="sign it with `memfs keys sign`, or delete the file and commit",
        )
    require_body(keyring)
    shortages = find_new_shortages(chain.keyring, keyring)
    session.note(f"keyring {keyring.version}:")
    for line in (*describe_keyring_change(chain.keyring, keyring), *(f"! {line}" for line in shortages)):
        session.note(f"  {line}")
    if signers is None:
        signers = [find_signer(session, chain.keyring, key=args.key, wanted=lambda line: line.is_root)]
    again = _withdraw_again(session, tree, keyring, signers[0]) if args.action == "remove" else None
    if not confirm(session, f"Type keyring.{keyring.version} to sign this:", f"keyring.{keyring.version}"):
        session.note("nothing was signed")
        return EXIT_NO
    announce(session, signers)
    if again is not None:
        _sign_again(session, again, signers[0])
    return _save(session, tree, chain, sign_keyring(keyring, signers), subject)


def _withdraw_again(session: Session, tree: WorkTree, keyring: Keyring, signer: Signer) -> Plan | None:
    """Say which withdrawals end with the keys that ``keyring`` no longer lists; return the plan to sign them again.

    Raises :class:`TrustError` where the root's key may not: then somebody who may must do it first.
    """

    plan = plan_kept_withdrawals(tree, session.places, keyring, today=session.today)
    if not plan.items:
        return None
    ids = [item.id for item in plan.items]
    session.note(f"these withdrawals would end with the key: {', '.join(ids)}")
    try:
        find_key(plan, signer)
    except TrustError:
        raise TrustError(
            "your key signs keyrings only, so it cannot withdraw these again",
            hint=f"somebody who may approve runs first: memfs untrust {' '.join(ids)}",
        ) from None
    session.note("your key withdraws them again before the keyring is changed")
    return plan


def _sign_again(session: Session, plan: Plan, signer: Signer) -> None:

    done = approve(plan, signer, now=session.now(), message=f"Withdraw again {len(plan.items)} approvals")
    session.say(f"withdrawn again: {', '.join(item.id for item in plan.items)} (commit {(done.commit or '')[:12]})")


def _save(session: Session, tree: WorkTree, chain: Chain, signed: SignedKeyring, subject: str) -> int:
    """Commit a signed keyring and say how far it is from counting."""
    saved = save_keyring(tree, session.places, signed, subject, before=chain.keyring, today=session.today)
    if saved.complete:
        session.say(f"keyring {signed.keyring.version} counts now (commit {saved.commit[:12]})")
        session.say(f"its pin: {pin_of(read_chain(tree)).text}")
        return EXIT_YES
    session.say(f"proposed (commit {saved.commit[:12]}); it does not count yet")
    session.say(
        f"still to sign, with `memfs keys sign`: {saved.missing_before} of the root people of today, "
        f"{saved.missing_own} of the new ones"
    )
    return EXIT_YES


def _sign(args: argparse.Namespace, session: Session, tree: WorkTree, chain: Chain) -> int:

    proposal = read_proposal(tree, chain)
    if proposal is None:
        raise NotFoundError("no change of the keyring waits for signatures", where=".memfs/keyring.proposed")
    keyring = proposal.keyring
    session.note(f"keyring {keyring.version}:")
    for line in describe_keyring_change(chain.keyring, keyring):
        session.note(f"  {line}")
    try:
        signer = find_signer(session, chain.keyring, key=args.key, wanted=lambda line: line.is_root)
    except SetupError:
        signer = find_signer(session, keyring, key=args.key, wanted=lambda line: line.is_root)
    if not confirm(session, f"Type keyring.{keyring.version} to sign this:", f"keyring.{keyring.version}"):
        session.note("nothing was signed")
        return EXIT_NO
    announce(session, [signer])
    signed = sign_keyring(keyring, [signer], signatures=proposal.signatures)
    return _save(session, tree, chain, signed, f"Keyring: version {keyring.version}")


def _rotate(args: argparse.Namespace, session: Session, tree: WorkTree, chain: Chain) -> int:

    old = find_signer(session, chain.keyring, key=args.key, wanted=lambda line: not line.is_retired)
    new = find_signer(session, None, key=args.new)
    line = chain.keyring.find_key(old.public.blob)
    assert line is not None  # find_signer takes none but listed keys
    keyring = next_keyring(chain, keys=rotate_key(chain.keyring, line, new.public, touch=args.touch))
    signers: list[Signer] = [old, new] if line.is_root else []
    if not signers:
        session.note("you are not root, so this becomes a proposal that a root person signs")
    code = _put(
        args, session, tree, chain, keyring, subject=f"Keyring: rotate the key of {line.principal}", signers=signers
    )
    if code != EXIT_YES:
        return code
    _say_how_it_is_found(session, keyring, new, args.new)
    if APPROVE not in line.roles:
        return code
    view = open_view(tree, session.places, today=session.today)
    if view.keyring is None or view.keyring.version != keyring.version:
        session.note("when it counts, run `memfs trust --renew` to approve again what you hold")
        return code
    sees = open_sight(tree, session.places).for_caller(OWNER)
    held = ids_to_renew(tree, view, line.principal, sees)
    if not held:
        return code
    plan = plan_approval(tree, session.places, held, sees=sees, today=session.today, view=view)
    announce(session, [new])
    done = approve(plan, new, now=session.now(), message=f"Approve again what {line.principal} holds")
    if args.json:
        session.emit("trust", payload_of(done))
    else:
        session.say(f"approved again with the new key: {', '.join(held)} (commit {(done.commit or '')[:12]})")
    return code


def _say_how_it_is_found(session: Session, keyring: Keyring, new: Signer, name: str) -> None:
    """Say how the new key becomes the one that memfs finds, where it does not by itself."""
    try:
        found = find_signer(session, keyring, wanted=lambda line: not line.is_retired).public == new.public
    except SetupError:
        found = False
    if not found:
        path = _one_word(str((session.cwd / name).resolve()))
        session.note("memfs does not find the new key by itself yet; say which one it is:")
        session.note(f"  git config --global gpg.format ssh && git config --global user.signingkey {path}")
        session.note("or use `--key` each time, load it into your ssh-agent, or give it the old one's file name")


def _add(args: argparse.Namespace, session: Session, keyring: Keyring) -> tuple[Key, ...]:
    key = Key(
        principal=args.principal,
        roles=tuple(args.role.split(",")),
        public=_read_public(session, args.public),
        touch=args.touch,
        after=_parse_day(args.after, "--after"),
        before=_parse_day(args.before, "--before"),
        scopes=tuple(args.scope),
    )
    return add_key(keyring, key)


def _set(args: argparse.Namespace, keyring: Keyring) -> tuple[Key, ...]:
    named = {
        "roles": tuple(args.role.split(",")) if args.role else None,
        "scopes": None if args.scope is None else () if "*" in args.scope else tuple(args.scope),
        "after": _parse_day(args.after, "--after"),
        "before": _parse_day(args.before, "--before"),
        "touch": args.touch,
    }
    return set_keys(keyring, args.who, {name: value for name, value in named.items() if value is not None})


def _threshold(args: argparse.Namespace, keyring: Keyring) -> dict[str, Any]:
    needs = {}
    for text in args.need:
        scope, mark, count = text.partition("=")
        if not mark or not count.isdecimal():
            raise UsageError("write SCOPE=N", where="--need")
        needs[scope] = int(count)
    return set_thresholds(keyring, root=args.root, approve=args.approve, needs=needs)


def _deny(args: argparse.Namespace, session: Session, tree: WorkTree, keyring: Keyring) -> dict[str, Any]:
    digest = args.text
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        sees = open_sight(tree, session.places).for_caller(OWNER)
        digest = find_files(tree, [args.text], sees)[0].digest
    if digest in keyring.denied:
        raise UsageError("this text is denied already", where=digest[:12])
    return {"denied": (*keyring.denied, digest)}


def _require_pinned(session: Session, tree: WorkTree) -> None:

    view = open_view(tree, session.places, today=session.today, history=False)
    if view.trouble is not None and view.trouble.reason == "not-pinned" and ask_for_pin(session, tree):
        return
    require_keyring(view)


def _read_public(session: Session, text: str) -> PublicKey:

    literal = text.startswith(("ssh-", "ecdsa-", "sk-"))
    shown = "PUBLIC_KEY" if literal else escape_hidden(text, single_line=True)
    if not literal and not (session.cwd / text).is_file():
        raise UsageError("there is no public key of that name", where=shown, hint="name a .pub file, or give its text")
    try:
        return parse_public_line(text) if literal else read_public_key(session.cwd / text)
    except SignatureError as error:
        raise UsageError(f"this key cannot be listed: {error}", where=shown) from None


def _parse_day(text: str | None, where: str) -> date | None:

    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError("a day is written YYYY-MM-DD", where=where) from None


def _git_address(session: Session) -> str:

    done = run_program(
        ["git", "config", "--get", "user.email"],
        cwd=session.cwd,
        env=without_git_variables(session.environ),
        check=False,
    )
    address = done.stdout.decode("utf-8", "replace").strip().lower()
    if not address:
        raise UsageError("git knows no address of yours", hint="name it with --principal ADDRESS")
    return address


def _one_word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9@.:+/_-]", "?", text)
