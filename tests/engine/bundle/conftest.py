"""A project with class rules and its exported model, built once for read-only use."""

import shutil
from pathlib import Path

import pytest

from engine.bundle.export import ExportedModel, export_model
from engine.config import BACKBONE_VARIABLE, CacheFolders
from engine.project import ClassPolicy, Project
from tests.support.collections import Collection

RENAMED = {"Green disc": "=Green disc", "Green stripes": "unknown"}
"""Names that spreadsheet programs would run as formulas."""


@pytest.fixture(scope="session")
def ruled(embedded_once: Collection, tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Red leaves are not predicted, blue thresholds are unreachable, green names are odd."""
    folder = tmp_path_factory.mktemp("ruled")
    shutil.copytree(embedded_once.caches.root, folder / "cache")
    shutil.copytree(embedded_once.folder, folder / "collection")
    collection = Collection(folder / "collection", CacheFolders(folder / "cache"))
    with Project.open(collection.project, is_backed_up=False) as project:
        project.policies.set(project.classes.graph.find("Red"), ClassPolicy(is_deepest=True))
        project.policies.set(project.classes.graph.find("Blue"), ClassPolicy(bar=1.0))
        for name, odd in RENAMED.items():
            project.classes.rename(project.classes.graph.find(name), odd)
    return collection


@pytest.fixture(scope="session")
def exported(ruled: Collection, tmp_path_factory: pytest.TempPathFactory) -> ExportedModel:
    """The exported model of the project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(BACKBONE_VARIABLE, "fast")
        with Project.open(ruled.project, for_writing=False) as project:
            return export_model(
                project, ruled.caches, tmp_path_factory.mktemp("exported") / "model"
            )


@pytest.fixture
def bundle(exported: ExportedModel, tmp_path: Path) -> Path:
    """A copy of the exported folder, to be damaged."""
    return Path(shutil.copytree(exported.folder, tmp_path / "bundle"))
