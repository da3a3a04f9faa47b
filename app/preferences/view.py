"""View of the settings card, and the prompt for the annotator's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from app.actions.row import ActionRow
from app.controls import (
    dress_list,
    fill_row,
    make_button,
    make_icon_button,
    make_label,
    make_separator,
)
from app.mirroring import leading_edge
from app.palette.overlay import ScrollingCard
from app.texts import plural, tr
from app.theme.scheme import SchemeChoice
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from app.status.toast import Toast
    from engine.project import Change


HINT = "name"
"""Key under which the settings store that the hint was shown."""
FIELD_WIDTH = 200  # maximum width in logical pixels
LONGEST_NAME = 120  # maximum number of characters


@final
class NameStrip(QFrame):
    """Input of the name; Enter or the button saves it, the cross dismisses the prompt."""

    named = Signal(str)  # the name
    left = Signal()  # return the focus

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setProperty("tone", "")
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Your name"))
        self.field.setAccessibleName(tr("Your name"))
        self.field.setMaxLength(LONGEST_NAME)
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.returnPressed.connect(self._take)
        question = make_label(tr("Your name for these labels"))
        spacing = tokens().spacing
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setSpacing(spacing.small)
        row.addWidget(question)
        row.addWidget(self.field, 1)
        row.addWidget(make_button(tr("Save"), self._take))
        row.addStretch(1)
        row.addWidget(make_icon_button("close", tr("Dismiss"), self._leave))
        self.hide()

    def _take(self) -> None:
        name = self.field.text().strip()
        if name:
            self.named.emit(name)
            self._leave()
        else:
            self.field.setFocus()

    def _leave(self) -> None:
        self.hide()
        self.left.emit()


@final
class NameAsking(QObject):
    """Show the name prompt at the first label, if neither settings nor account have a name.

    Afterwards offer to sign earlier labels with the name.

    Args:
        session: of the open project.
        settings: store the name, and whether the prompt was shown.
        strip: the prompt.
        toast: shows the offer.
    """

    def __init__(
        self, session: Session, settings: Settings, strip: NameStrip, toast: Toast
    ) -> None:
        super().__init__(strip)
        self._toast = toast
        self._session = session
        self._settings = settings
        self._strip = strip
        if settings.person:
            _sign_with(settings.person)
        strip.named.connect(self._on_named)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(strip.hide)

    def _on_change_made(self, change: Change) -> None:
        is_by_hand = (
            change.kind == "done"
            and change.labelled
            and not change.images_added
            and not change.graph_edits
        )
        if is_by_hand and not self._settings.person and not self._settings.was_shown(HINT):
            self._session.ask(
                lambda _live: _full_name(), self._on_full_name, owner=self, topic=HINT
            )

    def _on_full_name(self, name: str) -> None:
        if not name and self._session.info is not None and not self._settings.person:
            self._settings.remember_shown(HINT)
            self._strip.show()

    def _on_named(self, name: str) -> None:
        self._settings.person = name
        _sign_with(name)
        self.offer_to_sign(name)

    def offer_to_sign(self, name: str) -> None:
        """Offer to sign unnamed labels of the open project."""
        if self._session.is_writable:
            self._session.ask(
                lambda live: live.project.labels.unnamed(),
                lambda count: self._offer(count, name),
                owner=self,
                topic="labels without a name",
            )

    def _offer(self, count: int, name: str) -> None:
        if count:
            text = plural(count, "1 earlier label has no name", "{n} earlier labels have no name")
            self._toast.show_message(
                text, action=tr("Sign as {1}", name), on_action=lambda: self._sign(name)
            )

    def _sign(self, name: str) -> None:
        self._session.act(lambda project: project.labels.sign_unnamed(name))


def _full_name() -> str:
    """Full name of the account, which may be on the network; called on the project thread."""
    from engine.project.clock import full_name

    return full_name()


def _sign_with(name: str) -> None:
    from engine.project.clock import choose_person

    choose_person(name)


WIDTH = 560
"""In logical pixels."""
ELSEWHERE = ("change_keys", "backups", "choose_device")
"""Actions that open other settings."""


_OPENING_KEYS = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Space,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_F4,
    }
)


@final
class LanguageBox(QComboBox):
    """Combo box changed only from its list, not by arrow keys or the wheel."""

    def __init__(self) -> None:
        super().__init__()
        dress_list(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _OPENING_KEYS:
            self.showPopup()
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


@final
class SettingsCard(ScrollingCard):
    """Card over the window; Esc or a click outside closes it. Changes apply immediately."""

    scheme_chosen = Signal(SchemeChoice)  # a `SchemeChoice`
    start_chosen = Signal(bool)  # whether to open the last project at the start
    language_chosen = Signal(str)  # language code; empty for the system's
    names_chosen = Signal(bool)  # whether to show class names of the project
    calm_chosen = Signal(bool)  # whether to reduce motion
    person_chosen = Signal(str)  # annotator; empty for the account's name
    action_requested = Signal(str)  # action that opens another page

    def __init__(
        self, host: QWidget, rows: Mapping[str, ActionRow], languages: Mapping[str, str]
    ) -> None:
        super().__init__(host, WIDTH, tr("Settings"))
        self.schemes = {
            SchemeChoice.SYSTEM: QRadioButton(tr("System")),
            SchemeChoice.LIGHT: QRadioButton(tr("Light")),
            SchemeChoice.DARK: QRadioButton(tr("Dark")),
        }
        self.language = LanguageBox()
        self.language.setAccessibleName(tr("Language"))
        for code, name in {"": tr("System"), **languages}.items():
            self.language.addItem(name, code)
        self.names = QCheckBox(tr("Class names in this language, where they have one"))
        self.last_project = QCheckBox(tr("Open the last project"))
        self.calm = QCheckBox(tr("Reduce motion"))
        self.person = QLineEdit()
        self.person.setAccessibleName(tr("Labelled by", about="setting"))
        self.buttons = {name: self._button_for(rows[name]) for name in ELSEWHERE}
        self._fill_body()
        self._connect()

    # -- layout

    def _fill_body(self) -> None:
        """One line for each setting, and buttons for other settings."""
        spacing = tokens().spacing
        grid = QGridLayout(self.body)
        grid.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.medium)
        grid.setHorizontalSpacing(spacing.medium)
        grid.setVerticalSpacing(spacing.medium)
        grid.setColumnStretch(1, 1)
        grid.addWidget(_name(tr("Theme")), 0, 0)
        grid.addLayout(self._make_schemes(), 0, 1, 1, 2)
        language = _name(tr("Language"))
        language.setBuddy(self.language)  # for screen readers on Linux
        grid.addWidget(language, 1, 0)
        grid.addWidget(self.language, 1, 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self.names, 2, 1, 1, 2)
        grid.addWidget(_name(tr("At start")), 3, 0)
        grid.addWidget(self.last_project, 3, 1, 1, 2)
        grid.addWidget(_name(tr("Motion")), 4, 0)
        grid.addWidget(self.calm, 4, 1, 1, 2)
        grid.addWidget(_name(tr("Labelled by", about="setting")), 5, 0)
        grid.addWidget(self.person, 5, 1, 1, 2)
        grid.addWidget(make_separator(), 6, 0, 1, 3)
        elsewhere = QWidget()
        fill_row(elsewhere, *self.buttons.values()).addStretch(1)
        grid.addWidget(elsewhere, 7, 0, 1, 3)
        grid.setRowStretch(grid.rowCount(), 1)

    def _make_schemes(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(tokens().spacing.medium)
        group = QButtonGroup(self)
        for button in self.schemes.values():
            group.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _button_for(self, row: ActionRow) -> QPushButton:
        return make_button(row.title, lambda: self._go_to(row.name))

    def _connect(self) -> None:
        for choice, button in self.schemes.items():
            button.clicked.connect(
                lambda _is_checked=False, choice=choice: self.scheme_chosen.emit(choice)
            )
        self.language.activated.connect(
            lambda place: self.language_chosen.emit(self.language.itemData(place))
        )
        self.names.clicked.connect(
            lambda is_in_language: self.names_chosen.emit(not is_in_language)
        )
        self.last_project.clicked.connect(self.start_chosen)
        self.calm.clicked.connect(self.calm_chosen)
        self.person.textEdited.connect(self.person_chosen)

    def _go_to(self, action: str) -> None:
        self.dismiss()
        self.action_requested.emit(action)

    # -- display

    def show_scheme(self, choice: SchemeChoice) -> None:
        """Select the current theme."""
        self.schemes[choice].setChecked(True)

    def show_language(self, code: str) -> None:
        """Select the current language."""
        self.language.setCurrentIndex(max(0, self.language.findData(code)))

    def show_names(self, *, are_of_project: bool) -> None:
        """Show whether classes have their names of the project."""
        self.names.setChecked(not are_of_project)

    def show_start(self, *, opens_last_project: bool) -> None:
        """Show whether the last project is opened at the start."""
        self.last_project.setChecked(opens_last_project)

    def show_calm(self, *, is_calm: bool) -> None:
        """Show whether motion is reduced."""
        self.calm.setChecked(is_calm)

    def show_person(self, name: str, *, account: str) -> None:
        """Show the annotator; the account's name is the placeholder."""
        self.person.setText(name)
        self.person.setPlaceholderText(account or tr("Your name"))

    def show_backups(self, *, can_open: bool) -> None:
        """Enable the backups button if a project is open."""
        self.buttons["backups"].setEnabled(can_open)
        self.buttons["backups"].setToolTip(
            "" if can_open else tr("Open a project to see its backups.")
        )


def _name(text: str) -> QLabel:
    label = make_label(text, "secondary")
    label.setAlignment(leading_edge())
    return label
