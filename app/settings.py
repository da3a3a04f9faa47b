"""What the window remembers between two runs: recent projects, its size, its look, the device. Never project data."""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QSettings

from engine.runtime.devices.names import AUTO, devices_of

RECENT_LIMIT: Final = 8
ZOOM_DEFAULT: Final = 168
PANES_DEFAULT: Final = (272, 336)  # left and right, in logical pixels

# Percent. Chosen: below an even chance nobody accepts many unseen, and no prediction reaches 100%.
ACCEPT_ABOVE_LEAST: Final = 50
ACCEPT_ABOVE_DEFAULT: Final = 80
ACCEPT_ABOVE_MOST: Final = 99


_RECENT: Final = "recent_projects"
_GEOMETRY: Final = "window/geometry"
_PANES: Final = "window/pane_widths"
_ZOOM: Final = "grid/zoom"
_ORDERS: Final = "grid/orders"
_ACCEPT_ABOVE: Final = "review/accept_above"
_PROXY: Final = "downloads/proxy"
_MIRROR: Final = "downloads/mirror"
_SCHEME: Final = "window/scheme"
_CALM: Final = "window/calm"
_LAST_PROJECT: Final = "start/open_last_project"
_DEVICE: Final = "computing/device"
_NEW_PROJECT: Final = "new_project/backbone"
_EXPORT_FORMAT: Final = "export/format"
_EXPORT_FOLDER: Final = "export/folder"
_GRAPH_EXPORT_FORMAT: Final = "export/graph_format"
_FOLDERS: Final = "folders"
_PERSON: Final = "labels/person"
_HINTS: Final = "hints/shown"
_OFFERED: Final = "backbones/offered_in"
_PROJECTS_LIMIT: Final = 500  # projects; more than a person opens in years


class Settings:
    """Named access to the one `QSettings` store of the program.

    Args:
        store: another store, for tests.
    """

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "protoleaf", "protoleaf"
        )

    def recent_projects(self) -> list[Path]:
        """Projects that were opened, the latest first."""
        return [Path(name) for name in self._texts(_RECENT)][:RECENT_LIMIT]

    def remember_project(self, path: Path) -> None:
        """Put a project first in the list."""
        others = [known for known in self.recent_projects() if known != path]
        self._keep_recent([path, *others])

    def forget_project(self, path: Path) -> None:
        """Take a project off the list; its file stays."""
        self._keep_recent([known for known in self.recent_projects() if known != path])

    def forget_projects(self) -> None:
        """Take all projects off the list; their files stay."""
        self._keep_recent([])

    def _keep_recent(self, paths: list[Path]) -> None:
        self._store.setValue(_RECENT, [str(path) for path in paths[:RECENT_LIMIT]])

    @property
    def opens_last_project(self) -> bool:
        """Whether the program starts with the project that was opened last."""
        return str(self._store.value(_LAST_PROJECT, "")) == "true"

    @opens_last_project.setter
    def opens_last_project(self, is_wanted: bool) -> None:
        self._store.setValue(_LAST_PROJECT, "true" if is_wanted else "false")

    @property
    def scheme(self) -> str:
        """Name of the look: "light" or "dark"; empty follows the system."""
        return str(self._store.value(_SCHEME, "") or "")

    @scheme.setter
    def scheme(self, name: str) -> None:
        self._store.setValue(_SCHEME, name)

    @property
    def is_calm(self) -> bool:
        """Whether things are at once where they go, without a movement."""
        return str(self._store.value(_CALM, "")) == "true"

    @is_calm.setter
    def is_calm(self, is_wanted: bool) -> None:
        self._store.setValue(_CALM, "true" if is_wanted else "false")

    @property
    def person(self) -> str:
        """The name that labels are signed with; empty for the account's."""
        return str(self._store.value(_PERSON, "") or "")

    @person.setter
    def person(self, name: str) -> None:
        self._store.setValue(_PERSON, name)

    def was_shown(self, hint: str) -> bool:
        """Whether a hint that is shown once was shown, in whatever project."""
        return hint in self._texts(_HINTS)

    def remember_shown(self, hint: str) -> None:
        """Show this hint no more."""
        self._store.setValue(_HINTS, [*(known for known in self._texts(_HINTS) if known != hint), hint])

    @property
    def geometry(self) -> QByteArray:
        """Place and size of the window; empty on the first run."""
        return self._bytes(_GEOMETRY)

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._store.setValue(_GEOMETRY, value)

    @property
    def pane_widths(self) -> tuple[int, int]:
        """Widths of the left and the right pane."""
        return self._number(f"{_PANES}/left", PANES_DEFAULT[0]), self._number(f"{_PANES}/right", PANES_DEFAULT[1])

    @pane_widths.setter
    def pane_widths(self, widths: tuple[int, int]) -> None:
        for name, width in zip(("left", "right"), widths, strict=True):
            self._store.setValue(f"{_PANES}/{name}", width)

    @property
    def zoom(self) -> int:
        """Side of a thumbnail in the grid, in device-independent pixels."""
        return self._number(_ZOOM, ZOOM_DEFAULT)

    @zoom.setter
    def zoom(self, side: int) -> None:
        self._store.setValue(_ZOOM, side)

    def order_of(self, project_id: str) -> str:
        """Name of the order that was chosen for a project's images; empty for none."""
        known = (line.partition(" ") for line in self._texts(_ORDERS))
        return next((name for known_id, _, name in known if known_id == project_id), "")

    def remember_order(self, project_id: str, name: str) -> None:
        """Use this order for the project's images from now on."""
        others = [line for line in self._texts(_ORDERS) if line.partition(" ")[0] != project_id]
        self._store.setValue(_ORDERS, [f"{project_id} {name}", *others][:_PROJECTS_LIMIT])

    @property
    def accept_above(self) -> int:
        """Percent: of many chosen images those are accepted whose likeliest class is more probable."""
        stored = self._number(_ACCEPT_ABOVE, ACCEPT_ABOVE_DEFAULT)
        return max(ACCEPT_ABOVE_LEAST, min(ACCEPT_ABOVE_MOST, stored))

    @accept_above.setter
    def accept_above(self, percent: int) -> None:
        self._store.setValue(_ACCEPT_ABOVE, percent)

    @property
    def device(self) -> str:
        """The device that looks at images; "auto" unless a person chose one that this system can have."""
        stored = str(self._store.value(_DEVICE, AUTO))
        return stored if stored in devices_of() else AUTO

    @device.setter
    def device(self, device: str) -> None:
        self._store.setValue(_DEVICE, device)

    @property
    def new_project_choice(self) -> str:
        """The kind of backbone that was chosen for the last new project; empty when none was."""
        return str(self._store.value(_NEW_PROJECT, "") or "")

    @new_project_choice.setter
    def new_project_choice(self, choice: str) -> None:
        self._store.setValue(_NEW_PROJECT, choice)

    @property
    def export_format(self) -> str:
        """Name of the format of the last export; empty before the first."""
        return str(self._store.value(_EXPORT_FORMAT, "") or "")

    @export_format.setter
    def export_format(self, name: str) -> None:
        self._store.setValue(_EXPORT_FORMAT, name)

    @property
    def export_folder(self) -> str:
        """Where the last export went; empty: beside the project."""
        return str(self._store.value(_EXPORT_FOLDER, "") or "")

    @export_folder.setter
    def export_folder(self, folder: str) -> None:
        self._store.setValue(_EXPORT_FOLDER, folder)

    @property
    def graph_export_format(self) -> str:
        """Name of the format that the class graph was exported in last; empty before the first time."""
        return str(self._store.value(_GRAPH_EXPORT_FORMAT, "") or "")

    @graph_export_format.setter
    def graph_export_format(self, name: str) -> None:
        self._store.setValue(_GRAPH_EXPORT_FORMAT, name)

    def folder_of(self, purpose: str) -> Path | None:
        """The folder that was used last for a purpose; None before the first time."""
        name = str(self._store.value(f"{_FOLDERS}/{purpose}", "") or "")
        return Path(name) if name else None

    def remember_folder(self, purpose: str, folder: Path) -> None:
        """Begin there the next time."""
        self._store.setValue(f"{_FOLDERS}/{purpose}", str(folder))

    def was_offered(self, project_id: str) -> bool:
        """Whether the accurate backbone was offered to a project already, or chosen or left when it was made."""
        return project_id in self._texts(_OFFERED)

    def remember_offered(self, project_id: str) -> None:
        """Offer it to this project no more."""
        others = [known for known in self._texts(_OFFERED) if known != project_id]
        self._store.setValue(_OFFERED, [project_id, *others][:_PROJECTS_LIMIT])

    @property
    def proxy(self) -> str:
        """Address of the proxy that downloads go through; empty for the system's. Never has a password."""
        return str(self._store.value(_PROXY, "") or "")

    @proxy.setter
    def proxy(self, address: str) -> None:
        from engine.backbones.published.route import without_password

        self._store.setValue(_PROXY, without_password(address))

    @property
    def mirror(self) -> str:
        """Address or folder that published networks are taken from; empty: from their publishers."""
        return str(self._store.value(_MIRROR, "") or "")

    @mirror.setter
    def mirror(self, place: str) -> None:
        self._store.setValue(_MIRROR, place)

    def _texts(self, key: str) -> list[str]:
        stored = self._store.value(key, [])
        texts = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [str(text) for text in texts if text]

    def _bytes(self, key: str) -> QByteArray:
        stored = self._store.value(key)
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def _number(self, key: str, default: int) -> int:
        try:
            return int(str(self._store.value(key, default)))
        except ValueError:
            return default
