"""Make a project of an embedded data set: images by reference, embeddings as they are, nothing computed anew."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from engine.collection.embed import open_cache
from engine.collection.importing.sample import Sample, each_watched, sampled_rows
from engine.collection.models import all_models, model_of
from engine.collection.new_project import check_place, new_project
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows
from engine.dataset.opened import DataSet
from engine.embedding.cache import EmbeddingCache
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


def project_of_data_set(
    path: Path,
    folder: Path,
    caches: CacheFolders,
    *,
    sample: Sample | None = None,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> DataSetProject:
    """Make a project file with the images of a data set, and put their embeddings into the cache.

    Images that cannot be reached from here, as in an object store or an archive, are classified all the same; they
    have no picture.

    Args:
        path: of the project file.
        folder: of the data set.
        caches: where embeddings lie.
        sample: which images; by default all, those without an embedding, too.

    Raises:
        ProjectExistsError: something is there already.
        InputError: the folder is no data set, shards are missing, or it has too few images for the sample.
        StorageError, FormatError: a shard cannot be read, or the disk refuses.
        ModelError: its backbone cannot be used here.
        Cancelled: no project is left.
    """
    check_place(path)
    data_set, token = DataSet.open(folder), cancel or CancelToken()
    parts = _each_rows(data_set, sample, on_progress, token)
    project = new_project(path, _backbone_of(data_set))
    try:
        with open_cache(model_of(project, caches), caches) as cache, project.history.one_step() as step:
            taken = embedded = 0
            for rows in parts:
                embedded += _add(project, cache, rows)
                taken += len(rows)
            images = project.images.count
            step.action = added(images)
        project.close()
    except BaseException:
        project.close()
        path.unlink(missing_ok=True)
        raise
    return DataSetProject(images, embedded, taken - images)


def _each_rows(
    data_set: DataSet, sample: Sample | None, on_progress: OnProgress, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    if sample is not None:
        return sampled_rows(data_set, sample, on_progress, cancel)
    manifest = data_set.manifest
    every = chain.from_iterable(data_set.each_rows(number) for number in range(manifest.shard_count))
    return each_watched(every, ProgressMeter(manifest.rows, on_progress, unit="images"), cancel)


def _add(project: Project, cache: EmbeddingCache, rows: EmbeddedRows) -> int:
    """Add images, and the embeddings of those that the project did not have; how many of them have one."""
    paths = list(map(Path, rows.paths))
    sizes = (size or 0 for size in rows.sizes_bytes)
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
    cache.put_many([rows.content_hashes[place] or b"" for place in ready], rows.embeddings[ready])
    return len(ready)


def _backbone_of(data_set: DataSet) -> str:
    """What a new project takes for the backbone of a data set: one that is here, else the data set's own file."""
    wanted = data_set.manifest.backbone_hash
    return next((model.name for model in all_models() if model.backbone_hash == wanted), str(data_set.backbone))
