"""The worker's results about ONNX files."""

from pathlib import Path

import pytest

from engine.backbones.library import BackboneLibrary
from engine.backbones.messages import AddedBackbone, AddFile, InspectFile
from engine.worker.protocol import Failed
from tests.support import onnx_models as models
from tests.support.collections import Collection
from tests.support.served import served

pytestmark = pytest.mark.slow


def test_inspecting(tmp_path: Path) -> None:
    """The result has all values of the form."""
    answer = served(InspectFile(models.write_scores_and_features(tmp_path / "net.onnx")))
    assert answer.status == 0
    assert answer.ending.preprocessing.output == "pooled_features"
    assert [output.name for output in answer.ending.outputs if not output.refused] == [
        "pooled_features",
        "logits",
    ]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """The error is one line."""
    (tmp_path / "net.onnx").write_bytes(b"PK\x03\x04")
    answer = served(InspectFile(tmp_path / "net.onnx"))
    assert (answer.status, answer.events) == (1, ())
    assert isinstance(answer.ending, Failed)
    assert "zip archive" in answer.ending.message


def test_adding_with_a_project(tmp_path: Path, collection: Collection) -> None:
    """Verified on the project's images with progress, and stored by name."""
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    answer = served(AddFile(path, "mine", {"channel_order": "bgr"}, collection.project))
    assert answer.status == 0
    assert [event.note for event in answer.events] == [
        "checking the file",
        "trying it on images",
        "saving it",
        "",
    ]
    assert isinstance(answer.ending, AddedBackbone)
    assert (answer.ending.name, answer.ending.width) == ("mine", models.WIDTH)
    assert BackboneLibrary().entry("mine").card.channel_order == "bgr"
