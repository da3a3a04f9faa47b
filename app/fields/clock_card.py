"""View of the "Correct a camera's clock" card: by an offset or by the true time of a photo."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import (
    fill_column,
    make_button,
    make_choice_box,
    make_flowing_label,
    make_form,
    make_row,
    show_text,
)
from app.fields.logic import ClockFacts, targets
from app.fields.wording import preview_text, refusal_text, target_title
from app.palette.overlay import ScrollingCard
from app.texts import shortened, tr
from app.theme.tokens import tokens
from engine.errors import InputError
from engine.project.clock_corrections import (
    ClockCorrection,
    checked_correction,
    offset_text,
    read_offset,
    zone_text,
)

WIDTH = 560  # in logical pixels
_AS_IN_FILE = "file"
_ZONES = range(-12, 15)  # offsets from UTC in hours
# Other offsets from UTC in minutes.
_OF_ISLANDS = (
    -570,
    -210,
    210,
    270,
    330,
    345,
    390,
    570,
    630,
    765,
)
_LONGEST_TARGET = 60  # in characters


@final
class ClockCard(ScrollingCard):
    """Card over the window; changes are applied by its button."""

    corrected = Signal(ClockCorrection)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Correct a camera's clock"))
        self._facts: ClockFacts | None = None
        self._targets: list[ClockCorrection] = []
        self.target = make_choice_box({})
        self.offset = QLineEdit()
        self.offset.setPlaceholderText("+1h 02m")
        self.true_time = QLineEdit()
        self.true_time.setPlaceholderText("2024-05-31 06:30:00")
        self.zone = make_choice_box(_zones())
        self.preview = make_flowing_label("")
        self.refusal = make_flowing_label("", "danger")
        self.correct_button = make_button(tr("Correct the times"), self._correct, variant="primary")
        self.remove_button = make_button(tr("Remove the correction"), self._remove, variant="flat")
        self._lay_out()
        self.target.activated.connect(lambda _place: self._show_target())
        self.offset.textEdited.connect(lambda _text: self._on_offset_edited())
        self.true_time.textEdited.connect(self._on_true_time_edited)
        self.zone.activated.connect(lambda _place: self._show_preview())

    def _lay_out(self) -> None:
        about = tr(
            "Files stay as they are: the corrected time is used for sorting, "
            "searching, bursts and exports."
        )
        form = make_form(
            {
                tr("Times of"): self.target,
                tr("Add to the clock"): self.offset,
                tr("True time of this photo"): self.true_time,
                tr("Time zone of the clock"): self.zone,
            }
        )
        buttons = make_row(self.remove_button, None, self.correct_button)
        space, hint = tokens().spacing, make_flowing_label(about, "secondary")
        fill_column(
            self.body,
            *(hint, form, self.preview, self.refusal, buttons, None),
            spacing=space.medium,
            margins=(space.large, 0, space.large, space.medium),
        )

    def show_facts(self, facts: ClockFacts) -> None:
        """Show the card for the current photo."""
        self._facts, self._targets = facts, targets(facts)
        self.target.clear()
        for place, each in enumerate(self._targets):
            self.target.addItem(shortened(target_title(each), _LONGEST_TARGET), place)
        self.true_time.setEnabled(facts.taken_at is not None)
        self._show_target()
        self.show_over()
        self.offset.setFocus()
        self._settle()

    def _show_target(self) -> None:
        """Show the correction of the chosen folder or camera."""
        chosen = self._chosen
        self.offset.setText(
            offset_text(chosen.seconds) if chosen is not None and chosen.seconds else ""
        )
        zone = _AS_IN_FILE if chosen is None or chosen.zone_minutes is None else chosen.zone_minutes
        self.zone.setCurrentIndex(max(0, self.zone.findData(zone)))
        self.remove_button.setVisible(chosen is not None and not chosen.is_nothing)
        self._show_true_time()
        self._show_preview()

    @property
    def _chosen(self) -> ClockCorrection | None:
        place = self.target.currentIndex()
        return self._targets[place] if 0 <= place < len(self._targets) else None

    def _on_offset_edited(self) -> None:
        self._show_true_time()
        self._show_preview()

    def _show_true_time(self) -> None:
        """Show the corrected time of the photo."""
        taken_at = None if self._facts is None else self._facts.taken_at
        try:
            moment = None if taken_at is None else taken_at + timedelta(seconds=self._seconds())
        except (InputError, OverflowError):
            return
        self.true_time.setText("" if moment is None else _by_clock(moment).isoformat(" "))

    def _on_true_time_edited(self, text: str) -> None:
        """Compute the offset from the true time; incomplete times are ignored."""
        taken_at = None if self._facts is None else self._facts.taken_at
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return
        if taken_at is not None:
            seconds = round((_by_clock(moment) - _by_clock(taken_at)).total_seconds())
            self.offset.setText(offset_text(seconds) if seconds else "")
            self._show_preview()

    def _seconds(self) -> int:
        text = self.offset.text().strip()
        return read_offset(text) if text else 0

    def _correction(self) -> ClockCorrection | None:
        """The entered correction.

        Raises:
            InputError: the offset is invalid.
        """
        chosen, zone = self._chosen, self.zone.currentData()
        if chosen is None:
            return None
        minutes = None if zone == _AS_IN_FILE else int(zone)
        return checked_correction(replace(chosen, seconds=self._seconds(), zone_minutes=minutes))

    def _show_preview(self) -> None:
        from engine.collection.clock_preview import preview_of

        text, refusal, can_correct = "", "", False
        try:
            correction = self._correction()
        except InputError as error:
            refusal = refusal_text(error.translated())
        else:
            if correction is None or self._facts is None:
                text = tr("No photo with a date and a time is known yet.")
            else:
                found = preview_of(self._facts.sources, self._facts.corrections, correction)
                text, can_correct = preview_text(found), correction != self._chosen
        show_text(self.preview, text)
        show_text(self.refusal, refusal)
        self.correct_button.setEnabled(can_correct)
        self._settle()

    def _correct(self) -> None:
        correction = self._correction()
        if correction is not None:
            self.dismiss()
            self.corrected.emit(correction)

    def _remove(self) -> None:
        chosen = self._chosen
        if chosen is not None:
            self.dismiss()
            self.corrected.emit(replace(chosen, seconds=0, zone_minutes=None))


def _zones() -> dict[object, str]:
    minutes = sorted({*(hours * 60 for hours in _ZONES), *_OF_ISLANDS})
    return {_AS_IN_FILE: tr("As the file says"), **{each: zone_text(each) for each in minutes}}


def _by_clock(moment: datetime) -> datetime:
    """Local time without its time zone."""
    return moment.replace(tzinfo=None, microsecond=0)
