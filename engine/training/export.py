"""Export to ONNX, refused when the file does not do what the torch module does.

A formula exists once: inference runs the file that is made here. Each export goes to a neighbouring
temporary file, is loaded in ONNX Runtime and compared with the module on random inputs of many
shapes; only then it gets its name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import ModelError
from engine.full_disk import writing
from engine.model.propagation import Attention, NetworkOutputs, PlainAttention, PropagationNetwork
from engine.model_card import BackboneCard, card_path, write_card
from engine.new_file import ORDINARY_FILE, clear_abandoned_drafts, new_file, private_folder
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.training.onnx_conversion import ModelShape, store_weights_as_half, to_onnx

TOLERANCE = 1e-4
"""Largest relative difference of ONNX and torch. Chosen: above float32 rounding."""
HALF_WEIGHTS_TOLERANCE = 1e-2
"""Ten times the effect of float16 weights in some twenty layers, 1 part in 1000 of an embedding."""

CHECK_SEED = 0  # of the inputs that are compared: the same in each export
PROPAGATION_CHECKS = (  # images, pairs, classes, edges
    (9, 14, 6, 8),
    (1, 1, 1, 0),
    (0, 0, 1, 0),
    (0, 0, 3, 3),
    (5, 0, 4, 2),
    (4, 4, 5, 0),
    (3, 7, 2, 1),
    (200, 500, 60, 90),
)
PLAIN_WIDTHS = (16, 1, 2, 384, 2048)
"""Embedding widths that are compared; 1 and 2 are the edge cases."""
BACKBONE_BATCHES = (1, 2, 5)
"""Images in each compared batch. Chosen: alone, a pair and more."""

Inputs = tuple[Tensor, ...]


@dataclass(frozen=True)
class Agreement:
    """How far an exported file is from its torch module."""

    largest_difference: float  # relative to the largest value of each output
    tolerance: float  # its limit
    checks: int  # inputs compared


def export_propagation(
    network: PropagationNetwork[Attention] | PropagationNetwork[PlainAttention], path: Path
) -> Agreement:
    """Write a propagation network as an ONNX file, compared with torch.

    A plain one takes embeddings of any width.

    Raises:
        ModelError: the file's results differ from the module's; nothing is written.
        StorageError: the folder refuses the file.
    """
    attention = network.attention
    widths = PLAIN_WIDTHS if isinstance(attention, PlainAttention) else (attention.embedding_width,)
    embedding_axes = {0: "n"} if isinstance(attention, Attention) else {0: "n", 1: "d"}
    shape = ModelShape(
        input_names=("embeddings", "image_positions", "class_positions", "edge_index", "lambda_"),
        output_names=NetworkOutputs._fields,
        dynamic_axes=(embedding_axes, {0: "m"}, {0: "m"}, {1: "E"}, {0: "C"}),
    )
    scale = str(float(attention.logit_scale))
    notes = {
        "steps": str(network.steps),
        "normalisation": network.normalisation,
        "logit_scale": scale,
    }
    generator = torch.Generator().manual_seed(CHECK_SEED)
    inputs = [
        random_graph(generator, *counts, width=width)
        for width in widths
        for counts in PROPAGATION_CHECKS
    ]
    with _evaluating(network):
        content = to_onnx(network, inputs[0], shape, notes=notes).SerializeToString()
        return _write_checked(content, path, network, inputs, tolerance=TOLERANCE)


def export_backbone(
    module: nn.Module,
    path: Path,
    card: BackboneCard,
    *,
    half_weights: bool = False,
    one_side: bool = False,
) -> Agreement:
    """Write a backbone as an ONNX file with its card, compared with torch.

    Args:
        module: maps images (B, 3, H, W) float32 to embeddings (B, d) float32; on the CPU; left as
            it was.
        half_weights: store large weights as float16, cast up when the file is loaded: half the
            size, the same speed.
        one_side: the module takes only images of the card's side, as Conv4 does, and so will the
            file.

    Raises:
        ModelError: the file's results differ from the module's, or the card's width is wrong;
            nothing is written.
        StorageError: the folder refuses the file.
    """
    shape = ModelShape(
        input_names=("images",),
        output_names=("embeddings",),
        dynamic_axes=({0: "batch"} if one_side else {0: "batch", 2: "height", 3: "width"},),
    )
    inputs = list(_random_images(card.input_side, one_side=one_side))
    with _evaluating(module):
        _check_width(module, inputs[0], card)
        model = to_onnx(module, inputs[-1], shape, notes={"name": card.name})
        if half_weights:
            store_weights_as_half(model.graph)
        tolerance = HALF_WEIGHTS_TOLERANCE if half_weights else TOLERANCE
        return _write_checked(
            model.SerializeToString(), path, module, inputs, tolerance=tolerance, card=card
        )


def random_graph(
    generator: torch.Generator, images: int, pairs: int, classes: int, edges: int, *, width: int
) -> Inputs:
    """Random inputs of `PropagationNetwork.forward`; edges go from lower to higher positions."""
    first = torch.randint(0, classes, (edges,), generator=generator)
    second = (first + torch.randint(1, max(classes, 2), (edges,), generator=generator)) % classes
    ends = torch.stack([first, second])
    return (
        torch.randn(images, width, generator=generator),
        torch.randint(0, max(images, 1), (pairs,), generator=generator),
        torch.randint(0, classes, (pairs,), generator=generator),
        torch.stack([ends.amin(0), ends.amax(0)]),
        torch.rand(classes, generator=generator),
    )


def _random_images(side: int, *, one_side: bool) -> Iterator[Inputs]:
    """One batch for each size in `BACKBONE_BATCHES`: square, wider by 7 (odd), and higher."""
    generator = torch.Generator().manual_seed(CHECK_SEED)
    sides = [(side, side), (side, side + 7), (side + side // 2, side)]
    if one_side:
        sides = [(side, side)] * len(BACKBONE_BATCHES)
    for batch, (height, width) in zip(BACKBONE_BATCHES, sides, strict=True):
        yield (torch.randn(batch, 3, height, width, generator=generator),)


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(was_training)


def _check_width(module: nn.Module, inputs: Inputs, card: BackboneCard) -> None:
    found = tuple(module(*inputs).shape)
    expected = (len(inputs[0]), card.embedding_width)
    if found != expected:
        raise ModelError(
            "the card does not fit the backbone",
            expected="embeddings {shape}",
            found=str(found),
            shape=expected,
        )


def _write_model_card(path: Path, card: BackboneCard) -> None:
    temporary = path.with_name(f".{path.name}.writing.onnx")
    try:
        write_card(temporary, card)
        card_path(temporary).replace(card_path(path))
    finally:
        card_path(temporary).unlink(missing_ok=True)


def _write_checked(
    content: bytes,
    path: Path,
    module: nn.Module,
    inputs: Sequence[Inputs],
    *,
    tolerance: float,
    card: BackboneCard | None = None,
) -> Agreement:
    """Write a draft, compare it with the module, and only then publish it under its name."""
    with writing(path, "the model cannot be written", "choose another folder or free some space"):
        clear_abandoned_drafts(private_folder(path.parent))
        with new_file(path, replace=True, mode=ORDINARY_FILE) as draft:
            draft.file.write(content)
            draft.file.flush()
            agreement = compare(draft.path, module, inputs, tolerance=tolerance)
            if card is not None:
                _write_model_card(path, card)
    return agreement


def compare(
    model: Path, module: nn.Module, inputs: Iterable[Inputs], *, tolerance: float
) -> Agreement:
    """Run a file in ONNX Runtime and its module in torch on the same inputs.

    Raises:
        ModelError: they differ by more, in shape, in kind of number, or anywhere in a yes-no
            output.
    """
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # failures are raised; the log would repeat them
    try:
        session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        differences = [_difference(session, module, arguments) for arguments in inputs]
    except _runtime_failures() as error:
        raise ModelError("ONNX Runtime cannot run the exported model", found=str(error)) from error
    largest = max(differences)
    if not largest <= tolerance:  # also refuses a difference that is not a number
        raise ModelError(
            "the exported model does not match the torch model",
            expected="a relative difference of at most {tolerance:g}",
            found=f"{largest:.2g}",
            remedy="nothing was written; this is a bug in the export, please report it",
            tolerance=tolerance,
        )
    return Agreement(largest, tolerance, len(differences))


def _runtime_failures() -> tuple[type[Exception], ...]:
    kinds: Mapping[str, Any] = vars(load_onnxruntime().capi.onnxruntime_pybind11_state)
    return tuple(
        kind for kind in kinds.values() if isinstance(kind, type) and issubclass(kind, Exception)
    )


def _difference(session: Any, module: nn.Module, arguments: Inputs) -> float:
    expected = module(*arguments)
    expected = (expected,) if isinstance(expected, Tensor) else tuple(expected)
    names = [value.name for value in session.get_inputs()]
    feeds = {name: value.numpy() for name, value in zip(names, arguments, strict=True)}
    return max(
        relative_difference(theirs, ours.numpy())
        for theirs, ours in zip(session.run(None, feeds), expected, strict=True)
    )


def relative_difference(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Largest difference relative to the largest value; infinite for another shape or dtype."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return float("inf")
    if not expected.size:
        return 0.0
    if expected.dtype == np.bool_:
        return 0.0 if np.array_equal(found, expected) else float("inf")
    largest = max(float(np.abs(expected).max()), float(np.finfo(np.float32).tiny))
    return float(np.abs(found - expected).max()) / largest
