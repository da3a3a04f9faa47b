"""End-to-end tests of the real window, offscreen."""

from tests.support.isolation import (
    keys_named,
    no_qt_warnings,
    nothing_left_behind,
    own_settings_and_caches,
)
from tests.support.window import desk, hand, reviewing, settings, tinyleaf

__all__ = [
    "desk",
    "hand",
    "keys_named",
    "no_qt_warnings",
    "nothing_left_behind",
    "own_settings_and_caches",
    "reviewing",
    "settings",
    "tinyleaf",
]
