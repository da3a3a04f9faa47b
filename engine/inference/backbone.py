"""A backbone file as a function from images to embeddings, `f` in the paper."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.inference.providers import ProviderChoice
from engine.inference.runtime import open_session, run_session, usable_cores
from engine.model_card import BackboneCard

_CPU_BATCH: Final = 8  # one core is as fast with 8 as with 32, and holds a quarter of the memory
_GPU_BATCH: Final = 32
_DECODERS_AHEAD: Final = 2  # threads beyond the cores, so that cores decode while others wait for the GPU
_FLOAT_INPUT: Final = "tensor(float)"
_INPUT_RANK: Final = 4


class BackboneSession:
    """An opened backbone. `embed` may be called from several threads at once.

    On the CPU each run uses one core, and `parallel_runs` of them at once use them all: that is a quarter to a half
    faster than splitting every convolution between the cores, because no core ever waits for another.

    Args:
        model: ONNX file; input (B, 3, side, side) float32, output (B, embedding width) float32, any B.
        card: what the model's card says.
        choice: where to run.
        threads: cores to use; all that the process may use when None.
    """

    def __init__(self, model: Path, card: BackboneCard, choice: ProviderChoice, threads: int | None = None) -> None:
        self.card = card
        self.device_name = choice.device_name
        self.batch_size = _GPU_BATCH if choice.is_gpu else _CPU_BATCH
        self.parallel_runs = (threads or usable_cores()) + (_DECODERS_AHEAD if choice.is_gpu else 0)
        self._session = open_session(model, choice.provider)
        self._input_name = _checked_input(self._session, card)
        mean, std = np.array(card.mean, dtype=np.float64), np.array(card.std, dtype=np.float64)
        # (x / 255 - mean) / std as one multiplication and one addition
        self._scale = (1 / (255 * std)).astype(np.float32)
        self._shift = (-mean / std).astype(np.float32)
        self.embed(np.zeros((1, card.input_side, card.input_side, 3), dtype=np.uint8))

    def embed(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Embed a batch.

        Args:
            images: (B, side, side, 3) uint8 RGB, side as the card says.

        Returns:
            (B, embedding width) float32, all finite.

        Raises:
            ModelError: the model fails, or its output is not what its card promises.
            ValueError: `images` has another shape or dtype.
        """
        side = self.card.input_side
        if images.shape[1:] != (side, side, 3) or images.dtype != np.uint8:
            raise ValueError(f"expected uint8 images of shape (B, {side}, {side}, 3), found {images.shape}")
        parts = [self._run(images[start : start + _GPU_BATCH]) for start in range(0, len(images), _GPU_BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.card.embedding_width), dtype=np.float32)

    def _run(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        output = run_session(self._session, {self._input_name: self._normalised(images)})[0]
        expected = (len(images), self.card.embedding_width)
        if output.shape != expected or output.dtype != np.float32:
            raise ModelError(
                "the backbone's output does not fit its card",
                expected=f"float32 of shape {expected}",
                found=f"{output.dtype} of shape {output.shape}",
            )
        if not np.isfinite(output).all():
            raise ModelError("the backbone gives values that are no numbers", remedy="export it again")
        return output

    def _normalised(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Turn (B, side, side, 3) uint8 into (B, 3, side, side) float32, zero mean and unit variance by the card."""
        normalised = np.empty((len(images), 3, *images.shape[1:3]), dtype=np.float32)
        for channel in range(3):
            plane = normalised[:, channel]
            np.multiply(images[..., channel], self._scale[channel], out=plane)
            plane += self._shift[channel]
        return normalised


def _checked_input(session: Any, card: BackboneCard) -> str:
    """Name of the only input, after its declared shape was compared with the card."""
    inputs = session.get_inputs()
    shape = list(inputs[0].shape) if len(inputs) == 1 else []
    expected = [None, 3, card.input_side, card.input_side]
    fits = len(shape) == _INPUT_RANK and all(
        not isinstance(found, int) or wanted is None or found == wanted
        for found, wanted in zip(shape, expected, strict=True)
    )
    if not fits or inputs[0].type != _FLOAT_INPUT or isinstance(shape[0], int):
        raise ModelError(
            "the backbone's input does not fit its card",
            expected=f"one float32 input of shape (any, 3, {card.input_side}, {card.input_side})",
            found=", ".join(f"{found.name}: {found.type} {found.shape}" for found in inputs) or "no input",
        )
    return str(inputs[0].name)
