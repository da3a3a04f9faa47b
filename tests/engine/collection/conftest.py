"""The small collection that exports and other outputs are tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.labelled_images import Labelled, labelled_project


@pytest.fixture
def music(tmp_path: Path) -> Iterator[Labelled]:
    labelled = labelled_project(tmp_path / "collection")
    yield labelled
    labelled.project.close()
