"""A direct question to a model, with the user's own key: no tools are in the request, and none in the answer.

Sources of the two forms: Anthropic's Messages API (version 2023-06-01) and OpenAI's Chat Completions, which local
servers (Ollama, llama.cpp, vLLM) answer too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from memfs.capture.asking import Ask
from memfs.disk.settings import Capture
from memfs.errors import SetupError

_URLS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
_PATHS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}
_SECONDS = 180
_LONGEST = 4 * 1024 * 1024


def make_endpoint(wanted: Capture, environ: Mapping[str, str]) -> Ask:
    """Return what asks the model of the user's settings.

    Raises :class:`SetupError` without a model or a key, and for an address that is neither https nor of this machine.
    """
    url = urlsplit(wanted.url or _URLS[wanted.by])
    local = _is_local(url.hostname or "")
    if url.scheme not in ("https", "http") or not url.hostname or (url.scheme == "http" and not local):
        raise SetupError("a model is asked over https, or on this machine", where=f"capture.url {wanted.url}"[:200])
    if not wanted.model:
        raise SetupError("capture needs the name of a model", hint="set `model:` below `capture:` in your settings")
    variable = wanted.key or _KEYS[wanted.by]
    key = environ.get(variable, "").strip()
    if not key and not local:
        raise SetupError(f"there is no key in the variable {variable}", hint=f"export {variable}=…")

    def ask(instructions: str, record: str) -> str:
        body, headers = _request(wanted, key, instructions, record)
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = connect(url.hostname or "", url.port, timeout=_SECONDS)
        try:
            connection.request("POST", url.path.rstrip("/") + _PATHS[wanted.by], json.dumps(body), headers)
            answer = connection.getresponse()
            raw = answer.read(_LONGEST)
            status = answer.status
        except (OSError, HTTPException) as error:
            raise SetupError(f"the model cannot be asked: {error}", where=url.hostname) from None
        finally:
            connection.close()
        if status != 200:  # a redirect too: the record goes where the user said, and nowhere else
            raise SetupError(f"the model's server answered with status {status}", where=url.hostname)
        return _text_of(wanted.by, raw)

    return ask


def _request(wanted: Capture, key: str, instructions: str, record: str) -> tuple[dict[str, Any], dict[str, str]]:
    user = {"role": "user", "content": record}
    headers = {"content-type": "application/json"}
    if wanted.by == "anthropic":
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": key}
        return {"model": wanted.model, "max_tokens": 4096, "system": instructions, "messages": [user]}, headers
    headers |= {"authorization": f"Bearer {key}"} if key else {}
    return {"model": wanted.model, "messages": [{"role": "system", "content": instructions}, user]}, headers


def _text_of(form: str, raw: bytes) -> str:
    """Return the text of an answer. Raises :class:`SetupError` for one without text, or with anything beside it."""
    try:
        answer = json.loads(raw)
        if form == "anthropic":
            parts = [part["text"] for part in answer["content"] if part["type"] == "text"]
            more = len(parts) != len(answer["content"])
        else:
            message = answer["choices"][0]["message"]
            parts, more = [message["content"]], bool(message.get("tool_calls"))
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise SetupError("the model's server did not answer in the form of its interface") from None
    if more or not parts or not all(isinstance(part, str) for part in parts):
        raise SetupError("the model answered with something other than text; nothing was kept")
    return "".join(parts)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
