"""The images of a project that a person should label first: for `protoleaf suggest`."""

from dataclasses import dataclass

import numpy as np

from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.config import CacheFolders
from engine.errors import InputError
from engine.project import Project


@dataclass(frozen=True)
class ToLabel:
    """An image whose label would teach much."""

    image_id: int  # the image
    path: str  # as stored in the project
    class_id: int | None  # the likeliest class, None before any label
    score: float  # its probability; 0 without a class


def images_to_label(project: Project, caches: CacheFolders, count: int) -> tuple[ToLabel, ...]:
    """The unlabelled images whose labels would teach most, best first; each adds to those before it.

    Args:
        project: may be open for reading only.
        count: at most so many.

    Raises:
        InputError: there are no images, no embeddings, or too few of them, or all that have one are labelled.
        ModelError: the files of the version in use are gone.
    """
    live = LiveCollection(project, caches)
    live.find_what_teaches(is_wanted=True)
    try:
        state = live.load()
    finally:
        live.embedded.close()
    if len(state.image_ids) == 0:
        raise InputError("the project has no images", remedy="import images first")
    ready = int(live.embedded.is_ready.sum())
    if ready == 0:
        raise InputError(
            "no image has an embedding yet", found="{images} waiting", remedy="run embed", images=len(state.image_ids)
        )
    if state.teach_rank is None:
        raise InputError(
            "there are too few different images to choose among",
            found="{ready} with an embedding",
            remedy="label any of them, or add more",
            ready=ready,
        )
    is_free = (state.label_class == NO_CLASS) & live.embedded.is_ready
    places = np.flatnonzero(is_free)
    places = places[np.argsort(state.teach_rank[places], kind="stable")][:count]
    return tuple(
        ToLabel(
            int(state.image_ids[place]),
            state.paths[place],
            None if state.best_class[place] == NO_CLASS else int(state.best_class[place]),
            float(state.best_score[place]),
        )
        for place in places.tolist()
    )
