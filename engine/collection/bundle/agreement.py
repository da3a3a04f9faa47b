"""Compares what is about to leave with what the program itself answers: a formula exists once (decision 2)."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.bundle.classifier_graph import CONVERTED_OPSET, IMAGES
from engine.collection.classify import Classified
from engine.embedding.views import VIEWS, mean_of_views, unit_length
from engine.errors import ModelError
from engine.everyday.blocks import to_floats
from engine.everyday.classifier import DISTANCE, EMBEDDING, PROBABILITIES, FittedClassifier
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import trial_images
from engine.runtime.onnx_runtime import load_onnxruntime
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import open_session, run_session

TOLERANCE: Final = 1e-3
"""Largest difference of a probability, or of a squared distance, with which a model may leave."""
_EMBEDDINGS: Final = 256
"""Images of the collection whose embeddings are compared."""
_TRIAL_IMAGES: Final = 2
"""Pictures that go the whole way, from pixels on."""


def largest_difference(folder: Path, card: BackboneCard, classified: Classified, views: int) -> float:
    """How far `backbone.onnx` and `classifier.onnx` of a folder are from the program's own answers.

    The fitted model is compared on embeddings of the collection, among which are labelled images and anchors; the whole
    way on trial pictures.

    Raises:
        ModelError: farther than `TOLERANCE`.
    """
    fitted = classified.fitted
    found = max(_of_embeddings(classified), _of_pictures(folder, card, fitted, views))
    if not found <= TOLERANCE:
        raise ModelError(
            "the exported model does not answer as the program does, so it was not written",
            expected="probabilities that differ by {tolerance:g} at most",
            found=f"{found:.2g}",
            remedy="choose another backbone for the model that you export",
            tolerance=TOLERANCE,
        )
    return found


def _of_embeddings(classified: Classified) -> float:
    step = -(-len(classified.rows) // _EMBEDDINGS)
    embeddings = unit_length(to_floats(classified.embeddings[::step]))
    model = classified.fitted.export(CONVERTED_OPSET)
    session = load_onnxruntime().InferenceSession(model.SerializeToString(), providers=[CPU_CHOICE.provider])
    return _difference(session, {EMBEDDING: embeddings}, classified.fitted, embeddings)


def _of_pictures(folder: Path, card: BackboneCard, fitted: FittedClassifier, views: int) -> float:
    pictures = trial_images(card.input_side, _TRIAL_IMAGES * views)
    embedded = BackboneSession(folder / "backbone.onnx", card, CPU_CHOICE, threads=1).embed(pictures)
    embeddings = mean_of_views(embedded) if views == VIEWS else unit_length(embedded)
    session = open_session(folder / "classifier.onnx")
    return _difference(session, {IMAGES: pictures.reshape(-1, views, *pictures.shape[1:])}, fitted, embeddings)


def _difference(
    session: Any, inputs: dict[str, NDArray[Any]], fitted: FittedClassifier, embeddings: NDArray[np.float32]
) -> float:
    probabilities, distances = run_session(session, inputs, [PROBABILITIES, DISTANCE])
    expected = fitted.probabilities(embeddings)
    far = fitted.distance(fitted.classify_new(embeddings))
    return max(float(np.abs(probabilities - expected).max()), float(np.abs(distances - far).max()))
