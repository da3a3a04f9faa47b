"""Keys that work on a single central page; declared once for settings and shortcut sheet.

    KEYS = PageKeys("compare", marked("Compare images"), (PageKey("fit", marked("Fit"), "0"), ...))

The feature has `page_keys = (KEYS,)`. The page's `keyPressEvent` is
`if not KEYS.press(event, {"fit": self.fit, ...}): super().keyPressEvent(event)`, and its texts
use `KEYS.text_of("fit")` or `KEYS.tip(text, "fit")`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.actions.key_places import bracket_by_place, digit_by_place, is_shifted_digit
from app.actions.keys import KeyOwner, Keys, keys_in_use, sequence_of
from app.mirroring import is_mirrored
from app.texts import tr

_KEYPAD = Qt.KeyboardModifier.KeypadModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_OTHER_SIDE = {"Left": "Right", "Right": "Left"}


@dataclass(frozen=True)
class PageKey:
    """A command of a page and its keys."""

    name: str  # identifier within the page
    text: str  # marked for translation
    keys: str  # portable key sequences separated by spaces; the first one is shown

    @property
    def declared(self) -> Keys:
        """The keys; a bare Left or Right is swapped in right-to-left layouts."""
        keys = self.keys.split()
        return tuple(_OTHER_SIDE.get(each, each) for each in keys) if is_mirrored() else tuple(keys)


@dataclass(frozen=True)
class PageKeys:
    """All keys of one page."""

    name: str  # identifier of the page
    text: str  # its title, marked for translation
    rows: tuple[PageKey, ...]
    with_images: bool = False  # the shortcuts of images work on the page, too (`Registry.act_in`)

    def full_name(self, name: str) -> str:
        """Its name in `keys_in_use` and the settings."""
        return f"{self.name}.{name}"

    def owners(self) -> Iterator[KeyOwner]:
        for row in self.rows:
            yield KeyOwner(self.full_name(row.name), row.declared, self.name, self.with_images)

    def keys_of(self, name: str) -> Keys:
        row = next(row for row in self.rows if row.name == name)
        return keys_in_use().of(self.full_name(name), row.declared)

    def text_of(self, name: str) -> str:
        """The first key as displayed; "" without one."""
        row = next(row for row in self.rows if row.name == name)
        return keys_in_use().text_of(self.full_name(name), row.declared)

    def tip(self, text: str, name: str) -> str:
        """A translated text followed by the key: `Fit (0)`."""
        key = self.text_of(name)
        return tr("{1} ({2})", text, key) if key else text

    def press(self, event: QKeyEvent, acts: Mapping[str, Callable[[], object]]) -> bool:
        """Run the command of a key event; False where it has none on this page."""
        for pressed in _sequences(event):
            for name, act in acts.items():
                if any(sequence_of(keys) == pressed for keys in self.keys_of(name)):
                    act()
                    event.accept()
                    return True
        return False


def _sequences(event: QKeyEvent) -> Iterator[QKeySequence]:
    """Key sequences that a key event may mean, the most likely first.

    A digit by its position, the key as pressed, the key without Shift where Shift was only needed
    for the character, a bracket by its position.
    """
    key, modifiers = Qt.Key(event.key()), event.modifiers() & ~_KEYPAD
    if (digit := digit_by_place(event)) is not None:
        yield QKeySequence(QKeyCombination(modifiers, digit))
    yield QKeySequence(QKeyCombination(modifiers, key))
    if plain_sign(event) or is_shifted_digit(event):
        yield QKeySequence(QKeyCombination(modifiers & ~_SHIFT, key))
    if (bracket := bracket_by_place(event)) is not None:
        yield QKeySequence(QKeyCombination(modifiers, bracket))


def plain_sign(event: QKeyEvent) -> bool:
    """Whether Shift was only needed for the character, as for `+` and `?` on many keyboards."""
    sign = event.text().strip()
    return bool(event.modifiers() & _SHIFT and sign and sign.isprintable() and not sign.isalnum())
