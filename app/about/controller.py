"""The "About Protoleaf" card; credits are read from disk in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.jobs.slot import JobSlot
from app.texts import marked, tr

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.about.logic import Credits
    from app.about.view import AboutCard
    from app.shell import Shell


@final
class About(Feature):
    """Show version, licence and credits of the program."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: AboutCard | None = None  # created on first use
        self._reading = JobSlot(parent=self)

    @action(
        "about", marked("About Protoleaf…"), "info", "", Section.HELP_ABOUT, needs=Needs.NOTHING
    )
    def open_card(self) -> None:
        """Show the card; credits are added when they have been read."""
        from app.about.logic import read_credits
        from app.about.view import AboutCard

        if self.card is None:
            self.card = AboutCard(self._host)
        self.card.show_over()
        self.card.close_button.setFocus()
        self._reading.start(
            tr("About Protoleaf"),
            lambda _on_progress, _cancel: read_credits(),
            self._on_read,
            replaces=True,
        )

    def stop(self) -> None:
        self._reading.stop()

    def _on_read(self, read: Credits) -> None:
        if self.card is not None:
            self.card.show_credits(read)
