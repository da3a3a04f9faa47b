"""What can be done with the files of the images that are chosen."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.image_grid.view import ImageGrid
from app.status.toast import Toast
from app.texts import tr

if TYPE_CHECKING:
    from app.session import Session

IMAGE_MENU: Final = ("accept", "relabel", "unknown", "reject", "open_image", "show_in_folder", "remove_images")
"""Actions of the menu on a card."""


@final
class ImageFiles:
    """Shows where images lie."""

    def __init__(self, session: "Session", grid: ImageGrid, toast: Toast) -> None:
        self._session = session
        self._grid = grid
        self._toast = toast

    def callbacks(self) -> dict[str, Callable[[], None]]:
        return {"show_in_folder": self.show_in_folder}

    def show_in_folder(self) -> None:
        state, image_id = self._session.state, self._grid.current_id
        if state is None or image_id is None:
            return
        folder = str(state.path_of(image_id).parent)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(folder)):
            self._toast.say_failure(tr("The folder cannot be shown: %1", folder))
