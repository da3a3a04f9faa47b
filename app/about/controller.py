"""Opens the card "About Protoleaf"; what it tells is read from the disk beside the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.jobs.background_thread import DetachedJob
from app.texts import marked, tr

if TYPE_CHECKING:  # the window shows first
    from app.about.logic import Credits
    from app.about.view import AboutCard
    from app.shell import Shell


@final
class About(Feature):
    """Shows version, origin and licence of what the program is made of."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: AboutCard | None = None  # until it is opened
        self._reading: DetachedJob | None = None

    @action(
        "about", marked("About Protoleaf…"), "info", "", Section.HELP_ABOUT, needs=Needs.NOTHING
    )
    def open_card(self) -> None:
        """Show the card; where weights come from follows as soon as it was read."""
        from app.about.logic import read_credits
        from app.about.view import AboutCard

        if self.card is None:
            self.card = AboutCard(self._host)
        self.card.show_over()
        self.card.close_button.setFocus()
        self.stop()
        job = DetachedJob(tr("About Protoleaf"), lambda _on_progress, _cancel: read_credits(), self)
        job.finished.connect(self._on_read)
        job.failed.connect(lambda _message: None)  # version and sentence stand there all the same
        self._reading = job
        job.start()

    def stop(self) -> None:
        """End before the program ends."""
        job, self._reading = self._reading, None
        if job is not None:
            job.stop()

    def _on_read(self, read: Credits) -> None:
        if self.card is not None:
            self.card.show_credits(read)
