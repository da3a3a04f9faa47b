"""Fixtures of the window's tests: isolated settings and caches, and a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.actions.keys import keys_in_use
from app.features import key_owners
from app.images.thumbnails import Thumbnails
from app.session import Session
from app.theme import apply_theme
from tests.support.collections import Collection, add_stranger, cache_of_test
from tests.support.isolation import (
    keys_named,  # noqa: F401 (fixtures)
    no_qt_warnings,  # noqa: F401 (fixtures)
    nothing_left_behind,  # noqa: F401 (fixtures)
    own_settings_and_caches,  # noqa: F401 (fixtures)
)
from tests.support.unread import unread_collection
from tests.support.window import desk, hand, newcomer, reviewing, settings, tinyleaf  # noqa: F401


@pytest.fixture(autouse=True)
def dressed(qapp: QApplication) -> None:
    """Apply the program's theme to widgets."""
    apply_theme(qapp)


@pytest.fixture(autouse=True)
def own_keys() -> None:
    """Reset the keys in use for each test."""
    keys_in_use().begin(key_owners())


@pytest.fixture
def session(qapp: QApplication, own_settings_and_caches: None) -> Iterator[Session]:  # noqa: F811
    """A session without a project, with caches of its own."""
    session = Session(cache_of_test())
    yield session
    session.shut_down()


@pytest.fixture
def thumbnails(own_settings_and_caches: None, qapp: QApplication) -> Iterator[Thumbnails]:  # noqa: F811
    """Real thumbnails, stopped after the test."""
    thumbnails = Thumbnails(cache_of_test())
    yield thumbnails
    thumbnails.stop()


@pytest.fixture
def unread(own_settings_and_caches: None, tmp_path: Path) -> Collection:  # noqa: F811
    """A project with a dozen images that are not embedded."""
    return unread_collection(tmp_path / "unread", cache_of_test())


@pytest.fixture
def stranger(collection: Collection) -> int:
    """The id of an embedded image of none of the classes."""
    return add_stranger(collection)
