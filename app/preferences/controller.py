"""What can be chosen once for all projects; it is done at once and kept for the next start."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.settings import Settings
from app.theme import set_scheme
from app.theme.scheme import SchemeChoice
from engine.config import backups_folder

if TYPE_CHECKING:  # the window shows first
    from PySide6.QtWidgets import QWidget

    from app.preferences.view import SettingsCard
    from app.session import Session
    from engine.collection.live import LiveCollection


@final
class Preferences(QObject):
    """Opens the card and does what is asked for there.

    Signals:
        action_requested: name of an action that opens another page.

    Args:
        session: the open project, if any.
        settings: where choices are kept.
        host: what the card floats over.
        device_text: which device embeds images, in words.
    """

    action_requested = Signal(str)

    def __init__(
        self, session: "Session", settings: Settings, *, host: "QWidget", device_text: Callable[[], str]
    ) -> None:
        super().__init__(host)
        self.card: SettingsCard | None = None
        self._session = session
        self._settings = settings
        self._host = host
        self._device_text = device_text

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {"settings": self.open_card}

    def open_card(self) -> None:
        """Show the card over the window, as everything is now."""
        from engine.project.account import account_name

        if self.card is None:
            self.card = self._make_card()
        card, choice = self.card, SchemeChoice.named(self._settings.scheme)
        card.show_scheme(choice)
        card.show_start(opens_last_project=self._settings.opens_last_project)
        card.show_calm(is_calm=self._settings.is_calm)
        card.show_person(self._settings.person, account=account_name())
        card.show_device(self._device_text())
        card.show_backups(backups_folder(), can_open=self._session.info is not None)
        if self._session.info is not None:
            self._session.ask(_folder_of_backups, self._show_folder, owner=card, topic="folder of backups")
        card.show_over()
        card.schemes[choice].setFocus()

    def _make_card(self) -> "SettingsCard":
        from app.preferences.view import SettingsCard

        card = SettingsCard(self._host)
        card.scheme_chosen.connect(self._choose_scheme)
        card.start_chosen.connect(self._choose_start)
        card.calm_chosen.connect(self._choose_calm)
        card.person_chosen.connect(self._choose_person)
        card.action_requested.connect(self.action_requested)
        return card

    def _show_folder(self, folder: Path) -> None:
        if self.card is not None:
            self.card.show_backups(folder, can_open=True)

    def _choose_scheme(self, choice: SchemeChoice) -> None:
        self._settings.scheme = choice.value
        set_scheme(choice)

    def _choose_start(self, is_wanted: bool) -> None:
        self._settings.opens_last_project = is_wanted

    def _choose_calm(self, is_wanted: bool) -> None:
        self._settings.is_calm = is_wanted

    def _choose_person(self, name: str) -> None:
        from engine.project.clock import choose_person

        self._settings.person = name.strip()
        choose_person(name.strip())


def _folder_of_backups(live: "LiveCollection") -> Path:
    """On the project thread: it asks the disk for what was chosen."""
    from engine.project.backups.place import folder_for

    backups = live.project.backups
    return folder_for(backups.path, backups.project_id)
