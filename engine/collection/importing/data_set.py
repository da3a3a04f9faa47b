"""Make a project of an embedded data set, by reference to its images, with its embeddings.

A data set is not trusted: its embeddings are used by this project alone, only permitted files
become images, and a sample of its embeddings is compared with those computed here.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from random import Random
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embed import open_cache
from engine.collection.importing.match_images import NO_FILE, PermittedImages
from engine.collection.models import ModelFiles, all_models, model_of
from engine.collection.new_project import check_path_is_free, new_project
from engine.config import CacheFolders
from engine.dataset.embedded_rows import EmbeddedRows, joined
from engine.dataset.opened import DataSet
from engine.dataset.random_rows import check_count, draw_rows
from engine.embedding.cache import EmbeddingCache, imported_file
from engine.embedding.messages import EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.embedding.views import unit_length
from engine.errors import FormatError, InputError, ModelError, found_at
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.everyday.blocks import stopped_by
from engine.everyday.in_use import teach_first_unlabelled
from engine.files import FoundFile
from engine.images.read_file import file_hashes
from engine.model_card import file_hash
from engine.project import Project
from engine.project.actions import added
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from engine.texts import Message

SAMPLE = 16  # embeddings to compute here: a second of work
# of an embedding with the one computed here; arithmetic differs by 0.02 (decision 72)
LEAST_COSINE = 0.9
MOST_SHOWN = 5
LONGEST_PATH = 4096  # bytes
_REMEDY = "ask its author, or embed its sources again"


def backbone_of(data_set: DataSet) -> str:
    """The backbone of a data set: an available one, else the data set's own file.

    Raises:
        ModelError: the file is not the one that the manifest names.
    """
    wanted, path = data_set.manifest.backbone_hash, data_set.backbone
    try:
        found = file_hash(path)
    except FileNotFoundError:
        found = wanted
    except OSError as error:
        raise ModelError(
            "the backbone of the data set cannot be read", found=found_at(path, error)
        ) from error
    if found != wanted:
        raise ModelError(
            "the backbone next to the data set is not the one that made its embeddings",
            expected=wanted[:12],
            found="{hash} in {path}",
            remedy=_REMEDY,
            hash=found[:12],
            path=path,
        )
    of_unknown_form = (
        not data_set.manifest.identity
    )  # as before decision 95; the sample shows whether they agree
    for model in all_models():
        is_of_form = of_unknown_form or model.embedding_identity == data_set.manifest.identity
        if model.backbone_hash == wanted and is_of_form:
            return model.name
    return str(path)


def check_width(data_set: DataSet, model: ModelFiles) -> None:
    """Raise `ModelError` if the embeddings have another width than those of their backbone."""
    width = data_set.manifest.card.embedding_width
    if width != model.card.embedding_width:
        raise ModelError(
            "the embeddings of the data set are not those of its backbone",
            expected="{expected_width} values each",
            found="{found_width} in {folder}",
            remedy=_REMEDY,
            expected_width=model.card.embedding_width,
            found_width=width,
            folder=data_set.folder,
        )


@final
class PermittedRows:
    """Rows of a data set whose files may become images: it could name any file here.

    A file must be in a folder that `PermittedImages` allows, or below the project's folder, or have
    the content hash of the row, so that the author has read it. Missing files disclose nothing.
    """

    def __init__(self, project: Project, folder: Path, further: Sequence[Path] = ()) -> None:
        self.refused = 0
        self.reasons: list[str] = []  # the first ones, each with its file
        self._permitted = PermittedImages(project, folder, (project.path.parent, *further))

    def of(self, rows: EmbeddedRows) -> EmbeddedRows:
        """Drop rows that are not permitted."""
        permitted = []
        for place, path in enumerate(rows.paths):
            if reason := self._refusal(path, rows.content_hashes[place]):
                self.refused += 1
                self.reasons += [Message("{path}: {reason}", {"path": path, "reason": reason})][
                    : MOST_SHOWN - len(self.reasons)
                ]
            else:
                permitted.append(place)
        return (
            rows if len(permitted) == len(rows) else rows.take(np.array(permitted, dtype=np.int64))
        )

    def _refusal(self, text: str, content_hash: bytes | None) -> str:
        if not text or "\0" in text or len(os.fsencode(text)) > LONGEST_PATH:
            return NO_FILE
        path = Path(os.path.abspath(text))  # noqa: PTH100 (as it is stored)
        if not os.path.lexists(path):
            return ""
        reason = self._permitted.refusal(path)
        return "" if reason and _has_content(path, content_hash) else reason


def _has_content(path: Path, content_hash: bytes | None) -> bool:
    try:
        return content_hash is not None and content_hash in file_hashes(path)
    except OSError:
        return False


@final
class EmbeddingSample:
    """A sample of a data set's embeddings to compare with those computed here."""

    def __init__(self, model: ModelFiles, caches: CacheFolders) -> None:
        self.count = 0  # number of compared embeddings
        self._model, self._caches = model, caches
        self._chance, self._seen = Random(0), 0
        self._drawn: list[tuple[Path, bytes, NDArray[np.float16]]] = []

    def offer(self, rows: EmbeddedRows) -> None:
        """Add rows to the reservoir sample."""
        for number in np.flatnonzero(rows.has_embedding).tolist():
            path, content_hash = Path(rows.paths[number]), rows.content_hashes[number]
            if content_hash is None or not path.is_file():
                continue
            self._seen += 1
            place = (
                len(self._drawn)
                if len(self._drawn) < SAMPLE
                else self._chance.randrange(self._seen)
            )
            if place < SAMPLE:
                self._drawn[place : place + 1] = [(path, content_hash, rows.embeddings[number])]

    def check(self, cancel: CancelToken) -> None:
        """Embed the sampled images here, and compare.

        Raises:
            FormatError: an embedding differs.
            Cancelled: `cancel` was set.
        """
        if not self._drawn:
            return
        paths, hashes, embeddings = zip(*self._drawn, strict=True)
        session = BackboneSession(self._model.backbone, self._model.card, choose_providers("cpu"))
        requests = [EmbedRequest(place, path, None) for place, path in enumerate(paths)]
        with open_cache(self._model, self._caches) as cache:
            embed_files(requests, session, cache, cancel=cancel)
            computed, is_computed = cache.get_many(hashes)
        theirs = unit_length(np.stack(embeddings)[is_computed].astype(np.float32))
        cosines = (theirs * unit_length(computed[is_computed].astype(np.float32))).sum(axis=1)
        self.count = len(cosines)
        if np.any(cosines < LEAST_COSINE):
            place = np.flatnonzero(is_computed)[cosines.argmin()]
            raise FormatError(
                "the embeddings of the data set are not those of its images",
                expected="those of the same backbone on this computer, cosine {least} or more",
                found="cosine {cosine} at {path}, and {others} of {compared} others",
                remedy=_REMEDY,
                least=LEAST_COSINE,
                cosine=f"{cosines.min():.2f}",
                path=paths[place],
                others=int((cosines < LEAST_COSINE).sum()) - 1,
                compared=self.count - 1,
            )


# random images that teach-first chooses from. Chosen: as many as whitening needs
CANDIDATES = 20_000


class SampleBy(StrEnum):
    """How images are chosen."""

    # the most representative of `CANDIDATES` images, best first (decision 83)
    TEACH_FIRST = "teach-first"
    RANDOM = "random"  # uniformly, in the data set's order


@dataclass(frozen=True)
class Sample:
    """Some images of a data set."""

    count: int
    by: SampleBy = SampleBy.TEACH_FIRST
    seed: int = 0  # of the random generator


def sampled_rows(
    data_set: DataSet, sample: Sample, on_progress: OnProgress, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    """Rows of the chosen images, all with an embedding.

    Raises:
        InputError: too few images have an embedding, or too many are wanted for teach-first.
        StorageError, FormatError: while reading, as `DataSet.each_rows`.
        Cancelled: while reading.
    """
    check_count(data_set, sample.count)
    drawn = sample.count
    if sample.by is SampleBy.TEACH_FIRST:
        _check_choice(sample.count)
        drawn = min(CANDIDATES, data_set.manifest.rows - data_set.manifest.failed)
    meter = ProgressMeter(drawn, on_progress, unit="images")
    parts = with_progress(draw_rows(data_set, drawn, seed=sample.seed), meter, cancel)
    return parts if sample.by is SampleBy.RANDOM else _most_useful(parts, sample.count, cancel)


def _check_choice(count: int) -> None:
    if count > CANDIDATES:
        raise InputError(
            "teach-first cannot choose that many images",
            expected="at most {most}, the number that it chooses from",
            found="{count}",
            remedy="name fewer, or draw them with --by random",
            most=f"{CANDIDATES:,}",
            count=f"{count:,}",
        )


def with_progress(
    parts: Iterator[EmbeddedRows], meter: ProgressMeter, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    """The same parts with progress; raises `Cancelled` in between."""
    for rows in parts:
        cancel.raise_if_cancelled()
        yield rows
        meter.advance(len(rows))


def _most_useful(
    parts: Iterator[EmbeddedRows], count: int, cancel: CancelToken
) -> Iterator[EmbeddedRows]:
    candidates = joined(list(parts))
    with stopped_by(cancel):
        order = teach_first_unlabelled(unit_length(candidates.embeddings.astype(np.float32)))
    yield candidates.take(order[:count])


UNKNOWN_TIME = 0  # modification time of files that were not read here


@dataclass(frozen=True)
class DataSetProject:
    """Counts of a project made of a data set."""

    images: int  # in the project
    embedded: int  # of these, with an embedding
    doubles: int  # rows with the path of an earlier row
    compared: int = 0  # embeddings that were compared with those computed here
    left_out: tuple[str, ...] = ()  # the first refused files, with reasons
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
    """Make a project of the images of a data set, with their embeddings.

    Images that are not accessible here, as in an object store or an archive, are classified without
    a picture.

    Args:
        path: of the project file.
        folder: of the data set.
        caches: of embeddings.
        sample: which images; by default all.
        image_folders: further permitted folders of images; see `PermittedRows`.

    Raises:
        ProjectExistsError: the path is taken.
        InputError: no data set, missing shards, or too few images for the sample.
        StorageError: a shard cannot be read, or the disk is full.
        FormatError: a shard is damaged, or its embeddings are not those of its backbone.
        ModelError: its backbone cannot be used, or does not match its manifest.
        Cancelled: no project is left.
    """
    check_path_is_free(path)
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
    """Open the cache of a project's imported embeddings, for writing."""
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
    return with_progress(every, ProgressMeter(manifest.rows, on_progress, unit="images"), cancel)


def _add(project: Project, store: EmbeddingCache, rows: EmbeddedRows) -> int:
    """Add images and the embeddings of new ones; return how many have one."""
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
