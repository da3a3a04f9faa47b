"""Flat lists of classes."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import detect_format, read_graph
from engine.interchange.taxonomies import class_lists

FEATURES = {
    "image": {"_type": "Image"},
    "label": {"names": ["auk", "gull"], "_type": "ClassLabel"},
    "boxes": {
        "feature": {"category": {"names": ["tern"], "_type": "ClassLabel"}},
        "_type": "Sequence",
    },
}


def written(folder: Path, document: Any) -> Path:
    """A file with this document."""
    path = folder / "labels.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"classes": ["auk", "gull"], "labels": {"1": 0, "2": 1}}, ["auk", "gull"]),
        (
            {
                "classes": None,
                "labels": {"1": "gull", "2": {"label": "auk"}, "3": ["auk", "tern"], "4": None},
            },
            ["gull", "auk", "tern"],
        ),
        (
            {
                "name": "birds",
                "default_classes": ["auk"],
                "classes": {"ground_truth": ["auk", "gull"]},
            },
            ["auk", "gull"],
        ),
        (
            {
                "default_mask_targets": {"1": "sky"},
                "mask_targets": {"segments": {"1": "sky", "2": "sea"}},
            },
            ["sky", "sea"],
        ),
        ({"description": "", "features": FEATURES}, ["auk", "gull", "tern"]),
    ],
)
def test_data_sets(tmp_path: Path, document: Any, names: list[str]) -> None:
    """As FiftyOne's exporters and Hugging Face's library write them."""
    path = written(tmp_path, document)
    assert detect_format(path) == "fiftyone"
    graph = read_graph(path)
    assert ([each.name for each in graph.classes], graph.edges) == (names, ())


@pytest.mark.parametrize("in_task", [False, True])
def test_labels_of_cvat(tmp_path: Path, in_task: bool) -> None:
    """With number and colour; attributes are no classes."""
    labels = [
        {
            "name": "gull",
            "id": 7,
            "color": "#FF00FF",
            "attributes": [{"name": "age", "values": ["young"]}],
        },
        {"name": "auk", "color": "", "type": "any", "attributes": []},
    ]
    path = written(tmp_path, {"name": "birds", "labels": labels} if in_task else labels)
    assert detect_format(path) == "cvat"
    assert [(each.name, each.attributes) for each in read_graph(path).classes] == [
        ("gull", ClassAttributes("7", colour="#ff00ff")),
        ("auk", ClassAttributes()),
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"classes": ["auk", "auk"]},
            "class 2 in labels.json has the same name as an earlier one: found auk",
        ),
        ({"classes": ["auk", 5]}, "class 2 in labels.json is not a text: found 5"),
        ({"classes": ["auk", ""]}, "class 2 in labels.json: a class needs a name"),
        ({"classes": []}, "contains no classes"),
        ([], "describes no data set"),
    ],
)
def test_broken_data_sets(tmp_path: Path, document: Any, message: str) -> None:
    """Each is reported with its place."""
    with pytest.raises(FormatError, match=message):
        class_lists.read_fiftyone(written(tmp_path, document))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            [{"name": "auk"}, {"name": "auk"}],
            "class 2 in labels.json has the same name as an earlier one",
        ),
        ([{"attributes": []}], "class 1 in labels.json is not a text: found None"),
        ({"labels": ["auk"]}, "contains no CVAT labels"),
    ],
)
def test_broken_labels(tmp_path: Path, document: Any, message: str) -> None:
    """Likewise."""
    with pytest.raises(FormatError, match=message):
        class_lists.read_cvat(written(tmp_path, document))


@pytest.mark.parametrize("text", ["{", '{"classes": ["' + "a" * 400, "[" * 100_000])
def test_what_is_not_json(tmp_path: Path, text: str) -> None:
    """Half a file and a pit."""
    path = tmp_path / "labels.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"not JSON|too deeply"):
        class_lists.read_fiftyone(path)
