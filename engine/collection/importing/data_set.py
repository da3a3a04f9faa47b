"""Make a project of an embedded data set: images by reference, embeddings as they are.

A data set comes from somebody else, perhaps. Its embeddings stay with the project that was made of it, files that it
names become images only where they may, and a sample of its embeddings is compared with what is computed here.
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from engine.collection.importing.data_set_checks import (
    EmbeddingSample,
    PermittedRows,
    backbone_of,
    check_width,
)
from engine.collection.importing.sample import Sample, each_watched, sampled_rows
from engine.collection.models import ModelFiles, model_of
from engine.collection.new_project import check_place, new_project
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.opened import DataSet
from engine.embedding.cache import EmbeddingCache, imported_file
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.files import FoundFile
from engine.project import Project
from engine.project.actions import added

UNKNOWN_TIME: Final = 0  # of files that were never looked at from here


@dataclass(frozen=True)
class DataSetProject:
    """Counts of a project that was made of a data set."""

    images: int  # in the project
    embedded: int  # of these, with an embedding
    doubles: int  # rows taken whose path another row had before
    compared: int = 0  # embeddings that were compared with what is computed here; they agree
    left_out: tuple[
        str, ...
    ] = ()  # files that must not become images, with the reason; the first ones
    left_out_count: int = 0


def project_of_data_set(
    path: Path,
    folder: Path,
    caches: CacheFolders,
    *,
    sample: Sample | None = None,
    image_folders: Sequence[Path] = (),
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> DataSetProject:
    """Make a project file with the images of a data set, and keep their embeddings for it alone.

    Images that cannot be reached from here, as in an object store or an archive, are classified all the same; they
    have no picture.

    Args:
        path: of the project file.
        folder: of the data set.
        caches: where embeddings lie.
        sample: which images; by default all, those without an embedding, too.
        image_folders: further folders that its images may lie in; see `PermittedRows`.

    Raises:
        ProjectExistsError: something is there already.
        InputError: the folder is no data set, shards are missing, or it has too few images for the sample.
        StorageError, FormatError: a shard cannot be read, or the disk refuses.
        ModelError: its backbone cannot be used here, or is another one than its manifest says.
        FormatError: its embeddings are not those of its backbone.
        Cancelled: no project is left.
    """
    check_place(path)
    data_set, token = DataSet.open(folder), cancel or CancelToken()
    parts = _each_rows(data_set, sample, on_progress, token)
    project = new_project(path, backbone_of(data_set))
    try:
        model = model_of(project, caches)
        check_width(data_set, model)
        permitted = PermittedRows(project, folder, image_folders)
        compared = EmbeddingSample(model, caches)
        with imported_into(project, model, caches) as store, project.history.one_step() as step:
            taken = embedded = 0
            for rows in parts:
                taken += len(rows)
                usable = permitted.of(rows)
                embedded += _add(project, store, usable)
                compared.offer(usable)
            compared.check(token)
            images = project.images.count
            step.action = added(images)
        project.close()
    except BaseException:
        _drop_imported(project, caches)
        project.close()
        path.unlink(missing_ok=True)
        raise
    doubles = taken - images - permitted.refused
    return DataSetProject(
        images, embedded, doubles, compared.count, tuple(permitted.reasons), permitted.refused
    )


def imported_into(project: Project, model: ModelFiles, caches: CacheFolders) -> EmbeddingCache:
    """What a data set brings to a project, for writing: no other project reads it."""
    width = model.card.embedding_width
    path = imported_file(
        caches.embeddings, model.embedding_identity, width, project.backups.project_id
    )
    return EmbeddingCache(path.parent, model.embedding_identity, width)


def _drop_imported(project: Project, caches: CacheFolders) -> None:
    path = imported_file(caches.embeddings, "", 0, project.backups.project_id)
    shutil.rmtree(path.parent, ignore_errors=True)


def _each_rows(
    data_set: DataSet, sample: Sample | None, on_progress: OnProgress, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    if sample is not None:
        return sampled_rows(data_set, sample, on_progress, cancel)
    manifest = data_set.manifest
    every = chain.from_iterable(
        data_set.each_rows(number) for number in range(manifest.shard_count)
    )
    return each_watched(every, ProgressMeter(manifest.rows, on_progress, unit="images"), cancel)


def _add(project: Project, store: EmbeddingCache, rows: EmbeddedRows) -> int:
    """Add images, and the embeddings of those that the project did not have; how many of them have one."""
    paths = list(map(Path, rows.paths))
    sizes = (max(size or 0, 0) for size in rows.sizes_bytes)
    files = [FoundFile(path, size, UNKNOWN_TIME) for path, size in zip(paths, sizes, strict=True)]
    new = set(project.images.add(files).images_added)
    facts, ready = [], []
    for place, path in enumerate(paths):
        image_id = project.images.find(path)
        if image_id in new:  # a path that comes twice is one image
            new.discard(image_id)
            facts.append((image_id, rows.content_hashes[place], rows.reasons[place]))
            if rows.has_embedding[place]:
                ready.append(place)
    project.images.record_scan(facts)
    store.put_many([rows.content_hashes[place] or b"" for place in ready], rows.embeddings[ready])
    return len(ready)
