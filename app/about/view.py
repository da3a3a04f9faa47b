"""View of the "About Protoleaf" card: version, credits, libraries and licences."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.controls import fill_column, make_flowing_label, make_label
from app.palette.overlay import ScrollingCard
from app.texts import marked, tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR
from engine import __version__

if TYPE_CHECKING:
    from app.about.logic import Credits, WeightsCredit

WIDTH = 560
"""In logical pixels."""
_TITLES = {"accurate": marked("Accurate"), "fast": marked("Fast")}


@final
class AboutCard(ScrollingCard):
    """Card over the window; Esc or a click outside closes it. Its text can be selected."""

    def __init__(self, host: QWidget) -> None:
        title = tr("About Protoleaf")
        super().__init__(host, WIDTH, title)
        spacing = tokens().spacing
        self._credits = QWidget()
        self._credits_column = fill_column(self._credits, spacing=spacing.tiny)
        column = fill_column(
            self.body,
            make_flowing_label(tr("Version {1}", __version__), "strong"),
            make_flowing_label(tr("Sort thousands of photos by labelling a few")),
            make_flowing_label(tr("Nothing you do here leaves this computer."), "secondary"),
            make_flowing_label(tr("Free software under the Apache License 2.0."), "secondary"),
            self._credits,
        )
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        column.addStretch(1)
        self.scroll_area.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # arrow and page keys scroll
        self.scroll_area.setAccessibleName(title)

    def show_credits(self, read: Credits) -> None:
        """Replace the list of credits."""
        while (item := self._credits_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        words = [make_label(tr("Credits and licences"), "section")]
        for title, lines in read.parts or [
            (_title(one), (one.origin, _licence(one))) for one in read.weights
        ]:
            words.append(make_flowing_label(title, "strong"))
            words += [make_flowing_label(line, "secondary") for line in lines if line]
        for label in words:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            if label.property("role") != "secondary":
                self._credits_column.addSpacing(tokens().spacing.small)
            self._credits_column.addWidget(label)
        self._settle()


def _title(credit: WeightsCredit) -> str:
    return SEPARATOR.join((tr(_TITLES[credit.choice]), credit.name))


def _licence(credit: WeightsCredit) -> str:
    return credit.licence and tr("Licence: {1}", credit.licence)
