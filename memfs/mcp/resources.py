"""What a person picks in a client: memories as resources (``memfs://ID``), and prompts that start a piece of work."""

from __future__ import annotations

from memfs.mcp.calls import call_tool
from memfs.mcp.desk import Answer, Desk
from memfs.model.values import dataclass

SCHEME = "memfs://"
MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSpec:
    """One prompt: its name, what a person reads, and what the model is told. ``writes``: it needs to record."""

    name: str
    about: str
    text: str
    writes: bool = False


PROMPTS = (
    PromptSpec(
        name="review-session",
        about="Go through what this session decided, and record what the team needs later.",
        text="Look back over this session. List each decision, proved procedure or stated preference that another "
        "person will need in weeks, with its reason and evidence. Recall first what is recorded already. Show me the "
        "list and ask which ones to keep; then `propose` those, one statement each, and tell me how to approve them.",
        writes=True,
    ),
    PromptSpec(
        name="review-due",
        about="Go through the memories that must be looked at again.",
        text="Call `due`. For each memory, get it, read its evidence as it is now, and say whether it still holds. "
        "Where it does, call `verify` if you may; where it does not, say what changed and propose a text by `revise`.",
    ),
    PromptSpec(
        name="what-waits",
        about="Say what waits for a person: memories without an approval, proposals, drafts.",
        text="Call `waiting` and tell me, for each entry, what it says and the command that approves or drops it.",
    ),
)


def prompts_for(desk: Desk) -> list[PromptSpec]:
    """Return the prompts that the desk's client gets."""
    return [prompt for prompt in PROMPTS if desk.write or not prompt.writes]


def find_prompt(name: str, desk: Desk) -> PromptSpec | None:
    """Return the prompt of that name, or None."""
    return next((prompt for prompt in prompts_for(desk) if prompt.name == name), None)


def list_memories(desk: Desk) -> list[str]:
    """Return the ids of the approved memories that the desk's caller may see. No text leaves without its frame."""
    found = [
        one.file.id
        for _, repository in desk.stores().repositories()
        for one in repository.assess_all(desk.caller)[0]
        if one.file.memory is not None and one.verdict.trusted
    ]
    return list(dict.fromkeys(found))[:MOST]


def read_memory(uri: str, desk: Desk, *, client: str) -> Answer:
    """Return the memory that ``uri`` names, whole and in its frame."""
    if not uri.startswith(SCHEME):
        return Answer(text="There is no such resource here.", failed=True)
    return call_tool("get", {"id": uri.removeprefix(SCHEME).rstrip("/")}, desk, client=client)
