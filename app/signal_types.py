"""Signal types for values of several Python types; Qt has no unions."""

from abc import ABCMeta
from typing import get_args


def either(union: object) -> type:
    """Make a type for a `Signal` that carries a union, such as `either(int | None)`."""
    carried = ABCMeta("Either", (), {})
    for kind in get_args(union):
        carried.register(kind)
    return carried
