"""What keys are called: one name for each, in menus and hints as in the sentences of the window and its guide."""

from typing import Final, final

from PySide6.QtCore import QCoreApplication, QTranslator

from app.texts import marked, tr

_CONTEXT: Final = "QShortcut"  # in which Qt looks names up
ENTER_SIGN: Final = "↵"  # where there is little room
_ENTER: Final = marked("Enter")
_SHIFT: Final = marked("Shift")
_NAMES: Final = {
    "Return": _ENTER,  # both keys are Enter for people
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
"""By Qt's name. Those that our texts speak of; all others have Qt's translation."""
_installed: Final[list[QTranslator]] = []


def enter_name() -> str:
    return tr(_ENTER)


def shift_name() -> str:
    return tr(_SHIFT)


def name_keys(application: QCoreApplication) -> None:
    """Have Qt name keys as our texts do, in the language of the moment; after its own translations are installed."""
    while _installed:
        application.removeTranslator(_installed.pop())
    names = _KeyNames(application)
    application.installTranslator(names)
    _installed.append(names)


@final
class _KeyNames(QTranslator):
    """Comes before Qt's translations, which was installed earlier."""

    def translate(
        self, context: str, source: str, _about: str | None = None, _count: int = -1
    ) -> str:
        is_ours = context == _CONTEXT and source in _NAMES
        return tr(_NAMES[source]) if is_ours else None  # type: ignore[return-value]  # no text: the next one is asked
