"""COCO files as pycocotools reads them, and as detectors and other tools write them."""

import json
from pathlib import Path

import pytest
from pycocotools.coco import COCO

from engine.errors import FormatError
from engine.interchange.labelled_images import coco
from tests.support.labelled_images import Labelled

FLUTE = "Flute"


def written(music: Labelled, tmp_path: Path) -> Path:
    path = tmp_path / "coco.json"
    with path.open("wb") as file:
        assert coco.write(music.gathered(), file).images == 8
    return path


def test_read_by_pycocotools(
    music: Labelled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Categories with their places in the graph; every image; boxes around what is labelled."""
    read = COCO(str(written(music, tmp_path)))
    assert "loading annotations" in capsys.readouterr().out
    organ, wind, unknown = (
        read.loadCats(read.getCatIds(catNms=[name]))[0] for name in ("Organ", "Wind", "unknown")
    )
    assert organ["supercategory"] == "Keyboard"
    assert organ["parents"] == [music.ids["Keyboard"], music.ids["Wind"]]
    assert organ["paths"] == ["Keyboard/Organ", "Wind/Organ"]
    assert unknown["id"] == music.ids["unknown"]
    assert len(read.getImgIds()) == 8
    (image_id,) = read.getImgIds(catIds=[music.ids["Organ"]])
    (annotation,) = read.loadAnns(read.getAnnIds(imgIds=[image_id]))
    image = read.loadImgs([image_id])[0]
    assert image["file_name"] == "day 1/organ.png"
    assert annotation["bbox"] == [0, 0, image["width"], image["height"]] == [0, 0, 24, 16]
    assert annotation["attributes"]["labelled_by"] == "grace"
    (of_machine,) = read.loadAnns(read.getAnnIds(catIds=[wind["id"]]))
    assert (of_machine["score"], of_machine["attributes"]["decided_by"]) == (0.9, "model")
    assert len(read.getAnnIds(imgIds=[music.images["unsure.png"]])) == 0


def test_files_of_others(tmp_path: Path) -> None:
    """Boxes on one image, categories of categories, detections, and annotations of nothing."""
    path = tmp_path / "theirs.json"
    path.write_text(
        json.dumps(
            {
                "images": [
                    {"id": 7, "file_name": "a/1.jpg", "width": 4, "height": 5},
                    {"id": "8", "file_name": "a/2.jpg"},
                    {"id": 9},
                ],
                "categories": [
                    {"id": 0, "name": "Wind", "supercategory": "none"},
                    {"id": 1, "name": FLUTE, "supercategory": "Wind"},
                ],
                "annotations": [
                    {"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 1, 2, 2]},
                    {"id": 2, "image_id": 7, "category_id": 1, "bbox": [1, 1, 2, 2]},
                    {"id": 6, "image_id": 7, "category_id": 1, "bbox": [2, 3, 2, 2]},
                    {"id": 3, "image_id": "8", "category_id": 0, "score": 0.7},
                    {"id": 4, "image_id": 70, "category_id": 1},
                    {"id": 5, "image_id": [7], "category_id": 1},
                ],
            }
        )
    )
    found = coco.read(path)
    assert [(label.image, label.names, label.is_machine) for label in found.labels] == [
        ("a/1.jpg", ("Wind", FLUTE), False),
        ("a/1.jpg", ("Wind", FLUTE), False),
        ("a/2.jpg", ("Wind",), True),
    ]
    assert (found.unlabelled, len(found.problems)) == (1, 2)


def test_a_class_changed_elsewhere(music: Labelled, tmp_path: Path) -> None:
    """Whoever changed it, it was not the person whom the fields name."""
    path = written(music, tmp_path)
    whole = json.loads(path.read_bytes())
    annotation = next(
        each for each in whole["annotations"] if each["image_id"] == music.images["organ.png"]
    )
    annotation["category_id"] = music.ids[FLUTE]
    path.write_text(json.dumps(whole))
    (label,) = [each for each in coco.read(path).labels if each.image.endswith("organ.png")]
    assert (label.names, label.who, label.when) == (("Wind", FLUTE), "", None)


@pytest.mark.parametrize(
    "content", ["[]", '{"images": [], "annotations": []}', "{" * 100_000, '{"images": 3}']
)
def test_other_json(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(FormatError):
        coco.read(path)
