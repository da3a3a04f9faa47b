"""Isolated caches, as in tests of the engine."""

from tests.engine.conftest import own_caches

__all__ = ["own_caches"]
