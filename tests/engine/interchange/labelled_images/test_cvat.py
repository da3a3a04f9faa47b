"""CVAT's XML: what CVAT looks for in ours, and its own exports."""

import zipfile
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import parse

from engine.errors import FormatError
from engine.interchange.labelled_images import cvat
from engine.interchange.labelled_images.table_rows import NONE_LABEL
from tests.support.labelled_images import Labelled

THEIRS = """<?xml version="1.0"?><annotations><version>1.1</version>
<meta><job><assignee><username>bo</username></assignee></job></meta>
<image id="0" name="a/1.jpg" width="9" height="9"><tag label="Flute" source="manual"/></image>
<image id="1" name="a/2.jpg" width="9" height="9">
  <box label="Wind" source="auto" xtl="1" ytl="1" xbr="2" ybr="2"><attribute name="size">\
big</attribute></box></image>
<image id="2" name="a/3.jpg" width="9" height="9"></image></annotations>"""


def element(root: Element, name: str) -> Element:
    (found,) = [each for each in root.iter("image") if each.get("name", "").endswith(name)]
    return found


def test_what_cvat_looks_for(music: Labelled, tmp_path: Path) -> None:
    """Unique labels of type tag; images with sizes; a tag with the kind of its author."""
    path = tmp_path / "annotations.xml"
    with path.open("wb") as file:
        cvat.write(music.gathered(), file)
    root = parse(path).getroot()
    assert root is not None
    names = [each.findtext("name") for each in root.iter("label")]
    assert sorted(map(str, names)) == sorted(
        ["Keyboard", "Wind", "Piano", "Organ", "Flute", "Trio: A/B?", "unknown", NONE_LABEL]
    )
    assert {each.findtext("type") for each in root.iter("label")} == {"tag"}
    organ, coarse, none = (element(root, name) for name in ("organ.png", "coarse.png", "none.png"))
    assert (organ.get("width"), organ.get("height")) == ("24", "16")
    attributes = {each.get("name"): each.text for each in organ.iter("attribute")}
    assert (attributes["labelled_by"], attributes["all_paths"]) == (
        "grace",
        "Keyboard/Organ | Wind/Organ",
    )
    assert [organ.find("tag").get("source"), coarse.find("tag").get("source")] == ["manual", "auto"]  # type: ignore[union-attr]
    assert [tag.get("label") for tag in none] == [NONE_LABEL]
    assert len(element(root, "unsure.png")) == 0


@pytest.mark.parametrize("is_zip", [False, True])
def test_an_export_of_cvat(tmp_path: Path, is_zip: bool) -> None:
    path = tmp_path / ("task.zip" if is_zip else "annotations.xml")
    if is_zip:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("annotations.xml", THEIRS)
    else:
        path.write_text(THEIRS)
    assert cvat.fits(path)
    found = cvat.read(path)
    assert [(label.image, label.names, label.who, label.is_machine) for label in found.labels] == [
        ("a/1.jpg", ("Flute",), "bo", False),
        ("a/2.jpg", ("Wind",), "", True),
    ]
    assert found.unlabelled == 1


def test_times_come_back(music: Labelled, tmp_path: Path) -> None:
    path = tmp_path / "annotations.xml"
    with path.open("wb") as file:
        cvat.write(music.gathered(), file)
    (label,) = [each for each in cvat.read(path).labels if each.image.endswith("piano.png")]
    ours = music.project.labels.of(music.images["piano.png"])
    assert ours is not None
    assert (label.who, label.when) == ("ada", ours.when)
    assert label.when is not None
    assert label.when < datetime.now(UTC)


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><annotations><image name="&b;"/></annotations>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><annotations/>',
        "<annotations><image",
        "<annotations></annotations>",
        "",
    ],
)
def test_treacherous_xml(tmp_path: Path, content: str) -> None:
    """Entities are never looked up, and half a file is none."""
    path = tmp_path / "annotations.xml"
    path.write_text(content)
    with pytest.raises(FormatError):
        cvat.read(path)


def test_names_that_xml_cannot_hold(music: Labelled, tmp_path: Path) -> None:
    """They stand with escapes; the image is found by its content."""
    odd = music.project.images.resolve(music.project.images.record(music.images["flute.png"]))
    images = music.gathered()
    first = images.images[0]
    changed = [type(first)(1, "a\x01\udce4\n.png", odd, first.content_hash, first.label, None)]
    path = tmp_path / "annotations.xml"
    with path.open("wb") as file:
        cvat.write(type(images)(**{**vars(images), "images": changed}), file)
    (label,) = cvat.read(path).labels
    assert (label.image, label.content_hash) == ("a\\x01\\xe4\n.png", first.content_hash)
