"""Every rule of ``memfs check``, as data. docs/reference/checks.md says the same in the same order. Pure."""

from __future__ import annotations

from memfs.check.results import Level, Result
from memfs.model.values import dataclass, replace

RULES_VERSION = 4
"""Changes with what a file alone is told: results kept under another number are found again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: a stable name, how much it matters, what is wrong, and what to do about it.

    ``many`` is the sentence for several results that say the same (:func:`group_results`); without one each is
    told by itself. ``by_approval``: an approval settles it. ``fixed``: settings can raise its level, and no more.
    """

    name: str
    level: Level
    sentence: str
    fix: str | None = None
    group: str = ""
    many: str = ""
    by_approval: bool = False
    fixed: bool = False


GROUPS: dict[str, str] = {
    "file": "Files and names",
    "form": "Form",
    "evidence": "Evidence",
    "due": "Triggers and expiry",
    "others": "One memory and the others",
    "admission": "Admission",
    "trust": "Approvals and keyring",
    "repository": "The repository",
    "change": "A change (`--staged`, `--base`): memories",
    "drift": "A change: memories that it leaves alone",
    "approvals": "A change: approvals and keyring",
    "house": "A change: the files round the memories",
}

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE


def _rules(group: str, *rows: tuple[str, Level, str, str | None]) -> list[Rule]:
    return [Rule(name=name, level=level, sentence=text, fix=fix, group=group) for name, level, text, fix in rows]


_ALL = [
    *_rules(
        "file",
        ("unreadable-file", _E, "The file cannot be read as text.", "Save it as UTF-8 text below 256 KiB."),
        (
            "conflict-markers",
            _E,
            "The file holds two versions between git's conflict markers.",
            "Run `memfs edit --merge ID`: it shows both versions field by field.",
        ),
        (
            "unmerged",
            _E,
            "Two branches changed this memory, and git could not join them.",
            "Run `memfs edit --merge ID`, then `git add` the file.",
        ),
        ("lfs-pointer", _E, "A Git LFS pointer lies here instead of the file.", "Take memories out of Git LFS."),
        (
            "not-a-file",
            _E,
            "A symlink, a folder or a special file stands where a file should; it is not followed.",
            "Put the file itself here.",
        ),
        ("nested-repository", _E, "Another repository lies inside memories/; it is not entered.", "Move it elsewhere."),
        (
            "bad-id",
            _E,
            "The file's name is no id.",
            "Rename it: lower-case letters, digits and dashes, at most 64, then `.md`.",
        ),
        (
            "misplaced-file",
            _E,
            "The file lies in no scope folder.",
            "Move it to memories/personal/, memories/team/[NAME/] or memories/restricted/NAME/.",
        ),
        ("reserved-name", _E, "Windows cannot store a file or folder of this name.", "Rename it."),
        (
            "case-clash",
            _E,
            "Two paths differ only in case or Unicode form; some disks can hold only one of them.",
            "Rename one of them.",
        ),
        ("duplicate-id", _E, "Another file has this id; only one of them can be approved.", "Rename one of them."),
    ),
    *_rules(
        "form",
        (
            "bad-front-matter",
            _E,
            "The front matter is not the flat form of a memory.",
            "See the reference of the format.",
        ),
        ("missing-field", _E, "A required field is missing.", "Add it to the front matter."),
        ("bad-value", _E, "A field's value does not have the form that it needs.", "Write it as the message says."),
        (
            "scope-folder",
            _E,
            "The scope is not the folder that the file lies in.",
            "Change one of them; the folder wins.",
        ),
        ("no-statement", _E, "There is no text below the front matter.", "Begin with one paragraph that stands alone."),
        ("unknown-key", _N, "A key is no field of a memory; it is kept and not used.", "Take it out, or leave it."),
        (
            "not-normal-form",
            _W,
            "The file is not written as memfs writes it (Unicode NFC, LF, no trailing blanks, one final newline).",
            "Run `memfs check --fix`.",
        ),
        (
            "long-line",
            _W,
            "A line is so long that forges hide part of it in a review.",
            "Break the line; a single line end changes nothing in Markdown.",
        ),
    ),
    *_rules(
        "evidence",
        (
            "evidence-no-commit",
            _E,
            "The evidence names a commit that this repository does not have.",
            "Run `memfs verify ID`; it ties the evidence to the content that is there.",
        ),
        (
            "evidence-no-path",
            _E,
            "The commit is here, but the file was not in it.",
            "Run `memfs verify ID`; it ties the evidence to the content that is there.",
        ),
        (
            "evidence-may-vanish",
            _W,
            "The evidence is a commit that is only on this branch; a squash merge loses it.",
            "Name a file that shows it, or a commit of the base.",
        ),
        (
            "evidence-changed",
            _W,
            "The evidence has changed since; the memory is shown as one to look at again.",
            "Read it again; if the memory is still true, run `memfs verify ID`.",
        ),
        (
            "evidence-gone",
            _W,
            "The evidence is no longer in the repository.",
            "Name evidence that is there (`memfs edit ID --evidence PATH`), or `memfs forget ID`.",
        ),
        (
            "evidence-moved",
            _N,
            "The evidence lies at another path now, with the same content.",
            "Run `memfs verify ID`; it names the new path.",
        ),
        (
            "evidence-unknown",
            _N,
            "Whether the evidence changed cannot be told here.",
            "Check where the whole history is; `git fetch --unshallow` brings it.",
        ),
        (
            "evidence-narrower",
            _W,
            "The evidence is a memory that not every reader of this one may see.",
            "Name evidence that each reader may see.",
        ),
    ),
    *_rules(
        "due",
        ("due", _W, "The review trigger has fired.", "Look at it again; if it is still true, run `memfs verify ID`."),
        ("expired", _W, "The day of `expires` has come.", "Delete it (`memfs forget ID`), or say why it still holds."),
        (
            "trigger-unknown",
            _N,
            "Whether the review trigger fired cannot be told here.",
            "Check where the whole history is; `git fetch --unshallow` brings it.",
        ),
        (
            "trigger-blind",
            _W,
            "The review trigger can never fire here.",
            "Name a file, a package or a memory that this repository has.",
        ),
    ),
    *_rules(
        "others",
        ("supersedes-unknown", _W, "It supersedes an id that is not here.", "Correct the id, or leave it as a record."),
        (
            "supersession-cycle",
            _E,
            "Memories supersede each other in a circle; none of them counts.",
            "Break the circle.",
        ),
        (
            "two-answers",
            _W,
            "Two memories supersede the same one: there are two current answers to one question.",
            "Let one of them supersede the other.",
        ),
        (
            "supersedes-for-others",
            _W,
            "It supersedes a memory that people see who do not see this one.",
            "Give it a scope that all of them see.",
        ),
        ("duplicate-text", _W, "Another memory says exactly the same.", "Keep one of them."),
        (
            "near-duplicate",
            _W,
            "Another memory says nearly the same.",
            "Let one supersede the other, or say the difference.",
        ),
        (
            "contradiction",
            _W,
            "It reads like the opposite of another memory.",
            "Let one supersede the other, or say when which one holds.",
        ),
    ),
    *_rules(
        "admission",
        (
            "secret",
            _E,
            "It looks like a credential.",
            "Take it out, and replace the credential: git keeps it in history.",
        ),
        ("personal-data", _E, "It looks like personal data.", "Take it out; say what is needed without the person."),
        ("hidden-character", _E, "It holds characters that nobody sees.", "Delete them at the place named here."),
        ("authority", _E, "It grants authority or instructs its reader.", "Say what was decided, by whom, and where."),
        (
            "held",
            _E,
            "Admission holds this text until a person has approved it.",
            "A reviewer approves it (`memfs review --approve`), or it is reworded.",
        ),
        (
            "allowed-by-itself",
            _E,
            "The file lets one of admission's rules pass, and nobody has approved that.",
            "A reviewer approves it (`memfs review --approve`), or it is reworded.",
        ),
        (
            "unseen-text",
            _W,
            "A part of the text is not seen where it is rendered.",
            "Write it as plain text, or take it out.",
        ),
        ("mixed-script", _W, "A word mixes alphabets that look alike.", "Write the word in one alphabet."),
        (
            "transient",
            _W,
            "It looks like something that will not matter in three months.",
            "Say what lasts, or drop it.",
        ),
        ("colleague-named", _W, "The text names a colleague.", "Name the team or the role, if that is enough."),
    ),
    *_rules(
        "trust",
        (
            "keyring-refused",
            _E,
            "The keyring is refused, so nothing here is trusted.",
            "`memfs keys` says what is missing.",
        ),
        (
            "receipt-unreadable",
            _E,
            "A receipt does not hold exactly the one record that its name promises.",
            "Delete it; `memfs trust --sync` writes it again from the history.",
        ),
        (
            "receipt-refused",
            _W,
            "A receipt's signature does not hold under the keyring.",
            "Delete it, or have the memory approved again.",
        ),
        (
            "approval-lost",
            _W,
            "The text is not the one that was approved.",
            "Have it approved again (`memfs trust ID`), or go back to the approved text.",
        ),
    ),
    *_rules(
        "repository",
        (
            "bad-settings",
            _E,
            ".memfs/config.yaml is not valid.",
            "Correct it; until then nobody reads a restricted scope here.",
        ),
        (
            "bad-questions",
            _E,
            "A file of questions (evals/) cannot be read.",
            "Correct it; `memfs eval` names the place.",
        ),
        (
            "attributes",
            _W,
            ".gitattributes lets git change bytes that people sign.",
            "Add the lines `memories/** text eol=lf` and `.memfs/** -text`, without `merge=union`.",
        ),
    ),
    *_rules(
        "change",
        (
            "merge-conflict",
            _W,
            "git cannot merge this path, so the change was judged by its own files.",
            "Merge the base into the branch, and solve the conflict there.",
        ),
        (
            "scope-wider",
            _E,
            "More people would see this memory than before.",
            "An approver of the wider scope must agree.",
        ),
        ("scope-moved", _N, "The memory moves to other readers.", "Make sure that its readers still get it."),
        ("scope-unknown", _W, "The base's settings do not name this scope.", "Use a scope that they name."),
        (
            "base-moved",
            _W,
            "The base changed this memory too since this branch began.",
            "Merge the base, and look at both versions.",
        ),
        (
            "looks-the-same",
            _E,
            "A line looks the same as before, and has other characters.",
            "Write the letters that it had.",
        ),
        ("only-blanks", _N, "Only blanks change in a line.", "Nothing, if that is what is meant."),
        ("only-line-ends", _N, "Only the line ends change.", "Nothing: approvals stay."),
        (
            "copied-wider",
            _E,
            "The text of a memory appears where more people see it.",
            "Take it out, or have somebody agree who may approve for both scopes.",
        ),
        ("memory-removed", _N, "A memory is removed.", "Make sure that nobody needs it."),
        ("scope-narrower", _W, "Fewer people would see this memory than before.", "Make sure that nobody loses it."),
        ("origin-changed", _W, "The origin of a memory changes.", "Ask its writer."),
        (
            "origin-robot",
            _W,
            "The memory says that a person wrote it, and a robot committed it.",
            "Write the true origin (agent, imported or derived).",
        ),
        (
            "author-other",
            _W,
            "The new memory names an author who did not commit it.",
            "Ask the author that it names.",
        ),
        (
            "replaces-approved",
            _N,
            "It replaces an approved memory.",
            "Approve it only if the other one is to end.",
        ),
    ),
    *_rules(
        "drift",
        (
            "makes-stale",
            _W,
            "A change makes a memory one to look at again.",
            "Read it again; `memfs verify ID` says that it is still true.",
        ),
        (
            "gone",
            _W,
            "A change takes away what a memory rests on.",
            "`memfs verify ID` ties it to what is there; `memfs supersede ID` says what is true now.",
        ),
        ("trigger-fires", _W, "A change makes a review trigger fire.", "Read the memory again; `memfs verify ID`."),
        ("moved", _N, "A file moves on which a memory rests.", "`memfs verify ID` ties it to the new place."),
        ("heals", _N, "A change restores what a memory rests on.", "Nothing."),
        ("applies-here", _N, "An approved memory applies to a changed file.", "Make sure that the change fits it."),
    ),
    *_rules(
        "approvals",
        ("needs-approval", _N, "The text waits for an approval.", "`memfs review --approve` on this branch."),
        (
            "approval-refused",
            _E,
            "The approval of this text does not count.",
            "Have it approved by somebody whom the base's keyring lists.",
        ),
        ("approval-lapsed", _W, "The approval of this text has run out.", "Have it approved again (`memfs trust ID`)."),
        (
            "older-text",
            _E,
            "It brings back an older text; a newer one was approved since.",
            "Have it approved again (`memfs trust ID`), or keep the newer text.",
        ),
        ("text-denied", _E, "The keyring forbids this text for good.", "Write another text."),
        ("withdrawn", _N, "Somebody withdrew the approval of this memory.", "Nothing, if that is what is meant."),
        (
            "receipt-removed",
            _E,
            "The receipt of an approval is taken away, and the approval is lost.",
            "Put the receipts back; `memfs trust --sync` finds them in the history.",
        ),
        (
            "withdrawal-removed",
            _E,
            "The record of a withdrawal is taken away: an old text could return.",
            "Put the record back.",
        ),
        (
            "trailer-refused",
            _W,
            "A commit message contains an approval that does not count.",
            "Ask who wrote it; nothing in it was believed.",
        ),
        ("keyring-deleted", _E, "A keyring is deleted.", "Put it back: no approval counts without it."),
        (
            "keyring-rewritten",
            _E,
            "A keyring is rewritten, on which everybody's pin rests.",
            "Put it back; `memfs keys` adds a new version.",
        ),
        (
            "keyring-changed",
            _W,
            "Who may approve changes with this merge.",
            "Make sure that the people named here are meant.",
        ),
        (
            "approvals-end",
            _W,
            "Approvals end with the new keyring.",
            "Have those memories approved again after the merge.",
        ),
        (
            "keyring-missing",
            _E,
            "A keyring is pinned, and there is none here.",
            "Restore .memfs/ from a commit that your team trusts.",
        ),
        (
            "keyring-older",
            _E,
            "The keyring is older than the pinned one.",
            "Restore .memfs/ from a commit that your team trusts.",
        ),
    ),
    *_rules(
        "house",
        ("readers-wider", _E, "More people would read a scope.", "Have its readers agree."),
        ("readers-narrower", _W, "Fewer people would read a scope.", "Make sure that nobody loses what they need."),
        ("settings-changed", _W, "The settings of this repository change.", "Look at .memfs/config.yaml."),
        (
            "attributes-changed",
            _E,
            "An attribute would hide memories or change their bytes.",
            "Take the line out of .gitattributes.",
        ),
        (
            "review-files",
            _W,
            "A file changes that decides how memories are checked or reviewed.",
            "Look at it as closely as at the memories.",
        ),
        (
            "agent-files",
            _W,
            "A file changes that agents obey without memfs.",
            "Look at it as closely as at the memories.",
        ),
        (
            "look-alike-folder",
            _E,
            "A path is another one of memfs's on some disks, and not on this one.",
            "Rename it.",
        ),
        ("stray-file", _W, "A file lies where memfs does not read it.", "Rename it, or take it out."),
        (
            "house-people",
            _E,
            "Fewer people approved it than this repository wants.",
            "Have one more person approve it (`memfs trust ID`).",
        ),
        ("house-trigger", _E, "The review trigger is not one that this repository allows.", "Write another trigger."),
        ("house-field", _E, "A field is missing that this repository wants.", "Add it to the front matter."),
        ("evals-lowered", _W, "Recall must reach less than before.", "Say why in the pull request."),
    ),
]

_MANY = {
    "needs-approval": "{memories} wait for approval: {ids}. {message}",
    "memory-removed": "{memories} are removed: {ids}. {message}",
    "receipt-removed": "{memories} lose their approval: {ids}. {message}",
    "approval-lost": "{memories} lose their approval: {ids}. {message}",
    "withdrawn": "The approval of {memories} ends: {ids}. {message}",
    "scope-moved": "{memories} move: {ids}. {message}",
    "only-line-ends": "{files} change only their line ends: {ids}.",
}
"""Of rules whose results can be many and equal: one sentence for all of them."""

_BY_APPROVAL = frozenset((
    "approval-lost", "approval-lapsed", "approval-refused", "older-text", "needs-approval", "held", "allowed-by-itself",
    "scope-wider", "looks-the-same",
))  # fmt: skip

_FIXED = frozenset((
    "secret", "personal-data", "hidden-character", "authority", "allowed-by-itself", "duplicate-id", "approval-refused",
    "older-text", "text-denied", "receipt-removed", "withdrawal-removed", "receipt-refused", "receipt-unreadable",
    "keyring-deleted", "keyring-rewritten", "keyring-refused", "keyring-missing", "keyring-older", "not-a-file",
    "look-alike-folder", "attributes-changed", "readers-wider", "bad-settings",
))  # fmt: skip

HELP = "https://github.com/memfs-git/memfs/blob/main/docs/reference/checks.md"
"""The page that says what each rule is about; a rule's own place in it is ``#NAME``."""

RULES: dict[str, Rule] = {
    rule.name: replace(
        rule,
        many=_MANY.get(rule.name, ""),
        by_approval=rule.name in _BY_APPROVAL,
        fixed=rule.name in _FIXED,
    )
    for rule in _ALL
}

FORM_RULES: dict[str, str] = {
    "not-utf8": "unreadable-file",
    "nul": "unreadable-file",
    "too-large": "unreadable-file",
    "lone-carriage-return": "unreadable-file",
    "lfs-pointer": "lfs-pointer",
    "conflict-markers": "conflict-markers",
    "missing-field": "missing-field",
    "bad-type": "bad-value",
    "bad-value": "bad-value",
    "scope-folder": "scope-folder",
    "bad-id": "bad-id",
    "no-statement": "no-statement",
    "unknown-key": "unknown-key",
    "tag-key": "unknown-key",
    "byte-order-mark": "not-normal-form",
}
"""The model's problems by the rule that reports them; the others are ``bad-front-matter``."""

SKIP_RULES: dict[str, str] = {
    "nested-repository": "nested-repository",
    "bad-name": "bad-id",
    "too-deep": "misplaced-file",
}
"""The scan's reasons by the rule that reports them; the others are ``not-a-file``."""


def make_result(
    rule: str,
    message: str = "",
    *,
    path: str = "",
    line: int | None = None,
    column: int | None = None,
    fix: str | None = None,
    level: Level | None = None,
    fixable: bool = False,
    ids: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
) -> Result:
    """Return a result of ``rule``: its own sentence, level and fix where nothing better is given."""
    known = RULES[rule]
    return Result(
        rule=rule,
        level=level or known.level,
        message=message or known.sentence,
        path=path,
        line=line,
        column=column,
        fix=fix or known.fix,
        fixable=fixable,
        ids=ids,
        others=others,
    )
