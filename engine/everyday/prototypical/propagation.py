"""Prototypes and propagation (Eq. 3 to 6) by ONNX Runtime, from the file that was exported from the torch functions."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.runtime.onnx_runtime import load_onnxruntime

INPUT_NAMES: Final = ("embeddings", "image_positions", "class_positions", "edge_index", "lambda_")
_REMEDY: Final = "choose a propagation file that this program exported"


@dataclass(frozen=True)
class PropagationResult:
    """Prototypes of C classes with embeddings of width d over E edges."""

    initial: NDArray[np.float32]  # (C, d) float32, `P0`; zeros where there is none
    has_initial: NDArray[np.bool_]  # (C,) bool
    weights: NDArray[np.float32]  # (E,) float32, attention weight of each edge
    propagated: NDArray[np.float32]  # (C, d) float32, `P+`; zeros where there is none
    final: NDArray[np.float32]  # (C, d) float32, `P`; zeros where there is none
    # (C,) bool; False for a class that neither images nor propagation reach: it cannot be predicted
    has_final: NDArray[np.bool_]


OUTPUT_NAMES: Final = tuple(field.name for field in fields(PropagationResult))


@final
class PropagationSession:
    """A loaded propagation file; runs on the CPU, from one thread at a time or several.

    Args:
        model: path of the ONNX file.

    Attributes:
        embedding_width: d, the width of embeddings that the file was trained for; None for a file that takes any.
        steps: propagation steps.
        normalisation: "softmax" or "cosine".

    Raises:
        ModelError: the file is missing, damaged, or not a propagation file.
    """

    def __init__(self, model: Path) -> None:
        self.model = model
        self._session = _load(model)
        _check_names(model, self._session)
        width = self._session.get_inputs()[0].shape[1]
        self.embedding_width: int | None = width if isinstance(width, int) else None
        notes: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self.steps = int(notes.get("steps", "1"))
        self.normalisation = notes.get("normalisation", "softmax")

    def run(
        self,
        embeddings: NDArray[np.float32],
        image_positions: NDArray[np.int64],
        class_positions: NDArray[np.int64],
        edge_index: NDArray[np.int64],
        lambda_: NDArray[np.float32],
    ) -> PropagationResult:
        """Make initial and final prototypes. Needs about 12 · m · d bytes while it runs.

        Args:
            embeddings: (n, d) float32, one row for each image.
            image_positions: (m,) int64 in [0, n), the image of each (image, class) pair.
            class_positions: (m,) int64 in [0, C), the class of each pair.
            edge_index: (2, E) int64 in [0, C), row 0 the parent, row 1 the child.
            lambda_: (C,) float32 in [0, 1], weight of `P0` in Eq. 6. n, m and E may be 0.

        Returns:
            Prototypes and weights, see `PropagationResult`.

        Raises:
            ModelError: the embeddings have another width than the file was made for.
            ValueError: a shape or position does not fit the others.
        """
        self._check_width(embeddings)
        if len(image_positions) != len(class_positions):
            raise ValueError(f"{len(image_positions)} images but {len(class_positions)} classes in the pairs")
        if edge_index.ndim != 2 or len(edge_index) != 2:  # noqa: PLR2004 (parent and child)
            raise ValueError(f"edge_index must be (2, E), not {edge_index.shape}")
        _check_positions("image_positions", image_positions, len(embeddings))
        _check_positions("class_positions", class_positions, len(lambda_))
        _check_positions("edge_index", edge_index, len(lambda_))
        values = (embeddings, image_positions, class_positions, edge_index, lambda_)
        kinds = (np.float32, np.int64, np.int64, np.int64, np.float32)
        feeds = {
            name: np.ascontiguousarray(value, dtype=kind)
            for name, value, kind in zip(INPUT_NAMES, values, kinds, strict=True)
        }
        return PropagationResult(*self._session.run(list(OUTPUT_NAMES), feeds))

    def _check_width(self, embeddings: NDArray[np.float32]) -> None:
        width = self.embedding_width
        if embeddings.ndim != 2 or embeddings.shape[1] != (width or embeddings.shape[1]):  # noqa: PLR2004 (images, width)
            raise ModelError(
                "the propagation file does not fit the backbone",
                expected="embeddings of width {width}",
                found="shape {shape}",
                remedy="choose a propagation file that was trained for this backbone",
                width=width or "any",
                shape=embeddings.shape,
            )


def _load(model: Path) -> Any:
    onnxruntime = load_onnxruntime()

    if not model.is_file():
        raise ModelError("the propagation file is missing", expected=str(model), found="nothing", remedy=_REMEDY)
    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # runs are short and rare; memory goes back to the system after each
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # no busy waiting beside the window
    options.log_severity_level = 4  # failures are raised; the log would say them twice
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises many kinds without a common base below Exception
        raise ModelError("the propagation file cannot be loaded", found=f"{model}: {error}", remedy=_REMEDY) from error


def _check_names(model: Path, session: Any) -> None:
    inputs = tuple(value.name for value in session.get_inputs())
    outputs = tuple(value.name for value in session.get_outputs())
    if (inputs, outputs) != (INPUT_NAMES, OUTPUT_NAMES):
        raise ModelError(
            "{model} is not a propagation file",
            expected=f"{', '.join(INPUT_NAMES)} -> {', '.join(OUTPUT_NAMES)}",
            found=f"{', '.join(inputs)} -> {', '.join(outputs)}",
            remedy=_REMEDY,
            model=model.name,
        )


def _check_positions(name: str, positions: NDArray[np.int64], count: int) -> None:
    # ONNX would take a negative position as counted from the end and answer without a word.
    if positions.size and (positions.min() < 0 or positions.max() >= count):
        raise ValueError(f"{name} must lie in [0, {count}), found {positions.min()} to {positions.max()}")
