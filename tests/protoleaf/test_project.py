"""Tables of a project, and embeddings from its cache."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from engine.collection.classify import classify_project, predictions
from engine.errors import ImageError, InputError, ModelError, ProjectMissingError
from engine.project import Project as ProjectFile
from protoleaf import Project, PrototypePropagationClassifier, embed
from tests.support.collections import LEAVES, PER_CLASS, SHOTS, Collection, write_shape


def opened(collection: Collection) -> Project:
    return Project.open(collection.project, cache=collection.caches.root)


def test_tables_hold_what_the_project_does(collection: Collection) -> None:
    with opened(collection) as project:
        classes, images, labels = (
            project.classes().to_pandas(),
            project.images().to_pandas(),
            project.labels().to_pandas(),
        )
    assert set(classes["name"]) >= set(LEAVES)
    leaf = classes.set_index("name").loc[LEAVES[0]]
    assert (leaf["path"], list(leaf["parents"]), leaf["level"]) == (f"Red/{LEAVES[0]}", ["Red"], 1)
    assert leaf["labelled_images"] == SHOTS
    assert len(images) == len(LEAVES) * PER_CLASS
    assert all(Path(path).is_file() for path in images["image"])
    assert images["failure"].isna().all()
    assert len(labels) == len(LEAVES) * SHOTS
    assert set(labels["class"]) == set(LEAVES)
    assert labels["labelled_at"].dt.tz is not None


def test_labels_of_no_class_have_no_path(collection: Collection) -> None:
    with ProjectFile.open(collection.project) as file:
        first = int(file.images.table().ids[0])
        file.labels.set([first], None)
    with opened(collection) as project:
        label = project.labels().to_pandas().set_index("image_id").loc[first]
    assert label["class"] == "unknown"
    assert pd.isna(label["path"])


@pytest.mark.slow
def test_predictions_are_those_of_the_program(collection: Collection) -> None:
    with ProjectFile.open(collection.project, for_writing=False) as file:
        expected = dict(predictions(classify_project(file, collection.caches)))
        name = file.classes.graph.name
        leaves = {image_id: name(one.class_id) for image_id, one in expected.items()}
    with opened(collection) as project:
        found = project.predictions().to_pandas()
    free = found[~found["is_labelled"]].set_index("image_id")
    assert free["leaf"].to_dict() == leaves
    assert free["leaf_score"].to_dict() == pytest.approx(
        {each: one.score for each, one in expected.items()}
    )
    assert free["safe_class"].isna().to_dict() == {
        each: one.safe_class_id is None for each, one in expected.items()
    }


@pytest.mark.slow
def test_the_estimator_learns_from_a_project(collection: Collection) -> None:
    """The guide's example: embeddings, labels and graph of a project, and predictions."""
    with opened(collection) as project:
        image_ids, X = project.embeddings()
        labels = project.labels().to_pandas().set_index("image_id")["path"]
        y = labels.reindex(image_ids)
        model = PrototypePropagationClassifier(project.graph).fit(X, y)
        shown = (
            project.predictions().to_pandas().set_index("image_id")["leaf_path"].reindex(image_ids)
        )
    assert np.allclose(np.linalg.norm(X, axis=1), 1, atol=1e-3)
    assert accuracy_score(shown, model.predict(X)) > 0.9


def test_what_cannot_be_opened_says_why(tmp_path: Path, collection: Collection) -> None:
    with pytest.raises(ProjectMissingError):
        Project.open(tmp_path / "missing.protoleaf")
    with ProjectFile.open(collection.project) as file:
        file.labels.remove(file.labels.by_image())
    with opened(collection) as project, pytest.raises(InputError, match="no class has an example"):
        project.predictions()


@pytest.mark.slow
def test_embeddings_are_in_the_order_of_the_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{leaf}.png" for leaf in LEAVES]
    for file in files:
        write_shape(file, file.stem, seed=1)
    found = embed([*files, str(files[0])], "fast")
    assert found.shape == (len(LEAVES) + 1, 384)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-3)
    assert (found[0] == found[-1]).all()
    assert np.allclose(embed(files[::-1], "fast"), found[len(LEAVES) - 1 :: -1])
    assert (embed(files[:2], "fast", all_views=True) @ found[:2].T).argmax(axis=1).tolist() == [
        0,
        1,
    ]


@pytest.mark.slow
def test_images_that_cannot_be_read(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    write_shape(good, LEAVES[0], seed=1)
    bad.write_bytes(b"no image")
    files = [good, bad, tmp_path / "missing.png"]
    with pytest.raises(ImageError, match=r"2 of 3 images cannot be embedded.*bad\.png"):
        embed(files, "fast")
    found = embed(files, "fast", on_error="nan")
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True]
    with pytest.raises(ModelError, match="there is no such backbone"):
        embed(files, "nothing")


def test_no_images_have_no_embeddings() -> None:
    assert embed([], "fast").shape == (0, 384)
