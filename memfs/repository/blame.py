"""What a caller should know before a file is changed: the memories that have to do with it, assessed."""

from __future__ import annotations

from memfs.git.snapshot import WorkFiles
from memfs.model.scope import Caller
from memfs.repository.repository import Repository
from memfs.standing.assess import Assessment
from memfs.standing.blame import Bearing, find_bearing


def find_blame(repository: Repository, path: str, caller: Caller) -> list[tuple[Bearing, Assessment]]:
    """Return the memories that rest on ``path`` (relative to the root), watch it or apply to it, as far as
    ``caller`` sees them."""
    files = [file for file in repository.files()[0] if repository.sight.sees_path(caller, file.path)]
    found = find_bearing(WorkFiles(repository.tree), path, files)
    assessments = {
        file.path: repository.assess(file, caller) for file in {one.file.path: one.file for one in found}.values()
    }
    return [(one, assessments[one.file.path]) for one in found]
