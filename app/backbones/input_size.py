"""The side of a network's square input, where the network takes another than its weights were trained at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QSpinBox, QWidget

from app.backbones.wording import pixels
from app.controls import dress_number_box, fill_column, make_form, make_label
from app.texts import tr
from app.wording import number
from engine.backbones.preprocessing import LARGEST_SIDE, SMALLEST_SIDE

if TYPE_CHECKING:
    from engine.backbones.published.facts import PublishedNetwork

USUAL_STEP: Final = 32  # pixels between sides that most networks take


@final
class InputSize(QWidget):
    """A box of pixels with what another size means; hidden for a network that takes one size."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._usual = self._patch = 0
        self.box = dress_number_box(QSpinBox())
        self.box.setRange(SMALLEST_SIDE, LARGEST_SIDE)
        self.box.setKeyboardTracking(False)
        self.box.setSuffix(tr(" px"))
        self._hint = make_label("", "caption", wraps=True)
        self._problem = make_label("", "danger", wraps=True)
        column = fill_column(self, self._hint, self._problem)
        column.insertLayout(0, make_form({tr("Input size"): self.box}))
        self.box.valueChanged.connect(self._on_changed)
        self.show_network(None)

    @property
    def side(self) -> int:
        """The chosen side in pixels; 0 for a network that takes one size."""
        return self.box.value() if self._usual else 0

    @property
    def is_usable(self) -> bool:
        """Whether the network can take it, as far as its name tells."""
        return not (self._usual and self._patch and self.side % self._patch)

    def show_network(self, network: PublishedNetwork | None) -> None:
        """Begin with the size that a network was trained at."""
        takes_others = network is not None and network.takes_other_sides
        self._usual = network.input_side if network is not None and takes_others else 0
        self._patch = 0 if network is None else network.patch
        with QSignalBlocker(self.box):
            self.box.setSingleStep(self._patch or USUAL_STEP)
            self.box.setValue(self._usual)
        self._show_state()
        self.setVisible(takes_others)

    def _show_state(self) -> None:
        self._hint.setText(
            tr(
                "Trained at %1. Smaller is faster; how fast is measured once it is on this computer.",
                pixels(self._usual),
            )
        )
        self._hint.setVisible(self.is_usable and self.side != self._usual)
        self._problem.setText(tr("The input size must be a multiple of %1.", number(self._patch)))
        self._problem.setVisible(not self.is_usable)

    def _on_changed(self) -> None:
        self._show_state()
        self.changed.emit()
