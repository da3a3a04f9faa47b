"""The space in which images of the map are compared: whitened by look-alikes, of few dimensions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats
from engine.everyday.blocks import Embeddings, filled_in_blocks, to_floats
from engine.everyday.collection_stage.neighbours import Whitening, whitening_of

WIDTH = 64  # dimensions in which neighbours are looked for (decision 62)
MOST_LEARNED_FROM = 20_000  # images: more do not change directions


@dataclass(frozen=True)
class MapSpace:
    """Whitening, then the directions of most variance."""

    whitening: Whitening | None  # None where all images are the same
    mean: Floats  # (e,) of whitened embeddings
    axes: Floats  # (e, w)

    def takes(self, width: int) -> bool:
        """Whether embeddings of this width can be brought into it."""
        return (len(self.mean) if self.whitening is None else len(self.whitening.mean)) == width

    def arrays(self) -> dict[str, Any]:
        """What it is made of, for a file."""
        whitening = (
            {}
            if self.whitening is None
            else {"shift": self.whitening.mean, "matrix": self.whitening.matrix}
        )
        return {"mean": self.mean, "axes": self.axes, **whitening}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> "MapSpace":
        """From what `arrays` gave.

        Raises:
            KeyError: one is missing.
        """
        whitening = Whitening(arrays["shift"], arrays["matrix"]) if "matrix" in arrays else None
        return cls(whitening, arrays["mean"], arrays["axes"])

    def apply(self, embeddings: Embeddings) -> Floats:
        """Vectors (n, w) float32 of embeddings (n, d)."""

        def vectors_of(rows: slice) -> NDArray[np.floating]:
            block = embeddings[rows]
            whitened = to_floats(block) if self.whitening is None else self.whitening.apply(block)
            return (whitened - self.mean) @ self.axes

        return filled_in_blocks((len(embeddings), self.axes.shape[1]), vectors_of)


def map_space(embeddings: Embeddings) -> MapSpace:
    """Learn the space of embeddings (n, d), without labels, from at most `MOST_LEARNED_FROM`."""
    sample = embeddings[:: max(1, -(-len(embeddings) // MOST_LEARNED_FROM))]
    whitening = whitening_of(sample)
    whitened = to_floats(sample) if whitening is None else whitening.apply(sample)
    mean = whitened.mean(axis=0)
    centred = whitened - mean
    _variance, directions = np.linalg.eigh(centred.T @ centred)
    axes = np.ascontiguousarray(directions[:, ::-1][:, :WIDTH], dtype=np.float32)
    return MapSpace(whitening, mean.astype(np.float32), axes)
