"""What a person typed for evidence, tied to the content that it names (DESIGN 3, ADMISSION 1).

Content is what lasts: a squash, a rebase or a shallow clone does not change it. Nothing here asks git for
history, and what is not committed yet can be evidence.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

from memfs.disk.files import UnreadableFile, read_file
from memfs.disk.worktree import WorkTree, read_git_config
from memfs.errors import InvalidMemoryError
from memfs.git.read import blob_at, call_git, head_commit, read_git
from memfs.git.snapshot import MAX_FILE, WorkFiles
from memfs.git.stored import clean_blob
from memfs.model.codepoints import escape_hidden
from memfs.model.evidence import DIGITS, format_evidence, parse_evidence, parse_part, place_of, require_path
from memfs.model.memory import (
    BlobEvidence,
    CommitEvidence,
    Evidence,
    Heading,
    Lines,
    Memory,
    Part,
    PartEvidence,
    PathEvidence,
    WhenPathChanges,
    WhenVersion,
    Why,
)
from memfs.model.parts import MAX_BYTES, PartedText
from memfs.model.triggers import format_trigger, parse_trigger
from memfs.model.values import dataclass
from memfs.model.versions import find_version
from memfs.standing.facts import may_rest_on
from memfs.standing.manifests import read_manifests

"""How many digits of a content's name are written: nobody can make two contents that share them."""

_MOST = 4_096  # characters of evidence
MOST_TEXTS = 32  # that one memory may rest on
_NUMBER = re.compile(r"([#!])([1-9][0-9]{0,8})")
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/\s]*@)?|ssh://(?:[^@/\s]*@)?|[A-Za-z0-9._-]+@)([A-Za-z0-9.-]+)(?::[0-9]+)?[:/](\S+?)(?:\.git)?/?"
)
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^+-]{0,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tied:
    """Evidence as it is written, and what its author should know about what it became."""

    text: str
    notices: tuple[str, ...] = ()


class Knot:
    """Ties evidence in one work tree. ``folder`` is where its author is, relative to the root; ``scope``
    the scope of the memory, as far as it is known."""

    def __init__(
        self,
        tree: WorkTree,
        *,
        folder: str = "",
        scope: str | None = None,
        sees_path: Callable[[str], bool] = lambda _path: True,
        sees_all: bool = True,
    ) -> None:
        self._tree = tree
        self._sees_all = sees_all  # else branches, tags and lone objects are not its author's to ask for
        self._sees_path = sees_path  # of the author: a hidden path counts as one that is not there
        self._files = WorkFiles(tree)
        self._folder = folder
        self._scope = scope

    def tie_all(self, texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return each text tied, and all notices. Raises :class:`InvalidMemoryError` as :meth:`tie` does, and for
        more texts than one memory may rest on."""
        if len(texts) > MOST_TEXTS:
            raise InvalidMemoryError(f"must be at most {MOST_TEXTS} pieces", where="evidence")
        tied = [self.tie(text) for text in texts]
        return tuple(one.text for one in tied), tuple(dict.fromkeys(said for one in tied for said in one.notices))

    def tie(self, text: str) -> Tied:
        """Return ``text`` tied to the content that it names now.

        Raises :class:`InvalidMemoryError` where it names nothing that is here: evidence must resolve when
        it is recorded.
        """
        shown = escape_hidden(text[:200], single_line=True)
        try:
            tied = self._tie(text)
        except InvalidMemoryError as error:
            raise InvalidMemoryError(error.message, where=f"evidence {shown}", hint=error.hint) from None
        if tied.text == text:
            return tied
        said = f"evidence {shown} was tied to its content: {escape_hidden(tied.text, single_line=True)}"
        return Tied(text=tied.text, notices=(said, *tied.notices))

    def tie_trigger(self, text: str) -> str:
        """Return a review trigger whose path, typed from where its author is, is the repository's own.

        Raises :class:`InvalidMemoryError` for what is not a trigger.
        """
        watched = re.fullmatch(r"when (\S.{0,1000}) changes", text)
        path = self.find_path(watched[1]) if watched else None
        try:
            return format_trigger(parse_trigger(f"when {path} changes" if path else text))
        except InvalidMemoryError as error:
            raise InvalidMemoryError(error.message, where="review_trigger", hint=error.hint) from None

    def remarks(self, memory: Memory) -> tuple[str, ...]:
        """Return what is allowed and probably not meant: a trigger that cannot fire, or fires at once."""
        trigger = memory.review_trigger
        if isinstance(trigger, WhenVersion):
            if find_version(trigger.name, read_manifests(self._files)) is None:
                return (f"no manifest here names {trigger.name}, so its version cannot be noticed",)
        elif isinstance(trigger, WhenPathChanges):
            shown = escape_hidden(trigger.path, single_line=True)
            now = self._files.blob_of(trigger.path) if self._sees_path(trigger.path) else None
            if now is None:
                return (f"{shown} is not here, so its change cannot be noticed",)
            ties = (BlobEvidence, PartEvidence)
            if any(isinstance(one, ties) and one.path == trigger.path for one in memory.evidence):
                return ()
            head = head_commit(self._tree)
            then = blob_at(self._tree, head, trigger.path) if head is not None else None
            if then is None or self._files.blob_of(trigger.path, like=then) != then:
                return (f"{shown} is not committed as it is now: committing it makes this memory due",)
        return ()

    def find_path(self, typed: str) -> str | None:
        """Return the path of the regular file that ``typed`` names: absolute, from where its author is, or from
        the root of the repository; None where there is none."""
        for path in self._candidates(typed):
            if self._files.blob_of(path) is not None or self._files.why_not(path) is not None:
                return path
        return None

    def _candidates(self, typed: str) -> list[str]:
        if os.path.isabs(typed):
            root = os.path.realpath(self._tree.root)
            place = os.path.join(os.path.realpath(os.path.dirname(typed)), os.path.basename(typed))
            found = [os.path.relpath(place, root)]
        else:
            found = [posixpath.normpath(posixpath.join(self._folder, typed)), posixpath.normpath(typed)]
        clean = []
        for path in found:
            try:
                clean.append(require_path(path))
            except InvalidMemoryError:
                continue
        return [path for path in clean if self._sees_path(path)]

    def _tie(self, text: str) -> Tied:
        if len(text) > _MOST:
            raise InvalidMemoryError(f"must be at most {_MOST} characters")
        if text.startswith("said by ") or "://" in text:
            return Tied(text=format_evidence(parse_evidence(text)))
        if number := _NUMBER.fullmatch(text):
            return Tied(text=self._address(number[1], number[2]))
        path = self.find_path(text)
        if path is not None:
            return self._tie_file(path, None)
        written = _parsed(text)
        if written is not None and not isinstance(written, PathEvidence):
            return self._tie_written(text, written)
        name, _, revision = text.rpartition("@")
        if name and self._commit(revision):
            file = self._file_in(name, revision)
            if file is not None:
                return self._tie_at(*file, revision)
        file = self._file_in(text, None)
        if file is not None:
            return self._tie_at(*file, None)
        if isinstance(written, PathEvidence):
            if written.repo is not None:
                return Tied(text=text)
            raise InvalidMemoryError(
                "that commit does not contain this file",
                hint="`git log -- PATH` shows the commits that contain it; PATH alone is tied to its content now",
            )
        if name and self._file_in(name, None) is not None:
            raise InvalidMemoryError(
                f"{escape_hidden(revision, single_line=True)} is not a commit, branch or tag here",
                hint="PATH alone is tied to its content now",
            )
        return self._tie_commit(text)

    def _file_in(self, name: str, revision: str | None) -> tuple[str, Part | None] | None:
        """Return the path and part that ``name`` names here, or in the commit ``revision``."""
        first, last = name.partition("#"), name.rpartition("#")
        for path, of in ((name, None), (first[0], first[2]), (last[0], last[2])):
            if of == "" or not path:
                continue
            found = self.find_path(path)
            if found is None and revision:
                found = next((one for one in self._candidates(path) if self._blob_at(one, revision)), None)
            if found is not None:
                return found, parse_part(of) if of is not None else None
        return None

    def _tie_at(self, path: str, part: Part | None, revision: str | None) -> Tied:
        if not revision:
            return self._tie_file(path, part)
        blob = self._blob_at(path, revision)
        if blob is None:
            raise InvalidMemoryError(
                "that commit does not contain this file", hint="`git log -- PATH` shows the commits that contain it"
            )
        self._require_open(path)
        if part is None:
            return Tied(text=format_evidence(BlobEvidence(path=path, blob=blob[:DIGITS])))
        raw = read_git(self._tree, "cat-file", "blob", blob)
        return Tied(text=format_evidence(_part_of(path, part, raw)))

    def _blob_at(self, path: str, revision: str) -> str | None:
        commit = self._commit(revision)
        return blob_at(self._tree, commit, path) if commit else None

    def _commit(self, revision: str) -> str | None:
        if self._tree.git_dir is None or not _REVISION.fullmatch(revision):
            return None
        if not self._sees_all and revision != "HEAD" and not re.fullmatch(r"[0-9a-f]{7,64}", revision):
            return None
        done = call_git(self._tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return done.stdout.decode("ascii", "replace").strip() or None if done.returncode == 0 else None

    def _tie_file(self, path: str, part: Part | None) -> Tied:
        self._require_open(path)
        why = self._files.why_not(path)
        if why is Why.SUBMODULE:
            raise InvalidMemoryError(
                "this file belongs to a submodule, which is another repository",
                hint="write REPO:PATH@COMMIT, with the name of that repository",
            )
        try:
            raw = read_file(self._tree, path, limit=MAX_FILE if part is None else MAX_BYTES)
        except UnreadableFile as error:
            raw = self._files.content_of(path) or b""
            if not raw:
                raise InvalidMemoryError(f"this file {error.message}") from None
        if part is not None:
            return Tied(text=format_evidence(_part_of(path, part, raw)), notices=self._uncommitted(path, raw))
        blob = clean_blob(self._tree, path, raw)
        head = head_commit(self._tree)
        is_here = head is not None and blob_at(self._tree, head, path) == blob
        notices = () if is_here or self._tree.git_dir is None else (_not_yet(path),)
        return Tied(text=format_evidence(BlobEvidence(path=path, blob=blob[:DIGITS])), notices=notices)

    def _uncommitted(self, path: str, raw: bytes) -> tuple[str, ...]:
        head = head_commit(self._tree)
        blob = clean_blob(self._tree, path, raw)
        return () if head is not None and blob_at(self._tree, head, path) == blob else (_not_yet(path),)

    def _require_open(self, path: str) -> None:
        if self._scope is not None and not may_rest_on(path, self._scope):
            raise InvalidMemoryError(
                "not every reader of this memory may see that one", hint="name evidence that each reader may see"
            )

    def _tie_written(self, text: str, evidence: Evidence) -> Tied:
        """Check evidence that is tied already. What is there stays as it was written."""
        if isinstance(evidence, CommitEvidence):
            return self._tie_commit(text)
        if not isinstance(evidence, BlobEvidence | PartEvidence) or evidence.repo is not None:
            return Tied(text=text)
        if not self._sees_path(evidence.path):
            raise InvalidMemoryError("nothing here has this content", hint=f"write {evidence.path} alone")
        self._require_open(evidence.path)
        if isinstance(evidence, BlobEvidence):
            now = self._files.blob_of(evidence.path, like=evidence.blob)
            if (now is None or not now.startswith(evidence.blob)) and not self._has_blob(evidence.blob):
                raise InvalidMemoryError("nothing here has this content", hint=f"write {evidence.path} alone")
            return Tied(text=text)
        raw = self._files.content_of(evidence.path, limit=MAX_BYTES)
        found = PartedText(evidence.path, raw).find(evidence.part, evidence.text) if raw is not None else None
        if found is None or not found.same:
            raise InvalidMemoryError("nothing here has this text", hint=f"write {place_of(evidence)} alone")
        return Tied(text=text)

    def _has_blob(self, name: str) -> bool:
        if not self._sees_all or self._tree.git_dir is None:
            return False
        return call_git(self._tree, "cat-file", "-e", name).returncode == 0

    def _tie_commit(self, text: str) -> Tied:
        commit = self._commit(text)
        if commit is not None:
            written = text if re.fullmatch(r"[0-9a-f]{7,64}", text) and commit.startswith(text) else commit[:12]
            return Tied(text=written)
        if re.fullmatch(r"[0-9a-f]{7,64}", text):
            raise InvalidMemoryError("this repository does not contain that commit")
        name = text.rpartition("@")[0] or text
        if os.path.isdir(os.path.join(str(self._tree.root), text)):
            raise InvalidMemoryError("is a folder; name a file in it", hint=f"git ls-files {shlex.quote(text)}")
        if re.search(r"[/.]", name) and not re.search(r"\s", name):
            raise InvalidMemoryError(
                "this repository does not contain that file", hint="`git ls-files` lists the files that git has"
            )
        raise InvalidMemoryError(
            "must be a PATH, PATH#Heading, PATH#L10-L24, a commit, branch or tag, #NUMBER, a URL,"
            " or “said by PERSON on DATE”",
            hint="a PATH is tied to the content that it has now",
        )

    def _address(self, mark: str, number: str) -> str:
        """Return the web address of an issue or pull request of the remote ``origin``."""
        url = read_git_config(self._tree).get("remote.origin.url") or ""
        found = _REMOTE.fullmatch(url)
        if found is None:
            raise InvalidMemoryError(
                "the web address of the remote origin is not known", hint="give the whole URL instead"
            )
        host, project = found[1], found[2]
        if "gitlab" in host:
            page = f"-/merge_requests/{number}" if mark == "!" else f"-/issues/{number}"
        else:
            page = f"issues/{number}"  # forges lead from here to a pull request of that number
        return format_evidence(parse_evidence(f"https://{host}/{project}/{page}"))


def _parsed(text: str) -> Evidence | None:
    try:
        return parse_evidence(text)
    except InvalidMemoryError:
        return None


def _part_of(path: str, part: Part, raw: bytes) -> PartEvidence:
    """Return ``part`` of a file tied to its normal form; a heading as the file writes it."""
    if len(raw) > MAX_BYTES:
        raise InvalidMemoryError("this file is too large to name a part of it")
    if "#" in path:
        raise InvalidMemoryError("a path with # in it can be evidence only as a whole file")
    text = PartedText(path, raw)
    place: Lines | None
    if isinstance(part, Heading):
        titles = [one.title for one in text.sections]
        title = next((one for one in titles if _slug(one) == _slug(part.title)), None)
        if title is None:
            raise InvalidMemoryError("this file does not contain that heading")
        part = Heading(title=title)
    place = text.place(part)
    if place is None:
        raise InvalidMemoryError(f"this file has {len(text.lines)} lines")
    digest = text.digest(place)
    if digest is None:
        raise InvalidMemoryError("these lines contain only blanks and comments")
    return PartEvidence(path=path, part=part, text=digest[:DIGITS])


def _slug(title: str) -> str:
    """Return ``title`` as a forge writes it in a link, so that such a link can be typed."""
    return re.sub(r"[^\w-]", "", title.casefold().replace(" ", "-"))


def _not_yet(path: str) -> str:
    return f"{escape_hidden(path, single_line=True)} is not committed as it is now; commit it with this memory"
