"""A team's shared endpoint: Streamable HTTP, a bearer key on every request, loopback unless told otherwise.

There is no session to steal: every request is placed by the key that it carries, and nothing else.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memfs.disk.places import Places
from memfs.errors import MemfsError, SetupError, UsageError
from memfs.mcp.desk import Desk
from memfs.mcp.keys import Key, find_key, read_keys
from memfs.mcp.server import make_server
from memfs.model.values import replace

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_KEY = "memfs.key"


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of ``[HOST:]PORT``; the host is 127.0.0.1 where none is given."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise UsageError("an address is PORT or HOST:PORT", where="--http")
    return host.strip("[]") or "127.0.0.1", int(port)


class RequireKey:
    """Lets requests through that carry a known key, and puts the key beside them."""

    def __init__(self, app: ASGIApp, places: Places) -> None:
        self._app = app
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        key = self._find(scope)
        if key is None:
            refusal = JSONResponse(
                {"error": "a bearer key is needed"}, status_code=401, headers={"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app({**scope, _KEY: key}, receive, send)

    def _find(self, scope: Scope) -> Key | None:
        for name, value in scope["headers"]:
            scheme, _, secret = value.partition(b" ")
            if name.lower() == b"authorization" and scheme.lower() == b"bearer":
                try:
                    # Read anew each time: a removed key is worthless at once.
                    return find_key(self._places, secret.decode("ascii", "replace").strip())
                except MemfsError as error:
                    logging.getLogger(__name__).error("%s", error)
                    return None
        return None


def make_app(desk: Desk, *, instructions: str, host: str, allowed: Sequence[str] = ()) -> ASGIApp:
    """Return the ASGI application. ``desk`` says where the stores are; who asks comes from the key.

    ``allowed`` are more names by which clients may call the endpoint: that of a proxy which keeps the Host header.
    """

    async def find_desk(ctx: ServerRequestContext[Any, Any]) -> Desk:
        assert ctx.request is not None  # every message of this transport comes with its HTTP request
        key: Key = ctx.request.scope[_KEY]
        return replace(desk, caller=key.caller, write=key.write and desk.write, key=key.name)

    # A page in somebody's browser must not reach a loopback endpoint by a name of its own.
    guard = TransportSecuritySettings(
        enable_dns_rebinding_protection=host in LOOPBACK or bool(allowed),
        allowed_hosts=[form for name in (*allowed, "127.0.0.1", "localhost", "[::1]") for form in (name, f"{name}:*")],
        allowed_origins=[],
    )
    app = make_server(find_desk, instructions=instructions).streamable_http_app(
        json_response=True, stateless_http=True, transport_security=guard, host=host
    )
    return RequireKey(app, desk.places)


def serve_http(
    desk: Desk,
    *,
    host: str,
    port: int,
    instructions: str,
    say: Callable[[str], None],
    allowed: Sequence[str] = (),
) -> int:
    """Serve until interrupted; return the exit code. Raises :class:`SetupError` where there is no key."""
    if not read_keys(desk.places):
        raise SetupError(
            "there is no key yet, so nobody could ask anything", hint="memfs mcp --add-key NAME --as team/billing"
        )
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="memfs mcp: %(message)s")
    say(f"serving http://{f'[{host}]' if ':' in host else host}:{port}/mcp; Ctrl-C ends it")
    if host not in LOOPBACK:
        say("This is plain HTTP beyond this machine: put a proxy with TLS in front of it, keys travel in the open.")
    app = make_app(desk, instructions=instructions, host=host, allowed=allowed)
    uvicorn.run(app, host=host, port=port, log_level="error", access_log=False)
    return 0
