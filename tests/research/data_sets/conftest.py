"""A small source and its WordNet, written once and read-only."""

import shutil
from pathlib import Path

import pytest

from research.data_sets.build import build
from tests.support.small_imagenet import RECIPE, write_small_imagenet, write_wordnet


@pytest.fixture(scope="session")
def small_imagenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a source with `train` and `val`."""
    return write_small_imagenet(tmp_path_factory.mktemp("source") / "small-imagenet")


@pytest.fixture(scope="session")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the WordNet files."""
    return write_wordnet(tmp_path_factory.mktemp("wordnet") / "wordnet")


@pytest.fixture(scope="session")
def built_once(
    small_imagenet: Path, wordnet: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Folder of a small read-only data set."""
    out = tmp_path_factory.mktemp("built") / "data"
    build(small_imagenet, wordnet, out, RECIPE, side=8)
    return out


@pytest.fixture
def built(built_once: Path, tmp_path: Path) -> Path:
    """A writable copy of it."""
    return Path(shutil.copytree(built_once, tmp_path / "data"))
