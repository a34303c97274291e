"""The template repository: what it says holds, and its own workflows run."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from making import check as check_tree
from making import commit, memory_text, put, rules_of
from people import Person, Team
from support import CHECKOUT, git

import memfs as package
from memfs.disk.places import Places
from memfs.disk.shipped import fill_example, find_shipped, iter_template
from memfs.model.memory import Kind
from memfs.model.reader import read_memory
from memfs.review.forms import MARKER

TEMPLATE = find_shipped("template-repo")
WORKFLOW = TEMPLATE / ".github" / "workflows" / "memories.yml"
POLICY = "Invoices are numbered without gaps, so a cancelled one keeps its number."

FAKE_GH = r"""#!/bin/sh
# Answers the listing of comments, and keeps every writing call with its body.
case "$*" in
  *--paginate*) cat "$GH_COMMENTS"; exit 0 ;;
esac
number=$(ls "$GH_LOG" | wc -l)
printf '%s\n' "$@" > "$GH_LOG/$number.args"
for argument in "$@"; do
  case "$argument" in
    body=@*|sarif=@*) cp "${argument#*=@}" "$GH_LOG/$number.file" ;;
  esac
done
"""


@pytest.fixture
def made(tmp_path: Path, places: Places, key: Path, memfs) -> Team:  # type: ignore[no-untyped-def]
    """Return a repository made from the template, pushed to a bare origin."""
    root = tmp_path / "memories-of-the-team"
    done = memfs("init", str(root), "--key", str(key), cwd=tmp_path)
    assert done.code == 0, done.err
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    git(root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(root, "push", "-q", "-u", "origin", "HEAD:main")
    return Team(root=root, places=places)


# -- what it holds -----------------------------------------------------------------------------------


def test_there_is_an_example_of_every_kind() -> None:
    kinds = {
        memory.kind
        for path, raw in iter_template()
        if path.startswith("memories/")
        and (memory := read_memory(path, fill_example(raw, blobs={}, today=date(2026, 11, 30))).memory)
    }
    assert kinds == set(Kind)


def test_every_memory_of_a_new_repository_passes_every_check(made: Team) -> None:
    assert check_tree(made.root, made.places).report.results == ()


def test_the_examples_rest_on_the_content_of_the_files_beside_them(made: Team) -> None:
    text = made.path("migrations-are-additive", "team/billing").read_text()
    found = re.search(r"(docs/decisions/\S+)@blob:([0-9a-f]{32})\n", text)
    assert found is not None
    assert made.git("show", found[2]).startswith("# 1. Database migrations")
    assert made.git("rev-parse", f"HEAD:{found[1]}").startswith(found[2])
    assert "2000-01-01" not in text


def test_a_copy_that_was_never_initialised_rests_on_what_is_there(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    for path, raw in iter_template():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(raw)
    git(root, "init", "-q")
    commit(root, "Use this template")
    assert not [rule for rule in rules_of(check_tree(root)) if rule.startswith("evidence-")]


def test_a_repository_of_sha256_names_the_content_by_its_own_hash(tmp_path: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path / "longer"
    root.mkdir()
    git(root, "init", "-q", "--object-format=sha256")
    done = memfs("init", str(root), "--no-keyring", cwd=tmp_path)
    assert done.code == 0, done.err
    text = (root / "memories/team/error-messages-say-what-to-do.md").read_text()
    found = re.search(r"docs/style.md@blob:([0-9a-f]+)\n", text)
    assert found is not None
    assert git(root, "rev-parse", "HEAD:docs/style.md").startswith(found[1])


def test_its_questions_are_answered(made: Team, memfs) -> None:  # type: ignore[no-untyped-def]
    done = memfs("eval", "--mode", "lexical", cwd=made.root)
    assert done.code == 0, done.out + done.err


def test_an_edited_example_is_left_alone() -> None:
    raw = memory_text().encode()
    assert fill_example(raw, blobs={}, today=date(2026, 11, 30)) == raw


def test_nothing_merges_by_union_and_signed_bytes_stay() -> None:
    lines = (TEMPLATE / ".gitattributes").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert not any("union" in line for line in rules)
    assert "memories/** text eol=lf diff=markdown" in rules
    assert ".memfs/** -text" in rules


def test_a_word_difference_is_what_git_shows(made: Team) -> None:
    path = made.path("error-messages-say-what-to-do")
    path.write_text(path.read_text().replace("first", "FIRST"))
    shown = made.git("diff", "--word-diff", "--", "memories")
    assert "[-first-]{+FIRST+}" in shown


def test_code_owners_cover_every_scope_of_the_examples_and_the_house_rules() -> None:
    owned = [
        line.split()[0] for line in (TEMPLATE / ".github/CODEOWNERS").read_text().splitlines() if line.startswith("/")
    ]
    for folder in {path.rsplit("/", 1)[0] for path, _ in iter_template() if path.startswith("memories/")}:
        assert f"/{folder}/" in owned
    for rules in ("/.memfs/keyring.*", "/.memfs/config.yaml", "/.github/", "/.gitattributes"):
        assert rules in owned


def test_the_pull_request_asks_the_three_questions() -> None:
    for path in (".github/pull_request_template.md", ".gitlab/merge_request_templates/Default.md"):
        text = (TEMPLATE / path).read_text()
        for question in ("Is it durable?", "What does it rest on?", "Who may see it?"):
            assert question in text


@pytest.mark.parametrize("path", [TEMPLATE / ".pre-commit-config.yaml", CHECKOUT / ".pre-commit-hooks.yaml"])
def test_the_hooks_are_commands_that_exist(path: Path, repo: Path, memfs) -> None:  # type: ignore[no-untyped-def]
    if not path.is_file():
        pytest.skip("the checkout is not beside the installed package")
    document = yaml.safe_load(path.read_text())
    hooks = document if isinstance(document, list) else [hook for found in document["repos"] for hook in found["hooks"]]
    for hook in hooks:
        command, *arguments = hook["entry"].split()
        assert command == "memfs"
        assert memfs(*arguments, cwd=repo).code == 0


# -- the workflow ------------------------------------------------------------------------------------


def _workflow() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())
    return found


def test_the_side_that_reads_a_proposal_has_no_token_and_may_write_nothing() -> None:
    workflow = _workflow()
    assert workflow["permissions"] == {}
    jobs = workflow["jobs"]
    assert jobs["judge"]["permissions"] == {"contents": "read"}
    assert jobs["comment"]["permissions"] == {"pull-requests": "write"}
    assert jobs["findings"]["permissions"] == {"security-events": "write"}
    for step in jobs["judge"]["steps"]:
        uses_memfs = "memfs " in step.get("run", "") and "pip install" not in step.get("run", "")
        if uses_memfs:
            assert "token" not in json.dumps(step).lower(), step["name"]
    checkout = jobs["judge"]["steps"][0]
    assert checkout["with"]["persist-credentials"] is False
    assert "ref" not in checkout["with"]  # the base branch, never the proposal
    for name in ("comment", "findings"):
        text = json.dumps(jobs[name])
        assert "checkout" not in text
        assert "memfs " not in text.replace("memfs-report", "")


def test_no_text_of_a_proposal_is_pasted_into_a_script() -> None:
    for job in _workflow()["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step["name"]
    text = WORKFLOW.read_text()
    for field in ("pull_request.title", "pull_request.body", "head_ref", "head.ref", "secrets."):
        assert field not in text


def test_every_action_is_pinned_to_a_commit() -> None:
    for job in _workflow()["jobs"].values():
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step["uses"]


REF = "github.event_name == 'push' && github.ref || format('refs/pull/{0}/head', github.event.pull_request.number)"


class Forge:
    """A runner of the workflow's own steps: bash, git and this memfs are real, the forge is not."""

    def __init__(
        self, folder: Path, origin: Path, home: Path, event: Mapping[str, Any], variables: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.home = home
        self.values = {
            "github.event_name": event["name"],
            "github.event.pull_request.number": "7",
            "github.event.pull_request.head.sha": event.get("head", ""),
            "github.event.pull_request.head.sha || github.sha": event.get("head", ""),
            "github.event.pull_request.base.ref": "main",
            "github.event.merge_group.base_sha": event.get("base", ""),
            "github.event.merge_group.head_sha": event.get("head", ""),
            REF: "refs/heads/main" if event["name"] == "push" else "refs/pull/7/head",
            "github.token": "not-a-token",
            "github.repository": "acme/memories",
            "vars.MEMFS_WHEEL": variables.get("MEMFS_WHEEL", ""),
            "vars.MEMFS_PIN || 'here'": variables.get("MEMFS_PIN", "here"),
            "steps.ends.outputs.base": "",  # of a step that was skipped
            "steps.ends.outputs.head": "",
        }
        self.log = folder / "gh-log"
        self.comments = folder / "gh-comments"
        self.summary = folder / "summary.md"
        self.outputs = folder / "outputs"
        self.work = folder / "workspace"
        for place in (folder, self.log):
            place.mkdir(exist_ok=True)
        self.comments.write_text("")
        git(folder, "clone", "-q", str(origin), str(self.work))
        self._install()

    def _install(self) -> None:
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        launcher = (
            "import sys; from pathlib import Path; from memfs.disk.places import Places; from memfs.cli import main; "
            f"sys.exit(main(sys.argv[1:], places=Places(home=Path({str(self.home)!r}))))"
        )
        scripts = {
            "memfs": f'#!/bin/sh\nexec "{sys.executable}" -I -c "{launcher}" "$@"\n',
            "python": '#!/bin/sh\n[ "$2" = pip ] && echo "$@" >> "$PIP_LOG"\nexit 0\n',
            "gh": FAKE_GH,
        }
        for name, text in scripts.items():
            (bin_folder / name).write_text(text)
            (bin_folder / name).chmod(0o755)

    def run(self, job: str) -> Iterator[tuple[str, int, str]]:
        """Run the shell steps of a job; yield name, exit code and output. A failure skips what follows
        unless the step says `always()`."""
        workflow = _workflow()
        failed = False
        for step in workflow["jobs"][job]["steps"]:
            if "run" not in step or not self._holds(step.get("if", ""), failed=failed):
                continue
            env = {key: self._expand(value) for key, value in {**workflow["env"], **step.get("env", {})}.items()}
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
                cwd=self.work,
                env={
                    **{name: os.environ[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "LC_ALL")},
                    "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                    "HOME": str(self.home),
                    "GITHUB_STEP_SUMMARY": str(self.summary),
                    "GITHUB_OUTPUT": str(self.outputs),
                    "GH_LOG": str(self.log),
                    "GH_COMMENTS": str(self.comments),
                    "PIP_LOG": str(self.folder / "pip.log"),
                    "RUNNER_TEMP": str(self.folder),
                    **env,
                },
                capture_output=True,
                text=True,
                check=False,
            )
            failed = failed or done.returncode != 0
            if step.get("id") and self.outputs.exists():
                pairs = (line.partition("=") for line in self.outputs.read_text().split("\n") if line)
                self.values.update({f"steps.{step['id']}.outputs.{name}": value for name, _, value in pairs})
            self.values[f"steps.{step.get('id')}.outcome"] = "failure" if done.returncode else "success"
            yield step["name"], done.returncode, done.stdout + done.stderr

    def _expand(self, value: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: str(self.values[found[1]]), value)

    def _holds(self, condition: str, *, failed: bool) -> bool:
        """Return what the forge makes of `if`: without `always()` a step runs only while nothing has failed."""
        words = re.findall(r"always\(\)|'[^']*'|[\w.]+|&&|\|\||[=!]=|[()]", condition)
        put = {"&&": "and", "||": "or", "always()": "True"}
        kept = [put.get(w) or (w if w[0] in "'=!()" else repr(self.values.get(w, ""))) for w in words]
        return (not failed or "always()" in words) and (not kept or bool(eval(" ".join(kept))))


@pytest.fixture
def pull_request(made: Team, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Return a function that opens a pull request from the branch `proposal`, and its runner."""

    def open_request(variables: Mapping[str, str] | None = None) -> Forge:
        origin = tmp_path / "origin.git"
        made.git("push", "-q", "origin", "proposal")
        head = made.git("rev-parse", "proposal")
        git(origin, "update-ref", "refs/pull/7/head", head)
        home = tmp_path / "runner-home"
        home.mkdir(exist_ok=True)
        event = {"name": "pull_request_target", "head": head, "base": made.git("rev-parse", "main")}
        return Forge(tmp_path / "runner", origin, home, event, variables or {})

    made.git("switch", "-qc", "proposal")
    return open_request


def _outcomes(forge: Forge, job: str) -> dict[str, tuple[int, str]]:
    return {name: (code, output) for name, code, output in forge.run(job)}


def test_a_good_proposal_passes_is_commented_on_once_and_merges(made: Team, pull_request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    put(made.root, "invoice-numbers", POLICY, scope="team/billing")
    made.commit("Propose invoice-numbers")
    forge = pull_request({"MEMFS_PIN": made.pin()})
    steps = _outcomes(forge, "judge")
    assert [code for code, _ in steps.values()] == [0] * len(steps), steps
    assert list(steps) == [
        "Fetch the proposed commits as objects",
        "Install memfs",
        "Name the base and the head",
        "Check the change",
        "Review the change",
        "Ask the questions of evals/",
    ]
    assert f"git+https://github.com/memfs-git/memfs@v{package.__version__}" in (forge.folder / "pip.log").read_text()
    report = (forge.work / "report" / "review.md").read_text()
    assert report.startswith(MARKER)
    assert "invoice-numbers" in report
    assert "pinned" in report
    assert forge.summary.read_text() == report
    # Nothing of the proposal was checked out here.
    assert not (forge.work / "memories/team/billing/invoice-numbers.md").exists()
    # First comment, then an update of the same one.
    assert _outcomes(forge, "comment")["Write or update the one comment"][0] == 0
    forge.comments.write_text("4711\n")
    assert _outcomes(forge, "comment")["Write or update the one comment"][0] == 0
    first, second = (path.read_text().split("\n") for path in sorted(forge.log.glob("*.args")))
    assert {"POST", "repos/acme/memories/issues/7/comments"} <= set(first)
    assert {"PATCH", "repos/acme/memories/issues/comments/4711"} <= set(second)
    assert next(forge.log.glob("*.file")).read_text() == report
    # A real merge of the two branches, then the check of the main branch.
    made.git("switch", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7", "proposal")
    made.git("push", "-q", "origin", "main")
    event = {"name": "push"}
    after = Forge(tmp_path / "after", tmp_path / "origin.git", forge.home, event, {"MEMFS_PIN": made.pin()})
    steps = _outcomes(after, "judge")
    assert steps["Check all memories"][0] == 0, steps
    assert steps["Ask the questions of evals/"][0] == 0, steps


def test_a_bad_proposal_fails_and_its_report_is_handed_on_all_the_same(made: Team, pull_request) -> None:  # type: ignore[no-untyped-def]
    put(made.root, "invoice-numbers", f"{POLICY}\u202e", scope="team/billing", evidence="docs/nothing.md@deadbeefcafe")
    put(made.root, "forged", "A workflow command\n::add-mask::x\n##[set-output]y", scope="team/billing")
    made.commit("Propose invoice-numbers")
    forge = pull_request()
    steps = _outcomes(forge, "judge")
    code, output = steps["Check the change"]
    assert code == 1
    assert (
        "::error file=memories/team/billing/invoice-numbers.md,line=5,col=1,title=memfs evidence-no-commit::" in output
    )
    assert "Review the change" in steps
    # No line of the log is a command that the proposal wrote.
    for _, text in steps.values():
        commands = [line for line in text.splitlines() if line.strip().startswith("::")]
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in commands)
    assert _outcomes(forge, "comment")["Write or update the one comment"][0] == 0
    assert _outcomes(forge, "findings")["Upload the findings"][0] == 0
    sent = [path.read_text() for path in sorted(forge.log.glob("*.args")) if "code-scanning" in path.read_text()]
    assert "repos/acme/memories/code-scanning/sarifs" in sent[0]
    packed = next(path for path in forge.log.glob("*.file") if not path.read_text().startswith("<"))
    sarif = json.loads(gzip.decompress(base64.b64decode(packed.read_text())))
    assert {result["ruleId"] for result in sarif["runs"][0]["results"]} >= {"evidence-no-commit", "hidden-character"}


def test_a_proposal_that_brings_its_own_workflow_and_key_is_judged_by_the_base(
    made: Team,
    pull_request,
    other_key: Path,  # type: ignore[no-untyped-def]
) -> None:
    from memfs.trust.changing import next_keyring, sign_keyring
    from memfs.trust.pinning import read_chain

    mallory = Person("mallory", other_key)
    keys = (*made.keys(), mallory.key_line("root", "approve"))
    made.write_keyring(sign_keyring(next_keyring(read_chain(made.tree), keys=keys), [mallory.signer]))
    (made.root / ".github/workflows/memories.yml").write_text("on: push\njobs: {}\n")
    made.commit("improve ci")
    forge = pull_request()
    steps = _outcomes(forge, "judge")
    assert steps["Check the change"][0] == 1
    report = (forge.work / "report" / "review.md").read_text()
    assert "mallory@example.com" in report
    assert "which runs memfs: what checks memories" in report


def test_a_memory_that_hides_an_answer_fails_before_the_merge(made: Team, pull_request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = made.path("restore-beside-never-over", "team/platform")
    path.unlink()
    (made.root / "memories/team/billing/link.md").symlink_to("/etc/passwd")
    made.commit("tidy up")
    forge = pull_request()
    code, output = _outcomes(forge, "judge")["Ask the questions of evals/"]
    assert code == 1
    assert "a runbook is found by what went wrong: nothing expected was found" in output
    assert not (forge.folder / "asked/memories/team/billing/link.md").is_symlink()


def test_a_proposal_that_cannot_be_merged_is_asked_nothing(made: Team, pull_request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (made.root / "docs/style.md").write_text("theirs\n")
    made.commit("theirs")
    made.git("push", "-q", "origin", "proposal")
    made.git("switch", "-q", "main")
    (made.root / "docs/style.md").write_text("ours\n")
    made.commit("ours")
    made.git("push", "-q", "origin", "main")
    made.git("switch", "-q", "proposal")
    steps = _outcomes(pull_request(), "judge")
    assert steps["Ask the questions of evals/"] == (0, "git cannot merge this, so no question was asked.\n")


def test_a_merge_queue_is_judged_by_its_own_base(made: Team, pull_request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    put(made.root, "invoice-numbers", POLICY, scope="team/billing")
    made.commit("Propose invoice-numbers")
    pull_request()
    base = made.git("rev-parse", "main")
    made.git("switch", "-qc", "gh-readonly-queue/main/pr-7", "main")
    made.git("merge", "-q", "--no-ff", "-m", "Merge pull request #7", "proposal")
    made.git("push", "-q", "origin", "HEAD")
    event = {"name": "merge_group", "base": base, "head": made.git("rev-parse", "HEAD")}
    queue = Forge(tmp_path / "queue", tmp_path / "origin.git", tmp_path / "runner-home", event, {})
    steps = _outcomes(queue, "judge")
    assert [code for code, _ in steps.values()] == [0] * len(steps), steps
    assert {"Check the change", "Review the change", "Ask the questions of evals/"} <= set(steps)
    assert "Fetch the proposed commits as objects" not in steps
    assert "invoice-numbers" in (queue.work / "report/review.md").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "Credentials live in the vault, and a password is never written into a ticket.",
        "Say yes to a change only after you did it once yourself.",
        "Somebody on call answers within an hour, also at night.",
        "A test that fails at random is taken out the same day.",
    ],
)
def test_the_templates_questions_stay_green_beside_honest_memories(text: str, made: Team, memfs) -> None:  # type: ignore[no-untyped-def]
    for scope in ("team", "team/platform", "restricted/hiring"):
        put(made.root, f"{scope.replace('/', '-')}-note", text, scope=scope)
    made.commit("notes")
    done = memfs("eval", "--mode", "lexical", cwd=made.root)
    assert done.code == 0, done.out


def test_a_run_for_commits_that_were_replaced_says_so(made: Team, pull_request, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    put(made.root, "invoice-numbers", POLICY, scope="team/billing")
    made.commit("one")
    forge = pull_request()
    made.commit("two")
    made.git("push", "-q", "origin", "proposal")
    git(tmp_path / "origin.git", "update-ref", "refs/pull/7/head", made.git("rev-parse", "proposal"))
    steps = _outcomes(forge, "judge")
    code, output = steps["Fetch the proposed commits as objects"]
    assert code == 1
    assert "has moved on" in output
    assert "Check the change" not in steps


def test_the_job_for_gitlab_needs_no_token_and_runs(made: Team, tmp_path: Path) -> None:
    document = yaml.safe_load((TEMPLATE / ".gitlab-ci.yml").read_text())
    assert "TOKEN" not in (TEMPLATE / ".gitlab-ci.yml").read_text()
    made.git("switch", "-qc", "proposal")
    put(made.root, "invoice-numbers", POLICY, scope="team/billing")
    made.commit("Propose invoice-numbers")
    made.git("push", "-q", "origin", "proposal")
    home = tmp_path / "runner-home"
    home.mkdir()
    forge = Forge(tmp_path / "runner", tmp_path / "origin.git", home, {"name": "push"}, {})
    git(forge.work, "switch", "-q", "proposal")
    script = "\n".join(document["memories"]["script"])
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=forge.work,
        env={
            **os.environ,
            **document["variables"],
            "PATH": f"{forge.folder / 'bin'}:{os.environ['PATH']}",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_COMMIT_SHA": made.git("rev-parse", "proposal"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (forge.work / "review.md").read_text().startswith(MARKER)
    assert (forge.work / "memfs.xml").read_text().startswith("<?xml")


# -- other people's checkers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("zizmor", ["--offline", "--persona", "pedantic", ".github/workflows"]),
        ("check_jsonschema", ["--builtin-schema", "vendor.github-workflows", ".github/workflows/memories.yml"]),
        ("check_jsonschema", ["--builtin-schema", "vendor.github-workflows", ".github/workflows/publish.yml"]),
        (
            "check_jsonschema",
            ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", ".gitlab-ci.yml"],
        ),
    ],
)
def test_the_workflows_have_nothing_to_report(module: str, arguments: list[str]) -> None:
    program = Path(sys.executable).with_name(module.replace("_", "-"))
    if not program.is_file():
        pytest.skip(f"{program.name} is not installed")
    done = subprocess.run([program, *arguments], cwd=TEMPLATE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
