"""The server: the SDK's protocol on one side, :mod:`memfs.mcp.calls` on the other.

Calls run in worker threads, one after another. A read whose request was cancelled is left to end by
itself; a write is carried through, done whole or not at all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from memfs import __version__
from memfs.errors import SetupError
from memfs.mcp.audit import write_audit
from memfs.mcp.calls import Answer, Desk, call_tool, client_name
from memfs.mcp.tools import TOOLS, ToolSpec, find_tool

FindDesk = Callable[[ServerRequestContext[Any, Any]], Desk]
"""Says for whom a request is: the one user of a stdio server, or the holder of a key."""


def make_server(find_desk: FindDesk, *, instructions: str) -> Server[Any]:
    """Return the server whose requests ``find_desk`` places."""
    turn = anyio.CapacityLimiter(1)

    async def list_tools(ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListToolsResult:  # noqa: ARG001
        desk = find_desk(ctx)
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in TOOLS if is_offered(tool, desk)])

    async def answer_call(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        desk = find_desk(ctx)
        shown = ctx.session.client_params
        client = client_name(shown.client_info.name if shown else None)
        tool = find_tool(params.name, write=desk.write)
        work = partial(_carry_out, params.name, params.arguments or {}, desk, client)
        if tool is not None and tool.writes:
            with anyio.CancelScope(shield=True):
                answer = await anyio.to_thread.run_sync(work, limiter=turn)
        else:
            answer = await anyio.to_thread.run_sync(work, limiter=turn, abandon_on_cancel=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.data,
            is_error=answer.failed,
        )

    return Server(
        "memfs",
        version=__version__,
        title="memfs",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=answer_call,
    )


def is_offered(tool: ToolSpec, desk: Desk) -> bool:
    """Return whether the tool is in the list that the desk's client gets."""
    return (desk.write or not tool.writes) and (tool.name != "propose" or desk.propose is not None)


def describe_tool(tool: ToolSpec) -> types.Tool:
    """Return the tool as the protocol describes it."""
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes and tool.name != "feedback",
            destructive_hint=False,
            idempotent_hint=tool.repeatable,
            open_world_hint=False,
        ),
        # Claude Code offers tools by name only until it looks for them; this one is worth its few bytes.
        _meta={"anthropic/alwaysLoad": True} if tool.name == "recall" else None,
    )


def serve_stdio(desk: Desk, *, instructions: str) -> int:
    """Serve one client on standard input and output until it goes away; return the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="memfs mcp: %(message)s")
    server = make_server(lambda ctx: desk, instructions=instructions)  # noqa: ARG005 - one client, one desk

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError):
        # The client closed its end: nobody is left to answer, nor for what the buffers still hold.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _carry_out(name: str, arguments: dict[str, Any], desk: Desk, client: str) -> Answer:
    try:
        return _carry_out_known(name, arguments, desk, client)
    except Exception:  # the SDK would send the words of the error, which may be a memory's, unframed
        logging.getLogger(__name__).exception("%s failed", name)
        return Answer(text="This is a bug in memfs; its server's error output says more.", failed=True)


def _carry_out_known(name: str, arguments: dict[str, Any], desk: Desk, client: str) -> Answer:
    tool = find_tool(name, write=desk.write)
    if tool is None or not tool.writes:
        return call_tool(name, arguments, desk, client=client)
    record = partial(write_audit, desk.places, key=desk.key, client=client, tool=name)
    try:
        record(outcome="asked")
    except SetupError as error:
        return Answer(text=f"The audit log cannot be written ({error}); nothing was done.", failed=True)
    answer = call_tool(name, arguments, desk, client=client)
    facts = {key: value for key, value in answer.facts.items() if key in ("id", "commit")}
    with suppress(SetupError):  # it was asked for in the log already; what is done is done
        record(outcome=str(answer.facts.get("outcome", "failed" if answer.failed else "done")), **facts)
    return answer
