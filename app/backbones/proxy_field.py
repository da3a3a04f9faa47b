"""The proxy that a download goes through: a quiet line that opens a field, for networks that need one."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import fill_column, make_button, make_label
from app.texts import breakable, fill
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.settings import Settings

ADDRESS_WIDTH: Final = 190


@final
class ProxyField(QWidget):
    """An address, or nothing for the proxy of the system.

    Args:
        settings: remembers the address, without its password.

    Attributes:
        address: the address in force, with its password.
    """

    def __init__(self, settings: "Settings") -> None:
        super().__init__()
        self._settings = settings
        self.address = settings.proxy
        self.open_button = make_button("", self._on_open, variant="flat")
        self.open_button.setToolTip(self.tr("If this computer reaches the internet only through a proxy"))
        self.field = QLineEdit(self.address)
        self.field.setPlaceholderText(self.tr("http://host:port"))
        self.field.setToolTip(self.tr("Leave it empty to use the system's proxy"))
        self.field.setAccessibleName(self.tr("Address of the proxy"))
        self.field.editingFinished.connect(self.take_typed)
        self.problem = make_label("", "danger", wraps=True)
        self._fate = make_label(
            self.tr("The address is remembered, the password only until the program ends."), "secondary", wraps=True
        )
        parts = (self.open_button, self.field, self.problem, self._fate)
        fill_column(self, *parts, spacing=tokens().spacing.tiny)
        self.field.hide()
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
        if typed != self.address:
            self.address = self._settings.proxy = typed
        self._show_problem("")
        return True

    def _show_problem(self, text: str) -> None:
        from engine.backbones.published.proxy_address import without_password

        shown = without_password(self.address)
        short = self.open_button.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideMiddle, ADDRESS_WIDTH)
        self.open_button.setText(fill(self.tr("Proxy: %1"), short) if shown else self.tr("Use a proxy…"))
        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))
        self._fate.setVisible(not self.field.isHidden() and not text and shown != self.address)

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
