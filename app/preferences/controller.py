"""Settings for all projects, applied immediately and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from app.actions.row import Needs, Section, action
from app.feature import Feature
from app.preferences.view import NameAsking, NameStrip
from app.texts import marked
from app.theme import set_scheme
from app.theme.scheme import SchemeChoice

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.preferences.view import SettingsCard
    from app.shell import Shell


@final
class Preferences(Feature):
    """Controller of the settings card and of the prompt for the annotator's name."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: SettingsCard | None = None
        strip = NameStrip()
        shell.workspace.footer.add(strip)
        strip.left.connect(shell.workspace.grid.setFocus)
        self._is_renamed = False  # whether the name was edited since the card was opened
        self._names = NameAsking(self._session, self._settings, strip, shell.toast)

    @action(
        "settings",
        marked("Settings…"),
        "settings",
        "Ctrl+,",
        Section.EDIT_SETTINGS,
        needs=Needs.NOTHING,
    )
    def open_card(self) -> None:
        """Show the card with the current settings."""
        from engine.project.clock import account_name

        if self.card is None:
            self.card = self._make_card()
        card, choice = self.card, SchemeChoice.named(self._settings.scheme)
        card.show_scheme(choice)
        card.show_language(self._settings.language)
        card.show_names(are_of_project=self._settings.has_project_names)
        card.show_start(opens_last_project=self._settings.opens_last_project)
        card.show_calm(is_calm=self._settings.is_calm)
        card.show_person(self._settings.person, account=account_name())
        card.show_backups(can_open=self._session.info is not None)
        card.show_over()
        card.schemes[choice].setFocus()

    def _make_card(self) -> SettingsCard:
        from app.language import language_names
        from app.preferences.view import SettingsCard

        card = SettingsCard(self._host, self._shell.rows, language_names())
        card.scheme_chosen.connect(self._choose_scheme)
        card.language_chosen.connect(self._choose_language)
        card.names_chosen.connect(self._choose_names)
        card.start_chosen.connect(self._choose_start)
        card.calm_chosen.connect(self._choose_calm)
        card.person_chosen.connect(self._choose_person)
        card.closed.connect(self._on_card_closed)
        card.action_requested.connect(self._shell.trigger)
        return card

    def _choose_scheme(self, choice: SchemeChoice) -> None:
        self._settings.scheme = choice.value
        set_scheme(choice)

    def _choose_language(self, code: str) -> None:
        if code != self._settings.language:
            self._settings.language = code
            self._shell.language_chosen.emit()

    def _choose_names(self, are_of_project: bool) -> None:
        self._settings.has_project_names = are_of_project
        self._shell.language_chosen.emit()

    def _choose_start(self, is_wanted: bool) -> None:
        self._settings.opens_last_project = is_wanted

    def _choose_calm(self, is_wanted: bool) -> None:
        self._settings.is_calm = is_wanted

    def _choose_person(self, name: str) -> None:
        from engine.project.clock import choose_person

        self._settings.person = name.strip()
        choose_person(name.strip())
        self._is_renamed = True

    def _on_card_closed(self) -> None:
        if self._is_renamed and self._settings.person:
            self._names.offer_to_sign(self._settings.person)
        self._is_renamed = False
