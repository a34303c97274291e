"""What is wrong with the files of trust, in sentences for people: `memfs check`, `review`, `keys`. Pure
but for the view that it is handed; nothing here decides a verdict."""

from __future__ import annotations

from collections.abc import Mapping

from memfs.model.codepoints import escape_hidden
from memfs.model.memory import Problem
from memfs.trust import sshsig
from memfs.trust.carriers import APPROVALS
from memfs.trust.judge import Reason
from memfs.trust.keyring import (
    APPROVE,
    FOLDER,
    ROOT,
    Key,
    Keyring,
    KeyringError,
    check_chain,
    version_of_name,
)
from memfs.trust.record import find_records, receipt_subject
from memfs.trust.view import TrustView

_FAILURES = {
    Reason.WRONG_REPOSITORY: "was made for another repository",
    Reason.WRONG_NAMESPACE: "carries a signature that was made for another purpose",
    Reason.KEY_UNKNOWN: "is by a key that the keyring does not list for that person",
    Reason.BAD_SIGNATURE: "carries a signature that does not verify",
    Reason.NO_TOUCH: "was signed by a security key that nobody touched",
}


def check_receipts(receipts: Mapping[str, bytes], view: TrustView) -> list[Problem]:
    """Return what is wrong with receipts (path → bytes): no record, a wrong name, one that does not count."""
    problems: list[Problem] = []
    for path, raw in sorted(receipts.items()):
        name = path.removeprefix(f"{APPROVALS}/")
        shown = escape_hidden(path, single_line=True)
        records = find_records(raw)
        if receipt_subject(name) is None or len(records) != 1:
            problems.append(_problem("bad-receipt", f"{shown} is not a receipt: it must contain exactly one record"))
            continue
        if records[0].receipt_name != name:
            problems.append(
                _problem(
                    "misnamed-receipt",
                    f"{shown} is not named by its content ({records[0].receipt_name}), so it is not read",
                )
            )
            continue
        if view.keyring is None:
            continue
        first = records[0].statement.items[0].id
        for one in view.records_with(first, records):
            if one.record.line == records[0].line and one.failure is not None:
                problems.append(_problem(str(one.failure), f"{shown} {_FAILURES[one.failure]}"))
    return problems


def check_keyring(keyrings: Mapping[str, bytes]) -> list[Problem]:
    """Return what is wrong with a chain of keyrings (path → bytes), as one problem: the first."""
    files = {
        version: raw
        for path, raw in keyrings.items()
        if (version := version_of_name(path.removeprefix(f"{FOLDER}/"))) is not None
    }
    if not files:
        return []
    try:
        check_chain(files, sshsig.verify)
    except KeyringError as error:
        return [_problem(str(Reason.KEYRING_BROKEN), str(error))]
    return []


def describe_keyring(keyring: Keyring) -> tuple[str, ...]:
    """Return who may do what under ``keyring``, one sentence each."""
    lines = [f"{key.principal} {_describe_key(key)}" for key in keyring.keys]
    lines.append(f"{_of(keyring.root, len(keyring.principals(ROOT)))} root people must sign the next keyring")
    lines += [f"{_people(count)} must approve a memory of {scope}" for scope, count in keyring.needs]
    other = "another memory" if keyring.needs else "a memory"
    lines.append(f"{_people(keyring.approve)} must approve {other}")
    lines += [f"the text {digest[:12]}… is denied" for digest in keyring.denied]
    return tuple(lines)


def describe_keyring_change(old: Keyring | None, new: Keyring) -> tuple[str, ...]:
    """Return what ``new`` changes against ``old`` in plain sentences, the dangerous ones too."""
    if old is None:
        return tuple(f"adds {key.principal}, who {_describe_key(key)}" for key in new.keys)
    lines: list[str] = []
    before = {key.public.blob: key for key in old.keys}
    after = {key.public.blob: key for key in new.keys}
    for blob, key in after.items():
        was = before.get(blob)
        if was is None:
            lines.append(f"adds {key.principal}, who {_describe_key(key)}")
        elif key.principal != was.principal:
            given = f"gives the key {key.public.fingerprint} of {was.principal} to {key.principal}"
            lines.append(f"{given}, who {_describe_key(key)}")
        elif key != was:
            lines.append(f"changes {key.principal}: was a key that {_describe_key(was)}, now it {_describe_key(key)}")
    for blob, key in before.items():
        if blob not in after:
            lines.append(f"removes {key.principal} ({key.public.fingerprint}), as if that key had never been listed")
    if old.root != new.root:
        count = len(new.principals(ROOT))
        lines.append(f"the next keyring needs {_of(new.root, count)} root people instead of {old.root}")
        if new.root == count > 1:
            lines.append(f"! all {count} root people must sign: one lost key, and nobody can change the keyring again")
    if old.approve != new.approve:
        lines.append(f"a memory needs {_people(new.approve)} instead of {old.approve}")
    if old.needs != new.needs:
        was_needs = ", ".join(f"{scope} {count}" for scope, count in old.needs) or "none"
        now_needs = ", ".join(f"{scope} {count}" for scope, count in new.needs) or "none"
        lines.append(f"needs by scope: {now_needs} (before: {was_needs})")
    lines += [f"denies the text {digest[:12]}… for good" for digest in new.denied if digest not in old.denied]
    lines += [f"no longer denies the text {digest[:12]}…" for digest in old.denied if digest not in new.denied]
    return tuple(lines)


def find_new_shortages(before: Keyring, keyring: Keyring) -> list[str]:
    """Return, one sentence each, for which memories fewer people may approve than must, and could ``before``."""
    known = _find_shortages(before)
    return [line for line in _find_shortages(keyring) if line not in known]


def _find_shortages(keyring: Keyring) -> list[str]:
    found = []
    for scope, need in (*keyring.needs, ("*", keyring.approve)):
        example = scope.replace("*", "any")
        able = {
            key.principal
            for key in keyring.keys
            if APPROVE in key.roles and (scope == "*" or key.covers(example) or scope in key.scopes)
        }
        if len(able) < need:
            where = "a memory" if scope == "*" else f"a memory of {scope}"
            found.append(f"{where} needs {_people(need)}, and the keyring lists {len(able)} who may approve it")
    return found


def _describe_key(key: Key) -> str:
    if key.is_retired:
        return f"may only take approvals away (retired, {key.public.fingerprint})"
    rights = []
    if ROOT in key.roles:
        rights.append("signs keyrings")
    if APPROVE in key.roles:
        rights.append("approves " + (", ".join(key.scopes) if key.scopes else "everything"))
    limits = [f"{key.public.type} {key.public.fingerprint}"]
    if key.touch:
        limits.append("touch required")
    if key.after:
        limits.append(f"from {key.after.isoformat()}")
    if key.before:
        limits.append(f"before {key.before.isoformat()}")
    return f"{' and '.join(rights)} ({', '.join(limits)})"


def _of(count: int, among: int) -> str:
    return f"{count} of {among}"


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _problem(rule: str, message: str) -> Problem:
    return Problem(rule=rule, message=message)
