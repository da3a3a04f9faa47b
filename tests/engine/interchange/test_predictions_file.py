"""The predictions' table goes out, through a spreadsheet perhaps, and comes back as a truth."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from engine.collection.classify import Classified, write_predictions
from engine.collection.state import NO_CLASS
from engine.errors import FormatError, InputError
from engine.evaluation.evaluate import evaluate
from engine.evaluation.truth_file import read_truth
from engine.interchange.predictions_file import COLUMNS
from engine.project import Project
from tests.support.classified import made_up
from tests.support.projects import new_project

NAMES = ("=1+1", "unknown", "Gull", "and/or", "-40 °C", "'=x", "海鸥", 'a;b,c "d"')
PATHS = (
    "=cmd|' -C calc'!A1.png",
    "-1.png",
    "@x,y;z.png",
    "a\\b.png",
    " blanks .png",
    "two\nlines.png",
    "\ttab.png",
    "'=quoted.png",
    "caf\udce9.png",
    "half \ud83d.png",
    "ключ “7”.png",
    "/elsewhere/a.png",
    "./=x.png",
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project with odd names, two classes "Gull" and two called "unknown"."""
    with new_project(tmp_path) as made:
        for name in NAMES:
            made.classes.add(name)
        for name in ("Gull", "unknown"):
            made.classes.add(name, [made.classes.graph.find("=1+1")])
        yield made


def predicted(
    project: Project, paths: Sequence[str] = PATHS, *, far: Sequence[int] = ()
) -> Classified:
    """One image after another of one class after another, each sure and safe."""
    leaves = project.classes.graph.leaves()
    chances = [
        [0.91 if place == row % len(leaves) else 0.01 for place in range(len(leaves))]
        for row in range(len(paths))
    ]
    return made_up(project.classes.graph, leaves, chances, paths=paths, far=far)


def cells(path: Path) -> list[dict[str, str]]:
    """The table's rows, as Python reads it."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("is_plain", [False, True])
def test_what_is_written_comes_back(project: Project, tmp_path: Path, is_plain: bool) -> None:
    """Every image is found again and has the class it was given, whatever both are called."""
    classified, out = predicted(project), tmp_path / "out.csv"
    assert write_predictions(project, classified, out, is_plain=is_plain).predictions == len(PATHS)
    truth = read_truth(out, project.classes.graph)
    figures = evaluate(project, classified, truth)
    assert (figures.images, figures.top1, figures.not_found) == (len(PATHS), 1, 0)


def test_no_cell_runs(project: Project, tmp_path: Path) -> None:
    """By default no cell begins with a sign of a formula; plain, names are what they are."""
    guarded, plain = tmp_path / "guarded.csv", tmp_path / "plain.csv"
    write_predictions(project, predicted(project), guarded)
    write_predictions(project, predicted(project), plain, is_plain=True)
    values = [value for row in cells(guarded) for value in row.values()]
    assert [
        value for value in values if value.strip()[:1] in set("=+-@") or value[:1] in set("\t\r\n")
    ] == []
    assert {"'=1+1/unknown", "'-40 °C", "''=x", "'=1+1/Gull"} <= set(values)
    assert {"=1+1/unknown", "-40 °C", "'=x", "=1+1/Gull", *PATHS[:9]} <= {
        v for row in cells(plain) for v in row.values()
    }


def test_the_file_is_utf_8_with_the_bytes_of_names(project: Project, tmp_path: Path) -> None:
    """An invalid Unicode name is written as bytes, and read with surrogateescape."""
    out = tmp_path / "out.csv"
    write_predictions(project, predicted(project), out)
    content = out.read_bytes()
    assert "ключ “7”.png".encode() in content
    assert b"caf\xe9.png," in content
    assert "caf\udce9.png" in {row["image"] for row in cells(out)}


def test_a_class_that_is_called_unknown(project: Project, tmp_path: Path) -> None:
    """The outcome and the class "unknown" are distinct in each column and read back."""
    out, graph = tmp_path / "out.csv", project.classes.graph
    top, inner = graph.find("unknown"), graph.find("=1+1/unknown")
    classified = made_up(
        graph,
        [top, inner],
        [(0.99, 0.01), (0.01, 0.99), (0.99, 0.01)],
        paths=["1", "2", "3"],
        far=[2],
    )
    write_predictions(project, classified, out, is_plain=True)
    rows = [(row["class"], row["path"], row["safe_class"]) for row in cells(out)]
    assert rows == [
        ("unknown", "unknown", "/unknown"),
        ("unknown", "=1+1/unknown", "/=1+1/unknown"),
        ("unknown", "unknown", "unknown"),
    ]
    assert read_truth(out, graph) == {"1": top, "2": inner, "3": top}
    assert [graph.find(row[2]) for row in rows[:2]] == [top, inner]
    out.write_text(
        "image,class,path\n1,unknown,\n2,unknown,unknown\n3,unknown,photos/3.png\n",
        encoding="utf-8",
    )
    assert read_truth(out, graph) == {"1": top, "2": top, "3": top}
    out.write_text(
        "image,class,path,is_unknown\n1,unknown,,true\n2,unknown,,false\n", encoding="utf-8"
    )
    assert read_truth(out, graph) == {"1": NO_CLASS, "2": top}
    out.write_text(
        "image,class,path,safe_class\n1,unknown,,unknown\n", encoding="utf-8"
    )  # by an earlier version
    assert read_truth(out, graph) == {"1": NO_CLASS}


def test_a_class_that_moved_or_went(project: Project, tmp_path: Path) -> None:
    """The name counts if the path is gone; a removed class "unknown" is not "none"."""
    file, graph = tmp_path / "truth.csv", project.classes.graph
    file.write_text("image,class,path\n1,海鸥,Vogel/海鸥\n", encoding="utf-8")
    assert read_truth(file, graph) == {"1": graph.find("海鸥")}
    for path in ("unknown", "=1+1/unknown"):
        project.classes.remove([graph.find(path)])
    file.write_text("image,class,path\n1,unknown,unknown\n", encoding="utf-8")
    with pytest.raises(FormatError, match='line 2 of the truth file there is no class "unknown"'):
        read_truth(file, graph)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("before", ["", "sep={}\r\n", "\r\n"])
def test_files_that_spreadsheets_saved(
    project: Project, tmp_path: Path, separator: str, encoding: str, before: str
) -> None:
    """Comma, semicolon or tab, with or without a BOM and a line of the separator."""
    out, saved = tmp_path / "out.csv", tmp_path / "saved.csv"
    paths = ["a/1.png", "=2.png", "b;c,d.png", "тест.png"]
    classified = predicted(project, paths)
    write_predictions(project, classified, out)
    with saved.open("w", encoding=encoding, newline="") as file:
        file.write(before.format(separator))
        table = csv.writer(file, delimiter=separator)
        table.writerow([name.title() for name in COLUMNS])
        table.writerows(row.values() for row in cells(out))
    figures = evaluate(project, classified, read_truth(saved, project.classes.graph))
    assert (figures.images, figures.top1, figures.not_found) == (4, 1, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "image,class\na.png,Möwe\n".encode("latin-1"),
            'in line 2 of the truth file there is no class "Möwe"',
        ),
        (
            b"image,is_unknown,class\na.png,,M\xf6we\n",
            "in line 2 the truth file is not text in UTF-8",
        ),
        (b"\xff\xfei\x00m\x00a", "is not text"),
        (b"pix,what\na,b\n", 'expected columns for .*, found "pix", "what"'),
        (b"sep=;\n", "an empty file"),
        (b"image,class\na.png," + b"x" * 200_000, "cannot be read as a table"),
        (b"x" * 200_000, "cannot be read as a table"),
        (b"image,class\na.png," + b"x" * 120_000, "there is no class"),
    ],
)
def test_what_is_no_truth_is_refused_in_a_line(
    project: Project, tmp_path: Path, content: bytes, message: str
) -> None:
    """Missing classes and columns, and cells without an end: each is named, shortly."""
    file = tmp_path / "truth.csv"
    file.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_truth(file, project.classes.graph)
    assert len(str(caught.value)) < 2_100


def test_a_name_comes_before_what_it_may_mean(project: Project) -> None:
    """A name with a backslash is not a path with a folder, nor the reverse."""
    leaves = project.classes.graph.leaves()[:2]
    classified = made_up(
        project.classes.graph, leaves, [(0.9, 0.1), (0.1, 0.9)], paths=["a\\b.png", "a/b.png"]
    )
    figures = evaluate(project, classified, {"a\\b.png": leaves[0]})
    assert (figures.images, figures.top1) == (1, 1)
    both = evaluate(project, classified, {"a\\b.png": leaves[0], "a/b.png": leaves[1]})
    assert (both.images, both.top1, both.not_found) == (2, 1, 0)


def test_the_table_never_takes_the_place_of_what_it_is_about(
    project: Project, tmp_path: Path
) -> None:
    """The project and its images are refused as the file to write, under each of their names."""
    from engine.files import FoundFile

    picture = tmp_path / "1.png"
    picture.write_bytes(b"picture")
    project.images.add([FoundFile(picture, 7, 1)])
    link = tmp_path / "link.csv"
    link.symlink_to(project.path)
    before = project.path.read_bytes()
    for out, what in (
        (project.path, "the project"),
        (link, "the project"),
        (picture, "an image of the project"),
    ):
        with pytest.raises(InputError, match=f"would overwrite {what}"):
            write_predictions(project, predicted(project), out)
    assert (project.path.read_bytes(), picture.read_bytes()) == (before, b"picture")


def test_where_no_table_is_written_the_project_stays_as_it_was(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when a command is stopped while it writes."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = project.path.read_bytes()
    monkeypatch.setattr("engine.collection.classify.write_predictions_file", stop)
    with pytest.raises(KeyboardInterrupt):
        write_predictions(project, predicted(project), tmp_path / "out.csv")
    assert project.path.read_bytes() == before


def test_two_lines_that_contradict_each_other(project: Project, tmp_path: Path) -> None:
    """Conflicts are named; equal lines are one; a class conflicts with none of the classes."""
    path = tmp_path / "truth.csv"
    path.write_text("image,class\na.jpg,and/or\nb.jpg,and/or\na.jpg,and/or\n", encoding="utf-8")
    assert len(read_truth(path, project.classes.graph)) == 2
    for second in ("-40 °C", ""):
        path.write_text(
            f"image,class\na.jpg,and/or\nb.jpg,and/or\na.jpg,{second}\n", encoding="utf-8"
        )
        with pytest.raises(FormatError, match=r"“a.jpg” in lines 2 and 4"):
            read_truth(path, project.classes.graph)
