"""Actions with shortcuts, grouped and filtered, and presets of other programs. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.actions.keys import Keys, KeysInUse, shown_key
from app.actions.page_keys import PageKeys
from app.actions.row import MENUS, ActionRow
from app.texts import marked, tr
from app.wording import enumeration


@dataclass(frozen=True)
class KeyRow:
    """A row of the table."""

    name: str  # name of the action, or `page.name`
    title: str
    keys: Keys
    is_changed: bool

    @property
    def shown(self) -> str:
        return enumeration(dict.fromkeys(map(shown_key, self.keys)))


@dataclass(frozen=True)
class KeyGroup:
    """Rows of a menu or page."""

    title: str
    rows: tuple[KeyRow, ...]


def groups_of(
    actions: Iterable[ActionRow], pages: Iterable[PageKeys], keys: KeysInUse, text: str = ""
) -> list[KeyGroup]:
    """All actions that can have keys; filtered by words of title or group, or by key."""
    by_menu: dict[str, list[KeyRow]] = {menu: [] for menu in MENUS}
    for action in actions:
        title = action.title.removesuffix("…")
        by_menu[action.section.menu].append(_row(action.name, title, action.keys, keys))
    groups = [KeyGroup(tr(menu), tuple(rows)) for menu, rows in by_menu.items()]
    groups += [KeyGroup(tr(page.text), tuple(_rows_of(page, keys))) for page in pages]
    found = [
        KeyGroup(group.title, tuple(row for row in group.rows if _fits(row, group, text)))
        for group in groups
    ]
    return [group for group in found if group.rows]


def _rows_of(page: PageKeys, keys: KeysInUse) -> Iterable[KeyRow]:
    for row in page.rows:
        yield _row(page.full_name(row.name), tr(row.text), page.keys_of(row.name), keys)


def _row(name: str, title: str, own: Keys, keys: KeysInUse) -> KeyRow:
    return KeyRow(name, title, own, keys.is_changed(name))


def _fits(row: KeyRow, group: KeyGroup, text: str) -> bool:
    wanted, words = text.strip().casefold(), f"{group.title} {row.title}".casefold()
    is_its_key = wanted in (key.casefold() for key in (*map(shown_key, row.keys), *row.keys))
    return is_its_key or all(word in words for word in wanted.split())


@dataclass(frozen=True)
class KeyPreset:
    """A set of keys."""

    title: str  # marked for translation unless it is a proper name
    chosen: Mapping[str, Keys]  # differences to the declared keys


PROTOLEAF = "protoleaf"
PRESETS: Mapping[str, KeyPreset] = {
    PROTOLEAF: KeyPreset("Protoleaf", {}),
    "prodigy": KeyPreset(
        "Prodigy",
        {
            "accept": ("A", "Return", "Enter"),
            "reject": ("X",),
            "skip": ("Space",),
            "undo": ("Backspace", "Ctrl+Z"),
            "open_image": ("O",),
        },
    ),
}
OWN = marked("Your own keys")


def with_keypad(key: str) -> Keys:
    """A recorded key, with keypad Enter for Return."""
    return (key, key.removesuffix("Return") + "Enter") if key.endswith("Return") else (key,)


def preset_in_use(keys: KeysInUse) -> str:
    """Name of the active preset; "" if a key was changed."""
    return next(
        (name for name, preset in PRESETS.items() if keys.chosen == _changes(preset, keys)), ""
    )


def use_preset(name: str, keys: KeysInUse) -> None:
    keys.replace(_changes(PRESETS[name], keys))


def _changes(preset: KeyPreset, keys: KeysInUse) -> dict[str, Keys]:
    """Differences of a preset to the declared keys, for existing actions."""
    return {
        name: own
        for name, own in preset.chosen.items()
        if keys.has(name) and own != keys.declared(name)
    }


def conflict_text(titles: Sequence[str], key: str) -> str:
    names = enumeration(tr("“{1}”", title) for title in titles)
    return tr("{1} is the key of {2}.", shown_key(key), names)
