"""The hostile tests run short here; `make trust` runs the same instruments long."""

import sys
from pathlib import Path

import pytest

from tests.trust.stages import Stage, build_stage

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder; it needs signals, /proc and named pipes."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.trust)
            if sys.platform != "linux":
                item.add_marker(pytest.mark.skip(reason="the instruments are written for Linux"))


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """What every trial starts from, built once."""
    return build_stage(tmp_path_factory.mktemp("trust") / "stage")
