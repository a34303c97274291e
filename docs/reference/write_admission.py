"""Write ``admission.md`` from the tables of rules; ``--check`` fails when it is out of date."""

import sys
from pathlib import Path

from memfs.admission.catalogue import all_rules
from memfs.admission.rules import Family

PAGE = Path(__file__).with_name("admission.md")

HEAD = """# Admission

Written by `python docs/reference/write_admission.py` from the rules themselves.

Every text passes the gate before a byte is written, again on a pull request (`memfs check`, `memfs review`),
and again when it is read (a file that somebody edited by hand is shown as a placeholder with its id and the
rule). A finding names rule, field, line and column, and never the value.

| verdict | what happens |
| --- | --- |
| **reject** | nothing is written anywhere; exit code 5 |
| **hold** | the draft stays with its author in `memfs drafts`, outside the repository, and is never recalled |
| **warn** | said, and nothing else |

`--allow RULE --reason TEXT` lets one rule pass; rule and reason stand in the commit, and the rule's name in the
file. At reading time that counts only for approved text. Rules marked *fixed* cannot be allowed by anybody.
`memfs admission test FILE…` says what the rules say of any text.

The rules catch the shapes that they name. They do not understand text: a grant of authority in other words, or
a passing note that looks durable, gets through, and is carried by origin, evidence, a person's approval and the
frame instead. `python benchmarks/admission.py` measures them.
"""

TITLES = {
    Family.FORM: "Form",
    Family.CODEPOINTS: "Characters",
    Family.SECRETS: "Credentials",
    Family.PERSONAL: "Personal data",
    Family.AUTHORITY: "Authority and instructions",
    Family.TRANSIENCE: "Passing notes",
}


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for family, title in TITLES.items():
        rows = [rule for rule in all_rules().values() if rule.family is family]
        parts += [f"## {title}", "", "| rule | verdict | the text … |", "| --- | --- | --- |"]
        for rule in rows:
            fixed = ", fixed" if rule.fixed else ""
            parts.append(
                f"| `{rule.name}` | {rule.severity.value}{fixed} | {rule.sentence.replace('|', chr(92) + '|')} |"
            )
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            sys.exit("docs/reference/admission.md is out of date: run python docs/reference/write_admission.py")
    else:
        PAGE.write_text(text, encoding="utf-8")
