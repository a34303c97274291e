"""Draw the README's picture from what memfs really prints: ``python docs/picture/make_picture.py``.

Plays `memfs demo` in a temporary folder on a terminal of its own, keeps the three moments that matter (an approved
memory is recalled, its evidence changes, one letter changes), and writes them as ``memfs.svg``. No fonts are loaded
from anywhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, LINE, LEFT, TOP = 980, 19, 20, 52
LONGEST = 116
COLOURS = {"prompt": "#7ee787", "frame": "#6e7681", "text": "#e6edf3", "good": "#7ee787", "bad": "#ffa657"}


def play() -> str:
    """Return what the demo prints, without escapes."""
    argv = [sys.executable, "-m", "memfs", "demo"]
    environ = {"PATH": os.environ["PATH"], "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        argv, env=environ, cwd=HERE.parent.parent, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode("utf-8"))


def moments(shown: str) -> list[tuple[str, str]]:
    """Return (colour, line) of the three recalls after the approval, and what happened between them."""
    recalls = [part for part in re.split(r"(?m)^(?=\$ )", shown) if part.startswith("$ memfs recall")]
    between = ["", "$ git commit -qam 'Revise decision 14'", "$ sed -i 's/additive schema/addictive schema/' …"]
    lines: list[tuple[str, str]] = []
    for said, recall in zip(between, recalls[1:4], strict=True):
        if said:
            lines += [("text", ""), ("prompt", said)]
        for line in recall.splitlines():
            if line.startswith("$ "):
                lines.append(("prompt", line))
            elif "|" in line[:6]:
                lines.append((colour_of(line), line))
    return [(colour, line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…") for colour, line in lines]


def colour_of(line: str) -> str:
    if "(unchanged)" in line or " approved by " in line:
        return "good"
    return "bad" if "RECHECK" in line or "not approved" in line or "(changed)" in line else "text"


def draw(lines: list[tuple[str, str]]) -> str:
    """Return the picture of a terminal with these lines."""
    height = TOP + LINE * len(lines) + 16
    dots = "".join(
        f'<circle cx="{LEFT + 20 * number}" cy="20" r="6" fill="{fill}"/>'
        for number, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    rows = []
    for number, (colour, line) in enumerate(lines):
        prefix, bar, rest = line.partition("| ") if re.match(r"[0-9a-f]{4}\| ", line) else ("", "", line)
        head = f'<tspan fill="{COLOURS["frame"]}">{escape(prefix + bar)}</tspan>' if bar else ""
        body = f'<tspan fill="{COLOURS[colour]}">{escape(rest)}</tspan>'
        rows.append(f'<text x="{LEFT}" y="{TOP + LINE * number}" xml:space="preserve">{head}{body}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-label="A terminal: an approved memory is recalled; its evidence changes and it says RECHECK;'
        ' one letter changes and the approval is gone.">\n'
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#0d1117"/>\n{dots}\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.5">\n'
        + "\n".join(rows)
        + "\n</g>\n</svg>\n"
    )


if __name__ == "__main__":
    (HERE / "memfs.svg").write_text(draw(moments(play())), encoding="utf-8")
