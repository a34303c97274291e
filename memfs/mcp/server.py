"""The server: the SDK's protocol on one side, :mod:`memfs.mcp.calls` on the other.

Calls run in worker threads, one after another. A read whose request was cancelled is left to end by
itself; a write is carried through, done whole or not at all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memfs import __version__
from memfs.errors import EXIT_INTERRUPTED, MemfsError, SetupError
from memfs.mcp import project, resources
from memfs.mcp.audit import write_audit
from memfs.mcp.calls import call_tool
from memfs.mcp.desk import Answer, Desk, client_name
from memfs.mcp.tools import TOOLS, ToolSpec, find_tool
from memfs.model.values import replace

FindDesk = Callable[[ServerRequestContext[Any, Any]], Awaitable[Desk]]
"""Says for whom a request is: the one user of a stdio server, or the holder of a key."""

ROOTS_SECONDS = 3.0
"""How long a client may take to name its roots."""

_writing = threading.Lock()


class _Handlers:
    """What the server does for each request: one at a time, with the desk of whoever asks."""

    def __init__(self, find_desk: FindDesk) -> None:
        self._find_desk = find_desk
        self._turn = anyio.CapacityLimiter(1)

    async def list_tools(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListToolsResult:  # noqa: ARG002
        desk = await self._find_desk(ctx)
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in TOOLS if is_offered(tool, desk)])

    async def answer_call(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        desk = await self._find_desk(ctx)
        client = _client(ctx)
        tool = find_tool(params.name, write=desk.write)
        work = partial(_carry_out, params.name, params.arguments or {}, desk, client)
        if tool is not None and tool.writes:
            with anyio.CancelScope(shield=True):
                answer = await anyio.to_thread.run_sync(work, limiter=self._turn)
        else:
            answer = await anyio.to_thread.run_sync(work, limiter=self._turn, abandon_on_cancel=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.data,
            is_error=answer.failed,
        )

    async def list_resources(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListResourcesResult:  # noqa: ARG002
        desk = await self._find_desk(ctx)
        found = await anyio.to_thread.run_sync(partial(_quietly, resources.list_memories, desk), limiter=self._turn)
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=f"{resources.SCHEME}{memory_id}", name=memory_id, mime_type="text/plain")
                for memory_id in found
            ]
        )

    async def list_templates(self, ctx: Any, params: Any) -> types.ListResourceTemplatesResult:  # noqa: ARG002
        about = types.ResourceTemplate(uri_template=f"{resources.SCHEME}{{id}}", name="memory", mime_type="text/plain")
        return types.ListResourceTemplatesResult(resource_templates=[about])

    async def read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        desk = await self._find_desk(ctx)
        work = partial(resources.read_memory, str(params.uri), desk, client=_client(ctx))
        answer = await anyio.to_thread.run_sync(work, limiter=self._turn, abandon_on_cancel=True)
        if answer.failed:
            raise MCPError(types.INVALID_PARAMS, answer.text)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=str(params.uri), mime_type="text/plain", text=answer.text)]
        )

    async def list_prompts(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListPromptsResult:  # noqa: ARG002
        found = resources.prompts_for(await self._find_desk(ctx))
        return types.ListPromptsResult(prompts=[types.Prompt(name=one.name, description=one.about) for one in found])

    async def get_prompt(
        self, ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        found = resources.find_prompt(params.name, await self._find_desk(ctx))
        if found is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such prompt here.")
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=found.text))
        return types.GetPromptResult(description=found.about, messages=[said])


def make_server(find_desk: FindDesk, *, instructions: str) -> Server[Any]:
    """Return the server whose requests ``find_desk`` places."""
    handlers = _Handlers(find_desk)
    return Server(
        "memfs",
        version=__version__,
        title="memfs",
        instructions=instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.answer_call,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


def _client(ctx: ServerRequestContext[Any, Any]) -> str:
    shown = ctx.session.client_params
    return client_name(shown.client_info.name if shown else None)


def _quietly(work: Callable[[Desk], list[str]], desk: Desk) -> list[str]:
    """Return what ``work`` finds; nothing where there is no repository: a list has no place for an error."""
    try:
        return work(desk)
    except MemfsError:
        return []


def is_offered(tool: ToolSpec, desk: Desk) -> bool:
    """Return whether the tool is in the list that the desk's client gets."""
    return desk.write or not tool.writes


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
        # Claude Code offers tools by name only until it looks for them; these are worth their few bytes.
        _meta={"anthropic/alwaysLoad": True} if tool.name in ("recall", "remember", "propose") else None,
    )


def serve_stdio(desk: Desk, *, given: str | None, instructions: str) -> int:
    """Serve one client on standard input and output until it goes away; return the exit code.

    ``given`` is the project that the client names in the arguments.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="memfs mcp: %(message)s")
    found: list[Desk] = []

    async def find_desk(ctx: ServerRequestContext[Any, Any]) -> Desk:
        if found:
            return found[0]
        find = partial(project.find_start, desk.start, desk.environ, given=given, client=_client(ctx))
        start = find()
        if not project.has_memories(start):
            start = find(roots=await _ask_roots(ctx))
        placed = replace(desk, start=start)
        if project.has_memories(start):
            found.append(placed)  # else the project may get its first memory while the server runs
        return placed

    server = make_server(find_desk, instructions=instructions)
    # The SDK's reader waits in a thread that no exception reaches. A write in progress is carried through.
    signal.signal(signal.SIGINT, _end_now)

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError):
        # The client closed its end: nobody is left to answer, nor for what the buffers still hold.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _end_now(*_: object) -> None:
    _writing.acquire(timeout=10)
    os._exit(EXIT_INTERRUPTED)


async def _ask_roots(ctx: ServerRequestContext[Any, Any]) -> list[str]:
    """Return the folders that the client says it works in, [] where it does not say."""
    able = ctx.session.client_capabilities
    if able is None or able.roots is None:
        return []
    named: list[str] = []
    with suppress(Exception), anyio.move_on_after(ROOTS_SECONDS):
        named = [str(root.uri) for root in (await ctx.session.list_roots()).roots]
    return named


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
    with _writing:
        answer = call_tool(name, arguments, desk, client=client)
    facts = {key: value for key, value in answer.facts.items() if key in ("id", "commit")}
    with suppress(SetupError):  # it was asked for in the log already; what is done is done
        record(outcome=str(answer.facts.get("outcome", "failed" if answer.failed else "done")), **facts)
    return answer
