"""The instruments run briefly here, and long in `make trust`."""

import sys
from pathlib import Path

import pytest

from engine.config import BACKBONES_VARIABLE, CACHE_VARIABLE
from tests.trust.stages import Stage, build_stage

HERE = Path(__file__).parent
INSTRUMENTS = frozenset(
    {
        "test_cluster_breaker",
        "test_copier",
        "test_damaged_twins",
        "test_data_set_guests",
        "test_disk_filler",
        "test_export_targets",
        "test_image_mutator",
        "test_cache_breaker",
        "test_killer",
        "test_label_twins",
        "test_odd_texts",
        "test_project_mutator",
        "test_reader_breaker",
        "test_renamer",
    }
)
"""They need /proc, named pipes and POSIX signals."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.trust)
            if sys.platform != "linux" and item.path.stem in INSTRUMENTS:
                item.add_marker(pytest.mark.skip(reason="the instruments are written for Linux"))


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches and added backbones are in the test's temporary folder."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(BACKBONES_VARIABLE, str(tmp_path / "backbones"))


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The common input of trials."""
    return build_stage(tmp_path_factory.mktemp("trust") / "stage")
