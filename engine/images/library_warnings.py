"""Keeps libraries' warnings about odd files off the person's screen: a file is read or it fails, nothing between."""

import ctypes
import functools
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import _imaging

PILLOW_DAMAGE: Final = (
    *(OSError, SyntaxError, ValueError, ArithmeticError, EOFError, LookupError, TypeError, AttributeError),
)
"""What Pillow's readers are known to raise on damaged files, besides what they promise."""

# Without a handler of its own Python prints what Pillow logs; the program's own log, where there is one, gets it still.
logging.getLogger("PIL").addHandler(logging.NullHandler())

_lock = threading.Lock()
_inside = 0
_outer_filters: warnings.catch_warnings | None = None


@contextmanager
def pillow_is_quiet() -> Iterator[None]:
    """Ignore warnings raised from Pillow inside the block, and for good what its libtiff prints.

    `warnings.catch_warnings` alone is not safe with threads: two overlapping blocks can put back each other's
    filters. So the first thread in saves them, the last one out puts them back.
    """
    _silence_libtiff()
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _outer_filters  # noqa: PLW0603  # warning filters are process-wide, so is their count
    with _lock:
        _inside += 1
        if _inside == 1:
            _outer_filters = warnings.catch_warnings()
            _outer_filters.__enter__()
            warnings.filterwarnings("ignore", module=r"(PIL|engine\.data)(\.|$)")


def _leave() -> None:
    global _inside, _outer_filters  # noqa: PLW0603
    with _lock:
        _inside -= 1
        if _inside == 0 and _outer_filters is not None:
            _outer_filters.__exit__(None, None, None)
            _outer_filters = None


@functools.cache
def _silence_libtiff() -> None:
    """Take libtiff's handlers away: by itself it prints to standard error, from C, whatever is odd in a file.

    WORKAROUND: Pillow has no way to say so. Its own library is asked, which finds the functions of the libtiff that it
    was linked with; where it shows none (Windows) libtiff goes on printing. Can go when Pillow keeps it quiet.
    """
    try:
        library = ctypes.CDLL(_imaging.__file__)
        handlers = (library.TIFFSetWarningHandler, library.TIFFSetErrorHandler)
    except (OSError, AttributeError):
        return
    for set_handler in handlers:
        set_handler.argtypes, set_handler.restype = (ctypes.c_void_p,), ctypes.c_void_p
        set_handler(None)
