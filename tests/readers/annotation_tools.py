"""Annotation tools, by their own importers or by datumaro."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.readers.readings import Found, by_a_person, is_labelled, reads


@reads("coco", "coco.json", "pycocotools", of=is_labelled)
def coco_by_pycocotools(path: Path) -> Found:
    from pycocotools.coco import COCO

    data = COCO(str(path))
    found = {}
    for annotation in data.loadAnns(data.getAnnIds()):
        (image,), (category,) = (
            data.loadImgs(annotation["image_id"]),
            data.loadCats(annotation["category_id"]),
        )
        attributes = annotation["attributes"]
        assert annotation["bbox"] == [0, 0, image["width"], image["height"]]
        found[Path(image["file_name"]).name] = {
            "label": category["name"],
            "paths": category.get("paths", []),
            "by": attributes["decided_by"],
            "who": attributes.get("labelled_by"),
            "when": attributes.get("labelled_at"),
            "score": annotation.get("score"),
        }
    return found


@reads("coco", "coco.json", "datumaro")
def coco_by_datumaro(path: Path) -> Found:
    with _beside_images(path, "annotations/instances_default.json", "images/default") as folder:
        return _by_datumaro(folder, "coco")


@reads("cvat", "cvat.xml", "datumaro")
def cvat_by_datumaro(path: Path) -> Found:
    with _beside_images(path, "annotations.xml", "images") as folder:
        return _by_datumaro(folder, "cvat")


@reads(
    "label-studio",
    "label-studio",
    "label-studio-sdk (converter)",
    of=by_a_person,
    version_of="label-studio-sdk",
)
def label_studio_by_its_converter(path: Path) -> Found:
    """People's annotations only: its converter skips predictions."""
    import json

    from label_studio_sdk.converter import Converter

    with tempfile.TemporaryDirectory() as folder:
        converter = Converter(
            config=(path / "labelling.xml").read_text(encoding="utf-8"), project_dir=None
        )
        converter.convert_to_json_min(str(path / "tasks.json"), folder, is_dir=False)
        rows = json.loads(next(Path(folder).glob("*.json")).read_text(encoding="utf-8"))
    return {
        _served(row["image"]): {
            "labels": [
                "/".join(name.replace("/", "\\/") for name in names)
                for names in row["class"][0]["taxonomy"]
            ],
            "when": row["created_at"],
        }
        for row in rows
        if "class" in row
    }


@reads(
    "label-studio",
    "label-studio",
    "label-studio-sdk (labelling interface)",
    version_of="label-studio-sdk",
)
def label_studio_by_its_interface(path: Path) -> Found:
    """The interface is valid, and every annotation and prediction matches it."""
    import json

    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface((path / "labelling.xml").read_text(encoding="utf-8"))
    interface.validate()
    found = {}
    for task in json.loads((path / "tasks.json").read_text(encoding="utf-8")):
        for each in (*task["annotations"], *task["predictions"]):
            problems = interface.validate_prediction(each, return_errors=True)
            assert not problems, problems
        by = "person" if task["annotations"] else "model" if task["predictions"] else None
        found[_served(task["data"]["image"])] = {"by": by}
    return found


@reads("fiftyone", "fiftyone", "fiftyone (importer)", version_of="fiftyone")
def fiftyone_by_its_importer(path: Path) -> Found:
    """Its importer without a MongoDB server."""
    from fiftyone.utils.data.importers import FiftyOneImageClassificationDatasetImporter

    importer = FiftyOneImageClassificationDatasetImporter(dataset_dir=str(path))
    importer.setup()
    found = {}
    for file, _, label in importer:
        attributes = label.to_dict() if label is not None else {}
        original = attributes.get("original_path") or file
        found[Path(original).name] = {
            "label": attributes.get("label"),
            "paths": attributes.get("all_paths", []),
            "by": attributes.get("decided_by"),
            "who": attributes.get("labelled_by"),
            "when": attributes.get("labelled_at"),
            "score": attributes.get("confidence"),
        }
    return found


def _by_datumaro(folder: Path, name: str) -> Found:
    import datumaro
    from datumaro.components.annotation import AnnotationType

    data = datumaro.Dataset.import_from(str(folder), name)
    names = data.categories()[AnnotationType.label]
    found: dict[str, dict[str, Any]] = {}
    for item in data:
        annotation = item.annotations[0] if item.annotations else None
        attributes = annotation.attributes if annotation else {}
        paths = attributes.get("all_paths", [])
        found[Path(item.media.path).name] = {
            "label": names[annotation.label].name if annotation else None,
            "paths": paths.split(" | ") if isinstance(paths, str) else paths,
            "by": attributes.get("decided_by"),
            "who": attributes.get("labelled_by"),
            "when": _when(attributes.get("labelled_at")),
        }
    return found


def _when(text: str | None) -> str | None:
    return datetime.fromisoformat(text).isoformat() if text else None


@contextmanager
def _beside_images(path: Path, name: str, images: str) -> Iterator[Path]:
    """A folder in the tool's own layout: annotations by name, and images."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
        shutil.copytree(path.parent / "collection" / "photos", folder / images)
        yield folder


def _served(url: str) -> str:
    """The file's name in Label Studio's URL."""
    return Path(parse_qs(urlsplit(url).query)["d"][0]).name
