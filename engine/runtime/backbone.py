"""A backbone file as a function from images to embeddings, `f` in the paper."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.model_card import BackboneCard
from engine.runtime.backbone_input import Preparation, pooled
from engine.runtime.device_runs import open_runs
from engine.runtime.providers import CPU_CHOICE, ProviderChoice
from engine.runtime.sessions import usable_cores

_LARGEST_RUN: Final = 32  # on the CPU, whatever the caller gives at once
_DECODERS_AHEAD: Final = 2  # threads beyond the cores, so that cores decode while others wait for the GPU


class BackboneSession:
    """An opened backbone. `embed` may be called from several threads at once.

    On the CPU each run uses one core, and `parallel_runs` of them at once use them all: that is a quarter to a half
    faster than splitting every convolution between the cores, because no core ever waits for another.

    Attributes:
        batch_size: images that it runs best with.
        parallel_runs: threads that keep it busy.
        is_eight_bit: the file's eight-bit companion runs instead of it.

    Args:
        model: ONNX file with one input of images and an output that the card says how to pool.
        threads: cores to use; all that the process may use when None.
    """

    def __init__(self, model: Path, card: BackboneCard, choice: ProviderChoice, threads: int | None = None) -> None:
        self.card = card
        self._choice = choice
        self.parallel_runs = (threads or usable_cores()) + (_DECODERS_AHEAD if choice.is_gpu else 0)
        opened = open_runs(model, card, choice)
        self.batch_size = opened.batch
        self.is_eight_bit = opened.is_eight_bit
        self._ends = opened.ends
        self._network = opened.run
        self._preparation = Preparation(card)
        self.embed(np.zeros((1, card.input_side, card.input_side, 3), dtype=np.uint8))

    @property
    def device_name(self) -> str:
        """Where it runs, for people; the CPU after a GPU failed."""
        return CPU_CHOICE.device_name if self._network.has_given_way else self._choice.device_name

    @property
    def is_on_gpu(self) -> bool:
        return self._choice.is_gpu and not self._network.has_given_way

    @property
    def notice(self) -> str:
        """What a person must be told once, such as that the GPU failed and the CPU took over; else empty."""
        return self._network.notice

    @property
    def reason(self) -> str:
        """Why a GPU was not chosen; empty when one was, or the CPU was asked for."""
        return self._choice.reason

    def embed(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Embed a batch: (B, embedding width) float32, all finite.

        Args:
            images: (B, side, side, 3) uint8 RGB, side as the card says.

        Raises:
            ModelError: the model fails, or its output is not what its card promises.
            ValueError: `images` has another shape or dtype.
        """
        side = self.card.input_side
        if images.shape[1:] != (side, side, 3) or images.dtype != np.uint8:
            raise ValueError(f"expected uint8 images of shape (B, {side}, {side}, 3), found {images.shape}")
        most = self._ends.most_images or (self.batch_size if self._choice.is_gpu else _LARGEST_RUN)
        parts = [self._run(images[start : start + most]) for start in range(0, len(images), most)]
        return np.concatenate(parts) if parts else np.zeros((0, self.card.embedding_width), dtype=np.float32)

    def _run(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        prepared = self._preparation.prepare(images).astype(self._ends.input_type, copy=False)
        output = pooled(self._network(prepared), self.card)
        expected = (len(images), self.card.embedding_width)
        if output.shape != expected or output.dtype != np.float32:
            raise ModelError(
                "the backbone's output does not fit its card",
                expected="float32 of shape {shape}",
                found="{kind} of shape {shape_2}",
                shape=expected,
                kind=output.dtype,
                shape_2=output.shape,
            )
        if not np.isfinite(output).all():
            raise ModelError("the backbone gives values that are no numbers", remedy="export it again")
        return output
