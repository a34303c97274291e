"""The commands of recall, as a person and a program see them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from indexes import write_memory
from referencing import Registry, Resource
from support import Run

from memfs.disk.places import Places
from memfs.disk.shipped import read_schema

Memfs = Callable[..., Run]


def validate(document: object, schema: str) -> None:
    shown = read_schema("shown")
    registry: Registry[Any] = Registry().with_resource(shown["$id"], Resource.from_contents(shown))
    jsonschema.Draft202012Validator(read_schema(schema), registry=registry).validate(document)


def answer(run: Run, schema: str) -> Any:
    assert run.out.isascii(), run.err
    document = json.loads(run.out)
    assert document["schema"] == f"memfs/{schema}/1"
    validate(document, schema)
    return document


def test_recall_frames_what_it_found(stocked: Path, memfs: Memfs) -> None:
    run = memfs("recall", "friday", "deploys", "--mode", "lexical", cwd=stocked)
    assert run.code == 0
    assert "Memory bundle" in run.out
    assert "[friday] decision" in run.out
    assert "| No deploys on Friday afternoon." in run.out
    assert "not approved" in run.out


def test_recall_says_when_it_found_nothing(stocked: Path, memfs: Memfs) -> None:
    run = memfs("recall", "yes, do it", cwd=stocked)
    assert (run.code, run.out) == (1, "")
    assert "nothing found (--all shows weak matches too)" in run.err


def test_recall_as_json_explains_itself(stocked: Path, memfs: Memfs) -> None:
    document = answer(memfs("recall", "friday deploys", "--json", "--explain", cwd=stocked), "recall")
    assert document["hits"][0]["id"] == "friday"
    assert document["parts"][0]["state"] == 1.0
    run = memfs("recall", "friday deploys", "--explain", "--mode", "lexical", cwd=stocked)
    assert "note: score 1.000 = words " in run.out


def test_recall_for_a_file_and_a_topic(stocked: Path, memfs: Memfs) -> None:
    assert "[additive]" in memfs("recall", "--for", "services/billing/api.py", cwd=stocked).out
    (stocked / "services/billing").mkdir(parents=True)
    assert "[additive]" in memfs("recall", "--for", "api.py", cwd=stocked / "services/billing").out
    assert "[friday]" in memfs("recall", "--topic", "deploy", cwd=stocked).out


def test_recall_keeps_to_a_budget(stocked: Path, memfs: Memfs) -> None:
    for number in range(8):
        write_memory(stocked, f"long-{number}", f"Friday {'word ' * 60} number {number}.")
    run = memfs("recall", "friday", "--limit", "8", "--budget", "2000", "--mode", "lexical", cwd=stocked)
    assert run.code == 0
    assert len(run.out.encode()) <= 2000
    assert "left out" in run.out
    assert memfs("recall", "friday", "--budget", "500t", cwd=stocked).out
    run = memfs("recall", "friday", "--budget", "700", "--mode", "lexical", cwd=stocked)
    assert (run.code, run.out) == (0, "")
    assert "none of them fits into --budget 700" in run.err
    for wrong in ("0", "x", "12kb", ""):
        assert memfs("recall", "friday", "--budget", wrong, cwd=stocked).code == 2


@pytest.mark.parametrize("argv", [("recall",), ("recall", "x", "--limit", "0"), ("recall", "x", "--as", "admins")])
def test_a_wrong_call_of_recall_is_said(argv: tuple[str, ...], stocked: Path, memfs: Memfs) -> None:
    assert memfs(*argv, cwd=stocked).code == 2


def test_a_brief_counts_what_is_not_approved(stocked: Path, memfs: Memfs) -> None:
    run = memfs("recall", "--brief", cwd=stocked)
    assert (run.code, run.out) == (1, "")
    assert "4 others are not approved or not current" in run.err
    assert answer(memfs("recall", "--brief", "--json", cwd=stocked), "recall")["others"] == 4


def test_recall_outside_a_repository_still_asks_the_users_stores(
    stocked: Path, memfs: Memfs, places: Places, tmp_path: Path
) -> None:
    places.config.mkdir(parents=True)
    (places.config / "config.yaml").write_text(f"version: 1\nstores:\n  - name: team\n    path: {stocked}\n")
    (places.config / "config.yaml").chmod(0o600)
    run = memfs("recall", "friday deploys", "--mode", "lexical", cwd=tmp_path)
    assert "store team" in run.out
    (places.config / "config.yaml").write_text(
        f"version: 1\nstores:\n  - name: gone\n    path: {tmp_path}/gone\n  - name: team\n    path: {stocked}\n"
    )
    run = memfs("recall", "friday deploys", "--mode", "lexical", cwd=tmp_path)
    assert "[friday]" in run.out
    assert "store gone is left out" in run.err


def test_index_says_what_it_did_and_how_it_stands(stocked: Path, memfs: Memfs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memfs.index.semantic.prepare_if_possible", lambda _places: None)
    assert memfs("index", "--status", cwd=stocked).code == 1
    assert answer(memfs("index", "--status", "--json", cwd=stocked), "index-status")["state"] == "missing"
    assert answer(memfs("index", "--json", cwd=stocked), "index")["memories"] == 5
    run = memfs("index", "--rebuild", cwd=stocked)
    assert run.out.startswith("5 memories indexed (5 read, 0 removed, 0 embedded)")
    status = answer(memfs("index", "--status", "--json", cwd=stocked), "index-status")
    assert (status["state"], status["memories"], status["behind"]) == ("current", 5, 0)
    assert "index      current" in memfs("index", "--status", cwd=stocked).out


def test_a_disk_that_refuses_is_said_in_one_sentence(
    stocked: Path, memfs: Memfs, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def refuse(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("memfs.index.writer._write", refuse)
    run = memfs("index", "--rebuild", cwd=stocked)
    assert (run.code, "the index cannot be written: No space left on device" in run.err) == (3, True)
    assert memfs("recall", "friday", "--mode", "lexical", cwd=stocked).code == 0
    places.state.mkdir(parents=True, exist_ok=True)
    if (places.state / "usage").exists():
        shutil.rmtree(places.state / "usage")
    (places.state / "usage").write_text("in the way")
    run = memfs("feedback", "friday", "--helped", cwd=stocked)
    assert (run.code, "this could not be kept" in run.err) == (3, True)


def test_models_are_listed(stocked: Path, memfs: Memfs) -> None:
    document = answer(memfs("model", "list", "--json", cwd=stocked), "models")
    assert [one["id"] for one in document["models"] if one["in_use"]] == ["all-minilm-l6-v2"]
    assert "bge-small-en-v1.5" in memfs("model", cwd=stocked).out


def test_a_model_that_is_not_here_is_not_taken_into_use(stocked: Path, memfs: Memfs) -> None:
    run = memfs("model", "use", "bge-small-en-v1.5", cwd=stocked)
    assert (run.code, "the file of this model is not here" in run.err) == (3, True)
    assert "* all-minilm-l6-v2" in memfs("model", cwd=stocked).out


def test_a_model_is_added_by_file_and_never_by_itself(stocked: Path, memfs: Memfs, tmp_path: Path) -> None:
    from onnx_files import STORED, model

    path = tmp_path / "small.onnx"
    path.write_bytes(model(*STORED))
    assert memfs("model", "add", "small", cwd=stocked).code == 2
    assert memfs("model", "add", "small", str(path), cwd=stocked).code == 2
    assert memfs("model", "add", "small", str(tmp_path / "gone"), "--dimensions", "32", cwd=stocked).code == 2
    assert memfs("model", "add", "small", "http://127.0.0.1/x", "--dimensions", "32", cwd=stocked).code == 2
    run = memfs("model", "add", "small", "https://127.0.0.1:9/x", "--dimensions", "32", cwd=stocked)
    assert (run.code, "--sha256" in run.err) == (2, True)
    run = memfs(
        "model", "add", "small", "https://127.0.0.1:9/x", "--dimensions", "32", "--sha256", "0" * 64, cwd=stocked
    )
    assert run.code == 3
    assert memfs("model", "add", "small", str(path), "--dimensions", "32", "--sha256", "0" * 64, cwd=stocked).code == 2
    assert memfs("model", "add", "small", str(path), "--dimensions", "32", cwd=stocked).code == 0
    assert memfs("model", "prepare", "small", cwd=stocked).code == 0
    assert memfs("model", "use", "small", cwd=stocked).code == 0
    assert "* small" in memfs("model", cwd=stocked).out
    assert memfs("model", "remove", "small", cwd=stocked).code == 0
    assert memfs("model", "use", "small", cwd=stocked).code == 1


def test_feedback_is_counted_here_and_nowhere_else(stocked: Path, memfs: Memfs) -> None:
    from support import git

    memfs("recall", "friday", "--mode", "lexical", cwd=stocked)
    assert memfs("feedback", "friday", "--helped", cwd=stocked).out == "friday: shown 1, helped 1, misled 0\n"
    document = answer(memfs("feedback", "friday", "--misled", "--json", cwd=stocked), "feedback")
    assert (document["helped"], document["misled"]) == (1, 1)
    assert not [line for line in git(stocked, "status", "--short").splitlines() if "memories" not in line]
    hidden = memfs("feedback", "incident", "--helped", cwd=stocked)
    unknown = memfs("feedback", "nobody-xx", "--helped", cwd=stocked)
    assert (hidden.code, unknown.code) == (1, 1)
    assert hidden.err.replace("incident", "nobody-xx") == unknown.err


def test_due_lists_what_fired_today_or_will(stocked: Path, memfs: Memfs) -> None:
    run = memfs("due", cwd=stocked)
    assert (run.code, run.out) == (1, "")
    assert memfs("due", "--on", "2040-01-01", "--as", "team", cwd=stocked).out.count("recheck") == 3
    write_memory(stocked, "window", "The window is open.", kind="handoff", expires="2020-01-01")
    run = memfs("due", cwd=stocked)
    assert run.out.startswith("window  expired: expired on 2020-01-01")
    assert [one["id"] for one in answer(memfs("due", "--json", cwd=stocked), "due")["memories"]] == ["window"]
    assert memfs("due", "--on", "soon", cwd=stocked).code == 2


def test_stale_lists_what_nobody_used(stocked: Path, memfs: Memfs) -> None:
    memfs("recall", "friday", "--mode", "lexical", cwd=stocked)
    run = memfs("stale", cwd=stocked)
    assert run.code == 0
    assert "additive  never used, shown 0 times" in run.out
    assert "friday" not in run.out
    assert "incident" not in run.out
    document = answer(memfs("stale", "--json", cwd=stocked), "stale")
    assert len(document["memories"]) == len(document["usage"]) == 3
    assert memfs("stale", "--days", "100000", cwd=stocked).code == 2


CASES = """
cases:
  - name: the decision with its reference
    ask: may billing drop a column in a migration?
    expect: additive
    cites: said by alice
  - ask: leaked deploy key
    as: team
    forbid: [incident]
  - ask: "yes, do it"
    nothing: true
  - name: the day after
    ask: friday deploys
    on: 2041-01-01
    expect: [friday]
    state: recheck
"""


def test_eval_holds_recall_to_the_repositorys_questions(stocked: Path, memfs: Memfs) -> None:
    assert memfs("eval", cwd=stocked).code == 2
    (stocked / "evals").mkdir()
    (stocked / "evals/recall.yaml").write_text(CASES)
    run = memfs("eval", cwd=stocked)
    assert (run.code, "passed, 4 cases, hit 1.000" in run.out) == (0, True), run.out
    (stocked / "memories/team/billing/additive.md").unlink()
    run = memfs("eval", cwd=stocked)
    assert run.code == 1
    assert "the decision with its reference: nothing expected was found" in run.out
    document = answer(memfs("eval", "--json", cwd=stocked), "eval")
    assert (document["passed"], document["suites"][0]["hit"]) == (False, 0.5)


def test_eval_catches_a_leak(stocked: Path, memfs: Memfs) -> None:
    (stocked / "evals").mkdir()
    (stocked / "evals/recall.yaml").write_text(
        "cases:\n  - ask: leaked deploy key\n    as: restricted/security\n    forbid: [incident]\n"
    )
    run = memfs("eval", cwd=stocked)
    assert run.code == 1
    assert "incident was found and is forbidden" in run.out
    assert "1 leaks" in run.out


def test_asking_for_another_day_does_not_move_the_clock_of_trust(stocked: Path, memfs: Memfs, places: Places) -> None:
    assert memfs("due", "--on", "2099-01-01", cwd=stocked).code == 0
    (stocked / "evals").mkdir()
    (stocked / "evals/recall.yaml").write_text("cases:\n  - ask: friday\n    on: 2099-01-01\n    expect: friday\n")
    assert memfs("eval", cwd=stocked).code == 0
    assert not [path for path in places.state.rglob("*") if path.is_file() and "2099" in path.read_text()]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("cases:\n  - ask: x\n", "2:5"),
        ("cases:\n  - expect: x\n", "2:5"),
        ("cases:\n  - ask: x\n    expect: y\n    when: z\n", "4:11"),
        ("cases:\n  - ask: x\n    expect: y\n    within: 0\n", "4:13"),
        ("cases:\n  - ask: x\n    expect: y\n    on: 2027-02-30\n", "4:9"),
        ("cases:\n  - ask: x\n    expect: y\n    as: root\n", "4:9"),
        ("require:\n  hit: 2\ncases:\n  - ask: x\n    expect: y\n", "2:8"),
        ("cases: [\n", ":"),
        ("cases: x\n", "1:8"),
    ],
)
def test_a_wrong_question_file_is_refused_with_its_place(text: str, where: str, stocked: Path, memfs: Memfs) -> None:
    (stocked / "evals").mkdir()
    (stocked / "evals/recall.yaml").write_text(text)
    run = memfs("eval", cwd=stocked)
    assert run.code == 4
    assert f"evals/recall.yaml:{where}" in run.err or where == ":"
