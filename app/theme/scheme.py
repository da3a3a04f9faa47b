"""Light or dark theme, by the system or the user's choice; repaints everything on a switch."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from string import Template

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication

from app.theme.tokens import Scheme, Tokens, apply_look, make_tokens
from engine.config import assets_folder

_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "window",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "text_muted",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "danger",
    QPalette.ColorRole.ToolTipBase: "inverse",
    QPalette.ColorRole.ToolTipText: "on_inverse",
    QPalette.ColorRole.Highlight: "accent_soft",
    QPalette.ColorRole.HighlightedText: "text",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "accent_text",
    QPalette.ColorRole.LinkVisited: "accent_text",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hairline",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border",
    QPalette.ColorRole.Shadow: "border",
}
_TEXT_ROLES = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
    QPalette.ColorRole.HighlightedText,
)


def make_palette(look: Tokens) -> QPalette:
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, QColor(getattr(look.colours, name)))
    for role in _TEXT_ROLES:
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(look.colours.text_disabled))
    return palette


@lru_cache(maxsize=1)
def _template() -> Template:
    return Template((assets_folder() / "themes" / "window.qss").read_text(encoding="utf-8"))


def make_stylesheet(look: Tokens) -> str:
    """The style sheet of a theme.

    Raises:
        KeyError: the template uses an unknown token.
    """
    drawings = (assets_folder() / "themes" / look.scheme.value).as_posix()
    return _template().substitute(look.names(), drawings=drawings)


class SchemeChoice(StrEnum):
    """The user's choice of scheme."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"

    @classmethod
    def named(cls, name: str) -> SchemeChoice:
        """Parse a stored name; `SYSTEM` for unknown ones."""
        return cls(name) if name in [choice.value for choice in cls] else cls.SYSTEM


_QT_SCHEMES = {
    SchemeChoice.SYSTEM: Qt.ColorScheme.Unknown,
    SchemeChoice.LIGHT: Qt.ColorScheme.Light,
    SchemeChoice.DARK: Qt.ColorScheme.Dark,
}


class Theme(QObject):
    """Applies the theme for the user's choice and the system's scheme to an application."""

    # Emitted after a switch. Widgets repaint themselves; caches of colours must be refreshed.
    changed = Signal()

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._application = application
        self._choice = SchemeChoice.SYSTEM
        self._applied_look: Tokens | None = None
        application.setStyle("Fusion")
        application.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)
        self._apply_wanted()

    @property
    def choice(self) -> SchemeChoice:
        return self._choice

    def choose(self, choice: SchemeChoice) -> None:
        """Follow the system's scheme, or use a fixed one."""
        self._choice = choice
        # Also tells the platform, so that title bars and native dialogs follow where they can.
        self._application.styleHints().setColorScheme(_QT_SCHEMES[choice])
        self._apply_wanted()

    def _on_system_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        self._apply_wanted()

    def _wanted(self) -> Scheme:
        if self._choice is not SchemeChoice.SYSTEM:
            return Scheme(self._choice.value)
        is_dark = self._application.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return Scheme.DARK if is_dark else Scheme.LIGHT

    def _apply_wanted(self) -> None:
        look = make_tokens(self._wanted(), QFontInfo(self._application.font()).pixelSize())
        if look == self._applied_look:
            return
        self._applied_look = look
        apply_look(look)
        self._application.setPalette(make_palette(look))
        self._application.setStyleSheet(make_stylesheet(look))
        self.changed.emit()


def theme_of(application: QApplication) -> Theme:
    """The theme of an application; created by the first call."""
    theme = application.findChild(Theme)
    return theme if isinstance(theme, Theme) else Theme(application)


def apply_theme(application: QApplication, choice: SchemeChoice = SchemeChoice.SYSTEM) -> Theme:
    """Apply style, palette and style sheet to an application, and keep to the choice."""
    theme = theme_of(application)
    theme.choose(choice)
    return theme


def set_scheme(choice: SchemeChoice | str) -> None:
    """Switch the running application to "light", "dark" or "system"."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    theme_of(application).choose(SchemeChoice(choice))
