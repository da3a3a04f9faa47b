"""Quiet lines that open a field, for what few people ever need: a proxy, a mirror."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import fill_column, make_button, make_label
from app.texts import breakable, plain_button, plain_tip, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.settings import Settings

Shorten = Callable[[str], str]
SHOWN_WIDTH: Final = 190  # in logical pixels, of what is in force, on the line


class QuietField(QWidget):
    """What a person typed, or nothing."""

    def __init__(self, value: str, *, name: str, example: str, tip: str, field_tip: str, consequence: str) -> None:
        super().__init__()
        self.open_button = make_button("", self._on_open, variant="flat")
        self.open_button.setToolTip(plain_tip(tip))
        self.field = QLineEdit(value)
        self.field.setPlaceholderText(example)
        self.field.setToolTip(plain_tip(field_tip))
        self.field.setAccessibleName(name)
        self.field.editingFinished.connect(self.take_typed)
        self.problem = make_label("", "danger", wraps=True)
        self._consequence = make_label(consequence, "secondary", wraps=True)
        fill_column(self, self.open_button, self.field, self.problem, self._consequence, spacing=tokens().spacing.tiny)
        self.field.hide()
        self._show_problem("")

    @abstractmethod
    def take(self, typed: str) -> str:
        """Let it be in force; returns why it cannot be, empty when all is well."""

    @abstractmethod
    def line(self, shorten: Shorten) -> str:
        """What the line says of what is in force."""

    @property
    @abstractmethod
    def has_consequence(self) -> bool:
        """Whether the person must know what becomes of what is in force."""

    def take_typed(self) -> bool:
        """Let what stands in the field be in force, or say in place why not; whether it can be used."""
        problem = self.take(self.field.text().strip())
        self._show_problem(problem)
        return not problem

    def open(self) -> None:
        """Show the field, with the keyboard in it."""
        self.field.show()
        self._show_problem(self.problem.text())
        self.field.setFocus()

    def _shortened(self, text: str) -> str:
        return self.open_button.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, SHOWN_WIDTH)

    def _show_problem(self, text: str) -> None:
        self.open_button.setText(plain_button(self.line(self._shortened)))
        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))
        self._consequence.setVisible(not self.field.isHidden() and not text and self.has_consequence)

    def _on_open(self) -> None:
        """Open the field, or put it away again once what stands in it can be used."""
        if self.field.isHidden():
            self.open()
        elif self.take_typed():
            self.field.hide()
            self._show_problem("")


@final
class MirrorField(QuietField):
    """A folder or an address, or nothing for the publishers' own servers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.place = settings.mirror  # what is in force
        super().__init__(
            self.place,
            name=tr("Folder or address of the mirror"),
            example=tr("/folder or https://host"),
            tip=tr("If this computer has no internet, or weights are kept in one place for everybody"),
            field_tip=tr("Leave it empty to download from the publisher"),
            consequence=tr("Files lie there as on the publisher's server: owner/name/file."),
        )

    def take(self, typed: str) -> str:
        """A folder must be there, an address must be encrypted."""
        from engine.backbones.published.route import Route
        from engine.errors import UsageError

        try:
            Route(mirror=typed).check()
        except UsageError as error:
            return error.translated()
        if typed != self.place:
            self.place = self._settings.mirror = typed
        return ""

    def line(self, shorten: Shorten) -> str:
        if not self.place:
            return tr("Use a mirror…")
        return tr("Mirror: %1", shorten(self.place))

    @property
    def has_consequence(self) -> bool:
        """How files lie in it is worth knowing while there is none."""
        return True


@final
class ProxyField(QuietField):
    """An address, or nothing for the proxy of the system."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.address = settings.proxy  # the address in force, with its password
        super().__init__(
            self.address,
            name=tr("Address of the proxy"),
            example=tr("http://host:port"),
            tip=tr("If this computer reaches the internet only through a proxy"),
            field_tip=tr("Leave it empty to use the system's proxy"),
            consequence=tr("The address is remembered, the password only until the program ends."),
        )

    def take(self, typed: str) -> str:
        """An address is checked as the command line checks it."""
        from engine.backbones.published.route import proxy_address
        from engine.errors import UsageError

        try:
            if typed:
                proxy_address(typed)
        except UsageError as error:
            return error.translated()
        if typed != self.address:
            self.address = self._settings.proxy = typed
        return ""

    def line(self, shorten: Shorten) -> str:
        shown = self._shown
        if not shown:
            return tr("Use a proxy…")
        return tr("Proxy: %1", shorten(shown))

    @property
    def has_consequence(self) -> bool:
        """Whether there is a password."""
        return self._shown != self.address

    @property
    def _shown(self) -> str:
        from engine.backbones.published.route import without_password

        return without_password(self.address)
