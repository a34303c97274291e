"""What a person picks in a client: memories as resources (``memfs://ID``), and prompts that start a piece of work."""

from __future__ import annotations

from memfs.connect.prompts import PROMPTS, PromptSpec
from memfs.mcp.calls import call_tool
from memfs.mcp.desk import Answer, Desk

SCHEME = "memfs://"
MOST = 200


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
