"""A trained model is added to the project completely or not at all."""

import json
import shutil
from pathlib import Path

import pytest

from engine.collection.live import LiveCollection
from engine.collection.models import find_model, model_of
from engine.collection.new_project import new_project
from engine.collection.training.trained import adopt, read_trained, training_folder, write_trained
from engine.errors import Cancelled, FormatError, InputError, ModelError, StorageError
from engine.project import Project
from tests.support.backbones import write_tiny_backbone
from tests.support.collections import Collection
from tests.support.trained import write_tuned


def test_a_folder_is_read_as_it_was_written(project: Project, tmp_path: Path) -> None:
    """Card, figures, settings and curve are read as they were written."""
    trained = write_tuned(tmp_path / "out", project)
    assert read_trained(tmp_path / "out") == trained
    assert (trained.backbone, trained.propagation.is_file()) == (None, True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"card": 1}'])
def test_a_folder_that_holds_no_model_is_refused(
    text: str, project: Project, tmp_path: Path
) -> None:
    """An invalid or missing description raises an error."""
    folder = write_tuned(tmp_path / "out", project).folder
    (folder / "trained.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="cannot be read"):
        read_trained(folder)
    with pytest.raises(FormatError, match="no trained model"):
        read_trained(tmp_path)


def test_a_folder_without_its_files_is_refused(project: Project, tmp_path: Path) -> None:
    """A missing file raises an error."""
    trained = write_tuned(tmp_path / "out", project)
    trained.propagation.unlink()
    with pytest.raises(FormatError, match="not whole"):
        read_trained(trained.folder)


@pytest.mark.slow
def test_an_adopted_model_lives_in_the_project(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """It works without the folder; it is not chosen automatically; undo removes it."""
    version_id = adopt(project, write_tuned(tmp_path / "out", project))
    shutil.rmtree(tmp_path / "out")
    version = project.models.version(version_id)
    assert (version.label, version.parent_id, version.settings["depth"]) == (
        "Tuned propagation 1",
        1,
        "propagation",
    )
    assert version.figures["after_accuracy"] == 0.75
    assert project.models.current.version_id == 1
    assert project.check() == []
    project.close()
    live = LiveCollection.open(collection.project, collection.caches)
    live.load()
    live.apply(live.project.models.choose(version_id))
    assert live.state.model_name == "Tuned propagation 1"
    assert (live.state.best_class >= 0).all()  # by embeddings of the bundled backbone
    change = live.project.history.undo()
    assert change is not None
    assert live.apply(change).model_name == find_model().name
    live.close()


def test_names_are_given_once(project: Project, tmp_path: Path) -> None:
    """A name in use gets a number."""
    trained = write_tuned(tmp_path / "out", project)
    names = [project.models.version(adopt(project, trained)).name for _ in range(3)]
    assert names == ["Tuned propagation 1", "Tuned propagation 2", "Tuned propagation 3"]


def test_a_version_can_stand_on_a_trained_one(
    project: Project, collection: Collection, tmp_path: Path
) -> None:
    """A tuned version uses the backbone stored in the project."""
    first = adopt(project, write_tuned(tmp_path / "first", project))
    project.models.choose(first)
    second = project.models.version(
        adopt(project, write_tuned(tmp_path / "second", project, seed=1))
    )
    assert second.parent_id == first
    model = model_of(project, collection.caches, second)
    assert model.backbone_hash == find_model().backbone_hash
    assert model.propagation_hash != find_model().propagation_hash


@pytest.mark.slow
def test_propagation_for_another_backbone_is_refused(tmp_path: Path) -> None:
    """If the backbone was replaced in the meantime, or belongs to another project."""
    backbone = tmp_path / "own.onnx"
    write_tiny_backbone(backbone)
    with new_project(tmp_path / "a.protoleaf", str(backbone)) as project:
        trained = write_tuned(tmp_path / "out", project)
        with pytest.raises(ModelError, match="has changed since the training"):
            adopt(project, trained)
        fields = json.loads((trained.folder / "trained.json").read_text(encoding="utf-8"))
        (trained.folder / "trained.json").write_text(
            json.dumps(fields | {"parent_id": 9}), encoding="utf-8"
        )
        with pytest.raises(InputError, match="no such model version"):
            adopt(project, read_trained(trained.folder))
        assert len(project.models.versions()) == 1


def test_a_stopped_training_leaves_nothing(tmp_path: Path) -> None:
    """The training's own folder is removed; a folder with other files is refused."""
    out = tmp_path / "deep" / "out"

    def stopped_training() -> None:
        with training_folder(out):
            (out / "half.onnx").write_bytes(b"x")
            raise Cancelled

    with pytest.raises(Cancelled):
        stopped_training()
    assert not out.exists()
    out.mkdir()
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="not empty"), training_folder(out):
        pass
    assert (out / "mine.txt").exists()


def test_a_folder_that_cannot_be_made_is_a_message(project: Project, tmp_path: Path) -> None:
    """A file in its place, or a folder removed before the description is written."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with (
        pytest.raises(StorageError, match="cannot be written"),
        training_folder(tmp_path / "file" / "out"),
    ):
        pass
    trained = write_tuned(tmp_path / "out", project)
    shutil.rmtree(trained.folder)
    with pytest.raises(StorageError, match="cannot be written"):
        write_trained(trained)
