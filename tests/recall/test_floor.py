"""A conversation wants no memory; a question gets its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import write_memory

from memfs.index.tokenizer import parse_question
from memfs.recall.floor import is_question, topic_terms
from memfs.recall.search import Result
from memfs.recall.steps import is_command


def ids(result: Result) -> list[str]:
    return [hit.assessment.file.id for hit in result.hits]


TALK = [
    "yes, do it", "ok thanks", "continue", "looks good to me", "try again", "no, not like that", "go ahead", "hello",
    "thank you very much", "what's next?", "wait a moment", "are you sure?", "undo that", "run it again", "да, давай",
    "that's wrong, try another way", "can you explain?", "let me know when you are done", "hmm ok", "", "???", "👍 ok",
]  # fmt: skip
COMMANDS = [
    "git status",
    "ls -la",
    "git diff --stat",
    "npm test",
    "npm run lint",
    "cd ..",
    "$ pytest -q tests/",
    "cat README.md",
]
QUESTIONS = ["how do we deploy?", "git worktree layout", "docker compose networking", "which port?", "設備"]


@pytest.mark.parametrize("prompt", TALK)
def test_small_talk_is_about_nothing(prompt: str) -> None:
    topics = topic_terms(parse_question(prompt))
    assert topics in ([], ["👍"])


@pytest.mark.parametrize("prompt", COMMANDS)
def test_a_plain_command_is_no_question(prompt: str) -> None:
    assert is_command(prompt)


@pytest.mark.parametrize("prompt", QUESTIONS)
def test_a_question_is_about_something(prompt: str) -> None:
    assert topic_terms(parse_question(prompt))
    assert not is_command(prompt)


def test_what_nobody_wrote_about_is_no_question() -> None:
    assert not is_question(["zeppelin"], [0], documents=1000, covered=False, is_near=False)
    assert is_question(["zeppelin"], [0], documents=1000, covered=False, is_near=True)
    assert is_question(["cache", "zeppelin"], [3, 0], documents=1000, covered=False, is_near=False)
    assert is_question(["cache"], [900], documents=1000, covered=True, is_near=False)
    assert not is_question([], [], documents=1000, covered=False, is_near=True)


def test_small_talk_finds_nothing_and_all_shows_it(stocked: Path, ask: Callable[..., Result]) -> None:
    for number in range(20):
        path = stocked / f"memories/team/chat-{number}.md"
        path.write_text(path.parent.joinpath("friday.md").read_text().replace("No deploys", "Yes, ok, do it again"))
    for prompt in [*TALK, *COMMANDS]:
        assert ask(stocked, prompt, prompt=True).hits == (), prompt
    assert ask(stocked, "do it again", floor=False).hits


def test_a_hostile_prompt_is_cut_and_answered(stocked: Path, ask: Callable[..., Result]) -> None:
    assert ask(stocked, "(" * 3000 + " friday") is not None
    assert ask(stocked, "friday " + "x" * 30_000).hits
    assert ask(stocked, "a:b [c TO d] * friday").hits


AT_HAND = [
    "now write the tests for it",
    "what does this error mean?",
    "erkläre mir diesen Fehler",
    "explícame este error por favor",
]


@pytest.mark.parametrize("prompt", AT_HAND)
def test_the_work_at_hand_is_no_topic_beside_conversation(
    prompt: str, stocked: Path, ask: Callable[..., Result]
) -> None:
    for number, text in enumerate(
        ["Tests use Vitest.", "An error is JSON.", "Ein Fehler ist JSON.", "El error es JSON."]
    ):
        write_memory(stocked, f"m{number}", text)
    assert ask(stocked, prompt, prompt=True).hits == ()
    assert ask(stocked, prompt.rsplit(maxsplit=1)[-1].strip("?"), floor=False) is not None


@pytest.mark.parametrize("prompt", ["tests", "what is an error?", "which error has our API?"])
def test_the_work_at_hand_is_a_topic_where_it_is_asked_for(
    prompt: str, stocked: Path, ask: Callable[..., Result]
) -> None:
    write_memory(stocked, "tests", "Tests use Vitest.")
    write_memory(stocked, "errors", "An error of our API is JSON.")
    assert ask(stocked, prompt, prompt=True).hits


def test_a_rare_word_alone_is_no_topic_of_a_longer_prompt(stocked: Path, ask: Callable[..., Result]) -> None:
    write_memory(stocked, "i18n", "We translate the menu with Weblate.")
    prompt = "translate the following to French: cats sleep"
    assert ask(stocked, prompt, prompt=True).hits == ()
    assert ids(ask(stocked, prompt)) == ["i18n"], "a person who asks gets it"
    assert ids(ask(stocked, "do we translate the menu", prompt=True)) == ["i18n"]
    assert ids(ask(stocked, "translate", prompt=True)) == ["i18n"]
