"""One ONNX file from pixels to probabilities, compared with the engine step by step."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx.version_converter
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from engine.bundle.classifier_graph import IMAGES, classifier_model, model_bytes
from engine.embedding.views import VIEWS, mean_of_views, unit_length
from engine.errors import ModelError
from engine.everyday.classifier import COARSE, DISTANCE, PROBABILITIES, ProjectClassifier
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard
from engine.runtime.backbone import BackboneSession
from engine.runtime.eight_bit import trial_images
from engine.runtime.providers import CPU_CHOICE
from engine.runtime.sessions import open_session
from tests.support.classified import made_up
from tests.support.onnx_models import (
    SIDE,
    WIDTH,
    average,
    convolution,
    write_channels_last,
    write_external,
    write_grey,
    write_half,
    write_map,
    write_model,
    write_scores_and_features,
    write_tokens,
    write_vectors,
)


def write_named_as_ours(path: Path) -> Path:
    """A network with a subgraph that uses an outer constant, and names that clash with ours."""
    nodes, initializers = convolution()
    none = helper.make_graph(
        [helper.make_node("Identity", ["distance"], ["probabilities"])],
        "then",
        [],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, None)],
    )
    nodes += [
        average(target="embedding"),
        helper.make_node("If", ["always"], ["more"], then_branch=none, else_branch=none),
    ]
    nodes.append(helper.make_node("Add", ["embedding", "more"], ["images_2"]))
    initializers.append(numpy_helper.from_array(np.full(WIDTH, 0.5, dtype=np.float32), "distance"))
    initializers.append(numpy_helper.from_array(np.array(True), "always"))
    return write_model(
        path,
        nodes,
        {"images_2": (TensorProto.FLOAT, ("batch", WIDTH))},
        inputs={"images": ("batch", 3, SIDE, SIDE)},
        initializers=initializers,
    )


PLAIN = BackboneCard("small", SIDE, (0.4, 0.5, 0.6), (0.2, 0.3, 0.4), WIDTH)
KINDS: dict[str, tuple[Callable[[Path], Path], BackboneCard]] = {
    "vectors": (write_vectors, PLAIN),
    "blue first, full brightness 255": (
        write_vectors,
        replace(PLAIN, channel_order="bgr", value_scale=255.0),
    ),
    "length 1 by its card": (write_vectors, replace(PLAIN, unit_length=True)),
    "map": (write_map, replace(PLAIN, pooling="mean", output="features")),
    "mean of tokens": (write_tokens, replace(PLAIN, pooling="mean")),
    "first token": (write_tokens, replace(PLAIN, pooling="first")),
    "channels last": (write_channels_last, replace(PLAIN, layout="nhwc")),
    "map with channels last": (
        lambda path: write_channels_last(path, pooled=False),
        replace(PLAIN, layout="nhwc", pooling="mean"),
    ),
    "gray": (write_grey, replace(PLAIN, channel_order="grey")),
    "half precision": (write_half, PLAIN),
    "one of several outputs": (write_scores_and_features, replace(PLAIN, output="pooled_features")),
    "weights beside it": (write_external, PLAIN),
    "one image at a time": (lambda path: write_vectors(path, batch=1), PLAIN),
    "old operators": (lambda path: write_vectors(path, opset=11), PLAIN),
    "names that are ours": (write_named_as_ours, PLAIN),
}


def model_of_width_12() -> ProjectClassifier:
    """Twelve classes in three branches, each with a prototype along its own axis."""
    graph = CategoryGraph()
    branches = [graph.add_class(f"branch {number}") for number in range(3)]
    leaves = [graph.add_class(f"leaf {number}", (branches[number % 3],)) for number in range(WIDTH)]
    return made_up(graph, leaves, [[1 / WIDTH] * WIDTH], paths=["a"]).fitted


def answers_of(
    model: bytes, images: NDArray[np.uint8], folder: Path
) -> dict[str, NDArray[np.float32]]:
    path = folder / "classifier.onnx"
    path.write_bytes(model)
    session = open_session(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {IMAGES: images}), strict=True))


@pytest.mark.parametrize(
    ("kind", "views"),
    [*((kind, VIEWS) for kind in KINDS), ("vectors", 1), ("one image at a time", 1)],
)
def test_every_kind_of_backbone(kind: str, views: int, tmp_path: Path) -> None:
    """Layout, channel order, precision, pooling, fixed batches, old operator sets."""
    write, card = KINDS[kind]
    backbone, fitted = write(tmp_path / "backbone.onnx"), model_of_width_12()
    images = trial_images(card.input_side, 3 * views)
    session = BackboneSession(backbone, card, CPU_CHOICE)
    embedded = session.embed(images)
    embeddings = mean_of_views(embedded) if views > 1 else unit_length(embedded)
    expected, scores = fitted.probabilities(embeddings), fitted.classify_new(embeddings)

    model = classifier_model(backbone, card, fitted, views=views, name="test")
    found = answers_of(model_bytes(model), images.reshape(-1, views, *images.shape[1:]), tmp_path)

    assert np.ptp(expected) > 0.01, "the images differ, and so do their probabilities"
    np.testing.assert_allclose(found[PROBABILITIES], expected, atol=2e-4)
    np.testing.assert_allclose(found[COARSE], expected @ fitted.back_off.roll_up, atol=2e-4)
    np.testing.assert_allclose(found[DISTANCE], fitted.distance(scores), atol=2e-3)


def test_a_backbone_that_cannot_be_built_upon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old operator sets that cannot be converted raise an error that says what to do."""

    def refuse(_model: object, _version: int) -> None:
        raise RuntimeError("Unsupported conversion for operator Old")

    monkeypatch.setattr(onnx.version_converter, "convert_version", refuse)
    backbone = write_vectors(tmp_path / "backbone.onnx", opset=11)
    with pytest.raises(
        ModelError,
        match=r"cannot be made a part of one file.*operator Old.*Export the backbone again",
    ):
        classifier_model(backbone, PLAIN, model_of_width_12(), views=1, name="test")
