"""List, prepare, choose and add the models that recall by meaning uses.

Nothing is ever downloaded by itself: `memfs model add ID ADDRESS --sha256 DIGEST` is the one command
that does, from the address that you give, and keeps the file only if its digest is the one you gave.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from memfs.cli.looks import say_line
from memfs.cli.options import add_json
from memfs.errors import SetupError, UsageError
from memfs.index import models
from memfs.index.models import KNOWN, MAX_MODEL_BYTES, Model, list_models, read_choice

if TYPE_CHECKING:
    from memfs.cli.session import Session

_ACTIONS = ("list", "prepare", "use", "add", "remove")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=_ACTIONS, nargs="?", default="list", help="what to do (default: list)")
    parser.add_argument("id", nargs="?", metavar="ID", help="the model; `memfs model list` names them")
    parser.add_argument("source", nargs="?", metavar="FILE|ADDRESS", help="add: an ONNX file, or an https address")
    parser.add_argument("--sha256", metavar="DIGEST", help="add: what the file must be; required for an address")
    parser.add_argument("--dimensions", type=int, metavar="N", help="add, unknown model: length of its vectors")
    parser.add_argument("--longest", type=int, default=256, metavar="N", help="add: its longest input (default: 256)")
    parser.add_argument("--pooling", choices=["mean", "cls"], default="mean", help="add: how a text's vector is made")
    parser.add_argument("--query-prefix", default="", metavar="TEXT", help="add: what it wants before a question")
    parser.add_argument("--text-prefix", default="", metavar="TEXT", help="add: what it wants before a text")
    parser.add_argument("--languages", choices=["en", "many"], default="en", help="add: what it reads (default: en)")
    parser.add_argument("--licence", default="unknown", metavar="NAME", help="add: its licence")
    add_json(parser)


def run(args: argparse.Namespace, session: Session) -> int:

    if args.action == "list":
        return _list(args, session)
    if args.action != "prepare" and args.id is None:
        raise UsageError("which model?", hint=f"memfs model {args.action} ID")
    if args.action == "prepare":
        prepared = models.prepare(session.places, args.id)
        session.say(f"{prepared.model.id} is prepared as {prepared.key}")
    elif args.action == "use":
        models.prepare(session.places, args.id)
        models.choose(session.places, args.id)
        session.say(f"{args.id} is in use; `memfs index` embeds with it")
    elif args.action == "remove":
        models.remove_model(session.places, args.id)
        session.say(f"{args.id} is removed")
    else:
        model = models.add_model(session.places, _model(args), _read(args))
        session.say(f"{model.id} is added, sha256 {model.sha256}; `memfs model use {model.id}` switches to it")
    return 0


def _list(args: argparse.Namespace, session: Session) -> int:

    rows = list_models(session.places)
    choice = read_choice(session.places)
    if args.json:
        session.emit(
            "models",
            {
                "models": [
                    {**model._asdict(), "here": here, "prepared": prepared, "in_use": model.id == choice}
                    for model, here, prepared in rows
                ]
            },
        )
        return 0
    for model, here, prepared in rows:
        state = "prepared" if prepared else "here" if here else "not here"
        mark = "*" if model.id == choice else " "
        about = f"{model.dimensions} dimensions, {model.longest} pieces, {model.languages}, {model.licence}"
        say_line(session, f"{mark} {model.id:<20} {state:<9} {about}  {model.source}")
    return 0


def _model(args: argparse.Namespace):  # type: ignore[no-untyped-def]  # imported where used

    if args.source is None:
        raise UsageError("where is its file?", hint=f"memfs model add {args.id} FILE")
    known = KNOWN.get(args.id)
    if known is not None:
        return known._replace(sha256=args.sha256 or known.sha256)
    if args.dimensions is None:
        raise UsageError("a model that memfs does not know needs its dimensions", where="--dimensions")
    return Model(
        id=args.id,
        dimensions=args.dimensions,
        longest=args.longest,
        languages=args.languages,
        licence=args.licence,
        sha256=args.sha256 or "",
        source="added",
        pooling=args.pooling,
        query_prefix=args.query_prefix,
        text_prefix=args.text_prefix,
    )


def _read(args: argparse.Namespace) -> bytes:
    """Return the bytes of the model's file, or of the address that the user gave."""

    if "://" not in args.source:
        try:
            with open(args.source, "rb") as file:
                return file.read(MAX_MODEL_BYTES)
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=args.source) from error
    if not args.source.startswith("https://"):
        raise UsageError("an address must begin with https://", where=ascii(args.source))
    if not args.sha256 and args.id not in KNOWN:
        raise UsageError("an address needs the digest of what is there", where="--sha256")

    try:
        with urlopen(args.source, timeout=60) as answer:  # noqa: S310 - https only, checked above
            return bytes(answer.read(MAX_MODEL_BYTES))
    except (URLError, OSError) as error:
        raise SetupError(f"cannot be downloaded: {error}", where=ascii(args.source)) from error
