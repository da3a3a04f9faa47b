"""What every feature is: a part of the window that says in one class what it does; the window knows no more of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from app.actions.row import ActionRow, Needs, actions_of
from app.guide_page import set_guide_page

if TYPE_CHECKING:  # the window shows first
    from app.shell import Shell
    from app.side_panel.frame import SidePanel

Panel = TypeVar("Panel", bound="SidePanel")
GoOn = Callable[[], object]


class Feature(QObject):
    """Its actions stand beside its methods (`app.actions.row.action`); what it needs of others is in the shell.

    Listed in `app.features`. Subclasses are made with the shell alone, and import no other feature.

    Attributes:
        guide_page: of the user guide, such as `backbones#training`: what the help key opens there.
    """

    guide_page: ClassVar[str] = ""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._session = shell.session
        self._settings = shell.settings
        self._thumbnails = shell.thumbnails
        self._toast = shell.toast
        self._palette = shell.palette_panel
        self._host = shell.stage  # what cards float over

    @classmethod
    def rows(cls) -> tuple[ActionRow, ...]:
        """All its actions."""
        return tuple(row for row, _name, _given in actions_of(cls))

    def callbacks(self) -> dict[str, Callable[[], None]]:
        """What its actions do, by name."""
        return {row.name: self._callback(getattr(self, name), given) for row, name, given in actions_of(type(self))}

    def _callback(self, method: Callable[..., object], given: tuple[object, ...]) -> Callable[[], None]:
        return lambda: self.do(lambda: method(*given))

    def do(self, act: Callable[[], object]) -> None:
        """Do one of its actions."""
        act()

    def there(self) -> Needs:
        """What it has for actions that need it, while a project is open."""
        return Needs.NOTHING

    def titles(self) -> Mapping[str, str]:
        """Titles of actions that say what they would act on, by name of the action."""
        return {}

    def submenus(self) -> Mapping[str, QMenu]:
        """Menus that stand below an action, by its name."""
        return {}

    def holds_back(self, go_on: GoOn, *, at_end: bool) -> bool:  # noqa: ARG002
        """Whether something would be lost if the project were left now; when the person has decided, it goes on.

        Args:
            go_on: leaves the project.
            at_end: the program ends, too.
        """
        return False

    @property
    def keeps_panes(self) -> bool:
        """Whether the panes stay in front although no project is open."""
        return False

    def stop(self) -> None:
        """End before the program ends."""

    def tell_page(self, part: QWidget) -> None:
        """Let the help key open the feature's page in a part of the window."""
        set_guide_page(part, self.guide_page)


class PanelFeature(Feature, Generic[Panel]):
    """A feature with a panel that stands in the place of the inspector."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.panel: Panel | None = None  # until it is wanted first

    @abstractmethod
    def make_panel(self) -> Panel:
        """Make the panel, and connect what is wanted there."""

    def made_panel(self) -> Panel:
        """The panel, which may not be in sight."""
        if self.panel is None:
            self.panel = self.make_panel()
            self.panel.close_requested.connect(self.close_panel)
            self.tell_page(self.panel)
        return self.panel

    def show_panel(self) -> Panel:
        """Put the panel in front; what was started there goes on while it is away."""
        panel = self.made_panel()
        self._shell.side.show_panel(panel)
        return panel

    def close_panel(self) -> None:
        if self.panel is not None:
            self._shell.side.close_panel(self.panel)

    @property
    def is_panel_shown(self) -> bool:
        return self.panel is not None and self.panel.isVisible()
