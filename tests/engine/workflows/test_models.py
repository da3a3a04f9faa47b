"""Which backbone a project uses, and what is said when its files are not what they should be."""

import shutil
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.model_card import card_path
from engine.project import Project
from engine.workflows.models import bundled_backbones, find_model, model_of
from engine.workflows.new_project import new_project


@pytest.fixture
def own_backbone(tmp_path: Path) -> Path:
    """A copy of the bundled backbone with its card and propagation file, under another name."""
    bundled, copy = find_model(), tmp_path / "my own.onnx"
    shutil.copy(bundled.backbone, copy)
    shutil.copy(card_path(bundled.backbone), card_path(copy))
    shutil.copy(bundled.propagation, copy.with_suffix(".propagation.onnx"))
    return copy


def test_the_bundled_backbone() -> None:
    """It is found by name, is whole, and the list does not show its propagation file."""
    assert "leafnet" in bundled_backbones()
    assert not [name for name in bundled_backbones() if "propagation" in name]
    model = find_model()
    assert model.is_bundled
    assert model.card.embedding_width > 0
    assert model.propagation.is_file()


def test_a_project_with_a_backbone_of_ones_own(own_backbone: Path, tmp_path: Path) -> None:
    """The project remembers the path, and opens with it again."""
    path = tmp_path / "a.protoleaf"
    new_project(path, str(own_backbone)).close()
    with Project.open(path, for_writing=False) as project:
        assert project.model.backbone_path == str(own_backbone)
        assert project.model.backbone_name == "my own"
        assert model_of(project.model).backbone == own_backbone


def test_a_backbone_that_changed_or_is_gone(own_backbone: Path, tmp_path: Path) -> None:
    """Other embeddings would be mixed with the old ones, so a changed file is refused, as is a missing one."""
    with new_project(tmp_path / "a.protoleaf", str(own_backbone)) as project:
        with own_backbone.open("ab") as file:
            file.write(b"\x00")
        with pytest.raises(ModelError, match="has changed since the project was made"):
            model_of(project.model)
        own_backbone.unlink()
        with pytest.raises(ModelError, match="no such backbone"):
            model_of(project.model)


@pytest.mark.parametrize(("missing", "said"), [(".card.json", "no card"), (".propagation.onnx", "no propagation file")])
def test_a_backbone_with_half_its_files(own_backbone: Path, missing: str, said: str, tmp_path: Path) -> None:
    """What is missing beside the file is named, and no project is made."""
    own_backbone.with_suffix(missing).unlink()
    with pytest.raises(ModelError, match=said):
        new_project(tmp_path / "a.protoleaf", str(own_backbone))
    assert not (tmp_path / "a.protoleaf").exists()
