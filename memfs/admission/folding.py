"""Look-alikes folded to ASCII, one character for one character (ADMISSION 2, 5). Pure.

Offsets in the folded text are offsets in the original, so that a match can be shown and placed.
"""

from __future__ import annotations

# Letters of other scripts that pass for Latin ones in common fonts; a small own table, since the
# attack only works with the ones that people take for each other.
_LOOK_ALIKES = {
    # Cyrillic
    "а": "a", "в": "b", "с": "c", "ԁ": "d", "е": "e", "ё": "e", "ф": "f", "ғ": "f", "ԍ": "g", "һ": "h", "н": "h",
    "і": "i", "ї": "i", "ј": "j", "к": "k", "қ": "k", "ӏ": "l", "м": "m", "п": "n", "ո": "n", "о": "o", "и": "n",
    "р": "p",
    "ԛ": "q", "г": "r", "ѕ": "s", "т": "t", "ц": "u", "ѵ": "v", "ԝ": "w", "ш": "w", "х": "x", "у": "y", "ү": "y",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Ё": "E", "Ғ": "F", "Н": "H", "Һ": "H", "І": "I", "Ї": "I", "Ј": "J",
    "К": "K", "Қ": "K", "Ӏ": "I", "М": "M", "О": "O", "Р": "P", "Ԛ": "Q", "Ѕ": "S", "Т": "T", "Ѵ": "V", "Ԝ": "W",
    "Х": "X", "У": "Y", "Ү": "Y", "Ԁ": "D", "З": "3", "з": "3",
    # Greek
    "α": "a", "β": "b", "ϲ": "c", "δ": "d", "ε": "e", "η": "n", "ι": "i", "ϳ": "j", "κ": "k", "λ": "l", "μ": "u",
    "ν": "v", "ο": "o", "ρ": "p", "σ": "o", "τ": "t", "υ": "u", "χ": "x", "γ": "y", "ω": "w", "ζ": "z",
    "Α": "A", "Β": "B", "Ϲ": "C", "Ε": "E", "Η": "H", "Ι": "I", "Ϳ": "J", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O",
    "Ρ": "P", "Τ": "T", "Υ": "Y", "Χ": "X", "Ζ": "Z",
    # Armenian, Cherokee, Lisu and Latin oddities
    "օ": "o", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "ք": "p", "Օ": "O", "Տ": "S", "Ս": "U",
    "Ꭺ": "A", "Ᏼ": "B", "Ꮯ": "C", "Ꭰ": "D", "Ꭼ": "E", "Ꮐ": "G", "Ꮋ": "H", "Ꭵ": "i", "Ꭻ": "J", "Ꮶ": "K", "Ꮮ": "L",
    "Ꮇ": "M", "Ꮲ": "P", "Ꭱ": "R", "Ꮪ": "S", "Ꭲ": "T", "Ꮩ": "V", "Ꮃ": "W", "Ꭹ": "Y", "Ꮓ": "Z",
    "ꓮ": "A", "ꓐ": "B", "ꓚ": "C", "ꓓ": "D", "ꓰ": "E", "ꓝ": "F", "ꓖ": "G", "ꓧ": "H", "ꓲ": "I", "ꓙ": "J", "ꓗ": "K",
    "ꓡ": "L", "ꓟ": "M", "ꓠ": "N", "ꓳ": "O", "ꓑ": "P", "ꓣ": "R", "ꓢ": "S", "ꓔ": "T", "ꓴ": "U", "ꓦ": "V", "ꓪ": "W",
    "ꓫ": "X", "ꓬ": "Y", "ꓜ": "Z",
    "ı": "i", "ȷ": "j", "ɡ": "g", "ɑ": "a", "ɩ": "i", "ʀ": "R", "ꜱ": "s", "ᴀ": "a", "ʙ": "b", "ᴄ": "c", "ᴅ": "d",
    "ᴇ": "e", "ꜰ": "f", "ɢ": "g", "ʜ": "h", "ɪ": "i", "ᴊ": "j", "ᴋ": "k", "ʟ": "l", "ᴍ": "m", "ɴ": "n", "ᴏ": "o",
    "ᴘ": "p", "ᴛ": "t", "ᴜ": "u", "ᴠ": "v", "ᴡ": "w", "ʏ": "y", "ᴢ": "z", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
    "đ": "d", "ħ": "h", "ŧ": "t",
    # Punctuation
    "‹": "<", "〈": "<", "⟨": "<", "❮": "<", "˂": "<", "ᐸ": "<", "«": "<", "⟪": "<", "《": "<", "⋘": "<",
    "›": ">", "〉": ">", "⟩": ">", "❯": ">", "˃": ">", "ᐳ": ">", "»": ">", "⟫": ">", "》": ">", "⋙": ">",
    "∕": "/", "⁄": "/", "⧸": "/", "╱": "/", "∣": "|", "❘": "|", "❙": "|", "❚": "|", "ǀ": "|", "│": "|", "┃": "|",
    "¦": "|", "׀": "|", "⏐": "|", "∶": ":", "ː": ":", "꞉": ":", "։": ":", "׃": ":", "᛬": ":", "˸": ":", "܃": ":",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "⁃": "-", "˗": "-", "ー": "-", "ᅳ": "-",
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "ʼ": "'", "ʹ": "'", "′": "'", "“": '"', "”": '"', "„": '"', "‟": '"',
    "″": '"', "‗": "_", "ˍ": "_", "․": ".", "ꓸ": ".", "。": ".", "⁎": "*", "∗": "*", "﹡": "*",
    "ⵏ": "|", "ꟾ": "I", "〔": "[", "【": "[", "〚": "[", "〕": "]", "】": "]", "〛": "]", "ꓹ": ",",
}  # fmt: skip


class _Folding(dict[int, str]):
    """``str.translate`` table that works out, and keeps, what a character folds to."""

    def __missing__(self, codepoint: int) -> str:
        from unicodedata import decomposition, normalize

        char = chr(codepoint)
        plain = char
        if codepoint > 0x7F and not 0xAC00 <= codepoint <= 0xD7A3:
            compatible = normalize("NFKC", char)
            if len(compatible) > 1 and compatible[0] == " ":  # a spacing accent
                compatible = compatible[1:]
            if len(compatible) == 1:
                plain = self.get(ord(compatible), compatible)
            if ord(plain) > 0x7F and (parts := decomposition(plain)) and not parts.startswith("<"):
                base = chr(int(parts.split()[0], 16))  # é → e
                base = self.get(ord(base), base)
                if base.isascii():
                    plain = base
            if plain.isspace() and plain != "\n":
                plain = " "
        self[codepoint] = plain
        return plain


_TABLE = _Folding({ord(char): plain for char, plain in _LOOK_ALIKES.items()})


def fold_characters(text: str) -> str:
    """Return ``text`` of the same length with look-alikes and accents folded to ASCII where there is one."""
    return text if text.isascii() else text.translate(_TABLE)
