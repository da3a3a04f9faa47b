"""Gather what an export writes: a project's images with people's labels and the model's answers."""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine import __version__
from engine.collection.classify import Classified
from engine.collection.state import NO_CLASS, CollectionState
from engine.images.photo_facts import photo_facts
from engine.images.read_file import file_hash
from engine.interchange.labelled_images.records import GivenLabel, LabelledImage, LabelledImages, ModelAnswer
from engine.project import Project
from engine.project.clock import present_time

PROGRAM: Final = f"Protoleaf {__version__}"


class Which(StrEnum):
    """Which images are exported."""

    VERIFIED = "verified"
    """Those that a person labelled."""
    SURE = "sure"
    """Those, and those where the model's answer passes its bar."""
    ALL = "all"
    """All of them, also without a class."""


Answers = Mapping[int, ModelAnswer]
"""The model's, by image id."""


def answers_of(classified: Classified) -> Answers:
    """The answers of one classification, those for labelled images too."""
    scores, fitted = classified.scores, classified.fitted
    return dict(
        _answers(
            classified.image_ids, fitted.candidate_ids[scores.best], scores.best_score, scores.safe_class,
            scores.safe_score, fitted.is_unknown(scores),
        )
    )  # fmt: skip


def answers_in(state: CollectionState, places: slice | NDArray[np.int64] = slice(None)) -> Answers:
    """The answers that screens show; of the images at some places of the state only where these are given."""
    columns = (
        state.image_ids, state.best_class, state.best_score, state.safe_class, state.safe_score, state.is_unknown
    )  # fmt: skip
    return dict(_answers(*(column[places] for column in columns)))


def gather(
    project: Project,
    answers: Answers,
    which: Which,
    *,
    model: str = "",
    setting: str = "",
    only: Container[int] | None = None,
    on_image: Callable[[], None] = lambda: None,
) -> LabelledImages:
    """Gather the images that are asked for.

    Args:
        project: may be open for reading only.
        answers: the model's; {} for people's labels alone.
        which: which images.
        model, setting: how the answers came about; "" without any.
        only: ids of the images that are looked at; None for all.
        on_image: see `LabelledImages`.
    """
    labels = {
        label.image_id: GivenLabel(label.class_id, label.who, label.when, label.source)
        for label in project.labels.by_image().values()
    }
    folder = project.path.parent
    contents = list(project.images.each_content())
    images = (
        LabelledImage(
            image_id, path, folder / path, content_hash.hex() if content_hash else "", labels.get(image_id),
            answers.get(image_id),
        )
        for image_id, path, content_hash in contents
        if only is None or image_id in only
    )  # fmt: skip
    return LabelledImages(
        title=project.path.stem,
        graph=project.classes.graph.copy(),
        images=[_with_content(image) for image in images if _is_asked_for(image, which)],
        made_at=present_time(),
        model=model,
        setting=setting,
        program=PROGRAM,
        folder=_folder_of(folder / parent for parent in {path.rpartition("/")[0] for _, path, _ in contents}),
        facts_of=photo_facts,
        on_image=on_image,
    )


def _with_content(image: LabelledImage) -> LabelledImage:
    """The image with its content hash, where a person labelled it before it was read: others have the same paths."""
    if image.label is None or image.content_hash or not image.file.is_file():
        return image
    try:
        return replace(image, content_hash=file_hash(image.file).hex())
    except OSError:
        return image


def _folder_of(folders: Iterable[Path]) -> Path | None:
    try:
        return Path(os.path.commonpath({os.path.abspath(folder) for folder in folders}))  # noqa: PTH100 (no links)
    except ValueError:  # several drives, or no image
        return None


def _is_asked_for(image: LabelledImage, which: Which) -> bool:
    match which:
        case Which.VERIFIED:
            return image.is_verified
        case Which.SURE:
            return image.is_verified or image.class_id is not None
        case Which.ALL:
            return True


def _answers(*columns: "np.ndarray[tuple[int], np.dtype[np.generic]]") -> Iterator[tuple[int, ModelAnswer]]:
    """Answers by image id of aligned columns: ids, best leaf and its score, safe class and its score, is unknown."""
    for image_id, leaf, leaf_score, safe, safe_score, is_unknown in zip(*(c.tolist() for c in columns), strict=True):
        if leaf == NO_CLASS:
            continue
        has_safe = safe != NO_CLASS and not is_unknown
        yield (
            image_id,
            ModelAnswer(leaf, leaf_score, safe if has_safe else None, safe_score if has_safe else 0.0, is_unknown),
        )
