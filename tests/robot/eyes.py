"""Screenshots, and windows with their positions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from Xlib import X
from Xlib import display as xlib
from Xlib.error import BadDrawable, BadWindow

if TYPE_CHECKING:
    from tests.robot.display import Display

ALL_PLANES = 0xFFFFFFFF

Picture = NDArray[np.uint8]
"""(height, width, 3), RGB."""


@dataclass(frozen=True)
class Area:
    """A rectangle on the screen, in pixels."""

    left: int
    top: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[int, int]:
        """The centre."""
        return self.left + self.width // 2, self.top + self.height // 2

    @property
    def right(self) -> int:
        """The first column right of it."""
        return self.left + self.width

    @property
    def bottom(self) -> int:
        """The first row below it."""
        return self.top + self.height

    def moved(self, right: int, down: int) -> "Area":
        """The rectangle moved by an offset."""
        return Area(self.left + right, self.top + down, self.width, self.height)

    def holds(self, x: int, y: int) -> bool:
        """Whether a point is inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def cut(self, picture: Picture) -> Picture:
        """This part of a screenshot."""
        return picture[max(0, self.top) : self.bottom, max(0, self.left) : self.right]


@final
class Eyes:
    """Take screenshots and find windows.

    Args:
        display: or its name.
    """

    def __init__(self, display: "Display") -> None:
        self.connection = xlib.Display(display.name)
        self._root = self.connection.screen().root

    def __enter__(self) -> Self:
        """Return self; the connection is already open."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self.connection.close()

    @property
    def screen(self) -> Area:
        """The whole screen."""
        geometry = self._root.get_geometry()
        return Area(0, 0, geometry.width, geometry.height)

    def look(self, area: Area | None = None) -> Picture:
        """A screenshot of the screen or a part of it."""
        part = self.screen if area is None else area
        reply = self._root.get_image(
            part.left, part.top, part.width, part.height, X.ZPixmap, ALL_PLANES
        )
        pixels = np.frombuffer(reply.data, np.uint8).reshape(part.height, part.width, 4)
        return np.ascontiguousarray(pixels[:, :, 2::-1])

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Grab the X server, so that nothing changes on the screen meanwhile."""
        self.connection.grab_server()
        try:
            yield
        finally:
            self.connection.ungrab_server()
            self.connection.sync()

    def save(self, path: Path, area: Area | None = None) -> Path:
        """Save a screenshot as PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(self.look(area)).save(path)
        return path

    # -- windows

    def window_manager(self) -> bool:
        """Whether a window manager is running."""
        return self._property(self._root, "_NET_SUPPORTING_WM_CHECK") is not None

    def windows(self) -> dict[str, Any]:
        """Windows by title, as the window manager lists them."""
        found: dict[str, Any] = {}
        for number in self._property(self._root, "_NET_CLIENT_LIST") or ():
            window = self.connection.create_resource_object("window", number)
            try:
                title = self._property(window, "_NET_WM_NAME")
            except BadWindow:
                continue  # closed meanwhile
            if title is not None:
                found[bytes(title).decode()] = window
        return found

    def window(self, title: str) -> Any | None:
        """The window whose title contains this text, or None."""
        return next((window for name, window in self.windows().items() if title in name), None)

    def is_active(self, title: str) -> bool:
        """Whether the window whose title contains this text is active."""
        active, window = self._property(self._root, "_NET_ACTIVE_WINDOW"), self.window(title)
        return active is not None and window is not None and active[0] == window.id

    def place_of(self, title: str) -> Area:
        """The client area of a window, without its frame."""
        window = self.window(title)
        assert window is not None, f"no window “{title}”, only {list(self.windows())}"
        geometry = window.get_geometry()
        at = self._root.translate_coords(window, 0, 0)
        return Area(at.x, at.y, geometry.width, geometry.height)

    def resize(self, title: str, width: int, height: int) -> None:
        """Move a window to the top left and resize it, through the window manager."""
        window = self.window(title)
        assert window is not None
        window.configure(x=0, y=0, width=width, height=height)
        self.connection.sync()

    def floating(self) -> frozenset[int]:
        """Visible windows without a window manager: menus, tooltips, drag pixmaps."""
        found = set()
        for window in self._root.query_tree().children:
            try:
                attributes = window.get_attributes()
                is_visible = (
                    attributes.map_state == X.IsViewable and window.get_geometry().width > 1
                )
            except (BadWindow, BadDrawable):
                continue  # closed meanwhile
            if attributes.override_redirect and is_visible:
                found.add(window.id)
        return frozenset(found)

    def _property(self, window: Any, name: str) -> Any | None:
        found = window.get_full_property(self.connection.intern_atom(name), X.AnyPropertyType)
        return None if found is None else found.value
