"""Exported labels can be imported with their authors, predictions cannot."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.collection.importing.import_labels import import_labels, plan_labels
from engine.errors import FormatError
from engine.exporting.export import ExportChoice, Which, export_images
from engine.files import FoundFile
from engine.interchange.labelled_images.formats import FORMATS, detect
from engine.project import Label, Project
from tests.support.labelled_images import Labelled, make_project

READ = [name for name, one in FORMATS.items() if one.is_read]
NAMELESS: frozenset[str] = frozenset()
"""Formats without author and time."""
WITHOUT_NONE = frozenset({"darwin-core"})
"""Formats without "none of the classes"."""


@pytest.fixture
def other(music: Labelled, tmp_path: Path) -> Iterator[Project]:
    """Another project of the same images without classes and labels."""
    project = make_project(tmp_path / "other")
    project.images.add(
        [
            found
            for image in music.project.images.records()
            if (found := file_of(music.project, image.image_id))
        ]
    )
    yield project
    project.close()


def file_of(project: Project, image_id: int) -> FoundFile | None:
    return FoundFile.at(project.images.resolve(project.images.record(image_id)))


def labels_by_name(project: Project) -> dict[str, tuple[str | None, str, datetime]]:
    """Class, author and time of each label by image name."""

    def shown(label: Label) -> tuple[str | None, str, datetime]:
        path = None if label.class_id is None else project.classes.graph.path_text(label.class_id)
        return path, label.who, label.when

    return {
        Path(project.images.record(i).path).name: shown(label)
        for i, label in project.labels.by_image().items()
    }


@pytest.mark.parametrize("name", READ)
def test_labels_come_back(music: Labelled, other: Project, tmp_path: Path, name: str) -> None:
    """Into a project with the images and without classes."""
    out = tmp_path / f"out{FORMATS[name].suffix}"
    export_images(music.project, music.answers, ExportChoice(name, out, Which.ALL))
    assert detect(out) == name
    done = import_labels(other, out, adds_classes=True)
    expected = labels_by_name(music.project)
    if name in WITHOUT_NONE:
        expected.pop("none.png")
    found = labels_by_name(other)
    assert {image: label[0] for image, label in found.items()} == {
        i: label[0] for i, label in expected.items()
    }
    if name not in NAMELESS:
        assert found == expected
    assert done.labelled == len(expected)
    assert done.plan.by_machine + done.plan.unlabelled >= 2
    assert done.change.text == f"Imported {done.labelled} labels from {out.name}"
    other.history.undo()
    assert (labels_by_name(other), len(other.classes.graph)) == ({}, 0)


@pytest.mark.parametrize("name", [name for name in READ if name not in WITHOUT_NONE])
def test_labels_without_a_class_come_back_alone(
    music: Labelled, other: Project, tmp_path: Path, name: str
) -> None:
    """Then no image has a class folder or a box."""
    chosen = ["flute.png", "piano.png"]
    music.project.labels.remove(list(music.images.values()))
    music.project.labels.set([music.images[each] for each in chosen], None, who="ada")
    out = tmp_path / f"out{FORMATS[name].suffix}"
    export_images(music.project, music.answers, ExportChoice(name, out, Which.VERIFIED))
    import_labels(other, out)
    assert {image: label[0] for image, label in labels_by_name(other).items()} == dict.fromkeys(
        chosen
    )


@pytest.mark.parametrize("name", READ)
def test_again_changes_nothing(music: Labelled, tmp_path: Path, name: str) -> None:
    out = tmp_path / f"out{FORMATS[name].suffix}"
    export_images(music.project, music.answers, ExportChoice(name, out, Which.ALL))
    before = labels_by_name(music.project)
    done = import_labels(music.project, out)
    assert (labels_by_name(music.project), done.labelled, done.plan.conflicts) == (before, 0, ())
    assert done.change.is_empty


def test_conflicts_are_listed_and_nothing_is_overwritten(music: Labelled, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    export_images(music.project, music.answers, ExportChoice("csv", out, Which.VERIFIED))
    music.project.labels.set([music.images["piano.png"]], music.ids["Flute"], who="linus")
    music.project.labels.remove([music.images["organ.png"]])
    plan = plan_labels(music.project, out)
    assert [(c.ours, c.theirs, c.who) for c in plan.conflicts] == [
        ("Wind/Flute", "Keyboard/Piano", "ada")
    ]
    done = import_labels(music.project, out)
    assert done.labelled == 1
    label = music.project.labels.of(music.images["piano.png"])
    assert label is not None
    assert (label.class_id, label.who) == (music.ids["Flute"], "linus")


def test_a_table_of_another_program(music: Labelled, tmp_path: Path) -> None:
    """Semicolons, other columns, Windows paths, a time zone, an unknown class and image."""
    table = tmp_path / "theirs.csv"
    table.write_text(
        "filename;label;labelled_by;labelled_at\nday 1\\flute.png;fluted;;\nC:\\Users\\x\\day "
        "0\\coarse.png;Wind/Flute;Bo;2024-05-01T10:00:00+02:00\nday 1/unsure.png;Oboe;;\nday "
        "9/unsure.png;Flute;;\nday 0/far.png;Flute;;yesterday\n",
        encoding="utf-8-sig",
    )
    plan = plan_labels(music.project, table, who="the museum")
    by_name = {
        Path(music.project.images.record(label.image_id).path).name: label for label in plan.labels
    }
    assert by_name.keys() == {"coarse.png"}
    assert by_name["coarse.png"].who == "Bo"
    assert by_name["coarse.png"].when == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert plan.new_classes == {("fluted",): 1, ("Oboe",): 1}
    assert plan.missing_images == ("day 9/unsure.png",)
    assert len(plan.problems) == 1
    assert plan.problems[0].startswith('line 6: "yesterday" is not a time')


def test_two_classes_for_one_image(music: Labelled, tmp_path: Path) -> None:
    """The deeper one if they are nested; else it is listed."""
    table = tmp_path / "theirs.csv"
    table.write_text(
        "image,class\nday 1/flute.png,Wind\nday 1/flute.png,Flute\nday "
        "0/coarse.png,Piano\nday 0/coarse.png,Flute\n"
    )
    plan = plan_labels(music.project, table)
    classes = {
        Path(music.project.images.record(each.image_id).path).name: each.class_id
        for each in plan.labels
    }
    assert classes == {"flute.png": music.ids["Flute"], "coarse.png": music.ids["Piano"]}
    assert [(c.ours, c.theirs) for c in plan.contradictions] == [("Keyboard/Piano", "Wind/Flute")]


def test_folders_of_another_program(music: Labelled, tmp_path: Path) -> None:
    """Renamed copies are found by content; new images are added on request."""
    folder = tmp_path / "theirs"
    source = music.project.images.resolve(music.project.images.record(music.images["unsure.png"]))
    for name in ("Wind/Flute/renamed.png", "Wind/Flute/new.png"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes() + (b"more" if "new" in name else b""))
    done = import_labels(music.project, folder, adds_images=True)
    label = music.project.labels.of(music.images["unsure.png"])
    assert label is not None
    assert (label.class_id, label.who, label.source) == (music.ids["Flute"], "theirs", "import")
    assert (done.labelled, done.images_added) == (2, 1)


@pytest.mark.parametrize(
    "content", [b"", b"image,class", b"\x00\xff\xfe junk", b"{}", b"a,b\n1,2\n"]
)
def test_other_files_hold_no_labels(music: Labelled, tmp_path: Path, content: bytes) -> None:
    """Other files are refused or without labels, whatever their suffix."""
    for name in (*READ, "auto"):
        source = tmp_path / f"file{'.txt' if name == 'auto' else FORMATS[name].suffix or '.bin'}"
        source.write_bytes(content)
        with suppress(FormatError):
            plan = plan_labels(music.project, source, format_name=name)
            assert (plan.labels, plan.waiting) == ((), ())
