"""Labelled images of one draw, as input of suggestions."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import LabelledVectors, labelled_vectors
from engine.errors import InputError
from research.transfer.embedded import EmbeddedCollection


def drawn_rows(embedded: EmbeddedCollection, shots: int, seed: int) -> dict[int, NDArray[np.int64]]:
    """At most `shots` random images of `train` of each leaf, by class id."""
    collection = embedded.collection
    order = np.random.default_rng(seed).permutation(np.flatnonzero(collection.is_train))
    return {
        leaf: order[collection.class_ids[order] == leaf][:shots]
        for leaf in collection.leaf_ids.tolist()
    }


def images_of(
    embedded: EmbeddedCollection, rows_of: dict[int, NDArray[np.int64]]
) -> LabelledVectors:
    """Labelled images at the given rows, whitened by the collection.

    Raises:
        InputError: the collection is too small, or all its images are equal.
    """
    rows = np.concatenate(list(rows_of.values()))
    class_ids = np.concatenate([np.full(len(part), class_id) for class_id, part in rows_of.items()])
    order = np.argsort(rows)
    basis = embedded.basis_of(np.arange(len(embedded.embeddings)), rows[:0])
    if basis is None:
        raise InputError(
            "the images do not differ enough to suggest anything",
            found=f"{len(embedded.embeddings)} images",
        )
    shots = embedded.shots(rows[order], class_ids[order])
    return labelled_vectors(
        shots, embedded.collection.graph, basis.whitening, most=max(map(len, rows_of.values()))
    )


def relabelled(
    images: LabelledVectors, rows: NDArray[np.int64] | NDArray[np.bool_], class_id: int
) -> LabelledVectors:
    """The images with another label for some of them."""
    class_ids = images.class_ids.copy()
    class_ids[rows] = class_id
    return replace(images, class_ids=class_ids)


def only(images: LabelledVectors, rows: NDArray[np.int64] | NDArray[np.bool_]) -> LabelledVectors:
    """A subset of the images."""
    return LabelledVectors(
        images.image_ids[rows], images.class_ids[rows], images.vectors[rows], images.plain[rows]
    )
