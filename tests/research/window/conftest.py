"""The window is measured as it is tested."""

from tests.app.conftest import (  # noqa: F401 (fixtures)
    desk,
    dressed,
    hand,
    newcomer,
    no_qt_warnings,
    nothing_left_behind,
    own_settings_and_caches,
    settings,
)
