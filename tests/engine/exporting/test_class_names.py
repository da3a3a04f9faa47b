"""Classes named like files of an export, devices, or each other: all folders can be imported."""

from pathlib import Path

import pytest

from engine.collection.importing.import_labels import import_labels
from engine.exporting.export import ExportChoice, Which, export_images
from engine.interchange.labelled_images.class_folders import FolderOptions
from engine.interchange.labelled_images.formats import FORMATS, detect
from engine.project import Project
from tests.support.labelled_images import draw, make_project

NAMES = (
    "images.csv",
    "Images.CSV",
    "classes.csv",
    "metadata.parquet",
    "metadata.csv",
    "metadata.jsonl",
    "labels.json",
    "labels.csv",
    "README.md",
    "data.yaml",
    "data",
    "train",
    "val",
    "no class",
    "..",
    ".",
    "...",
    ".hidden",
    "CON",
    "nul.txt",
    "com¹",
    "a/b",
    "a_b",
    "a\\b",
    "Gull",
    "gull",
    "GULL",
    "gull.",
    "gull (2)",
    "x" * 255,
    "x" * 254 + "y",
    "ö" * 200,
    "unknown",
    "~",
    "-rf",
    "=1+1",
    "photo.png",
    "*",
    "?",
    "C:",
    "$HOME",
    "%TEMP%",
)
COUNT = len(NAMES) + 1
FOLDERS = [
    *(
        (name, False)
        for name, one in FORMATS.items()
        if one.write_folder is not None and not one.writes_into
    ),
    ("folders", True),
]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An image for each class; all have one name, which is also that of a class."""
    folder = tmp_path_factory.mktemp("hostile")
    project = make_project(folder)
    files = [draw(folder / "photos" / f"{number}" / "photo.png", number) for number in range(COUNT)]
    project.images.add(files)
    classes = [project.classes.add(name, ())[1] for name in NAMES]
    classes.append(project.classes.add("photo.png", (classes[0],))[1])
    for image, class_id in zip(project.images.records(), classes, strict=True):
        project.labels.set([image.image_id], class_id, who="ada")
    project.close()
    return project.path


@pytest.mark.slow
@pytest.mark.parametrize(("name", "is_flat"), FOLDERS)
def test_every_class_comes_back(
    labelled: Path, tmp_path: Path, name: str, *, is_flat: bool
) -> None:
    out = tmp_path / "around" / "out"
    out.parent.mkdir()
    with Project.open(labelled, for_writing=False) as project:
        expected = _labels(project)
        choice = ExportChoice(
            name, out, Which.VERIFIED, FolderOptions(is_flat=is_flat, has_coarse=True)
        )
        written = export_images(project, {}, choice)
        files = [project.images.resolve(image) for image in project.images.records()]
        assert (written.images, written.failures) == (COUNT, ())
    assert list(out.parent.iterdir()) == [out]
    if FORMATS[name].has_images:
        placed = [path.read_bytes() for path in out.rglob("*.png") if path.is_file()]
        assert sorted(placed) == sorted(file.read_bytes() for file in files)
    assert detect(out) == name
    with make_project(tmp_path / "other") as other:
        import_labels(
            other, out, adds_classes=True, adds_images=True, image_folders=(labelled.parent,)
        )
        assert sorted(_labels(other).values()) == sorted(expected.values())


def _labels(project: Project) -> dict[int, str]:
    labels = project.labels.by_image().items()
    return {
        i: "" if one.class_id is None else project.classes.graph.path_text(one.class_id)
        for i, one in labels
    }
