"""Caches of their own, as in the engine's tests."""

from tests.engine.conftest import own_caches

__all__ = ["own_caches"]
