"""Keeps Pillow's warnings about odd files off the person's screen: a file is read or it fails, nothing between."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_inside = 0
_outer_filters: warnings.catch_warnings | None = None


@contextmanager
def pillow_is_quiet() -> Iterator[None]:
    """Ignore warnings raised from Pillow inside the block.

    `warnings.catch_warnings` alone is not safe with threads: two overlapping blocks can put back each other's
    filters. So the first thread in saves them, the last one out puts them back.
    """
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
