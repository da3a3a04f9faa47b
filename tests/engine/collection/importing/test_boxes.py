"""Boxes of detectors and people are imported, exported with labels, and imported again."""

import json
from pathlib import Path

import pytest

from engine.collection.hidden_images import PRIVATE, hidden_images, hide_categories
from engine.collection.importing.import_images import import_images
from engine.collection.importing.import_labels import import_labels, plan_labels
from engine.exporting.export import ExportChoice, Which, export_images
from engine.file_parts import MOST_BOXES, file_part
from engine.graph.codes import EMPTY, NONE_OF_THEM, NOTHING_THERE, UNKNOWN
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import format_named
from engine.project import Project
from tests.support.images import write_jpeg
from tests.support.projects import new_project

DETECTIONS = {
    "detection_categories": {"1": "animal", "2": "person", "3": "vehicle"},
    "info": {"detector": "md_v5a.0.0.pt", "format_version": "1.3"},
    "images": [
        {
            "file": "photos/0.jpg",
            "detections": [
                {"category": "1", "conf": 0.93, "bbox": [0.1, 0.2, 0.3, 0.4]},
                {"category": "1", "conf": 0.41, "bbox": [0.6, 0.2, 0.2, 0.2]},
                {"category": "2", "conf": 0.12, "bbox": [0.0, 0.0, 0.1, 0.9]},
            ],
        },
        {
            "file": "photos/1.jpg",
            "detections": [{"category": "1", "conf": 0.75, "bbox": [0.25, 0.25, 0.5, 0.5]}],
        },
        {"file": "photos/2.jpg", "detections": []},
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three photos without labels, and what a detector found in them."""
    (tmp_path / "photos").mkdir()
    for number in range(3):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", width=320, height=180, seed=number)
    (tmp_path / "md.json").write_text(json.dumps(DETECTIONS))
    project = new_project(tmp_path, "trap.protoleaf")
    import_images(project, [tmp_path / "photos"])
    return project


def parts(project: Project) -> list[tuple[str, str]]:
    table = project.images.table()
    return sorted(
        (Path(path).name, part) for path, part in zip(table.paths, table.parts, strict=True) if part
    )


def test_boxes_above_the_threshold_become_images_without_labels(
    project: Project, tmp_path: Path
) -> None:
    plan = plan_labels(project, tmp_path / "md.json")
    assert (plan.boxes(0.0), plan.boxes(0.2), plan.boxes(0.5), plan.has_scores) == (4, 3, 2, True)
    done = import_labels(project, tmp_path / "md.json", threshold=0.2)
    assert (done.boxes_added, done.labelled) == (3, 0)
    found = [(each.category, each.score) for each in project.images.detections().values()]
    assert found == [("animal", 0.93), ("animal", 0.41), ("animal", 0.75)]
    again = import_labels(project, tmp_path / "md.json", threshold=0.2)
    assert again.boxes_added == 0
    project.history.undo()
    assert parts(project) == []


@pytest.mark.slow
def test_more_boxes_than_anybody_can_review_are_a_line(project: Project, tmp_path: Path) -> None:
    many = [
        {"category": "1", "conf": 0.9, "bbox": [x / 2000, 0.1, 0.2, 0.2]}
        for x in range(MOST_BOXES + 5)
    ]
    images = [{"file": "photos/0.jpg", "detections": many}]
    (tmp_path / "md.json").write_text(json.dumps(DETECTIONS | {"images": images}))
    done = import_labels(project, tmp_path / "md.json")
    assert 0 < done.boxes_added <= MOST_BOXES
    assert any(str(MOST_BOXES) in str(line).replace(",", "") for line in done.plan.problems)


FORMATS = ["csv", "jsonl", "parquet", "coco", "cvat", "camtrap-dp", "label-studio", "fiftyone"]


@pytest.mark.parametrize("name", FORMATS)
def test_labels_of_boxes_leave_and_come_back(name: str, project: Project, tmp_path: Path) -> None:
    import_labels(project, tmp_path / "md.json", threshold=0.2)
    fox, badger = (project.classes.add(each)[1] for each in ("Fox", "Badger"))
    ids = {
        part: image_id
        for image_id, part in project.images.parts_of(tmp_path / "photos" / "0.jpg").items()
        if part
    }
    first, second = sorted(ids)
    project.labels.set([ids[first]], fox)
    project.labels.set([ids[second]], badger)
    empty = project.images.find(tmp_path / "photos" / "2.jpg")
    assert empty is not None
    project.labels.set([empty], EMPTY)
    out = tmp_path / f"out-{name}{format_named(name).suffix}"
    written = export_images(project, {}, ExportChoice(name, out, Which.VERIFIED))
    assert written.failures == ()
    other = new_project(tmp_path, "other.protoleaf")
    import_images(other, [tmp_path / "photos"])
    for each in ("Fox", "Badger"):
        other.classes.add(each)
    done = import_labels(other, out)
    boxes = {
        other.images.record(image_id).part: other.classes.graph.name(label.class_id or 0)
        for image_id, label in other.labels.by_image().items()
        if label.class_id is not None
    }
    assert len(boxes) == 2, (done.plan.problems, boxes)
    for part, class_name in ((first, "Fox"), (second, "Badger")):
        found = next(each for each, name_there in boxes.items() if name_there == class_name)
        there, here = file_part(found).box, file_part(part).box
        assert there is not None
        assert here is not None
        assert there.in_pixels((320, 180)) == pytest.approx(here.in_pixels((320, 180)), abs=0.1)
    assert other.check() == []


def test_crops_are_written_as_files_of_their_classes(project: Project, tmp_path: Path) -> None:
    import_labels(project, tmp_path / "md.json", threshold=0.5)
    fox = project.classes.add("Fox")[1]
    boxes = [
        each
        for each, part in zip(project.images.table().ids, project.images.table().parts, strict=True)
        if part
    ]
    project.labels.set(boxes, fox)
    out = tmp_path / "crops"
    choice = ExportChoice("folders", out, Which.VERIFIED, folder=FolderOptions(has_crops=True))
    assert export_images(project, {}, choice).failures == ()
    assert len(list((out / "Fox").glob("*.jpg"))) == 2


def test_pictures_with_people_are_hidden_from_views_and_exports(
    project: Project, tmp_path: Path
) -> None:
    import_labels(project, tmp_path / "md.json", threshold=0.0)
    hide_categories(project, PRIVATE)
    hidden = hidden_images(project)
    assert {Path(project.images.record(each).path).name for each in hidden} == {"0.jpg"}
    assert len(hidden) == 4
    out = tmp_path / "out.csv"
    export_images(project, {}, ExportChoice("csv", out, Which.ALL))
    assert "photos/0.jpg" not in out.read_text()
    assert "photos/1.jpg" in out.read_text()
    project.history.undo()
    assert hidden_images(project) == frozenset()


def test_empty_is_not_none_of_the_classes(project: Project, tmp_path: Path) -> None:
    """A different label is a conflict, an equal one is not: empty is not "none of the classes"."""
    ids = list(project.images.table().ids)
    project.labels.set(ids[:1], UNKNOWN)
    project.labels.set(ids[1:2], EMPTY)
    rows = "".join(f"photos/{number}.jpg,Blank\n" for number in range(3))
    (tmp_path / "labels.csv").write_text("image,class\n" + rows)
    plan = plan_labels(project, tmp_path / "labels.csv")
    assert [(each.image, each.ours, each.theirs) for each in plan.conflicts] == [
        ("photos/0.jpg", NONE_OF_THEM, NOTHING_THERE)
    ]
    assert (plan.already_there, [label.code for label in plan.labels]) == (1, [EMPTY])
    project.classes.add("Blank")
    assert len(plan_labels(project, tmp_path / "labels.csv").conflicts) == 2


@pytest.mark.parametrize("name", FORMATS)
def test_a_box_of_one_of_two_namesakes_keeps_its_class(
    project: Project, tmp_path: Path, name: str
) -> None:
    """Of two classes with the same name the path decides."""
    _, above = project.classes.add("Gull")
    _, gull = project.classes.add("Gull", [above])
    project.images.add_parts(1, ["xywh=percent:25,25,50,50"], [gull])
    out = tmp_path / f"out{format_named(name).suffix}"
    export_images(project, {}, ExportChoice(name, out, Which.VERIFIED))
    other = new_project(tmp_path, "other.protoleaf")
    import_images(other, [tmp_path / "photos"])
    import_labels(other, out, adds_classes=True)
    (label,) = other.labels.by_image().values()
    assert label.class_id is not None
    assert other.classes.graph.path_text(label.class_id) == "Gull/Gull"
    assert other.images.record(label.image_id).part == "xywh=percent:25,25,50,50"
