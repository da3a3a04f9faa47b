"""GPU settings as written on a command line: "cuda_graphs=yes", "batch=64"."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from engine.errors import UsageError
from engine.runtime.devices.settings import DeviceSettings

_ALGORITHM_SEARCHES = ("HEURISTIC", "EXHAUSTIVE", "DEFAULT")
_YES = frozenset({"1", "yes", "true", "on"})
_NO = frozenset({"0", "no", "false", "off"})


def read_settings(pairs: Sequence[str]) -> DeviceSettings:
    """Parse switches such as "cuda_graphs=yes" and "batch=64".

    Raises:
        UsageError: unknown switch, or invalid value.
    """
    settings = DeviceSettings()
    for pair in pairs:
        name, _, text = pair.partition("=")
        known = {field.name: getattr(settings, field.name) for field in fields(settings)}
        if name not in known:
            raise UsageError(
                "there is no such device setting", expected=", ".join(known), found=pair
            )
        settings = replace(settings, **{name: _value(name, text, known[name])})
    return settings


def _value(name: str, text: str, example: Any) -> Any:
    if isinstance(example, bool):
        if text.lower() in _YES | _NO:
            return text.lower() in _YES
        raise UsageError("{name} is switched by yes or no", found=text or "nothing", name=name)
    if isinstance(example, int):
        if text.isdecimal():
            return int(text)
        raise UsageError("{name} is a whole number", found=text or "nothing", name=name)
    if text.upper() not in _ALGORITHM_SEARCHES:
        raise UsageError(
            "there is no such {name}",
            expected=", ".join(_ALGORITHM_SEARCHES),
            found=text or "nothing",
            name=name,
        )
    return text.upper()
