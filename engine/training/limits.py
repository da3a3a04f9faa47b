"""Limits of settings, checked where settings are made."""

from engine.errors import UsageError


def at_least(settings: object, **limits: int) -> None:
    """Refuse values below their limits; None is passed over.

    Raises:
        UsageError: a value is too small.
    """
    for name, least in limits.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise UsageError(
                "the setting {name} is too small", expected="at least {least}", found=str(value), name=name, least=least
            )


def between(settings: object, **ranges: tuple[float, float]) -> None:
    """Refuse values outside their ranges; None is passed over.

    Raises:
        UsageError: a value is outside.
    """
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if value is not None and not low <= value <= high:
            raise UsageError(
                "the setting {name} is out of range",
                expected="{low:g} to {high:g}",
                found=str(value),
                name=name,
                low=low,
                high=high,
            )
