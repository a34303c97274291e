"""An id can be made of any title, and is a safe file name everywhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfs.errors import InvalidMemoryError
from memfs.model.slugs import is_id, require_id, slug_of_title

WINDOWS = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])", re.IGNORECASE)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Re: plan", "re-plan"),
        ("  Governance: Core!  ", "governance-core"),
        ("a/b/c", "a-b-c"),
        ("../../etc/passwd", "etc-passwd"),
        ("é", "e"),
        ("e\u0301", "e"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ı", "i"),
        ("Smørrebrød Œuvre Łódź", "smorrebrod-oeuvre-lodz"),
        ("ﬁle №5", "file-no5"),
        ("foo_bar  baz", "foo-bar-baz"),
        ("CON", "memory-con"),
        ("aux", "memory-aux"),
        ("LPT¹", "memory-lpt1"),
        ("nul.md", "nul-md"),
        ("README", "memory-readme"),
        ("new\nline", "new-line"),
        ("nul\0here", "nul-here"),
        ("x" * 300, "x" * 48),
        ("word " * 30, "word-word-word-word-word"),
        ("The database of the billing team is never migrated on Fridays", "database-billing-team-never-migrated"),
        ("Don't retry uploads", "dont-retry-uploads"),
        ("Миграции аддитивны", "migratsii-additivny"),
        ("日本語", "ribenyu"),
        ("🎉", "tada"),
    ],
)
def test_a_title_is_spelt_in_ascii(title: str, slug: str) -> None:
    assert slug_of_title(title, taken=()) == slug


@pytest.mark.parametrize("title", ["", "   ", "..", "---", "\u2028", "\ue000"])
def test_a_title_without_letters_of_ascii_gets_a_name_of_its_own(title: str) -> None:
    slug = slug_of_title(title, taken=())
    assert re.fullmatch(r"memory-[0-9a-f]{8}", slug)
    assert slug == slug_of_title(title, taken=())
    assert slug != slug_of_title(title + "🎉", taken=())


def test_a_name_in_use_gets_the_next_number_also_where_case_does_not_count() -> None:
    assert slug_of_title("Foo", taken=["FOO"]) == "foo-2"
    assert slug_of_title("foo!", taken=["foo", "foo-2"]) == "foo-3"
    assert slug_of_title("C++", taken={"c", "c-2"}) == "c-3"


@settings(deadline=None, max_examples=300)
@given(titles=st.lists(st.text(), max_size=12))
def test_every_title_gets_an_id_of_its_own(titles: list[str]) -> None:
    taken: list[str] = []
    for title in titles:
        slug = slug_of_title(title, taken=taken)
        assert is_id(slug)
        assert len(slug) <= 64
        assert not WINDOWS.fullmatch(slug)
        assert slug not in taken
        taken.append(slug)


def test_numbers_stay_within_the_length_of_an_id() -> None:
    title = "x" * 300
    taken = {"x" * 48} | {f"{'x' * 48}-{number}" for number in range(2, 1001)}
    assert slug_of_title(title, taken=taken) == f"{'x' * 48}-1001"


@pytest.mark.parametrize("text", ["", "-", "a-", "-a", "A", "a_b", "a.b", "a" * 65, "é", "a\n", "a/b"])
def test_other_text_is_no_id(text: str) -> None:
    assert not is_id(text)
    with pytest.raises(InvalidMemoryError, match="must be an id"):
        require_id(text)


def test_an_id_is_returned_as_it_is() -> None:
    assert [require_id(text) for text in ("a", "7", "a-b", "a--b", "a" * 64)] == ["a", "7", "a-b", "a--b", "a" * 64]
