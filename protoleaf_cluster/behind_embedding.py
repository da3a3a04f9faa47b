"""The classification head of an exported model: from embeddings to its outputs.

`classifier.onnx` is the backbone and the fitted model in one graph (`classifier_graph`), joined at
the value `EMBEDDING`. The head are the nodes from there to the outputs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from engine.bundle.classifier_graph import IMAGES
from engine.bundle.opened import CLASSIFIER, ModelBundle
from engine.errors import FormatError, ModelError
from engine.everyday.classifier import EMBEDDING
from engine.files import read_regular
from engine.runtime.eight_bit import trial_images
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import one_line, run_session, runtime_errors

_CARD = "card.json"
_TRIALS = 2  # pictures on which head and whole model are compared
_TOLERANCE = 1e-5  # of a probability: equal operators, but another batch size


def embedded_by(folder: Path) -> tuple[str, str]:
    """Name and SHA-256 (hex) of the backbone of an exported model.

    Raises:
        FormatError: the folder's card is missing or damaged.
    """
    path = folder / _CARD
    try:
        backbone = json.loads(read_regular(path))["backbone"]
        return str(backbone["name"]), str(backbone["sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(
            "the card of the exported model cannot be read",
            found=str(path),
            remedy="export the model again",
        ) from error


def behind_embedding(bundle: ModelBundle, width: int) -> bytes:
    """The head as an ONNX file, with the input `EMBEDDING` (B, width), float32, of length 1.

    Raises:
        ModelError: its outputs differ from the whole model's on trial pictures, or it cannot run.
    """
    import onnx

    whole = onnx.load_from_string(read_regular(bundle.folder / CLASSIFIER, at_most=1 << 31))
    described = onnx.helper.make_tensor_value_info(
        EMBEDDING, onnx.TensorProto.FLOAT, ["batch", width]
    )
    part = onnx.helper.make_model(
        _part(whole.graph, described),
        opset_imports=list(whole.opset_import),
        ir_version=whole.ir_version,
    )
    content: bytes = part.SerializeToString()
    whole.graph.output.append(described)
    try:
        difference = _difference(bundle, whole.SerializeToString(), content)
    except runtime_errors() as error:
        raise _no_part(bundle, one_line(error)) from error
    if not difference <= _TOLERANCE:
        raise _no_part(bundle, f"{difference:.2g}")
    return content


def _part(graph: Any, described: Any) -> Any:
    """The nodes from the embedding to the outputs, with their constants."""
    from onnx import helper

    wanted, nodes = {output.name for output in graph.output}, []
    for node in reversed(graph.node):
        if EMBEDDING not in node.output and wanted & set(node.output):
            nodes.append(node)
            wanted |= set(node.input)
    constants = [constant for constant in graph.initializer if constant.name in wanted]
    return helper.make_graph(nodes[::-1], graph.name, [described], list(graph.output), constants)


def _difference(bundle: ModelBundle, whole: bytes, part: bytes) -> float:
    """Largest difference of the outputs of head and whole model on trial pictures."""
    framing = bundle.contents.framing
    pictures = trial_images(framing.side, _TRIALS * framing.views)
    runtime = load_onnxruntime()
    sessions = [
        runtime.InferenceSession(content, providers=[CPU_CHOICE.provider])
        for content in (whole, part)
    ]
    names = [output.name for output in sessions[1].get_outputs()]
    shaped = pictures.reshape(_TRIALS, framing.views, *pictures.shape[1:])
    embeddings, *expected = run_session(sessions[0], {IMAGES: shaped}, [EMBEDDING, *names])
    found = run_session(sessions[1], {EMBEDDING: embeddings}, names)
    return max(float(np.abs(one - other).max()) for one, other in zip(found, expected, strict=True))


def _no_part(bundle: ModelBundle, found: str) -> ModelError:
    return ModelError(
        "the exported model cannot classify embeddings",
        expected="the outputs of {classifier} within {tolerance:g}",
        found="{found_difference} in {folder}",
        remedy="export the model again",
        classifier=CLASSIFIER,
        tolerance=_TOLERANCE,
        found_difference=found,
        folder=bundle.folder,
    )
