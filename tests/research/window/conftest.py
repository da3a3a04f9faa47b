"""Fixtures of the window's tests."""

from tests.app.conftest import dressed  # noqa: F401 (a fixture)
from tests.support.isolation import (
    keys_named,  # noqa: F401 (fixtures)
    no_qt_warnings,  # noqa: F401 (fixtures)
    nothing_left_behind,  # noqa: F401 (fixtures)
    own_settings_and_caches,  # noqa: F401 (fixtures)
)
from tests.support.window import desk, hand, newcomer, settings  # noqa: F401
