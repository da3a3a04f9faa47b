"""Takes a plan into the project, as one step that undo takes back."""

from contextlib import suppress

from engine.collection.embed import open_cache
from engine.collection.models import model_of
from engine.collection.relink.records import Move, RelinkPlan
from engine.config import CacheFolders
from engine.errors import ModelError, StorageError
from engine.project import Change, Project


def relink(project: Project, plan: RelinkPlan, caches: CacheFolders) -> Change:
    """Say where the found images are now. Images that changed or left since the plan was made are passed over.

    Args:
        project: open for writing.
        plan: as `find_moved` made it.
        caches: are told which contents lie at the new places, so that unchanged files need not be read again.

    Raises:
        StorageError: the disk refuses; nothing was changed.
        ProjectReadOnlyError: the project is open for reading only.
    """
    table = project.images.table()
    paths = dict(zip(table.ids, table.paths, strict=True))
    moves = [move for move in plan.moves if paths.get(move.image.image_id) == move.image.path]
    change = project.images.relink([(move.image.image_id, move.file) for move in moves], strangers=plan.strangers)
    with suppress(ModelError, StorageError):  # a cache is a help, not a need
        _remember(project, moves, caches)
    return change


def _remember(project: Project, moves: list[Move], caches: CacheFolders) -> None:
    known = [(move.file, move.image.content_hash) for move in moves if move.is_same_content]
    files = [(file, content) for file, content in known if content is not None]
    with open_cache(model_of(project, caches), caches) as cache:
        cache.remember_files([file for file, _ in files], [content for _, content in files])
