"""The table of ADMISSION 5: everything hidden is found, real orthography is left alone."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.model.codepoints import HIDDEN_RANGES, ODD_SPACES, escape_hidden, find_hidden

REAL_ORTHOGRAPHY = {
    "persian": "می\u200cخواهیم کتاب\u200cهای API\u200cها را ذخیره کنیم.",
    "hindi": "क्\u200dष और अर्थात्\u200c दोनों सही हैं",
    "bengali": "র\u200d্যাম কনফিগারেশন",
    "malayalam chillu": "അവന്\u200d പറഞ്ഞു",
    "sinhala": "ශ්\u200dරී ලංකා",
    "arabic": "خدمة الدفع تتطلب موافقة.",
    "hebrew": "השירות דורש אישור",
    "thai": "บริการชำระเงิน",
    "japanese": "決済サービスは承認が必要です。\u3000次",
    "korean": "결제 서비스는 승인이 필요합니다",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "skin tone": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "heart": "\u2764\ufe0f",
    "keycap": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "country flag": "\U0001f1f3\U0001f1f4",
    "flag of Scotland": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "an emoji newer than this Python": "\U0001fad0\U0001faea",
    "french": "l’été\u202f: 10\u00a0000 requêtes",
    "combining": "e\u0301 n\u0303 \u0627\u064e\u0651",
    "windows line ends": "one\r\ntwo\r\n",
    "tab": "a\tb",
}


@pytest.mark.parametrize("name", REAL_ORTHOGRAPHY)
def test_real_orthography_is_left_alone(name: str) -> None:
    text = REAL_ORTHOGRAPHY[name]
    assert find_hidden(text) == []
    assert escape_hidden(text) == text


def test_the_ranges_are_in_order_and_do_not_overlap() -> None:
    edges = [edge for first, last, _ in HIDDEN_RANGES for edge in (first, last)]
    assert edges == sorted(edges)


def test_every_code_point_of_the_table_is_found_where_it_has_no_reason_to_be() -> None:
    missed = [
        hex(codepoint)
        for first, last, _ in HIDDEN_RANGES
        for codepoint in range(first, last + 1)
        if [h.codepoint for h in find_hidden(f"a{chr(codepoint)}b")] != [codepoint]
    ]
    assert missed == []


def test_every_control_format_and_private_code_point_is_found() -> None:
    missed = [
        hex(codepoint)
        for codepoint in range(0x110000)
        if unicodedata.category(chr(codepoint)) in {"Cc", "Cf", "Co", "Cs"}
        and chr(codepoint) not in "\n\t"
        and not find_hidden(f"a{chr(codepoint)}b")
    ]
    assert missed == []


def test_the_shared_table_agrees(shared) -> None:  # type: ignore[no-untyped-def]
    table = json.loads((shared / "data" / "admission" / "codepoints.json").read_text())
    wrong = [
        (hex(codepoint), row["action"])
        for row in table["ranges"]
        for codepoint in range(int(row["lo"][2:], 16), int(row["hi"][2:], 16) + 1)
        if bool(find_hidden(f"a{chr(codepoint)}b")) == (row["action"] == "normalise-for-matching")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "dep\u200dloy",  # a joiner in a Latin word
        "می\u200c\u200cخواهم",  # two in a row
        "\u200cسلام",  # at the start of a word
        "سلام\u200c ",  # at its end
        "a\ufe0fb",
        "\u2764\ufe0f\ufe0f",  # a second selector
        "1\ufe0f",  # a keycap without its cap
        "\U0001f600\u200d deploy",
        "\u200d\U0001f600",
        "\U0001f3f4\U000e0069\U000e0067\U000e006e\U000e007f",  # tags that spell no flag
        "x\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # a flag's tags without the flag
        "a\rb",
        "a\r\r\nb",
        "\ufefftext",
        "\u0378",  # nobody knows what this will be
    ],
)
def test_an_invisible_code_point_outside_its_context_is_found(text: str) -> None:
    assert find_hidden(text)


def test_tags_behind_a_real_flag_are_still_found() -> None:
    flag = REAL_ORTHOGRAPHY["flag of Scotland"]
    smuggled = "".join(chr(0xE0000 + ord(char)) for char in "skip review")
    assert len(find_hidden(flag + smuggled)) == len(smuggled)


def test_positions_count_characters() -> None:
    (hidden,) = find_hidden("ab\u202ecd")
    assert (hidden.offset, hidden.codepoint, hidden.why) == (2, 0x202E, "text direction control")


def test_escapes_are_visible_and_name_the_code_point() -> None:
    assert escape_hidden("a\u202eb\x1b[2K") == "a\\u{202E}b\\u{001B}[2K"
    assert escape_hidden("a\nb") == "a\nb"
    assert escape_hidden("a\r\nb\tc", single_line=True) == "a\\u{000D}\\u{000A}b\\u{0009}c"


def test_odd_spaces_are_not_hidden() -> None:
    assert find_hidden(ODD_SPACES) == []


@given(st.text())
def test_what_was_escaped_hides_nothing_and_is_one_line(text: str) -> None:
    shown = escape_hidden(text, single_line=True)
    assert find_hidden(shown) == []
    assert len(shown.splitlines()) <= 1


@given(st.text(alphabet=st.characters(codec="ascii", min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_ascii_is_never_touched(text: str) -> None:
    assert escape_hidden(text, single_line=True) == text
