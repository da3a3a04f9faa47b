"""The part of an exported model after the embedding equals the whole."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.bundle.export import export_model
from engine.bundle.opened import CLASSIFIER, ModelBundle, open_bundle
from engine.errors import FormatError, ModelError
from engine.everyday.classifier import EMBEDDING, PROBABILITIES, Setting
from engine.project import Project
from engine.runtime.onnx_runtime import load_onnxruntime
from protoleaf_cluster import behind_embedding as tested
from protoleaf_cluster.behind_embedding import behind_embedding, embedded_by
from tests.support.collections import Collection


def answers(content: bytes, embeddings: np.ndarray) -> np.ndarray:
    """Probabilities of the part."""
    session = load_onnxruntime().InferenceSession(content, providers=["CPUExecutionProvider"])
    found: np.ndarray = session.run([PROBABILITIES], {EMBEDDING: embeddings})[0]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("setting", list(Setting))
def test_it_answers_as_the_program(
    collection: Collection, setting: Setting, tmp_path: Path
) -> None:
    """For each classifier, on embeddings; without the backbone it is small."""
    with Project.open(collection.project, for_writing=False) as project:
        exported = export_model(project, collection.caches, tmp_path / "model", setting)
    bundle = open_bundle(exported.folder)
    content = behind_embedding(bundle, 384)
    assert len(content) < (exported.folder / CLASSIFIER).stat().st_size / 5
    probabilities = answers(content, np.eye(9, 384, dtype=np.float32))
    assert probabilities.shape == (9, len(bundle.contents.back_off.candidate_ids))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


@pytest.mark.slow
def test_another_part_is_refused(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part is compared with the whole on pictures."""
    opened = open_bundle(bundle)
    part = tested._part  # noqa: SLF001 (restored)

    def turned(graph: onnx.GraphProto, described: onnx.ValueInfoProto) -> onnx.GraphProto:
        found = part(graph, described)
        for constant in found.initializer:
            if constant.data_type == onnx.TensorProto.FLOAT:
                values = onnx.numpy_helper.to_array(constant) * np.float32(1.5)
                constant.CopyFrom(
                    onnx.numpy_helper.from_array(values.astype(np.float32), constant.name)
                )
        assert isinstance(found, onnx.GraphProto)
        return found

    monkeypatch.setattr(tested, "_part", turned)
    with pytest.raises(ModelError, match="cannot classify embeddings"):
        behind_embedding(opened, 384)


@pytest.mark.slow
def test_a_model_without_an_embedding_is_refused(bundle: Path) -> None:
    """Such as one of another program."""
    opened = open_bundle(bundle)
    model = onnx.load(bundle / CLASSIFIER)
    for node in model.graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                names[place] = "renamed" if name == EMBEDDING else name
    onnx.save(model, bundle / CLASSIFIER)
    with pytest.raises(ModelError, match="cannot classify embeddings"):
        behind_embedding(ModelBundle(bundle, opened.contents, opened.session), 384)


@pytest.mark.slow
def test_the_card_names_the_backbone(bundle: Path, tmp_path: Path) -> None:
    """A folder without a card is refused."""
    fields = json.loads((bundle / "card.json").read_text(encoding="utf-8"))
    assert embedded_by(bundle) == ("leafnet", fields["backbone"]["sha256"])
    shutil.copytree(bundle, tmp_path / "without")
    (tmp_path / "without" / "card.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FormatError, match="the card of the exported model cannot be read"):
        embedded_by(tmp_path / "without")
