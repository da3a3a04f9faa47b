"""Label Studio's tasks: annotations, predictions, a taxonomy of all paths, its own exports."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from defusedxml.ElementTree import parse

from engine.errors import FormatError
from engine.interchange.labelled_images import label_studio
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.foreign_labels import ForeignLabel
from tests.support.labelled_images import Labelled


@pytest.fixture
def folder(music: Labelled, tmp_path: Path) -> Path:
    music.project.labels.set([music.images["flute.png"]], music.ids["Flute"], who="bo@example.org")
    out = tmp_path / "out"
    out.mkdir()
    label_studio.write(music.gathered(), out, FolderOptions())
    return out


def tasks(folder: Path) -> dict[str, Any]:
    """By the image's name."""
    found = json.loads((folder / "tasks.json").read_bytes())
    return {Path(task["meta"]["original_path"]).name: task for task in found}


def labels_of(folder: Path, name: str) -> list[ForeignLabel]:
    return [label for label in label_studio.read(folder).labels if label.image.endswith(name)]


def test_people_annotate_and_models_predict(folder: Path) -> None:
    """With all paths of a class, without `completed_by`, which must be a known user."""
    found = tasks(folder)
    organ, coarse, flute = found["organ.png"], found["coarse.png"], found["flute.png"]
    assert organ["annotations"][0]["result"][0]["value"] == {
        "taxonomy": [["Keyboard", "Organ"], ["Wind", "Organ"]]
    }
    assert "completed_by" not in flute["annotations"][0]
    assert flute["meta"]["labelled_by"] == "bo@example.org"
    assert coarse["annotations"] == []
    (prediction,) = coarse["predictions"]
    assert (prediction["score"], prediction["model_version"]) == (0.9, "leafnet")
    (of_none,) = found["far.png"]["predictions"]
    assert "score" not in of_none
    assert found["unsure.png"]["annotations"] == found["unsure.png"]["predictions"] == []


def test_the_labelling_interface(folder: Path) -> None:
    """Every class below each of its parents, and one choice for none of them."""
    root = parse(folder / "labelling.xml").getroot()
    assert root is not None
    taxonomy = root.find("Taxonomy")
    assert taxonomy is not None
    nested = {top.get("value"): [each.get("value") for each in top] for top in taxonomy}
    assert nested == {
        "Keyboard": ["Piano", "Organ"],
        "Wind": ["Organ", "Flute", "unknown"],
        "Trio: A/B?": [],
        "none of the classes": [],
    }


def test_a_corrected_export(folder: Path) -> None:
    """Changed labels have a new author; unchanged ones keep the first."""
    whole = json.loads((folder / "tasks.json").read_bytes())
    for task in whole:
        for annotation in task["annotations"]:
            annotation |= {
                "completed_by": {"id": 3, "email": "grace@example.org"},
                "updated_at": "2026-12-01T10:00:00Z",
            }
            if task["meta"]["original_path"].endswith("organ.png"):
                annotation["result"][0]["value"]["taxonomy"] = [["Wind", "Flute"]]
    (folder / "tasks.json").write_text(json.dumps(whole))
    (organ,), (piano,) = labels_of(folder, "organ.png"), labels_of(folder, "piano.png")[:1]
    assert (organ.names, organ.who, organ.when) == (
        ("Wind", "Flute"),
        "grace@example.org",
        datetime(2026, 12, 1, 10, tzinfo=UTC),
    )
    assert (piano.names, piano.who, piano.is_machine) == (("Keyboard", "Piano"), "ada", False)


def test_an_accepted_prediction_is_a_label(folder: Path) -> None:
    whole = json.loads((folder / "tasks.json").read_bytes())
    task = next(each for each in whole if each["meta"]["original_path"].endswith("coarse.png"))
    task["annotations"] = [{"completed_by": 7, "result": task["predictions"][0]["result"]}]
    (folder / "tasks.json").write_text(json.dumps(whole))
    accepted, predicted = labels_of(folder, "coarse.png")
    assert (accepted.names, accepted.who, accepted.is_machine) == (
        ("Wind",),
        "Label Studio user 7",
        False,
    )
    assert predicted.is_machine


@pytest.mark.parametrize(
    ("url", "image"),
    [
        ("/data/upload/1/0a1b2c3d-gull%20one.jpg", "gull one.jpg"),
        ("https://example.org/birds/gull.jpg", "/birds/gull.jpg"),
        ("/data/local-files/?d=birds/gull.jpg", "birds/gull.jpg"),
    ],
)
def test_tasks_of_others(tmp_path: Path, url: str, image: str) -> None:
    """Choices, rectangles, skipped work, and the ways in which Label Studio names images."""
    results = [
        {"type": "choices", "value": {"choices": ["Gull"]}},
        {"type": "rectanglelabels", "value": {"x": 1, "rectanglelabels": ["Gull"]}},
        {"type": "textarea", "value": {"text": "nice"}},
    ]
    skipped = {
        "was_cancelled": True,
        "result": [{"type": "choices", "value": {"choices": ["Tern"]}}],
    }
    path = tmp_path / "export.json"
    path.write_text(
        json.dumps([{"data": {"image": url}, "annotations": [{"result": results}, skipped]}, 3])
    )
    assert label_studio.fits(path)
    found = label_studio.read(path)
    assert [(label.image, label.names) for label in found.labels] == [(image, ("Gull",))]


@pytest.mark.parametrize("content", ["{}", "[]", '[{"a": 1}]', "no json"])
def test_other_json(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(FormatError):
        label_studio.read(path)
