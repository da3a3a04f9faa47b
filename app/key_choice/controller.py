"""Customization of shortcuts of actions and pages; changes apply immediately and are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from app.actions.keys import keys_in_use, shown_key
from app.actions.row import Needs, Section, action
from app.feature import CardFeature
from app.texts import marked, tr

if TYPE_CHECKING:  # lazy imports for a fast start
    from app.key_choice.view import KeysCard
    from app.shell import Shell

FIXED = frozenset(
    {"Tab", "Shift+Tab", "Left", "Right", "Up", "Down", "Home", "End", "PgUp", "PgDown"}
)
"""Navigation keys, which cannot be assigned."""


@final
class KeyChoice(CardFeature["KeysCard"]):
    """Open the card and handle its requests."""

    is_of_project = False
    guide_page = "labelling#change-shortcuts"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._keys = keys_in_use()
        self._asked = ("", "")  # name and key of the open conflict
        self._keys.changed.connect(self._show)

    @action(
        "change_keys",
        marked("Change shortcuts…"),
        "keys",
        "",
        Section.EDIT_SETTINGS,
        needs=Needs.NOTHING,
    )
    def open_card(self) -> None:
        """Show the card over the window."""
        card = self.made_card()
        card.filter.clear()
        self._show()
        card.show_over()
        card.filter.setFocus()

    def make_card(self) -> KeysCard:
        from app.key_choice.view import KeysCard

        card = KeysCard(self._host)
        card.filter.textChanged.connect(lambda _text: self._show())
        card.preset_chosen.connect(self._use_preset)
        card.key_chosen.connect(self._choose)
        card.reset_requested.connect(lambda name: self._keys.reset((name,)))
        card.all_reset_requested.connect(self._keys.reset)
        card.use_requested.connect(self._use_anyway)
        card.use_refused.connect(self._leave_it)
        return card

    def _show(self) -> None:
        from app.key_choice.logic import groups_of, preset_in_use

        if self.card is not None:
            actions, pages = self._shell.rows.values(), self._shell.page_keys
            self.card.show_groups(groups_of(actions, pages, self._keys, self.card.filter.text()))
            presets = self.card.presets
            presets.setCurrentIndex(presets.findData(preset_in_use(self._keys)))
            self.card.reset_all.setEnabled(bool(self._keys.chosen))

    def _use_preset(self, name: str) -> None:
        from app.key_choice.logic import use_preset

        if name:
            use_preset(name, self._keys)
        else:
            self._show()

    def _choose(self, name: str, key: str) -> None:
        """Assign a recorded key to an action, or report conflicts."""
        from app.key_choice.logic import conflict_text, with_keypad

        conflict = self.made_card().conflict
        if key in FIXED and key not in self._keys.declared(name):
            text = tr(
                "{1} is needed to move through images and lists. Choose another key.",
                shown_key(key),
            )
            conflict.show_text(text, can_use=False)
        elif key and (rivals := self._keys.rivals(name, key)):
            self._asked = name, key
            conflict.show_text(conflict_text([self._title_of(rival) for rival in rivals], key))
        else:
            self._keys.choose({name: with_keypad(key) if key else ()})

    def _use_anyway(self) -> None:
        """Remove the key from other actions and assign it."""
        from app.key_choice.logic import with_keypad

        name, key = self._asked
        taken = with_keypad(key)
        others = {
            rival: tuple(own for own in self._keys.of(rival) if own not in taken)
            for each in taken
            for rival in self._keys.rivals(name, each)
        }
        self._keys.choose({**others, name: taken})
        self._leave_it()

    def _leave_it(self) -> None:
        self._asked = "", ""
        self.made_card().conflict.hide()
        self.made_card().table.setFocus()

    def _title_of(self, name: str) -> str:
        row = self._shell.rows.get(name)
        if row is not None:
            return row.title.removesuffix("…")
        pages = {
            page.full_name(key.name): key.text
            for page in self._shell.page_keys
            for key in page.rows
        }
        return tr(pages[name])
