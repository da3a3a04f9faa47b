"""What the side panels read from a worker's events, without Qt."""


def measured(value: object) -> float | None:
    """A figure of an event; None where nothing was measured."""
    return float(value) if isinstance(value, int | float) else None
