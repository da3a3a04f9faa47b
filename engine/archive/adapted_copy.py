"""Adapt the copy of a project in an archive: new paths of photos, sizes of reduced ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine.archive.archived_files import ArchivedFile, ReducedFile, moved_files
from engine.collection.details import as_stored
from engine.images.details_messages import FileDetails
from engine.project import ImageId, Project
from engine.project.clock_corrections import ClockCorrection, ClockCorrections
from engine.project.records import FileChange


def adapt_copy(
    path: Path, files: Sequence[ArchivedFile], reduced: Sequence[tuple[ReducedFile, int]]
) -> None:
    """Update paths, sizes and clock corrections in the copy.

    Args:
        path: of the copy.
        reduced: reduced photos without their data, with its size.
    """
    moves = list(moved_files(list(files), path.parent))
    if not moves and not reduced:
        return
    with Project.open(path, is_backed_up=False) as copy:
        if moves:
            with copy.history.one_step() as step:
                change = copy.images.relink(moves)
                for correction in _moved_corrections(copy.clocks.corrections(), files):
                    copy.clocks.set(correction)
                step.action = change.action
        _note_reduced(copy, reduced)


def _note_reduced(copy: Project, reduced: Sequence[tuple[ReducedFile, int]]) -> None:
    """Store content hashes, missing metadata, and file sizes of reduced photos."""
    sizes = {image_id: (each, size) for each, size in reduced for image_id in each.file.image_ids}
    copy.images.record_scan(
        (image_id, each.photo_hash, None) for image_id, (each, _size) in sizes.items()
    )
    unread = {image_id for image_id, _path in copy.details.missing()} & sizes.keys()
    copy.details.store(
        as_stored(
            _details(sizes[each][0], each) for each in sorted(unread) if sizes[each][0].details
        )
    )
    known = copy.file_changes.of(list(sizes))
    copy.file_changes.record(
        replace(
            known.get(image_id, FileChange(image_id, size, each.file.modified_ns)),
            size_bytes=size,
            modified_ns=each.file.modified_ns,
        )
        for image_id, (each, size) in sizes.items()
    )


def _details(reduced: ReducedFile, image_id: ImageId) -> FileDetails:
    assert reduced.details is not None, "only of those that have some"
    return FileDetails(image_id, reduced.file.modified_ns, reduced.details)


def _moved_corrections(
    corrections: ClockCorrections, files: Sequence[ArchivedFile]
) -> Iterator[ClockCorrection]:
    """Clock corrections of folders that have another path in the archive."""
    folders = dict.fromkeys(
        (_folder(file.path), _folder(file.name)) for file in files if file.is_moved
    )
    for correction in corrections.all:
        was = correction.folder
        if not was:
            continue
        within = {
            _without_end(now, before[len(was) :])
            for before, now in folders
            if before == was or before.startswith(f"{was}/")
        }
        yield from (replace(correction, folder=folder) for folder in sorted(within))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _without_end(folder: str, end: str) -> str:
    return folder.removesuffix(end) if end and folder.endswith(end) else folder
