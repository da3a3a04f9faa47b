"""Preferences and the window's state between runs; never project data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from PySide6.QtCore import QByteArray, QSettings

from engine.runtime.devices.facts import AUTO, devices_of

RECENT_LIMIT = 8
ZOOM_DEFAULT = 168
PANES_DEFAULT = (272, 336)  # widths of the left and right pane, in logical pixels

# Percent. Chosen: few would accept images unseen below an even chance, and no prediction reaches
# 100%.
ACCEPT_ABOVE_LEAST = 50
ACCEPT_ABOVE_DEFAULT = 80
ACCEPT_ABOVE_MOST = 99

_RECENT = "recent_projects"
_GEOMETRY = "window/geometry"
_PANES = ("window/pane_widths/left", "window/pane_widths/right")
_ORDERS = "grid/orders"
_UNFOLDED = "projects/unfolded"
_PROXY = "downloads/proxy"
_DEVICE = "computing/device"
_FOLDERS = "folders"
_HINTS = "hints/shown"
_OFFERED = "backbones/offered_in"
_KEYS = "keys"
_COLUMNS = "imports/columns"
_AFTER_HEADER = "\n"
_OPEN_PARTS = "inspector/open_parts"
_PROJECTS_LIMIT = 500  # more projects than are opened in years
_TABLES_LIMIT = 50  # chosen: tables whose column roles are remembered


class _Text:
    """A text setting; empty by default."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get__(self, settings: Settings, _owner: type) -> str:
        return settings.text(self._key)

    def __set__(self, settings: Settings, text: str) -> None:
        settings.store.setValue(self._key, text)


class _Flag:
    """A boolean setting; off by default."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __get__(self, settings: Settings, _owner: type) -> bool:
        return settings.text(self._key) == "true"

    def __set__(self, settings: Settings, is_on: bool) -> None:
        settings.store.setValue(self._key, "true" if is_on else "false")


class _Number:
    """A whole number within bounds."""

    def __init__(self, key: str, default: int, least: int = 0, most: int = 10_000) -> None:
        self._key, self._default, self._least, self._most = key, default, least, most

    def __get__(self, settings: Settings, _owner: type) -> int:
        return max(self._least, min(self._most, settings.number(self._key, self._default)))

    def __set__(self, settings: Settings, number: int) -> None:
        settings.store.setValue(self._key, number)


class Settings:
    """Typed access to the program's `QSettings` store; tests pass a `store` of their own."""

    opens_last_project = _Flag("start/open_last_project")
    is_calm = _Flag("window/calm")  # no animations
    language = _Text("window/language")  # code of a language; empty follows the system
    # Classes keep their project names where they have one in the language.
    has_project_names = _Flag("window/project_names")
    scheme = _Text("window/scheme")  # "light" or "dark"; empty follows the system
    person = _Text("labels/person")  # the annotator's name; empty for the account's
    new_project_choice = _Text("new_project/backbone")  # kind of backbone of the last new project
    new_project = _Text("new_project/chosen")  # choices for a project that is not created yet
    export_format = _Text("export/format")
    export_folder = _Text("export/folder")  # empty: the project's folder
    graph_export_format = _Text("export/graph_format")
    zoom = _Number("grid/zoom", ZOOM_DEFAULT)  # side of a thumbnail, in logical pixels
    # Threshold in percent above which predictions of selected images are accepted.
    accept_above = _Number(
        "review/accept_above", ACCEPT_ABOVE_DEFAULT, ACCEPT_ABOVE_LEAST, ACCEPT_ABOVE_MOST
    )
    # Address or folder with the published networks; empty: their publishers.
    mirror = _Text("downloads/mirror")

    def __init__(self, store: QSettings | None = None) -> None:
        self.store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "protoleaf", "protoleaf"
        )

    def recent_projects(self) -> list[Path]:
        """The recently opened projects, latest first."""
        return [Path(name) for name in self._texts(_RECENT)][:RECENT_LIMIT]

    def remember_project(self, path: Path) -> None:
        self._mark(_RECENT, str(path), most=RECENT_LIMIT)

    def forget_project(self, path: Path) -> None:
        self._mark(_RECENT, str(path), is_on=False)

    def forget_projects(self) -> None:
        self.store.setValue(_RECENT, [])

    def was_shown(self, hint: str) -> bool:
        """Whether a one-time hint was shown before, in any project."""
        return hint in self._texts(_HINTS)

    def remember_shown(self, hint: str) -> None:
        self._mark(_HINTS, hint)

    @property
    def geometry(self) -> QByteArray:
        """Geometry of the window; empty on the first run."""
        stored = self.store.value(_GEOMETRY)
        return stored if isinstance(stored, QByteArray) else QByteArray()

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self.store.setValue(_GEOMETRY, value)

    @property
    def pane_widths(self) -> tuple[int, int]:
        left, right = (
            self.number(key, default) for key, default in zip(_PANES, PANES_DEFAULT, strict=True)
        )
        return left, right

    @pane_widths.setter
    def pane_widths(self, widths: tuple[int, int]) -> None:
        for key, width in zip(_PANES, widths, strict=True):
            self.store.setValue(key, width)

    def order_of(self, project_id: str) -> str:
        """The chosen order of a project's images; empty for none."""
        known = (line.partition(" ") for line in self._texts(_ORDERS))
        return next((name for known_id, _, name in known if known_id == project_id), "")

    def remember_order(self, project_id: str, name: str) -> None:
        others = [line for line in self._texts(_ORDERS) if line.partition(" ")[0] != project_id]
        self.store.setValue(_ORDERS, [f"{project_id} {name}", *others][:_PROJECTS_LIMIT])

    def is_folding(self, project_id: str) -> bool:
        """Whether duplicates and bursts of a project are folded into one card each; the default."""
        return project_id not in self._texts(_UNFOLDED)

    def remember_folding(self, project_id: str, *, is_folding: bool) -> None:
        self._mark(_UNFOLDED, project_id, is_on=not is_folding)

    def is_part_open(self, name: str) -> bool:
        """Whether a collapsible section of the inspector is open; closed by default."""
        return name in self._texts(_OPEN_PARTS)

    def remember_part(self, name: str, *, is_open: bool) -> None:
        self._mark(_OPEN_PARTS, name, is_on=is_open)

    @property
    def device(self) -> str:
        """The device for embedding: the chosen one where this system has it, else "auto"."""
        stored = self.text(_DEVICE)
        return stored if stored in devices_of() else AUTO

    @device.setter
    def device(self, device: str) -> None:
        self.store.setValue(_DEVICE, device)

    def chosen_keys(self) -> dict[str, list[str]]:
        """Shortcuts that the user chose, by action name, exactly as stored."""
        self.store.beginGroup(_KEYS)
        names = self.store.childKeys()
        self.store.endGroup()
        return {name: self._texts(f"{_KEYS}/{name}") for name in names}

    def keep_keys(self, name: str, keys: Sequence[str]) -> None:
        """Store the user's shortcuts of an action; an empty list restores the declared ones."""
        if keys:
            self.store.setValue(f"{_KEYS}/{name}", list(keys))
        else:
            self.store.remove(f"{_KEYS}/{name}")

    def folder_of(self, purpose: str) -> Path | None:
        """The folder that was last used for a purpose; None before the first time."""
        name = self.text(f"{_FOLDERS}/{purpose}")
        return Path(name) if name else None

    def remember_folder(self, purpose: str, folder: Path) -> None:
        self.store.setValue(f"{_FOLDERS}/{purpose}", str(folder))

    def named_columns(self) -> dict[str, dict[str, str]]:
        """Column by role that the user chose for tables, by table header."""
        known = (line.rpartition(_AFTER_HEADER) for line in self._texts(_COLUMNS))
        return {
            header: dict(parse_qsl(named, keep_blank_values=True)) for header, _, named in known
        }

    def remember_columns(self, header: str, named: Mapping[str, str]) -> None:
        others = [
            line for line in self._texts(_COLUMNS) if line.rpartition(_AFTER_HEADER)[0] != header
        ]
        line = f"{header}{_AFTER_HEADER}{urlencode(named)}"
        self.store.setValue(_COLUMNS, [line, *others][:_TABLES_LIMIT])

    def was_offered(self, project_id: str) -> bool:
        """Whether the accurate backbone was offered for a project, or chosen at its creation."""
        return project_id in self._texts(_OFFERED)

    def remember_offered(self, project_id: str) -> None:
        self._mark(_OFFERED, project_id)

    @property
    def proxy(self) -> str:
        """Address of the proxy for downloads, never with a password; empty for the system's."""
        return self.text(_PROXY)

    @proxy.setter
    def proxy(self, address: str) -> None:
        from engine.backbones.published.route import without_password

        self.store.setValue(_PROXY, without_password(address))

    def text(self, key: str) -> str:
        return str(self.store.value(key, "") or "")

    def _texts(self, key: str) -> list[str]:
        stored = self.store.value(key, [])
        texts = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [str(text) for text in texts if text]

    def _mark(
        self, key: str, text: str, *, is_on: bool = True, most: int = _PROJECTS_LIMIT
    ) -> None:
        """Put a text at the beginning of a list, or remove it."""
        others = [known for known in self._texts(key) if known != text]
        self.store.setValue(key, ([text, *others] if is_on else others)[:most])

    def number(self, key: str, default: int) -> int:
        try:
            return int(str(self.store.value(key, default)))
        except ValueError:
            return default
