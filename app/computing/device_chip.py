"""The device that looks at images, as a small button: its tip says why, a click leads to the choice."""

from typing import Final, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app.computing.wording import chip_name, chip_tip, device_title
from app.texts import plain_tip
from app.theme.icons import icon

_WIDEST: Final = 120
_ICON_SIDE: Final = 14


@final
class DeviceChip(QToolButton):
    """Shows what was chosen until it is known what really looks at images."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "chip")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._chosen = "auto"
        self._used = ""
        self._reason = ""
        self._notice = ""
        self._show()

    @property
    def device_name(self) -> str:
        """The device that looks at images; the one that was chosen as long as none has."""
        return self._used or device_title(self._chosen)

    def show_chosen(self, device: str) -> None:
        """Another device was chosen; what the former one did is past."""
        self._chosen, self._used, self._reason, self._notice = device, "", "", ""
        self._show()

    def show_used(self, name: str, reason: str = "") -> None:
        """Show what looks at images.

        Args:
            reason: why it is no GPU; "" keeps what was known of the same device.
        """
        self._reason = reason or (self._reason if name == self._used else "")
        self._used = name
        self._show()

    def show_notice(self, notice: str) -> None:
        """Mark that the device failed; until another one is chosen."""
        self._notice = notice
        self._show()

    def _show(self) -> None:
        name = self.device_name
        self.setIcon(icon("warning", "warning") if self._notice else icon("device"))
        self.setText(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _WIDEST))
        tip = chip_tip(self._chosen, self._used, self._reason, self._notice)
        self.setToolTip(plain_tip(tip))
        self.setAccessibleName(chip_name(name))
        self.setAccessibleDescription(tip)
