"""Texts of the engine in the pseudo-language: reasons and problems that screens show."""

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.backups.controller import Backups
from app.backups.view import BackupsPanel
from app.wording import sentence
from engine.errors import reason_of
from engine.files import read_regular
from engine.graph.class_attributes import ATTRIBUTES
from engine.graph.limits import DEEPEST_LEVEL
from engine.images.photo_facts import photo_keywords
from engine.interchange.labelled_images import (
    coco,
    cvat,
    fiftyone,
    json_lines,
    keywords,
    label_studio,
    xmp_sidecars,
)
from engine.interchange.xmp_packet import XmpPacket, property_name
from engine.project.actions import ACTIONS, Action
from engine.runtime.devices.reasons import why_not_cuda
from engine.texts import translated
from tests.engine.runtime.devices.test_cuda_reasons import CASES
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader

NAMED = (
    "class",
    "name",
    "parent",
    "heir",
    "source",
    "model",
    "backbone",
    "setting",
    "other",
    "from",
    "first",
)
"""Parameters of actions with names; the others are numbers."""


@pytest.mark.parametrize("name", CASES)
def test_why_a_gpu_is_not_used(name: str, reader: Reader) -> None:
    """Every reason and remedy."""
    reason = why_not_cuda(CASES[name][0])
    assert reason is not None
    reader.read_text("why", sentence(reason.words))
    reader.read_text("remedy", sentence(reason.remedy))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_the_history(count: int, reader: Reader) -> None:
    """Every action, as in toasts and in Undo."""
    attributes = " ".join(attribute.name for attribute in ATTRIBUTES)
    for code, text in ACTIONS.items():
        templates = "".join((text.past, *text.tails, *text.details))
        fields = {part.split("}")[0] for part in templates.split("{")[1:]}
        values = {field: "Red disc" if field in NAMED else count for field in fields}
        values |= {"attributes": attributes} if "attributes" in fields else {}
        action = Action(code, values)
        reader.read_text(code, str(action))
        reader.read_text(code, action.command)


def damage(path: Path, how: str) -> None:
    """Damage a backup in one of several ways."""
    data = path.read_bytes()
    match how:
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "start":
            path.write_bytes(data[:50])
        case "empty":
            path.write_bytes(b"")
        case "other":
            path.write_bytes(b"no database" * 100)
        case "byte":
            place = data.rindex(b'{"images": ')
            path.write_bytes(data[:place] + b'{"imagex": ' + data[place + len(b'{"images": ') :])
        case "newer":
            path.write_bytes(data[:60] + b"\0\0\x03\xe7" + data[64:])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "start", "empty", "other", "byte", "newer"])
def test_a_damaged_backup(how: str, reviewing: Desk, reader: Reader) -> None:
    """The reason why it cannot be restored, in the panel."""
    backups = reviewing.window.of(Backups)
    reviewing.wait(
        lambda: backups.automatic.backups is not None and bool(backups.automatic.backups.all())
    )
    assert backups.automatic.backups is not None
    damage(backups.automatic.backups.all()[0].path, how)
    reviewing.window.registry.trigger("backups")
    panel = backups.panel
    assert isinstance(panel, BackupsPanel)
    reviewing.wait(lambda: bool(panel.cards) and bool(panel.cards[0].backup.fault))
    reader.read(f"backup-{how}")
    reviewing.press(Qt.Key.Key_Escape)


PATH = {"path": "Red/Red disc", "labelled_at": "ada"}
"""Attributes of a label with an invalid time."""


def write(path: Path, content: object) -> Path:
    """Write JSON or a text."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def coco_source(folder: Path) -> Path:
    """An annotation of a missing image, and one with an invalid time."""
    annotations = [
        {"id": 1, "image_id": 7},
        {"id": 2, "image_id": 1, "category_id": 1, "attributes": PATH},
    ]
    images, categories = [{"id": 1, "file_name": "a.png"}], [{"id": 1, "name": "Red disc"}]
    return write(
        folder / "coco.json",
        {"images": images, "categories": categories, "annotations": annotations},
    )


def cvat_source(folder: Path) -> Path:
    """A track, and a tag with an invalid time."""
    fields = "".join(
        f'<attribute name="{name}">{value}</attribute>' for name, value in PATH.items()
    )
    image = f'<image id="0" name="a.png"><tag label="Red disc">{fields}</tag></image>'
    return write(folder / "cvat.xml", f'<annotations>{image}<track id="3"></track></annotations>')


def fiftyone_source(folder: Path) -> Path:
    """A class index without a class, and an invalid time."""
    labels = {"a": 7, "b": {"label": "Red disc", "attributes": PATH}}
    return write(folder / "fiftyone" / "labels.json", {"classes": [], "labels": labels}).parent


def label_studio_source(folder: Path) -> Path:
    """A task with an invalid time."""
    result = {"type": "taxonomy", "value": {"taxonomy": [["Red", "Red disc"]]}}
    annotation = {"updated_at": "ada", "result": [result]}
    return write(folder / "tasks.json", [{"data": {"image": "a.png"}, "annotations": [annotation]}])


def table_source(folder: Path) -> Path:
    """An invalid time, and one before the earliest in UTC."""
    rows = (
        {"image": "a.png", "class": "Red disc", "labelled_at": when}
        for when in ("ada", "0001-01-01T00:00+14:00")
    )
    return write(folder / "table.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def sidecar_source(folder: Path) -> Path:
    """An invalid time, a pipe, and a file with too many keywords."""
    packet, crowded = XmpPacket.empty("ada"), XmpPacket.empty("ada")
    for name, value in {"image": "a.png", "class": "Red disc", **PATH}.items():
        packet.put(property_name(f"protoleaf:{name}"), value)
    crowded.put(property_name("dc:subject"), [f"Red disc {number}" for number in range(10_001)])
    deep = XmpPacket.empty("ada")
    deep.put(
        property_name("lr:hierarchicalSubject"), ["|".join(["Red disc"] * (DEEPEST_LEVEL + 2))]
    )
    (folder / "sidecars").mkdir()
    for name, each in {"a.png": packet, "b.png": crowded, "c.png": deep}.items():
        (folder / "sidecars" / f"{name}.xmp").write_bytes(each.data())
    os.mkfifo(folder / "sidecars" / "d.png.xmp")
    return folder / "sidecars"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes")
def test_problems_of_labels(reader: Reader, tmp_path: Path) -> None:
    """Every message about an unreadable part of a source, in every format."""
    sidecars = sidecar_source(tmp_path)
    found = {
        "coco": coco.read(coco_source(tmp_path)),
        "cvat": cvat.read(cvat_source(tmp_path)),
        "fiftyone": fiftyone.read(fiftyone_source(tmp_path)),
        "label-studio": label_studio.read(label_studio_source(tmp_path)),
        "json-lines": json_lines.read(table_source(tmp_path)),
        "xmp": xmp_sidecars.read(sidecars),
        "keywords": keywords.read(sidecars, photo_keywords),
    }
    counts = {name: len(labels.problems) for name, labels in found.items()}
    assert counts == {
        "coco": 2,
        "cvat": 2,
        "fiftyone": 2,
        "label-studio": 1,
        "json-lines": 2,
        "xmp": 2,
        "keywords": 3,
    }
    for name, labels in found.items():
        for problem in labels.problems:
            reader.read_text(name, translated(problem))


@pytest.mark.slow
def test_why_a_file_is_not_read(reader: Reader, tmp_path: Path) -> None:
    """Reasons of the system and of the program."""
    (tmp_path / "large").write_bytes(b"12345")
    for path in (tmp_path, tmp_path / "gone", Path("/proc/self/status"), tmp_path / "large"):
        with pytest.raises(OSError, match=r"file|gone|large") as caught:
            read_regular(path, at_most=4)
        reader.read_text("file", translated(reason_of(caught.value)))
