"""The card "About Protoleaf": version, and where the weights of the bundled backbones come from."""

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controls import fill_column, make_flowing_label, make_icon_button, make_label, make_scroll_area
from app.palette.overlay import Overlay
from app.texts import QT_TRANSLATE_NOOP, fill, translate
from app.theme.tokens import tokens
from app.wording import SEPARATOR
from engine import __version__

if TYPE_CHECKING:
    from app.about.logic import Credits, WeightsCredit

WIDTH: Final = 560
"""Logical pixels."""
_TITLES: Final = {
    "accurate": QT_TRANSLATE_NOOP("about", "Accurate"),
    "fast": QT_TRANSLATE_NOOP("about", "Fast"),
}


@final
class AboutCard(Overlay):
    """Floats over the window; Esc or a click beside it closes. Its words can be selected.

    Attributes:
        close_button: closes it.
    """

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH)
        spacing = tokens().spacing
        self.close_button = make_icon_button("close", self.tr("Close"), self.dismiss)
        self._head = QWidget()
        head = QHBoxLayout(self._head)
        head.setContentsMargins(spacing.large, spacing.medium, spacing.medium, spacing.small)
        head.addWidget(make_label(self.tr("About Protoleaf"), "heading"), 1)
        head.addWidget(self.close_button)
        self._credits = QWidget()
        self._credits_column = fill_column(self._credits, spacing=spacing.tiny)
        self._body = QWidget()
        self._body.setProperty("surface", "raised")
        self._column = fill_column(
            self._body,
            make_flowing_label(fill(self.tr("Version %1"), __version__), "strong"),
            make_flowing_label(
                self.tr("Turns a taxonomy and a handful of images per class into a classified collection.")
            ),
            make_flowing_label(self.tr("Nothing you do here is sent anywhere."), "secondary"),
            self._credits,
        )
        self._column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        self._column.addStretch(1)
        scroll = make_scroll_area()
        scroll.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # arrow and page keys scroll
        scroll.setAccessibleName(self.tr("About Protoleaf"))
        scroll.setWidget(self._body)
        whole = QVBoxLayout(self.panel)
        whole.setContentsMargins(0, 0, 0, spacing.medium)
        whole.setSpacing(0)
        whole.addWidget(self._head)
        whole.addWidget(scroll, 1)

    def show_credits(self, read: "Credits") -> None:
        """Show where weights come from, anew."""
        while (item := self._credits_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        words = [make_label(self.tr("Weights of the bundled backbones"), "section")]
        for title, lines in read.parts or [(_title(one), (one.origin, _licence(one))) for one in read.weights]:
            words.append(make_flowing_label(title, "strong"))
            words += [make_flowing_label(line, "secondary") for line in lines if line]
        for label in words:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if label.property("role") != "secondary":
                self._credits_column.addSpacing(tokens().spacing.small)
            self._credits_column.addWidget(label)
        self._column.invalidate()
        QTimer.singleShot(0, self, self._fit)

    def wanted_height(self, width: int) -> int:
        """Head and body without scrolling."""
        border, below = self.panel.contentsMargins(), tokens().spacing.medium
        body = self._column.totalHeightForWidth(width - border.left() - border.right())
        return border.top() + self._head.sizeHint().height() + body + below + border.bottom()

    def _fit(self) -> None:
        if self.isVisible():
            self.place_panel()


def _title(credit: "WeightsCredit") -> str:
    """`Accurate  ·  efficientnet-lite2`."""
    return SEPARATOR.join((translate("about", _TITLES[credit.choice]), credit.name))


def _licence(credit: "WeightsCredit") -> str:
    return credit.licence and fill(translate("about", "Licence: %1"), credit.licence)
