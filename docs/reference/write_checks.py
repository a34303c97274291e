"""Write ``checks.md`` from the table of rules; ``--check`` fails when it is out of date."""

import sys
from pathlib import Path

from memfs.check.rules import GROUPS, RULES, Rule

PAGE = Path(__file__).with_name("checks.md")

HEAD = """# Checks

Written by `python docs/reference/write_checks.py` from the rules themselves.

`memfs check` looks at every memory of a repository, or at a change of it, and prints one line for each broken
rule: `path:line:column: rule sentence`, and below it what to do. An **error** ends it with 1, a **warning** only
with `--strict`, a **note** never. In a repository with a keyring that nobody has pinned on this machine it ends
with 2, because no approval was judged; `--pin` (or `MEMFS_PIN`) names the keyring to judge by, and `--pin here`
takes the one that is there unverified.

| what is checked | with |
| --- | --- |
| the work tree | `memfs check [PATH…]` |
| what `git commit` would commit | `memfs check --staged` |
| what a branch changes, judged by the base's keyring | `memfs check --base REV` |
| what a commit changes, without checking it out | `memfs check --base REV --commit REV` |

`--fix` writes files in memfs's form and changes nothing else: Unicode NFC, LF, no trailing blanks, one final
newline. An approved file is left as it is, because its approval would be lost by a blank that nobody sees.

`--format` prints for people (`text`), programs (`json`, [schema](../../schemas/check.json)), code scanning
(`sarif`, 2.1.0), GitHub's annotations (`github`), GitLab's code quality (`gitlab`), test reports (`junit`) and
reviewdog (`rdjson`). Every form has every result: rule, level, place, what to do, and the rule's place on this page.

A change is judged as the merge that it would become, by the keyring and the settings of its base. Where git cannot
merge the two sides, the branch's own files are judged and `merge-conflict` says so. Two histories without a known
common commit (a shallow clone) are an error.

## How strict it is

`.memfs/config.yaml` can say so. A change is judged by the file of its **base**; the person's own `config.yaml` takes
the same map and sets the least. A *fixed* rule below keeps at least its level. *approval*: an approval settles it.

```yaml
check:
  fail_on: warning              # error (default), warning or note
  require_approval: [team/*]    # true, or scopes: there a text that nobody has approved is an error
  rules:
    near-duplicate: off         # off, note, warning or error
  house:
    people: {restricted/*: 2}   # more than the keyring demands
    trigger_days: 400           # the furthest day of a review trigger
    trigger_kinds: [on, when]
    required: [author]
```

`--fail-on` and `--require-approval` ask for more on the command line. `--write-baseline` notes what is found now in
`.memfs/baseline.json`, for a repository that has old faults: what is known there is left out, fixed rules excepted.
One memory excuses itself with `allow: [near-duplicate (the reason)]`; that counts once the file is approved.

What a file alone is told is kept in the user's cache by its content, so a second run takes a fraction of the
first. Everything about several files, about approvals, about evidence as it is now and about today is found
again each time.

Near duplicates and contradictions are found by shared words, negations, opposites and numbers: a hint for a
reviewer, no proof. Admission's own rules are listed in the [reference of admission](admission.md); `memfs check`
reports them by what they are about, with the rule's name in brackets, and never shows the value.
"""


def _marks(rule: Rule) -> str:
    return (" (fixed)" if rule.fixed else "") + (" (approval)" if rule.by_approval else "")


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        parts.append(f"## {title}\n\n| rule | level | what is wrong | what to do |\n| --- | --- | --- | --- |")
        for rule in RULES.values():
            if rule.group == group:
                level = f"{rule.level.value}{_marks(rule)}"
                name = f'<a id="{rule.name}"></a>`{rule.name}`'
                parts.append(f"| {name} | {level} | {rule.sentence} | {rule.fix or ''} |")
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.exit("docs/reference/checks.md is out of date: run python docs/reference/write_checks.py")
    else:
        PAGE.write_text(page(), encoding="utf-8")
