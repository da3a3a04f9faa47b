"""An open collection for the tests of the workflows."""

from collections.abc import Iterator

import pytest

from engine.workflows.live import LiveCollection
from tests.support.collections import Collection


@pytest.fixture
def live(collection: Collection) -> Iterator[LiveCollection]:
    """The small collection, open for writing and loaded."""
    opened = LiveCollection.open(collection.project, collection.caches)
    opened.load()
    yield opened
    opened.close()
