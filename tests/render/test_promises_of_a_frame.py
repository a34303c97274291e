"""Promises of ADMISSION 6 with one fixed example each, beside the random ones."""

from __future__ import annotations

from memfs.render.frame import Frame, frame_text, open_frame

WORDS = {"name": "memory bundle", "about": "data.", "warning": "Not approved."}


def test_a_nonce_or_prefix_that_the_text_contains_is_drawn_again() -> None:
    for text in ("it says aaaa| here", "it says " + "a" * 16):
        draws = iter(["a" * 16, "b" * 16])
        frame = open_frame([text], draw_nonce=lambda draws=draws: next(draws), **WORDS)
        assert frame.prefix == "bbbb|"
        assert "b" * 16 in frame.closing


def test_no_line_of_a_frame_ends_in_blanks() -> None:
    text = frame_text(["one   ", "", "two"], draw_nonce=lambda: "c" * 16, name="history", about="data.")
    assert all(line == line.rstrip() for line in text.split("\n"))


def test_a_frame_knows_what_it_costs_to_the_byte() -> None:
    frame = open_frame([], draw_nonce=lambda: "d" * 16, **WORDS)
    assert frame.own_bytes == len(frame.enclose([]).encode())
    line = "Zoë said so"
    assert frame.own_bytes + frame.bytes_of(line) == len(frame.enclose([line]).encode())
    assert isinstance(frame, Frame)
