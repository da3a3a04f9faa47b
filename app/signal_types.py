"""Types of signals that carry a value of one of several types: Qt itself knows no union."""

from abc import ABCMeta
from typing import get_args


def either(union: object) -> type:
    """A type for a `Signal` that carries a union, such as `either(int | None)`."""
    carried = ABCMeta("Either", (), {})
    for kind in get_args(union):
        carried.register(kind)
    return carried
