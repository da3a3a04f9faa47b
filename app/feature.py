"""Base classes of features; a feature declares its actions, keys, panel and guide page."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from app.actions.row import ActionRow, Needs, actions_of
from app.file_dialogs import Purpose, choose_folder, open_file
from app.jobs.slot import JobSlot
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:
    from typing import Any

    from app.actions.page_keys import PageKeys
    from app.palette.import_card import ImportCard, ReadSource
    from app.shell import Shell
    from app.side_panel.frame import SidePanel
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.interchange.tables.read_table import ColumnPreview


Panel = TypeVar("Panel", bound="SidePanel")
GoOn = Callable[[], object]


class Feature(QObject):
    """A part of the window, with its actions declared on its methods (`app.actions.row.action`).

    Listed in `app.features`. Subclasses take the shell only, and import no other feature.

    Attributes:
        guide_page: its page of the user guide, such as `backbones#training`, for the help key.
        page_keys: keys that work on its pages only.
    """

    guide_page: ClassVar[str] = ""
    page_keys: ClassVar[tuple[PageKeys, ...]] = ()

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._session = shell.session
        self._settings = shell.settings
        self._thumbnails = shell.thumbnails
        self._toast = shell.toast
        self._palette = shell.palette_panel
        self._host = shell.stage  # parent of floating cards

    @classmethod
    def rows(cls) -> tuple[ActionRow, ...]:
        return tuple(row for row, _name, _given in actions_of(cls))

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """The methods of its actions, by action name."""
        return {
            row.name: partial(self.do, getattr(self, name), *given)
            for row, name, given in actions_of(type(self))
        }

    def do(self, act: Callable[..., object], *given: object) -> None:
        act(*given)

    def there(self) -> Needs:
        """What it provides to actions that need it, while a project is open."""
        return Needs.NOTHING

    def titles(self) -> Mapping[str, str]:
        """Titles of actions that depend on the state, by action name."""
        return {}

    def submenus(self) -> Mapping[str, QMenu]:
        """Submenus, by name of the action that they follow."""
        return {}

    def blocks_closing(self, go_on: GoOn, *, at_end: bool) -> bool:  # noqa: ARG002
        """Whether leaving the project now would lose something.

        Where it returns True, `go_on` is called once the user has decided.
        """
        return False

    @property
    def keeps_panes(self) -> bool:
        """Whether the panes stay visible while no project is open."""
        return False

    def stop(self) -> None:
        """Clean up before the program ends."""

    def link_guide_page(self, part: QWidget) -> None:
        """Set the feature's page of the guide for a part of the window."""
        set_guide_page(part, self.guide_page)


class PanelFeature(Feature, Generic[Panel]):
    """A feature with a panel that replaces the inspector."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.panel: Panel | None = None

    @abstractmethod
    def make_panel(self) -> Panel:
        """Make and connect the panel."""

    def made_panel(self) -> Panel:
        if self.panel is None:
            self.panel = self.make_panel()
            self.panel.close_requested.connect(self.close_panel)
            self.link_guide_page(self.panel)
        return self.panel

    def show_panel(self) -> Panel:
        panel = self.made_panel()
        self._shell.side.show_panel(panel)
        return panel

    def close_panel(self) -> None:
        if self.panel is not None:
            self._shell.side.close_panel(self.panel)

    @property
    def is_panel_shown(self) -> bool:
        return self.panel is not None and self.panel.isVisible()


Card = TypeVar("Card", bound="ImportCard[Any]")


class Imports(Feature, Generic[Card]):
    """Base of imports: shows the card, reads the source in the background, runs the import."""

    purpose: Purpose
    reads_folders: ClassVar[bool] = True  # whether folders can be read as well as files

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: Card | None = None
        self._reading = JobSlot(self._session.jobs, keeps_finished=False)
        self._session.closed.connect(self._on_closed)

    @abstractmethod
    def _make_card(self) -> Card: ...

    @abstractmethod
    def _title(self) -> str:
        """The title of the dialogs."""

    @abstractmethod
    def _file_kinds(self) -> str:
        """The file filters of the dialog."""

    @abstractmethod
    def _survey(
        self, project: Path, source: Path, given: Mapping[str, str], cancel: CancelToken
    ) -> object:
        """Read a source and compare it with the project; runs in a background thread.

        Args:
            given: column by role of a table, as chosen by the user.
        """

    def begin(self) -> None:
        """Choose a file; the card opens once it is read."""
        if not self._reading.is_busy:
            self._choose_file()
        else:
            self._shown_card().show_over()

    def _shown_card(self) -> Card:
        if self.card is None:
            self.card = self._make_card()
            self.link_guide_page(self.card)
            self.card.file_requested.connect(self._choose_file)
            self.card.folder_requested.connect(self._choose_folder)
            self.card.columns_chosen.connect(self.read)
            self.card.progress.cancel_requested.connect(self._on_cancel)
            self.card.closed.connect(self._reading.abandon)
        return self.card

    def _choose_file(self) -> None:
        path = open_file(self._host, self.purpose, self._title(), self._file_kinds())
        if path is not None:
            self.read(path)
        elif self.reads_folders:  # file dialogs cannot choose folders
            self._shown_card().show_start()

    def _choose_folder(self) -> None:
        folder = choose_folder(self._host, self.purpose, self._title())
        if folder is not None:
            self.read(folder)

    def read(self, source: Path, given: Mapping[str, str] | None = None) -> None:
        """Read a source, and preview its import on the card.

        Args:
            given: column by role, as chosen on the card, which stays unchanged meanwhile.
        """
        info = self._session.info
        if info is None:
            return
        self._reading.abandon()
        project, known = info.path, self._settings.named_columns()

        def work(_on_progress: OnProgress, cancel: CancelToken) -> ReadSource:
            named = self._named_before(source, known) if given is None else given
            return self._read(project, source, named, cancel)

        if given is None:
            self._shown_card().show_reading(source.name)
        self._reading.start(
            tr("Reading %1", shown(source.name)),
            work,
            lambda found: self._shown_card().show_read(found),
            self._on_failed,
        )

    def _columns_of(self, source: Path, given: Mapping[str, str]) -> ColumnPreview | None:
        """Preview the columns of a source that is a table; None for anything else."""
        from engine.interchange.tables.dialects import TablePurpose
        from engine.interchange.tables.read_table import preview_columns

        purposes = {Purpose.CLASSES: TablePurpose.CLASSES, Purpose.LABELS: TablePurpose.LABELS}
        purpose = purposes.get(self.purpose)
        return None if purpose is None else preview_columns(source, purpose, given)

    def _named_before(
        self, source: Path, known: Mapping[str, Mapping[str, str]]
    ) -> Mapping[str, str]:
        """The columns that were chosen for the last table with the same header."""
        from engine.interchange.tables.roles import RANKS, ROLE_OF

        columns = self._columns_of(source, {}) if known else None
        named = {} if columns is None else known.get(columns.header, {})
        return {role: name for role, name in named.items() if role in ROLE_OF or role in RANKS}

    def _read(
        self, project: Path, source: Path, given: Mapping[str, str], cancel: CancelToken
    ) -> ReadSource:
        """Survey a source together with its columns.

        A table whose columns are unclear returns the columns alone.
        """
        from app.palette.import_card import ReadSource
        from engine.errors import FormatError

        try:
            survey = self._survey(project, source, given, cancel)
        except FormatError:
            columns = self._columns_of(source, given)
            if columns is None or columns.is_clear or not columns.rows:
                raise
            return ReadSource(source, columns, given)
        return ReadSource(source, self._columns_of(source, given), given, survey)

    def _on_failed(self, message: str) -> None:
        from app.wording import sentence

        self._shown_card().show_start(sentence(message))

    def _on_cancel(self) -> None:
        self._reading.abandon()
        self._shown_card().show_start()

    def _on_closed(self) -> None:
        self._reading.abandon()
        if self.card is not None:
            self.card.dismiss()

    def _take_over(
        self,
        title: str,
        work: Callable[[LiveCollection, OnProgress, CancelToken], Any],
        on_imported: Callable[[Any], None],
    ) -> None:
        """Import as one undoable step, and remember the columns for tables with the same header."""
        if self.card is not None:
            if self.card.named_columns:
                self._settings.remember_columns(*self.card.named_columns)
            self.card.dismiss()
        job = self._session.run_long(work, title=title, change_of=lambda done: done.change)
        job.keeps_finished = False
        job.finished.connect(on_imported)


_PROPERTY = "guidePage"


def set_guide_page(part: QWidget, page: str) -> None:
    """Set the guide page of a widget and its children: `backbones` or `backbones#training`."""
    part.setProperty(_PROPERTY, page)


def guide_page_of(part: QWidget | None) -> str:
    """The guide page of a widget, or of its nearest ancestor that has one; else ""."""
    while part is not None:
        page = part.property(_PROPERTY)
        if page:
            return str(page)
        part = part.parentWidget()
    return ""
