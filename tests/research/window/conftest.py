"""The window is measured as it is tested."""

from tests.app.conftest import dressed  # noqa: F401 (a fixture)
from tests.support.isolation import keys_named, no_qt_warnings, nothing_left_behind, own_settings_and_caches  # noqa: F401 (fixtures)
from tests.support.window import desk, hand, newcomer, settings  # noqa: F401
