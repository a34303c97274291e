"""WordPiece: the pieces that BERT's own tokenizer gives (checked once against it on 4,000 documents)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.index.wordpiece import encode, read_vocabulary

KNOWN = {
    "What is the capital of France?": ["[CLS]", "what", "is", "the", "capital", "of", "france", "?", "[SEP]"],
    "Unaffable café": ["[CLS]", "una", "##ffa", "##ble", "cafe", "[SEP]"],
    "getUserName()": ["[CLS]", "get", "##user", "##name", "(", ")", "[SEP]"],
    "中国 x": ["[CLS]", "中", "国", "x", "[SEP]"],
    "“quoted” — 5€": ["[CLS]", "“", "quoted", "”", "—", "5", "##€", "[SEP]"],
    "a\x00b\tc\u200bd": ["[CLS]", "ab", "cd", "[SEP]"],
    "": ["[CLS]", "[SEP]"],
    "x" * 101: ["[CLS]", "[UNK]", "[SEP]"],
}


@pytest.mark.parametrize("text", KNOWN)
def test_the_pieces_are_known(text: str) -> None:
    names = {number: piece for piece, number in read_vocabulary().items()}
    assert [names[number] for number in encode(text, limit=256)] == KNOWN[text]


def test_the_vocabulary_is_the_published_one() -> None:
    from hashlib import sha256
    from pathlib import Path

    import memfs.index

    raw = (Path(memfs.index.__file__).parent / "bert-uncased.txt").read_bytes()
    assert sha256(raw).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert len(read_vocabulary()) == 30_522


@given(st.text(max_size=400), st.integers(4, 64))
def test_any_text_fits_its_limit(text: str, limit: int) -> None:
    numbers = encode(text, limit=limit)
    vocabulary = read_vocabulary()
    assert 2 <= len(numbers) <= limit
    assert (numbers[0], numbers[-1]) == (vocabulary["[CLS]"], vocabulary["[SEP]"])
