"""Which memories are meant, and their texts of today and before."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from memfs.disk.files import read_file, scan_memories
from memfs.disk.worktree import WorkTree
from memfs.errors import InvalidMemoryError, MemfsError, NotFoundError, TrustError, UsageError
from memfs.git.log import read_commits
from memfs.git.objects import read_old_blobs
from memfs.git.read import head_commit, read_git
from memfs.model.codepoints import escape_hidden, find_hidden
from memfs.model.memory import MemoryFile
from memfs.model.reader import content_digest, read_memory
from memfs.model.slugs import is_id
from memfs.model.unseen import find_unseen
from memfs.trust.judge import CheckedRecord, Reason, find_fault, find_lapse, newest_of
from memfs.trust.view import TrustView

_LOOK_BACK = 200  # versions of a file that are searched for the last approved text


def find_files(tree: WorkTree, ids: Sequence[str], sees: Callable[[str], bool]) -> list[MemoryFile]:
    """Return the file of each of ``ids``, read once, each id once, of the paths that the person ``sees``.

    Raises :class:`NotFoundError` for an id that has none, :class:`TrustError` (`duplicate-id`) for
    one that has several.
    """
    wanted = list(dict.fromkeys(ids))
    by_name: dict[str, list[MemoryFile]] = {}
    for file in all_files(tree, set(wanted), sees):
        by_name.setdefault(file.id, []).append(file)
    found = []
    for memory_id in wanted:
        files = by_name.get(memory_id, [])
        shown = escape_hidden(memory_id, single_line=True)
        if not files:
            raise NotFoundError("no memory of that id is here", where=shown, hint="`memfs list` shows what there is")
        if len(files) > 1:
            paths = sorted(escape_hidden(file.path, single_line=True) for file in files)
            raise TrustError(
                f"{len(files)} files have this id: {', '.join(paths)}",
                reason=Reason.DUPLICATE_ID,
                where=shown,
                hint="rename or delete all but one",
            )
        found.append(files[0])
    return found


def ids_since(tree: WorkTree, base: str, sees: Callable[[str], bool]) -> list[str]:
    """Return the ids of the memories that HEAD adds or changes since it left ``base``, of those that the person sees.

    Raises :class:`UsageError` where ``base`` is not a commit here.
    """
    name = re.sub(r"[^\x21-\x7e]", "?", base)
    try:
        start = read_git(tree, "merge-base", "--end-of-options", base, "HEAD").decode().strip()
        raw = read_git(
            tree, "diff-tree", "-r", "--no-renames", "--no-commit-id", "--name-only", "-z", "--diff-filter=AM",
            start, "HEAD", "--", "memories",
        )  # fmt: skip
    except MemfsError:
        raise UsageError(
            "there is no such commit to compare with", where=name, hint="name a branch, for instance main"
        ) from None
    paths = [path for path in raw.decode("utf-8", "replace").split("\0") if path.endswith(".md") and sees(path)]
    names = [path.rsplit("/", 1)[-1] for path in paths]
    return [name[:-3] for name in names if is_id(name[:-3])]


def ids_to_renew(tree: WorkTree, view: TrustView, principal: str, sees: Callable[[str], bool]) -> list[str]:
    """Return the memories whose text of today ``principal`` sees and approved with a key or for a time that has
    lapsed since, and does not hold in another way."""
    found = []
    for file in all_files(tree, None, sees):
        scope = file.memory.scope if file.memory else None
        mine = [
            one
            for one in newest_of(view.records(file.id) if file.id else ())
            if one.approves
            and one.is_receipt
            and one.person == principal
            and one.item.digest == content_digest(file.raw)
        ]
        if mine and all(find_lapse(one, scope, view.today) for one in mine) and find_fault(file) is None:
            found.append(file.id)
    return found


def ids_waiting(tree: WorkTree, view: TrustView, sees: Callable[[str], bool]) -> list[str]:
    """Return the memories that the person sees and whose text of today is not approved and can be: no other file
    has their id, no approved memory supersedes them, and the keyring does not deny them."""
    files = all_files(tree, None, sees)
    names = [file.id for file in files]
    denied = view.keyring.denied if view.keyring is not None else ()
    verdicts = {file.path: view.verdict(file) for file in files}
    replaced = {
        old
        for file in files
        if file.memory is not None and verdicts[file.path].trusted
        for old in file.memory.supersedes
    }
    return [
        file.id
        for file in files
        if file.memory is not None
        and not verdicts[file.path].trusted
        and file.id not in replaced
        and names.count(file.id) == 1
        and file.digest not in denied
        and find_fault(file) is None
    ]


def find_remarks(text: str) -> list[str]:
    """Return what a reader of ``text`` may not see, one sentence each, with the line."""
    remarks = [
        (text.count("\n", 0, hidden.offset) + 1, f"U+{hidden.codepoint:04X}, {hidden.why}")
        for hidden in find_hidden(text)
    ]
    remarks += [(one.line, one.sentence) for one in find_unseen(text)]
    return [f"line {line}: {sentence}" for line, sentence in sorted(remarks)]


def all_files(
    tree: WorkTree, ids: Collection[str] | None, sees: Callable[[str], bool] | None = None
) -> list[MemoryFile]:
    """Return the memories of those ``ids``, or all, below the paths that ``sees`` allows (None: every path); a file
    that cannot be read is left out."""
    found = []
    for entry in scan_memories(tree).entries:
        name = entry.path.rsplit("/", 1)[-1]
        if (ids is None or name[:-3] in ids) and (sees is None or sees(entry.path)):
            try:
                found.append(read_memory(entry.path, read_file(tree, entry.path)))
            except InvalidMemoryError:
                continue
    return found


def find_previous(tree: WorkTree, records: Iterable[CheckedRecord], file: MemoryFile) -> bytes | None:
    """Return the text that ``records`` say was approved last, where git still has it and it is another one than
    that of ``file``."""
    digest = content_digest(file.raw)
    others = [one for one in records if one.failure is None and one.approves and one.item.digest != digest]
    last = max(others, key=lambda one: one.item.seq, default=None)
    if last is None or tree.git_dir is None or head_commit(tree) is None:
        return None
    try:
        commits = read_commits(tree, "HEAD", [file.path], merges=True)
        blobs = dict.fromkeys(change.blob for commit in commits for change in commit.files if change.letter != "D")
        for _, raw in read_old_blobs(tree, list(blobs)[:_LOOK_BACK]):
            if content_digest(raw) == last.item.digest:
                return raw
    except MemfsError:
        return None
    return None
