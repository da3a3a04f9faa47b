"""Files of boxes are detected; neither they nor parts of data sets become classes silently."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.collection.importing.import_images import import_class_folders
from engine.collection.importing.label_plan import read_labels
from engine.errors import FormatError
from engine.interchange.labelled_images.formats import READ_FORMATS, detect
from tests.support.labelled_images import draw, make_project

YOLO_ROW = "0 0.5 0.5 0.4 0.25\n"
VOC = (
    "<annotation><filename>a.png</filename><object><name>fox</name><bndbox/></object></annotation>"
)
SHAPES = json.dumps(
    {
        "version": "5.0",
        "shapes": [{"label": "fox", "points": [[0, 0], [1, 1]]}],
        "imagePath": "a.png",
    }
)
MEGADETECTOR = json.dumps(
    {"images": [{"file": "a.png", "detections": []}], "detection_categories": {"1": "animal"}}
)
CREATEML = json.dumps(
    [{"image": "a.png", "annotations": [{"label": "fox", "coordinates": {"x": 1}}]}]
)
VIA = json.dumps(
    {"a.png1": {"filename": "a.png", "regions": [{"shape_attributes": {"name": "rect"}}]}}
)
KINDS = {"id": 1, "name": "animal"}, {"id": 2, "name": "person"}
COCO = {
    "images": [{"id": 1, "file_name": "a.png"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    "categories": KINDS,
}


@pytest.mark.parametrize(
    ("files", "form"),
    [
        (
            {
                "data.yaml": "train: ../train/images\nnc: 1\nnames: ['fox']\n",
                "train/images/a.png": "",
            },
            "yolo-detection",
        ),
        ({"images/train/a.png": "", "labels/train/a.txt": YOLO_ROW}, "yolo-detection"),
        ({"train/images/a.png": "", "train/labels/a.txt": YOLO_ROW * 2}, "yolo-detection"),
        (
            {
                "obj.data": "classes = 1\ntrain = t.txt\nnames = obj.names\n",
                "obj_train_data/a.png": "",
            },
            "yolo-detection",
        ),
        ({"obj_train_data/a.png": "", "obj_train_data/a.txt": YOLO_ROW}, "yolo-detection"),
        ({"JPEGImages/a.png": "", "Annotations/a.xml": VOC}, "pascal-voc"),
        ({"fox/a.png": "", "fox/a.json": SHAPES}, "labelme"),
        ({"camA/a.png": "", "result.json": MEGADETECTOR}, "megadetector"),
        ({"train/a.png": "", "train/_annotations.createml.json": CREATEML}, "createml"),
        ({"x/a.png": "", "via.json": VIA}, "via"),
    ],
)
def test_a_folder_of_boxes(tmp_path: Path, files: Mapping[str, str], form: str) -> None:
    """Its labels can be read; its folders are no classes."""
    lay(tmp_path / "set", files)
    assert detect(tmp_path / "set") == form
    with (
        make_project(tmp_path / "p") as project,
        pytest.raises(
            FormatError, match=f"has bounding boxes.*{READ_FORMATS[form].title}.*Import its labels"
        ),
    ):
        import_class_folders(project, [tmp_path / "set"])


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.json", MEGADETECTOR, "megadetector"),
        ("a.json", SHAPES, "labelme"),
        ("a.xml", VOC, "pascal-voc"),
        ("a.txt", YOLO_ROW, "yolo-detection"),
        ("a.json", json.dumps(COCO), "coco"),
    ],
)
def test_a_file_of_boxes(tmp_path: Path, name: str, text: str, form: str) -> None:
    lay(tmp_path, {name: text})
    assert detect(tmp_path / name) == form


@pytest.mark.parametrize("folder", ["images", "train", "Labels", "JPEGImages", "fox/train"])
def test_parts_of_a_data_set_are_no_classes(tmp_path: Path, folder: str) -> None:
    lay(tmp_path / "set", {f"{folder}/a.png": "", "hare/b.png": ""})
    with pytest.raises(FormatError, match="parts of data sets"):
        read_labels(tmp_path / "set", "folders")
    with make_project(tmp_path / "p") as project:
        with pytest.raises(FormatError, match="parts of data sets"):
            import_class_folders(project, [tmp_path / "set"])
        assert len(project.classes.graph) == 0


def test_a_class_that_is_called_so_is_meant(tmp_path: Path) -> None:
    lay(tmp_path / "set", {"Test/a.png": ""})
    with make_project(tmp_path / "p") as project:
        project.classes.add("Test")
        assert import_class_folders(project, [tmp_path / "set"]).labelled == 1


def test_class_folders_with_a_text_beside_them_are_read(tmp_path: Path) -> None:
    lay(
        tmp_path / "set",
        {"fox/a.png": "", "README.txt": "12 photos\n", "notes.json": "{}", "data.yaml": "names: 1"},
    )
    assert read_labels(tmp_path / "set")[0] == "folders"


def lay(folder: Path, files: Mapping[str, str]) -> None:
    for place, (name, text) in enumerate(files.items()):
        if name.endswith(".png"):
            draw(folder / name, 30 * place)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
