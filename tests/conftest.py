"""Shared fixtures of engine and window tests: one small collection, embedded once."""

import engine  # noqa: F401, I001 (must precede ONNX Runtime, to disable telemetry)

import gc
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.application import collect_due
from engine.graph.shown_language import AS_IN_PROJECT, show_names_in
from engine.config import (
    BACKBONE_VARIABLE,
    BACKUPS_VARIABLE,
    LOGS_VARIABLE,
    PERSON_VARIABLE,
    CacheFolders,
)
from tests.support.collections import Collection, embed_collection, write_collection
from tests.support.projects import OPENED
from tests.support.scheduling import SharedWorkScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

TESTS = Path(__file__).parent
OTHER_TIERS = (TESTS / "research", TESTS / "trust")
SLOW_MODULE = "\npytestmark = pytest.mark.slow\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test` runs the product's tests; by default all run, in the order of the files."""
    parser.addoption(
        "--product", action="store_true", help="leave out research, trust and slow tests"
    )
    parser.addoption("--shuffle", type=int, help="run in the random order of this number")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the tests if requested, and skip slow ones in `make test`."""
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)
    if not config.getoption("--product"):
        return
    left_out = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: "Producer"
) -> SharedWorkScheduling | None:
    """Distribute tests by what they share, unless another distribution is requested."""
    return SharedWorkScheduling(config, log) if config.getvalue("dist") == "load" else None


def pytest_collection_finish() -> None:
    """Leave what was imported out of later garbage collections."""
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import tests outside the product's tier: some import torchvision or timm."""
    if not config.getoption("--product"):
        return None
    is_slow = collection_path.suffix == ".py" and SLOW_MODULE in collection_path.read_text("utf-8")
    return True if is_slow or collection_path in OTHER_TIERS else None


@pytest.fixture(scope="session")
def embedded_once(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """The collection that tests copy; read-only."""
    folder = tmp_path_factory.mktemp("collection")
    collection = write_collection(folder / "collection", CacheFolders(folder / "cache"))
    embed_collection(collection)
    return collection


@pytest.fixture(scope="session")
def pseudo_translations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled pseudo-language, in a folder of this process, since tests run in parallel."""
    script = Path(__file__).parents[1] / "packaging" / "translations.py"
    folder = tmp_path_factory.mktemp("translations")
    subprocess.run([sys.executable, str(script), "--pseudo-only", str(folder)], check=True)
    return folder / "protoleaf_pseudo.qm"


@pytest.fixture(scope="session")
def compiled_languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all languages of the window, compiled."""
    folder = tmp_path_factory.mktemp("languages")
    for source in sorted((Path(__file__).parents[1] / "translations").glob("*.ts")):
        target = folder / f"{source.stem}.qm"
        command = [
            str(Path(sys.executable).parent / "pyside6-lrelease"),
            "-silent",
            str(source),
            "-qm",
            str(target),
        ]
        subprocess.run(command, check=True)
    return folder


@pytest.fixture(autouse=True)
def collected_here() -> Iterator[None]:
    """Collect garbage between tests, on the main thread, since it may contain Qt objects."""
    gc.disable()
    yield
    collect_due()


@pytest.fixture(autouse=True)
def names_of_the_project() -> Iterator[None]:
    """Reset the displayed class names after each test."""
    yield
    show_names_in(AS_IN_PROJECT)


@pytest.fixture(autouse=True)
def closed_projects(collected_here: None) -> Iterator[None]:
    """Close SQLite's connections explicitly: Python 3.13 warns if the garbage collector does."""
    earlier = set(OPENED)
    yield
    for project in set(OPENED) - earlier:
        project.close()


@pytest.fixture(autouse=True)
def own_backups_and_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redirect backups and logs to the test's temporary folder.

    New projects use the fast backbone unless a test says otherwise.
    """
    monkeypatch.setattr(
        "engine.sqlite_cache.BUSY_TIMEOUT_S", 60.0
    )  # stalling disks are not tested here
    monkeypatch.setenv(PERSON_VARIABLE, "")  # restored after each test
    monkeypatch.setenv(BACKBONE_VARIABLE, "fast")  # fast, whatever the program's default
    for variable, name in ((BACKUPS_VARIABLE, "backups"), (LOGS_VARIABLE, "logs")):
        monkeypatch.setenv(variable, str(tmp_path.with_name(f"{tmp_path.name}-{name}")))


@pytest.fixture
def collection(embedded_once: Collection, tmp_path: Path) -> Collection:
    """A project of 24 shots and 40 unsorted pictures with embeddings; a copy to modify."""
    shutil.copytree(embedded_once.caches.root, tmp_path / "cache")
    shutil.copytree(embedded_once.folder, tmp_path / "collection")
    return Collection(tmp_path / "collection", CacheFolders(tmp_path / "cache"))
