"""The small collection, open for reading."""

from collections.abc import Iterator

import pytest

from engine.project import Project
from tests.support.collections import Collection


@pytest.fixture
def project(collection: Collection) -> Iterator[Project]:
    """24 shots of eight classes, embedded; open for writing."""
    with Project.open(collection.project) as opened:
        yield opened
