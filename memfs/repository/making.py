"""Making a memory repository: files, first keyring, pin, and the commits that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from memfs.disk.changing import add_store
from memfs.disk.places import Places
from memfs.disk.settings import Store, read_user_settings
from memfs.disk.shipped import fill_example
from memfs.disk.worktree import WorkTree
from memfs.errors import SetupError, TrustError
from memfs.git.commit import Change, commit_changes
from memfs.git.read import blob_id, head_commit, object_format
from memfs.git.snapshot import WorkFiles
from memfs.model.evidence import DIGITS
from memfs.model.values import dataclass
from memfs.repository.initialise import Initialised, init_repository
from memfs.trust.pinning import has_keyring

if TYPE_CHECKING:
    from memfs.trust.signing import SshSigner


_NOT_SIGNED = "no keyring was made: run `memfs keys create` at a terminal, or name your key with --key FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A repository that ``init`` made or completed. ``pin`` is None where this run made no keyring."""

    root: Path
    files: tuple[str, ...]  # written and committed just now
    commit: str | None
    pin: str | None
    notices: tuple[str, ...] = ()


def _wanted(files: Mapping[str, bytes], *, examples: bool) -> dict[str, bytes]:
    """Return the files to write; without examples a folder for memories all the same."""
    if examples or not files:
        return dict(files)
    return {"memories/team/.gitkeep": b"", **{path: raw for path, raw in files.items() if not _is_example(path)}}


def make_repository(
    folder: Path | None,
    *,
    places: Places,
    today: date,
    environ: Mapping[str, str],
    personal: bool = False,
    key: str | None = None,
    principal: str | None = None,
    keyring: bool = True,
    examples: bool = True,
    interactive: bool = False,
) -> Made:
    """Make a memory repository at ``folder``, or add what one lacks, and commit it.

    Only a keyring that this very run makes is pinned: whose another one is, a person says with `memfs pin`
    (DESIGN 4). ``key`` and ``principal`` name the first person of the keyring; without a key none is made and
    a notice says how. In a repository that was there, a key signs only for a person at a terminal
    (``interactive``) or when it is named. Raises :class:`UsageError` or :class:`SetupError`, and nothing is
    committed then.
    """
    signer, notices = _first_signer(places, environ, key) if keyring else (None, ())
    made = init_repository(folder, places=places, personal=personal)
    is_new = made.fresh or head_commit(made.tree) is None
    if has_keyring(made.tree):
        signer, notices = None, _notices_on_keyring(made.tree, places)
    elif signer is not None and not (is_new or interactive or key is not None):
        signer, notices = None, (_NOT_SIGNED,)
    files = _wanted(made.files, examples=examples)
    if signer is not None:
        from memfs.git.read import author_address
        from memfs.trust.changing import keyring_change, new_keyring

        who = principal or author_address(made.tree) or ""
        change = keyring_change(new_keyring(signer, who.lower()))
        assert change.content is not None
        files[change.path] = change.content
    commit = _commit_new_files(made, files, today)
    pin = None
    if signer is not None:
        from memfs.trust.pinning import pin_repository

        pin = pin_repository(places, made.tree, note=str(made.tree.root)).text
    if personal:
        settings = read_user_settings(places)
        if all(store.path != made.tree.root for store in settings.stores):
            add_store(places, Store(name="personal", path=made.tree.root))
    return Made(root=made.tree.root, files=tuple(sorted(files)), commit=commit, pin=pin, notices=notices)


def _is_example(path: str) -> bool:
    return path.startswith("memories/") and path.endswith(".md")


def _first_signer(
    places: Places, environ: Mapping[str, str], key: str | None
) -> tuple[SshSigner | None, tuple[str, ...]]:
    from memfs.disk.settings import read_user_settings
    from memfs.trust.signing import find_signing_key

    configured = read_user_settings(places).signing_key
    try:
        return find_signing_key(places=places, environ=environ, key=key, configured=configured), ()
    except SetupError as error:
        if key is not None:
            raise
        return None, (f"no keyring was made: {error.message}", f"{error.hint}; then run `memfs init` again")


def _notices_on_keyring(tree: WorkTree, places: Places) -> tuple[str, ...]:
    """Return what to say about a keyring that was there before."""
    from memfs.trust.pinning import read_pin_state

    try:
        state = read_pin_state(places, tree)
    except (TrustError, SetupError) as error:
        return (f"it has a keyring, which is refused: {error.message}",)
    if state.pin is not None and state.former is None:
        return ()
    return ("it has a keyring that is not pinned on this machine; `memfs pin` shows its people and asks",)


def _commit_new_files(made: Initialised, files: Mapping[str, bytes], today: date) -> str | None:
    """Commit what is new; the template's examples are tied to the files that are there then."""
    algorithm = object_format(made.tree)
    here = WorkFiles(made.tree)
    blobs = {path: here.blob_of(path) for path in made.kept}
    blobs |= {path: blob_id(raw, algorithm=algorithm) for path, raw in files.items()}
    tied = {path: blob[:DIGITS] for path, blob in blobs.items() if blob is not None}
    changes = [
        Change(
            path=path,
            content=fill_example(raw, blobs=tied, today=today) if _is_example(path) else raw,
            before=made.before.get(path),
        )
        for path, raw in files.items()
    ]
    return commit_changes(made.tree, changes, "Make this a memory repository") if changes else head_commit(made.tree)
