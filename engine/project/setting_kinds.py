"""Kinds of the values of settings, which are checked when they are read."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.image_fields import are_fields
from engine.project.clock_corrections import are_corrections


@dataclass(frozen=True)
class SettingKind:
    """A kind of value of settings, by the beginning of their names."""

    prefix: str  # the name, or its beginning where it ends in a blank
    title: str  # for display
    fits: Callable[[Any], bool]
    # whether the default replaces a value of another kind, as it is not important
    has_fallback: bool = False


def kind_of(name: str) -> SettingKind | None:
    """The kind of a setting; None of one that this version does not know."""
    return next(
        (kind for kind in KINDS if name == kind.prefix or _is_numbered(name, kind.prefix)), None
    )


def _is_numbered(name: str, prefix: str) -> bool:
    return prefix.endswith(" ") and name.startswith(prefix)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and math.isfinite(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _is_map_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(fits, value.values()))


def _is_count(value: Any) -> bool:
    return _is_whole(value) and value >= 0


def _is_settled_label(value: Any) -> bool:
    """A class or none, and whether it was an update."""
    match value:
        case [class_id, is_update]:
            return (class_id is None or _is_whole(class_id)) and _is_flag(is_update)
    return False


KINDS: Sequence[SettingKind] = (
    SettingKind("setting", "a text", _is_text, has_fallback=True),
    SettingKind("collection", "true or false", _is_flag, has_fallback=True),
    SettingKind("class_list_locked", "true or false", _is_flag, has_fallback=True),
    SettingKind("broadest_level", "a whole number", _is_whole, has_fallback=True),
    SettingKind("burst_seconds", "a number", _is_number, has_fallback=True),
    SettingKind("dismissed_graph_suggestions", "a list", _is_list, has_fallback=True),
    SettingKind("hidden_categories", "a list of texts", _is_list_of(_is_text)),
    SettingKind("saved_searches", "texts by name", _is_map_of(_is_text)),
    SettingKind("fields", "a list of fields", are_fields),
    SettingKind("clock_corrections", "a list of corrections of clocks", are_corrections),
    SettingKind("imported taxonomies", "a list of whole numbers", _is_list_of(_is_count)),
    SettingKind("imported taxonomy ", "a text", _is_text),
    SettingKind(
        "settled conflict ", "a class and true or false, by label", _is_map_of(_is_settled_label)
    ),
    SettingKind("settled comment ", "a list of texts", _is_list_of(_is_text)),
    SettingKind("merged classes ", "whole numbers by text", _is_map_of(_is_whole)),
)
