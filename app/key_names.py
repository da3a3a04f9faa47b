"""Names of keys: the same in menus, hints, sentences of the window and the guide."""

from typing import final

from PySide6.QtCore import QCoreApplication, Qt, QTranslator

from app.texts import marked, tr

_CONTEXT = "QShortcut"  # Qt's translation context of key names
ENTER_KEYS = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})  # of text and number pad
ENTER_SIGN = "↵"  # in tight places
_ENTER = marked("Enter")
_SHIFT = marked("Shift")
_NAMES = {
    "Return": _ENTER,  # one name for both keys
    "Enter": _ENTER,
    "Shift": _SHIFT,
    "Ctrl": marked("Ctrl"),
    "Esc": marked("Esc"),
    "Space": marked("Space"),
    "Backspace": marked("Backspace"),
    "Del": marked("Del"),
    "Home": marked("Home"),
    "End": marked("End"),
}
"""By Qt's name: the keys that texts of the program mention. All others have Qt's translation."""
_installed: list[QTranslator] = []


def enter_name() -> str:
    return tr(_ENTER)


def shift_name() -> str:
    return tr(_SHIFT)


def name_keys(application: QCoreApplication) -> None:
    """Replace Qt's key names by the program's, in the current language.

    Call after Qt's own translations are installed: the last installed translator comes first.
    """
    while _installed:
        application.removeTranslator(_installed.pop())
    names = _KeyNames(application)
    application.installTranslator(names)
    _installed.append(names)


@final
class _KeyNames(QTranslator):
    """Overrides Qt's own translations, which were installed earlier."""

    def translate(
        self, context: str, source: str, _about: str | None = None, _count: int = -1
    ) -> str:
        is_ours = context == _CONTEXT and source in _NAMES
        # None makes Qt query the next translator.
        return tr(_NAMES[source]) if is_ours else None  # type: ignore[return-value]
