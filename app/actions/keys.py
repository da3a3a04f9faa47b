"""Shortcuts in use: those that the user chose, else those that actions and pages declare."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence

from app.key_names import ENTER_KEYS, ENTER_SIGN, enter_name, shift_name

if TYPE_CHECKING:
    from app.settings import Settings

WINDOW = "window"
IMAGES = "images"
GRID = "grid"  # the grid of images only
CLASSES = "classes"
SHIFT_KEY = "⇧"
NO_KEY = "none"  # in the settings: the user removed the shortcut
MODIFIERS = frozenset(
    {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr}
)
_PORTABLE = QKeySequence.SequenceFormat.PortableText
_NATIVE = QKeySequence.SequenceFormat.NativeText

Keys = tuple[str, ...]
"""Portable key sequences such as `Ctrl+Z`; the first one is shown."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeyOwner:
    """An action, or a command of one page, that has shortcuts."""

    name: str
    keys: Keys  # as declared
    place: str  # where they work: `WINDOW`, `IMAGES`, `GRID`, `CLASSES`, or the name of a page
    with_images: bool = False  # the shortcuts of images work on that page, too

    def meets(self, other: KeyOwner) -> bool:
        """Whether the shortcuts of both work in a common place."""
        both = {self.place, other.place}
        if len(both) == 1 or WINDOW in both or both == {IMAGES, GRID}:
            return True
        return (self.with_images and other.place == IMAGES) or (
            other.with_images and self.place == IMAGES
        )


def sequence_of(keys: str) -> QKeySequence:
    """Parse a portable key sequence.

    `QKeySequence(text)` would parse native text, where Return and Enter have the same name.
    """
    return QKeySequence.fromString(keys, _PORTABLE)


def normal_key(text: str) -> str:
    """Normalise a single key with its modifiers to portable text; "" for anything else."""
    sequence = sequence_of(text)
    if sequence.count() != 1:
        return ""
    is_key = _combination(sequence).key() not in (*MODIFIERS, Qt.Key.Key_unknown)
    return sequence.toString(_PORTABLE) if is_key else ""


def shown_key(keys: str) -> str:
    """A key sequence as menus show it: `Enter`, `Ctrl+Z`."""
    return sequence_of(keys).toString(_NATIVE)


def short_key(keys: str) -> str:
    """A key sequence in short form: `↵`, `⇧↵`."""
    shown, combination = shown_key(keys), _combination(sequence_of(keys))
    if combination.key() in ENTER_KEYS:
        # macOS shows its own sign instead of the name.
        shown = shown.removesuffix(enter_name()) + ENTER_SIGN * shown.endswith(enter_name())
    return shown.replace(f"{shift_name()}+", SHIFT_KEY)


def _combination(sequence: QKeySequence) -> QKeyCombination:
    return sequence[0]  # type: ignore[index]  # missing in PySide's stubs


def settle(owners: Iterable[KeyOwner], chosen: Mapping[str, Keys]) -> dict[str, Keys]:
    """Resolve conflicts: a chosen shortcut is removed from owners that only declare it.

    Only where both would work in a common place. Of two owners that chose the same shortcut, the
    first keeps it.
    """
    every = list(owners)
    settled: dict[str, Keys] = {}
    taken: dict[str, list[KeyOwner]] = {}
    # Owners with chosen keys first; the sort is stable.
    for owner in sorted(every, key=lambda each: each.name not in chosen):
        wanted = chosen.get(owner.name, owner.keys)
        free = tuple(
            key
            for key in wanted
            if not _is_taken(key, owner, taken, is_chosen=owner.name in chosen)
        )
        settled[owner.name] = free
        if owner.name in chosen:
            for key in free:
                taken.setdefault(normal_key(key), []).append(owner)
    return settled


def _is_taken(
    key: str, owner: KeyOwner, taken: Mapping[str, Sequence[KeyOwner]], *, is_chosen: bool
) -> bool:
    rival = next((each for each in taken.get(normal_key(key), ()) if each.meets(owner)), None)
    if rival is not None and is_chosen:
        _log.warning("the key %s of %s is ignored: %s has it", key, owner.name, rival.name)
    return rival is not None


@final
class KeysInUse(QObject):
    """The shortcuts of all actions and pages by name; chosen ones are stored in the settings."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, KeyOwner] = {}
        self._chosen: dict[str, Keys] = {}
        self._settled: dict[str, Keys] = {}
        self._settings: Settings | None = None

    def begin(self, owners: Iterable[KeyOwner], settings: Settings | None = None) -> None:
        """Register all owners and load the chosen shortcuts; invalid entries are ignored."""
        self._owners = {owner.name: owner for owner in owners}
        self._settings = settings
        stored = {} if settings is None else settings.chosen_keys()
        self._chosen = {
            name: keys
            for name, texts in stored.items()
            if (keys := self._read(name, texts)) is not None
        }
        self._settle()

    def _read(self, name: str, texts: Sequence[str]) -> Keys | None:
        if name not in self._owners:
            _log.warning("keys for %r in the settings are ignored: there is no such action", name)
            return None
        if list(texts) == [NO_KEY]:
            return ()
        keys = tuple(key for text in texts if (key := normal_key(text)))
        if len(keys) < len(texts):
            _log.warning("keys for %s in the settings are ignored: %r", name, texts)
        return keys or None

    def _settle(self) -> None:
        self._settled = settle(self._owners.values(), self._chosen)

    def of(self, name: str, declared: Keys = ()) -> Keys:
        """Shortcuts of an action or a page's `page.name`; `declared` while none is registered."""
        return self._settled.get(name, declared)

    def text_of(self, name: str, declared: Keys = ()) -> str:
        """Its first shortcut as displayed; "" without one."""
        keys = self.of(name, declared)
        return shown_key(keys[0]) if keys else ""

    def has(self, name: str) -> bool:
        return name in self._owners

    def declared(self, name: str) -> Keys:
        return self._owners[name].keys

    @property
    def chosen(self) -> dict[str, Keys]:
        """The shortcuts that differ from the declared ones."""
        return dict(self._chosen)

    def short_text_of(self, name: str, default: str = "") -> str:
        """Its first shortcut in short form; `default` where nothing is registered."""
        keys = self._settled.get(name, (default,) if default else ())
        return short_key(keys[0]) if keys else ""

    def text_of_class(self, digit: int, *, is_short: bool = False) -> str:
        """The shortcut of the class with a digit as its key: `Alt+3`.

        "" for 0, or where the user removed it.
        """
        name, declared = f"label_with_{digit}", f"Alt+{digit}"
        if not digit:
            return ""
        return self.short_text_of(name, declared) if is_short else self.text_of(name, (declared,))

    def is_changed(self, name: str) -> bool:
        """Whether the user chose its shortcuts, or removed one of them."""
        return name in self._chosen

    def rivals(self, name: str, key: str) -> list[str]:
        """Names of other owners whose shortcuts conflict with a key of this one."""
        owner, wanted = self._owners[name], normal_key(key)
        return [
            other.name
            for other in self._owners.values()
            if other.name != name
            and owner.meets(other)
            and wanted in map(normal_key, self._settled[other.name])
        ]

    def choose(self, chosen: Mapping[str, Keys]) -> None:
        """Set shortcuts of owners; equal shortcuts that others only declare are disabled."""
        for name, keys in chosen.items():
            if keys == self._owners[name].keys:
                self._chosen.pop(name, None)
            else:
                self._chosen[name] = keys
        self._keep()

    def replace(self, chosen: Mapping[str, Keys]) -> None:
        """Reset all owners to their declared shortcuts except these."""
        self._chosen.clear()
        self.choose(chosen)

    def reset(self, names: Iterable[str] | None = None) -> None:
        """Reset owners, by default all, to their declared shortcuts."""
        for name in tuple(self._chosen) if names is None else names:
            self._chosen.pop(name, None)
        self._keep()

    def _keep(self) -> None:
        if self._settings is not None:
            for name in self._owners:  # entries of other versions are preserved
                keys = self._chosen.get(name)
                self._settings.keep_keys(name, () if keys is None else keys or (NO_KEY,))
        self._settle()
        self.changed.emit()


@cache
def keys_in_use() -> KeysInUse:
    """The shortcuts of the window (a singleton)."""
    return KeysInUse()
