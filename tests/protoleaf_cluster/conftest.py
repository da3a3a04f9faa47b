"""Fixtures of the engine's tests, and an exported model."""

from tests.engine.bundle.conftest import bundle, exported, ruled
from tests.engine.conftest import own_caches, tinyleaf

__all__ = ["bundle", "exported", "own_caches", "ruled", "tinyleaf"]
