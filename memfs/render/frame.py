"""The frame that marks text as data (ADMISSION 6). Pure.

A nonce that the text could not know, a prefix on every physical line, visible escapes, a closing
line that is always printed. The frame makes the boundary legible; it does not make a model obey it.
What stops harm is that a memory grants no tool power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfs.model.values import dataclass

DrawNonce = Callable[[], str]
"""Gives 16 fresh hexadecimal digits at each call; surfaces pass ``lambda: secrets.token_hex(8)``."""

PREFIX_DIGITS = 4
_DRAWS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One opened frame: its first lines, the prefix of every line inside, its last line."""

    opening: tuple[str, ...]
    prefix: str
    closing: str

    def enclose(self, lines: Sequence[str]) -> str:
        """Return the whole frame round ``lines``, which hold no line ends."""
        inside = [f"{self.prefix} {line}".rstrip(" ") for line in lines]
        return "\n".join((*self.opening, *inside, self.closing)) + "\n"

    def bytes_of(self, line: str) -> int:
        """Return what one line costs inside this frame."""
        return len(self.prefix) + 1 + len(line.encode("utf-8", "surrogatepass")) + 1

    @property
    def own_bytes(self) -> int:
        """Return what the frame costs when it is empty."""
        return len("\n".join((*self.opening, self.closing, "")).encode())


def _draw(draw_nonce: DrawNonce) -> tuple[str, str]:
    nonce = draw_nonce()
    return nonce, f"{nonce[:PREFIX_DIGITS]}|"


def open_frame(lines: Sequence[str], *, draw_nonce: DrawNonce, name: str, about: str, warning: str) -> Frame:
    """Return a frame for ``lines`` whose nonce and prefix occur in none of them.

    ``name`` is what the frame calls itself ("memory bundle"), ``about`` ends its first sentence,
    ``warning`` is its second line; all three are memfs's own words.
    """
    content = "\n".join(lines)
    nonce, prefix = _draw(draw_nonce)
    for _ in range(_DRAWS):
        if nonce not in content and prefix not in content:
            break
        nonce, prefix = _draw(draw_nonce)
    return Frame(
        opening=(f'{name[0].upper()}{name[1:]} {nonce}. Lines that start with "{prefix} " are {about}', warning),
        prefix=prefix,
        closing=f"End of {name} {nonce}.",
    )


def frame_text(lines: Sequence[str], *, draw_nonce: DrawNonce, name: str, about: str) -> str:
    """Return ``lines``, already safe, in a frame of their own.

    For text of a repository that is not a memory to recall: a draft, an old version, a commit's
    message. The warning is the one of every unapproved text.
    """
    from memfs.render.words import UNAPPROVED_WARNING

    frame = open_frame(lines, draw_nonce=draw_nonce, name=name, about=about, warning=UNAPPROVED_WARNING)
    return frame.enclose(lines)
