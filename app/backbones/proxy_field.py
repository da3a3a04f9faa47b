"""The proxy that a download goes through: a quiet line that opens a field, for networks that need one."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.texts import breakable, fill
from app.theme.tokens import tokens


@final
class ProxyField(QWidget):
    """An address, or nothing for the proxy of the system.

    Signals:
        address_changed: the person has typed another address that can be one; empty for the system's.
    """

    address_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self.open_button = make_button("", self._on_open, variant="flat")
        self.open_button.setToolTip(self.tr("If this computer reaches the internet only through a proxy"))
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("http://host:port; empty: the system's proxy"))
        self.field.setAccessibleName(self.tr("Address of the proxy"))
        self.field.editingFinished.connect(self._on_typed)
        self.problem = make_label("", "danger", wraps=True)
        self._fate = make_label(
            self.tr("The address is remembered, the password only until the program ends."), "secondary", wraps=True
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.tiny)
        for widget in (self.open_button, self.field, self.problem, self._fate):
            column.addWidget(widget)
            widget.setVisible(widget is self.open_button)
        self._name_button()

    @property
    def address(self) -> str:
        """The address in force, with its password."""
        return self._address

    def show_address(self, address: str) -> None:
        """Show the address that is in force."""
        self._address = address
        self.field.setText(address)
        self._show_problem("")

    def take_typed(self) -> bool:
        """Let what stands in the field be in force; where it is no address, say so in place.

        Returns:
            whether it can be used.
        """
        from engine.backbones.published.proxy_address import proxy_address
        from engine.errors import UsageError

        typed = self.field.text().strip()
        try:
            if typed:
                proxy_address(typed)
        except UsageError as error:
            self._show_problem(str(error))
            return False
        is_other, self._address = typed != self._address, typed
        self._show_problem("")
        if is_other:
            self.address_changed.emit(typed)
        return True

    def _show_problem(self, text: str) -> None:
        from engine.backbones.published.proxy_address import without_password

        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))
        is_open = not self.field.isHidden()
        self._fate.setVisible(is_open and not text and without_password(self._address) != self._address)
        self._name_button()

    def _name_button(self) -> None:
        from engine.backbones.published.proxy_address import without_password

        shown = without_password(self._address)
        text = fill(self.tr("Through the proxy %1"), shown) if shown else self.tr("Through a proxy…")
        self.open_button.setText(text)

    def open(self) -> None:
        """Show the field, with the keyboard in it."""
        self.field.show()
        self._show_problem(self.problem.text())
        self.field.setFocus()

    def _on_open(self) -> None:
        """Open the field, or put it away again once what stands in it can be used."""
        if self.field.isHidden():
            self.open()
        elif self.take_typed():
            self.field.hide()
            self._show_problem("")

    def _on_typed(self) -> None:
        self.take_typed()
