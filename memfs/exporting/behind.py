"""Files that agents read and whose block of memories is not what `memfs export` would write today."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.check.results import Result
from memfs.check.rules import make_result
from memfs.disk.files import UnreadableFile, read_file
from memfs.errors import UsageError
from memfs.exporting.blocks import TARGETS, Target, find_block, with_block
from memfs.exporting.forms import TEAM, as_document, in_use
from memfs.repository.repository import Repository


def find_behind(repository: Repository) -> Iterator[Result]:
    """Yield a result for each file of which memfs wrote a part that is behind, or that was edited by hand.

    Nothing where no approval counts on this machine: then it cannot be told what belongs there.
    """
    texts = {target: text for target in TARGETS if find_block(text := _read(repository, target)) is not None}
    found = in_use(repository, TEAM) if texts else []
    if not found:
        return
    for target, text in texts.items():
        try:
            is_behind = with_block(text, as_document(found)) != text
        except UsageError as error:
            yield make_result("export-behind", f"{error.message[:1].upper()}{error.message[1:]}.", path=target.path)
            continue
        if is_behind:
            yield make_result("export-behind", path=target.path, fix=f"Run `memfs export {target.name}`.")


def _read(repository: Repository, target: Target) -> str:
    try:
        return read_file(repository.tree, target.path).decode("utf-8", "surrogateescape")
    except UnreadableFile:
        return ""
