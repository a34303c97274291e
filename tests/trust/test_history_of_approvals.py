"""The history of a memory names every approval of it, given alone or with others."""

from __future__ import annotations

from people import Person, Team, memory_text

from memfs.model.scope import Caller
from memfs.repository import Repository

OWNER_AND_TEAM = Caller()


def what_happened(team: Team, memory_id: str, caller: Caller = OWNER_AND_TEAM) -> list[tuple[str, str]]:
    repository = Repository(team.tree, places=team.places, today=team.today)
    return [(event.what, event.subject) for event in repository.history(memory_id, caller)]


def test_an_approval_of_several_is_in_the_history_of_each(team: Team, alice: Person) -> None:
    for name in "bc":
        team.write(name, memory_text(f"A rule called {name}."), commit=True)
    team.write("d", memory_text("Another rule."), commit=True)
    team.approve(alice, "b", "c")
    assert [what for what, _ in what_happened(team, "b")] == ["approval", "added"]
    assert [what for what, _ in what_happened(team, "c")] == ["approval", "added"]
    assert [what for what, _ in what_happened(team, "d")] == ["added"]


def test_a_path_or_a_title_is_the_id_that_it_means(team: Team) -> None:
    team.write("we-deploy-on-tuesdays", memory_text("We deploy on Tuesdays."), commit=True)
    for name in ("memories/team/we-deploy-on-tuesdays.md", "We deploy on Tuesdays", "we-deploy-on-tuesdays"):
        assert [what for what, _ in what_happened(team, name)] == ["added"]


def test_a_subject_that_names_a_hidden_memory_is_not_shown(team: Team, alice: Person) -> None:
    team.write("b", memory_text("A rule called b."), commit=True)
    team.write(
        "globex", memory_text("A secret client.", scope="restricted/board"), scope="restricted/board", commit=True
    )
    team.approve(alice, "b", "globex")
    (what, subject), *_ = what_happened(team, "b")
    assert (what, subject) == ("approval", "Approve b")
