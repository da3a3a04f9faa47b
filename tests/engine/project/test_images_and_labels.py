"""Images, labels and predictions do not affect each other."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InputError, UnknownClassError
from engine.project import ImageRecord, Label, Prediction, Project
from engine.project.clock import ANONYMOUS
from tests.support.projects import bird_project, dump, found_files, new_project


def test_known_images_are_passed_over(tmp_path: Path) -> None:
    """Only new images are added, duplicates within a call or between calls."""
    files = found_files(tmp_path, 5)
    with new_project(tmp_path) as project:
        first = project.images.add([*files[:3], *files[:2]])
        assert (first.text, len(first.images_added)) == ("Added 3 images", 3)
        assert project.images.add(files).text == "Added 2 images"
        assert project.images.count == 5
        assert project.images.add(files).is_empty


def test_paths_are_read_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each image comes once, in order, while the project records scans and removes an image."""
    monkeypatch.setattr("engine.project.images._PATHS_AT_ONCE", 3)
    with new_project(tmp_path) as project:
        assert list(project.images.each_path()) == []
        project.images.add(found_files(tmp_path, 10))
        table = project.images.table()
        each = project.images.each_content()
        seen = [next(each)]
        project.images.remove([8])
        for content in each:
            project.images.record_scan(
                [(content.image_id, bytes([content.image_id]), "not an image")]
            )
            seen.append(content)
        left = [
            (number, path)
            for number, path in zip(table.ids, table.paths, strict=True)
            if number != 8
        ]
        assert seen == [(number, path, "", None) for number, path in left]
        assert list(project.images.each_path()) == left
        assert list(project.images.each_content())[1:] == [
            (number, path, "", bytes([number])) for number, path in left[1:]
        ]


def test_images_are_read_back(tmp_path: Path) -> None:
    """Records and columns agree with the files and the recorded scans."""
    files = found_files(tmp_path, 2)
    with new_project(tmp_path) as project:
        project.images.add(files)
        project.images.record_scan([(1, b"\xab\xcd", None), (2, None, "not an image")])
        assert project.images.records() == [
            ImageRecord(1, "season 0/IMG_000000.jpg", 100, 0, "abcd", None),
            ImageRecord(2, "season 0/IMG_000001.jpg", 101, 1, None, "not an image"),
        ]
        table = project.images.table()
        assert (list(table.ids), list(table.sizes_bytes), list(table.modified_ns)) == (
            [1, 2],
            [100, 101],
            [0, 1],
        )
        assert (list(table.content_hashes), list(table.failures)) == (
            [b"\xab\xcd", None],
            [None, "not an image"],
        )
        assert project.images.record(2) == project.images.records()[1]
        assert project.images.find(files[1].path) == 2
        assert project.images.find(tmp_path / "else.jpg") is None
        project.images.record_scan([(2, "0f", None)])  # hexadecimal, as reported by a worker
        assert project.images.record(2).content_hash == "0f"
        assert project.images.record(2).failure is None


def test_an_empty_project_answers(tmp_path: Path) -> None:
    """All queries work without images and classes."""
    with new_project(tmp_path) as project:
        assert list(project.images.table().ids) == []
        assert list(project.labels.table().image_ids) == []
        assert (
            project.images.records(),
            project.labels.by_image(),
            project.models.predictions("ppn+"),
        ) == ([], {}, [])
        assert (project.images.count, project.labels.counts(), project.policies.by_class()) == (
            0,
            {},
            {},
        )
        with pytest.raises(InputError, match="no such image"):
            project.images.record(1)


def test_labels_say_who_when_and_how(tmp_path: Path) -> None:
    """A label has class, author, time and source; None is "none of the classes"."""
    project, gull, images = bird_project(tmp_path)
    change = project.labels.set(images[:2], gull, who="ada")
    assert (change.text, change.labelled) == ("Labelled 2 images as Gull", tuple(images[:2]))
    assert project.labels.set(images[2:3], None).text == "Labelled 1 image as none of the classes"
    label = project.labels.of(images[0])
    assert isinstance(label, Label)
    assert (label.class_id, label.who, label.source) == (gull, "ada", "review")
    assert datetime.now(UTC) - label.when < timedelta(minutes=10)
    unknown = project.labels.by_image()[images[2]]
    assert unknown.class_id is None
    assert unknown.who != ""
    assert project.labels.counts() == {gull: 2}
    assert list(project.labels.table().class_ids) == [gull, gull, None]
    project.close()


def test_groups_are_labelled_in_one_action(tmp_path: Path) -> None:
    """All or none, also where a later class is missing; of one class as by `set`."""
    project, gull, images = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    change = project.labels.set_groups({gull: images[:2], bird: images[2:3]}, source="bulk")
    assert change.text == "Accepted 3 images in 2 classes"
    assert project.labels.counts() == {gull: 2, bird: 1}
    assert {label.source for label in project.labels.by_image().values()} == {"bulk"}
    project.history.undo()
    with pytest.raises(UnknownClassError):
        project.labels.set_groups({gull: images[:1], 999: images[1:2]})
    assert project.labels.counts() == {}
    assert project.labels.set_groups({gull: images[:2]}).text == "Labelled 2 images as Gull"
    project.close()


def test_relabelling_replaces_and_unlabelling_removes(tmp_path: Path) -> None:
    """An image has at most one label; removing counts images with a label."""
    project, gull, images = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    project.labels.set(images[:2], gull)
    assert (
        project.labels.set(images[:3], bird).text
        == "Labelled 3 images as Bird (2 had another label)"
    )
    assert project.labels.set(images[:3], None).text.endswith("(3 had another label)")
    assert project.labels.set(images[:3], None).text == "Labelled 3 images as none of the classes"
    project.history.undo()
    project.history.undo()
    project.labels.set(images[:1], bird)
    assert project.labels.counts() == {gull: 1, bird: 1}
    change = project.labels.remove(images)
    assert (change.text, set(change.labelled)) == ("Removed 2 labels", set(images[:2]))
    project.history.undo()
    project.history.undo()
    assert project.labels.counts() == {gull: 2}
    project.close()


def test_labels_from_before_the_name_was_known_are_signed(tmp_path: Path) -> None:
    """They keep class, time and source; imported ones and those of others are unchanged."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:1], gull, who=ANONYMOUS)
    project.labels.set(images[1:2], gull, who="grace")
    when = datetime(2026, 5, 1, tzinfo=UTC)
    project.labels.add_missing([Label(images[2], gull, ANONYMOUS, when, "import")])
    before = project.labels.of(images[0])
    assert before is not None
    assert project.labels.unnamed() == 1
    assert project.labels.sign_unnamed("ada").text == "Signed 1 label as ada"
    assert project.labels.of(images[0]) == replace(before, who="ada")
    assert [each.who for each in project.labels.by_image().values()] == ["ada", "grace", ANONYMOUS]
    project.history.undo()
    assert project.labels.of(images[0]) == before
    project.close()


def test_numbers_of_numpy_are_taken(tmp_path: Path) -> None:
    """Image and class ids may be numpy integers."""
    project, gull, images = bird_project(tmp_path)
    array = np.array([*images, gull], dtype=np.int64)
    scores = np.array([0.5], dtype=np.float32)
    project.labels.set(array[:2], array[-1])
    project.images.record_scan([(array[0], None, "broken")])
    project.models.store_predictions(
        [Prediction(array[0], array[-1], scores[0], None, 0.0)], version_id=1, setting="ppn+"
    )
    assert project.labels.counts() == {gull: 2}
    assert project.models.predictions("ppn+")[0].score == 0.5
    project.images.remove(array[:1])
    project.history.undo()
    assert project.labels.counts() == {gull: 2}
    project.close()


def test_labelling_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """An unknown image or class raises, and no image of the call is labelled."""
    project, gull, images = bird_project(tmp_path)
    with pytest.raises(InputError, match="no such image"):
        project.labels.set([*images, 999], gull)
    with pytest.raises(UnknownClassError):
        project.labels.set(images, 999)
    with pytest.raises(UnknownClassError):
        project.images.add_labelled(found_files(tmp_path, 1), [999])
    assert project.labels.by_image() == {}
    project.close()


def test_an_import_never_overwrites_a_label(tmp_path: Path) -> None:
    """Importing with classes is one step, which leaves existing labels."""
    project, gull, images = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    project.labels.set(images[:1], gull, who="ada")
    before = dump(project)
    known, new = found_files(tmp_path / "photos", 2), found_files(tmp_path / "more", 2)
    change = project.images.add_labelled([*known, *new], [bird, bird, bird, None], who="bo")
    assert change.text == "Added 2 images and 2 labels"
    assert len(change.images_added) == 2
    assert set(change.labelled) == {images[1], change.images_added[0]}
    first, second = project.labels.of(images[0]), project.labels.of(images[1])
    assert first is not None
    assert second is not None
    assert (first.class_id, first.who, first.source) == (gull, "ada", "review")
    assert (second.class_id, second.who, second.source) == (bird, "bo", "import")
    assert project.labels.of(change.images_added[1]) is None
    project.history.undo()
    assert dump(project) == before
    project.close()


def test_removing_images_leaves_the_files(tmp_path: Path) -> None:
    """Images are removed with their labels, files stay.

    Undo restores both.
    """
    picture = tmp_path / "a.jpg"
    picture.write_bytes(b"pixels")
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images, gull)
    before = dump(project)
    change = project.images.remove(images[:3])
    assert (change.text, change.images_removed, change.labelled) == (
        "Removed 3 images",
        tuple(images[:3]),
        (),
    )
    assert project.labels.counts() == {gull: 1}
    assert picture.read_bytes() == b"pixels"
    undone = project.history.undo()
    assert undone is not None
    assert set(undone.images_added) == set(images[:3])
    assert dump(project) == before
    project.close()


def test_predictions_never_touch_labels(tmp_path: Path) -> None:
    """Storing predictions changes no label and no history."""
    project, gull, images = bird_project(tmp_path)
    project.labels.set(images[:2], None)
    before, steps = dump(project), project.history.steps()
    rows = [Prediction(image_id, gull, 0.75, None, 0.0) for image_id in images]
    project.models.store_predictions(
        rows, version_id=project.models.current.version_id, setting="ppn+"
    )
    assert project.models.predictions("ppn+") == rows
    assert project.models.predictions("ppn") == []
    assert dump(project) == before
    assert project.history.steps() == steps
    project.close()


def test_predictions_are_replaced_as_a_whole(tmp_path: Path) -> None:
    """New predictions replace all of the same setting and version, and no others."""
    project, gull, images = bird_project(tmp_path)
    old = [Prediction(image_id, gull, 0.5, None, 0.0) for image_id in images]
    new = [Prediction(images[0], gull, 0.25, gull, 0.25)]
    project.models.store_predictions(old, version_id=1, setting="ppn+")
    project.models.store_predictions(old, version_id=1, setting="prototypes")
    project.models.store_predictions(new, version_id=1, setting="ppn+")
    assert project.models.predictions("ppn+") == new
    assert len(project.models.predictions("prototypes")) == 4
    project.close()


def test_predictions_of_what_is_gone_are_not_returned(tmp_path: Path) -> None:
    """Predictions of removed images or classes are omitted; a removed safe class is none."""
    project, gull, images = bird_project(tmp_path)
    bird = project.classes.graph.find("Bird")
    rows = [
        Prediction(images[0], gull, 0.5, bird, 0.9),
        Prediction(images[1], bird, 0.5, bird, 0.5),
    ]
    project.models.store_predictions(
        [*rows, Prediction(images[2], gull, 1.0, gull, 1.0)], version_id=1, setting="ppn+"
    )
    project.images.remove(images[2:3])
    project.classes.remove([bird])
    assert project.models.predictions("ppn+") == [Prediction(images[0], gull, 0.5, None, 0.0)]
    project.history.undo()
    assert project.models.predictions("ppn+") == rows
    project.close()


def test_choosing_a_model_can_be_undone(tmp_path: Path) -> None:
    """All model versions are stored; the choice is an action; predictions depend on it."""
    project, gull, images = bird_project(tmp_path)
    added = project.models.add(
        backbone_name="big",
        backbone_hash="11",
        propagation_hash="22",
        settings={"epochs": 3.0, "loss": "levels"},
    )
    assert project.models.current.backbone_name == "tiny"
    change = project.models.choose(added.version_id)
    assert (change.text, change.settings) == ("Switched to model big (2)", ("model_version",))
    assert project.models.current == added
    assert project.models.current.settings == {"epochs": 3.0, "loss": "levels"}
    project.models.store_predictions(
        [Prediction(images[0], gull, 1.0, gull, 1.0)], version_id=2, setting="ppn+"
    )
    project.history.undo()
    assert project.models.current.backbone_name == "tiny"
    assert project.models.predictions("ppn+") == []
    assert [version.backbone_name for version in project.models.versions()] == ["tiny", "big"]
    with pytest.raises(InputError, match="model version"):
        project.models.choose(99)
    with pytest.raises(InputError, match="chosen"):
        project.policies.set_setting("model_version", 2)
    project.close()


def test_settings_are_plain_values(tmp_path: Path) -> None:
    """Any JSON value is stored, None deletes it, undo restores it; other values are refused."""
    with new_project(tmp_path) as project:
        change = project.policies.set_setting("shares", {"a": [1, 2.5, "x", True]})
        assert change.settings == ("shares",)
        project.policies.set_setting("shares", None)
        assert project.policies.setting("shares", "none") == "none"
        project.history.undo()
        assert project.policies.setting("shares") == {"a": [1, 2.5, "x", True]}
        with pytest.raises(InputError, match="cannot be stored"):
            project.policies.set_setting("shares", object())


def test_text_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    """A name that cannot be encoded raises an error of ours without a change."""
    project, gull, images = bird_project(tmp_path)
    before = dump(project)
    with pytest.raises(InputError, match="Unicode"):
        project.labels.set(images, gull, who="a\udc00")
    assert dump(project) == before
    project.close()


def test_another_thread_may_take_over(tmp_path: Path) -> None:
    """A project may be opened, used and closed on different threads."""
    from concurrent.futures import ThreadPoolExecutor

    project, gull, images = bird_project(tmp_path)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(project.labels.set, images, gull).result()
        thread.submit(project.close).result()
    with Project.open(project.path) as reopened:
        assert reopened.labels.counts() == {gull: 4}
