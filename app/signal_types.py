"""Types of signals that carry a value of one of several types: Qt itself knows no union."""

from abc import ABCMeta
from typing import get_args


def either(union: object) -> type:
    """A type for `Signal`, such as `either(int | None)`; a value of each of the types is an instance of it."""
    carried = ABCMeta("Either", (), {})
    for kind in get_args(union):
        carried.register(kind)
    return carried
