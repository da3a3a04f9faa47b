"""Tests of the engine: isolated caches and backbones, and shared fixtures."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.live import LiveCollection
from engine.config import BACKBONES_VARIABLE, CACHE_VARIABLE
from engine.everyday.prototypical.prototypes import PropagationSession
from tests.support.collections import Collection, cache_of_test
from tests.support.everyday import exported_propagation
from tests.support.labelled_images import Labelled, labelled_project
from tests.support.other_backbones import own_backbone
from tests.support.unread import unread_collection


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches and added backbones are in the test's temporary folder."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(BACKBONES_VARIABLE, str(tmp_path / "backbones"))


@pytest.fixture
def unread(own_caches: None, tmp_path: Path) -> Collection:
    """A project of a dozen images without embeddings."""
    return unread_collection(tmp_path / "unread", cache_of_test())


@pytest.fixture(scope="session")
def propagation(tmp_path_factory: pytest.TempPathFactory) -> PropagationSession:
    """The exported equations with untrained attention."""
    return exported_propagation(tmp_path_factory.mktemp("everyday"))


@pytest.fixture
def live(collection: Collection) -> Iterator[LiveCollection]:
    """The small collection, open for writing and loaded."""
    opened = LiveCollection.open(collection.project, collection.caches)
    opened.load()
    yield opened
    opened.close()


@pytest.fixture
def tinyleaf(tmp_path: Path) -> Path:
    """An ONNX file with random weights, its card and its propagation."""
    return own_backbone(tmp_path / "own models")


@pytest.fixture
def music(tmp_path: Path) -> Iterator[Labelled]:
    """The small collection for formats and exports."""
    labelled = labelled_project(tmp_path / "collection")
    yield labelled
    labelled.project.close()
