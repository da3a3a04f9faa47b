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
from app.file_dialogs import Purpose, choose_folder, open_file, show_folder
from app.jobs.slot import JobSlot
from app.texts import tr
from engine.files import shown

if TYPE_CHECKING:
    from typing import Any

    from app.actions.page_keys import PageKeys
    from app.palette.import_card import ImportCard, ReadSource
    from app.palette.overlay import Overlay
    from app.shell import Shell
    from app.side_panel.frame import SidePanel
    from engine.collection.live import LiveCollection
    from engine.events import CancelToken, OnProgress
    from engine.interchange.tables.read_table import ColumnPreview


Panel = TypeVar("Panel", bound="SidePanel")
Page = TypeVar("Page", bound=QWidget)
Card = TypeVar("Card", bound="Overlay")
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
        """The interface that it provides to actions while a project is open."""
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

    def show_undoable(self, text: str, *, is_failure: bool = False) -> None:
        """Report a change, with a button that undoes it."""
        show_message = self._toast.report_failure if is_failure else self._toast.show_message
        show_message(text, action=tr("Undo"), on_action=self._session.undo)

    def show_folder(self, folder: Path) -> None:
        """Show a folder in the system's file browser."""
        show_folder(folder, self._toast.report_failure)

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


class PageFeature(Feature, Generic[Page]):
    """A feature with a page in the centre of the window."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.page: Page | None = None
        shell.workspace.page_left.connect(self._on_page_left)

    @abstractmethod
    def make_page(self) -> Page:
        """Make and connect the page."""

    def made_page(self) -> Page:
        if self.page is None:
            self.page = self.make_page()
            self.link_guide_page(self.page)
        return self.page

    def close_page(self) -> None:
        if self.page is not None:
            self._shell.workspace.close_page(self.page)

    @property
    def is_page_shown(self) -> bool:
        return self.page is not None and self._shell.workspace.page is self.page

    def _on_page_left(self, page: QWidget) -> None:
        if page is self.page:
            self.leave_page()

    def leave_page(self) -> None:
        """Clean up after the page was left."""


class CardFeature(Feature, Generic[Card]):
    """A feature with a floating card.

    Attributes:
        is_of_project: whether the card is dismissed when the project is closed.
    """

    is_of_project: ClassVar[bool] = True

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.card: Card | None = None

    @abstractmethod
    def make_card(self) -> Card:
        """Make and connect the card."""

    def made_card(self) -> Card:
        if self.card is None:
            self.card = self.make_card()
            self.link_guide_page(self.card)
            if self.is_of_project:
                self._session.closed.connect(self.card.dismiss)
        return self.card


AnyImportCard = TypeVar("AnyImportCard", bound="ImportCard[Any]")


class Imports(CardFeature[AnyImportCard]):
    """Base of imports: shows the card, reads the source in the background, runs the import."""

    purpose: Purpose
    reads_folders: ClassVar[bool] = True  # whether folders can be read as well as files
    dialog_title: ClassVar[str]  # marked for translation

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._reading = JobSlot(self._session.jobs, keeps_finished=False)
        self._session.closed.connect(self._reading.abandon)

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

    @abstractmethod
    def _job_title(self, name: str) -> str:
        """The title of the import of a source with this name."""

    @abstractmethod
    def _import(
        self, live: LiveCollection, survey: Any, options: Mapping[str, Any], cancel: CancelToken
    ) -> Any:
        """Import as one undoable step, on the project thread."""

    @abstractmethod
    def _on_imported(self, done: Any) -> None:
        """Report the result."""

    def begin(self) -> None:
        """Choose a file; the card opens once it is read."""
        if not self._reading.is_busy:
            self._choose_file()
        else:
            self.made_card().show_over()

    def made_card(self) -> AnyImportCard:
        is_new, card = self.card is None, super().made_card()
        if is_new:
            card.file_requested.connect(self._choose_file)
            card.folder_requested.connect(self._choose_folder)
            card.columns_chosen.connect(self.read)
            card.import_requested.connect(self._run_import)
            card.progress.cancel_requested.connect(self._on_cancel)
            card.closed.connect(self._reading.abandon)
        return card

    def _choose_file(self) -> None:
        path = open_file(self._host, self.purpose, tr(self.dialog_title), self._file_kinds())
        if path is not None:
            self.read(path)
        elif self.reads_folders:  # file dialogs cannot choose folders
            self.made_card().show_start()

    def _choose_folder(self) -> None:
        folder = choose_folder(self._host, self.purpose, tr(self.dialog_title))
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

        def read_source(_on_progress: OnProgress, cancel: CancelToken) -> ReadSource:
            named = self._named_before(source, known) if given is None else given
            return self._read(project, source, named, cancel)

        if given is None:
            self.made_card().show_reading(source.name)
        self._reading.start(
            tr("Reading {1}", shown(source.name)),
            read_source,
            lambda found: self.made_card().show_read(found),
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

        self.made_card().show_start(sentence(message))

    def _on_cancel(self) -> None:
        self._reading.abandon()
        self.made_card().show_start()

    def _run_import(self, options: Mapping[str, Any]) -> None:
        """Import, and remember the columns for tables with the same header."""
        card = self.made_card()
        survey: Any = card.survey
        if card.named_columns:
            self._settings.remember_columns(*card.named_columns)
        card.dismiss()
        job = self._session.run_long(
            lambda live, _on_progress, cancel: self._import(live, survey, options, cancel),
            title=self._job_title(shown(survey.source.name)),
            change_of=lambda done: done.change,
        )
        job.keeps_finished = False
        job.finished.connect(self._on_imported)


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
