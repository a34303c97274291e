"""Pieces of work that a person starts in a client: as prompts of the MCP server, and as commands of a plugin."""

from __future__ import annotations

from memfs.model.values import dataclass


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
