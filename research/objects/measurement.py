"""Few-shot classification of objects: by the photo, by crops, and by the everyday model."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.images.decode import read_rgb
from engine.new_file import write_file
from engine.new_folder import scratch_folder
from research.objects.boxed_photos import BoxedPhotos, crop_square
from research.transfer.collection import TransferCollection
from research.transfer.embedded import EmbeddedCollection, embed_collection
from research.transfer.parts import accuracies_of
from research.transfer.results import BALANCED
from research.transfer.task import squared_distances

MARGIN = 1.2
"""Side of a crop relative to the longer side of its box, by default."""
WHOLE = "whole photo, nearest prototype"
CROP = "crop, nearest prototype"
EVERYDAY = "crop, everyday model"
METHODS = (WHOLE, CROP, EVERYDAY)

Rows = NDArray[np.int64]
Predict = Callable[["ObjectDraw"], NDArray[np.int64]]


@dataclass(frozen=True)
class ObjectDraw:
    """Shots, each of another photo, and the objects of all other photos; ascending positions."""

    shots: Rows
    scored: Rows


@dataclass(frozen=True)
class ObjectOutcome:
    """Balanced accuracies of a method, one for each draw."""

    method: str
    margin: float  # 0 for whole photos
    shots: int  # of each class
    balanced: tuple[float, ...]


def draw_objects(photos: Rows, class_ids: Rows, shots: int, seed: int) -> ObjectDraw:
    """Draw shots of each class, at most one of a photo.

    Args:
        photos: (n,) of each object.
        class_ids: (n,) of each object.

    Raises:
        InputError: the objects of a class are in too few photos.
    """
    order = np.random.default_rng(seed).permutation(len(photos))
    used: set[int] = set()
    chosen: list[int] = []
    names, counts = np.unique(class_ids, return_counts=True)
    for class_id in names[
        np.argsort(counts)
    ].tolist():  # rare ones first, as they are in few photos
        found = 0
        for place in order[class_ids[order] == class_id].tolist():
            if found < shots and photos[place] not in used:
                used.add(int(photos[place]))
                chosen.append(place)
                found += 1
        if found < shots:
            raise InputError(
                "a class is in too few photos", expected=f"{shots} without shots", found=str(found)
            )
    is_scored = ~np.isin(photos, list(used))
    return ObjectDraw(np.sort(np.array(chosen, dtype=np.int64)), np.flatnonzero(is_scored))


def measure_objects(
    boxed: BoxedPhotos,
    model: ModelFiles,
    caches: CacheFolders,
    *,
    margins: Sequence[float] = (MARGIN,),
    shots: Sequence[int] = (1, 5),
    draws: int = 10,
    device: str = "auto",
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Iterator[ObjectOutcome]:
    """Measure all methods, by crops of each margin.

    Args:
        on_progress: receives the images that are embedded.

    Raises:
        ModelError, InputError, Cancelled: as `embed_collection`.
    """
    names = boxed.names
    graph = CategoryGraph()
    ids = {name: graph.add_class(name) for name in names}
    class_ids = np.array([ids[each.name] for each in boxed.objects], dtype=np.int64)
    photos = np.array([each.photo for each in boxed.objects], dtype=np.int64)
    drawn = {
        count: [draw_objects(photos, class_ids, count, seed) for seed in range(draws)]
        for count in shots
    }

    def embedded(files: Sequence[Path], of_files: Rows) -> EmbeddedCollection:
        found = tuple(file for file in map(FoundFile.at, files) if file is not None)
        is_train = np.ones(len(found), dtype=bool)
        collection = TransferCollection(boxed.source, graph, found, is_train, of_files)
        return embed_collection(
            collection, model, caches, device=device, on_progress=on_progress, cancel=cancel
        )

    def outcomes(method: str, margin: float, predict: Predict) -> Iterator[ObjectOutcome]:
        for count, several in drawn.items():
            figures = [
                accuracies_of(class_ids[each.scored], predict(each))[BALANCED] for each in several
            ]
            yield ObjectOutcome(method, margin, count, tuple(figures))

    first_ids = np.array([class_ids[photos == photo][0] for photo in np.unique(photos)])
    whole = embedded([boxed.photos[photo] for photo in np.unique(photos).tolist()], first_ids)
    of_photo = whole.floats[np.searchsorted(np.unique(photos), photos)]
    yield from outcomes(WHOLE, 0.0, nearest_prototype(of_photo, class_ids))
    for margin in margins:
        with scratch_folder() as folder:
            crops = embedded(write_crops_of(boxed, margin, folder), class_ids)
        yield from outcomes(CROP, margin, nearest_prototype(crops.floats, class_ids))
        yield from outcomes(EVERYDAY, margin, everyday_model(crops))


def write_crops_of(boxed: BoxedPhotos, margin: float, folder: Path) -> list[Path]:
    """Write the square around each object as a lossless image; return the files, in order."""
    files = []
    photo, pixels = -1, np.zeros((0, 0, 3), dtype=np.uint8)
    for number, thing in enumerate(boxed.objects):
        if thing.photo != photo:
            photo, pixels = thing.photo, read_rgb(boxed.photos[thing.photo])
        buffer = io.BytesIO()
        Image.fromarray(crop_square(pixels, thing.edges, margin)).save(
            buffer, "PNG", compress_level=1
        )
        files.append(folder / f"{number}.png")
        write_file(files[-1], buffer.getvalue())
    return files


def nearest_prototype(embeddings: NDArray[np.float32], class_ids: Rows) -> Predict:
    """Classify by the nearest class mean of shots."""

    def predict(drawn: ObjectDraw) -> Rows:
        names, places = np.unique(class_ids[drawn.shots], return_inverse=True)
        means = np.stack(
            [embeddings[drawn.shots[places == place]].mean(axis=0) for place in range(len(names))]
        )
        found: Rows = names[squared_distances(embeddings[drawn.scored], means).argmin(axis=1)]
        return found

    return predict


def everyday_model(embedded: EmbeddedCollection) -> Predict:
    """Classify by the everyday model, with all crops as the collection."""
    collection, model = embedded.collection, embedded.model
    session, prior = PropagationSession(model.propagation), model.card
    everything = np.arange(len(collection.files), dtype=np.int64)

    def predict(drawn: ObjectDraw) -> Rows:
        shots = embedded.shots(drawn.shots, collection.class_ids[drawn.shots])
        basis = embedded.basis_of(everything, drawn.shots)
        fitted = fit(collection.graph, shots, session, prior, basis=basis)
        scores = fitted.classify(embedded.embeddings[drawn.scored], drawn.scored)
        found: Rows = fitted.candidate_ids[scores.best]
        return found

    return predict


def of_margin(
    outcomes: Sequence[ObjectOutcome], method: str
) -> Mapping[float, list[ObjectOutcome]]:
    """Outcomes of a method by margin of crops."""
    margins = dict.fromkeys(each.margin for each in outcomes if each.method == method)
    return {
        margin: [each for each in outcomes if each.method == method and each.margin == margin]
        for margin in margins
    }
