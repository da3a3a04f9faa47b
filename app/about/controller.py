"""Opens the card "About Protoleaf"; what it tells is read from the disk beside the window."""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.jobs.detached_job import DetachedJob
from app.texts import tr

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.about.logic import Credits
    from app.about.view import AboutCard


@final
class About(QObject):
    """Shows version, origin and licence of what the program is made of.

    Attributes:
        card: None until it was asked for.

    Args:
        host: what the card floats over.
    """

    def __init__(self, host: "QWidget") -> None:
        super().__init__(host)
        self.card: AboutCard | None = None
        self._reading: DetachedJob | None = None

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {"about": self.open_card}

    def open_card(self) -> None:
        """Show the card; where weights come from follows as soon as it was read."""
        from app.about.logic import read_credits
        from app.about.view import AboutCard

        if self.card is None:
            self.card = AboutCard(self.parent())  # type: ignore[arg-type]  # the host
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

    def _on_read(self, read: "Credits") -> None:
        if self.card is not None:
            self.card.show_credits(read)
