"""A dozen images that wait to be read."""

from pathlib import Path

import pytest

from tests.support.collections import Collection, cache_of_test
from tests.support.unread import unread_collection


@pytest.fixture
def unread(own_settings_and_caches: None, tmp_path: Path) -> Collection:
    """A project whose images were never read."""
    return unread_collection(tmp_path / "unread", cache_of_test())
