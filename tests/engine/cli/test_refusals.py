"""Invalid input: exit status 1, one line that names it, nothing changed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.project import Project
from tests.support.collections import FAMILIES, Collection, write_graph, write_shape
from tests.support.command_line import done, refused

HOLD = """
import sys
from pathlib import Path
from engine.project import Project
with Project.open(Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("import-graph", "{project}", "{folder}/classes.csv"),
        ("import-images", "{project}", "{folder}"),
        ("embed", "{project}"),
        ("classify", "{project}", "-o", "{folder}/out.csv"),
        ("evaluate", "{project}", "--truth", "{folder}/truth.csv"),
        ("check", "{project}"),
    ],
)
@pytest.mark.parametrize("kind", ["missing", "text", "folder", "empty"])
def test_not_a_project(
    arguments: tuple[str, ...], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing file, a text, a folder and an empty file are refused and unchanged."""
    project = tmp_path / "shapes.protoleaf"
    if kind == "text":
        project.write_text("Dear diary, today I saw a gull.\n" * 400, encoding="utf-8")
    elif kind == "folder":
        project.mkdir()
    elif kind == "empty":
        project.touch()
    before = project.read_bytes() if project.is_file() else None
    filled = [part.format(project=project, folder=tmp_path) for part in arguments]
    assert str(project) in refused(capsys, *filled)
    assert (project.read_bytes() if project.is_file() else None) == before
    assert {path.name for path in tmp_path.iterdir()} <= {project.name, "cache"}


def test_project_exists(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """`new` never overwrites."""
    before = collection.project.read_bytes()
    assert str(collection.project) in refused(capsys, "new", collection.project)
    assert str(collection.truth) in refused(capsys, "new", collection.truth)
    assert collection.project.read_bytes() == before


def test_new_in_a_missing_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the folder, which is not created."""
    assert str(tmp_path / "nowhere") in refused(capsys, "new", tmp_path / "nowhere" / "a.protoleaf")
    assert not (tmp_path / "nowhere").exists()


def test_unknown_backbone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error lists the bundled ones, and no project is left."""
    assert "leafnet" in refused(capsys, "new", tmp_path / "a.protoleaf", "--backbone", "resnet1000")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_project_that_another_program_has_open(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Writing is refused while another process writes; reading works.

    Afterwards writing works, too.
    """
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(collection.project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        assert "open in another window or program" in refused(
            capsys, "import-images", collection.project, collection.unsorted
        )
        done(capsys, "check", collection.project)
        done(capsys, "evaluate", collection.project, "--truth", collection.truth)
        holder.communicate()
    done(capsys, "import-images", collection.project, collection.unsorted)


def test_unknown_class(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """The error repeats the name and lists similar ones."""
    line = refused(
        capsys, "import-images", collection.project, collection.unsorted, "--class", "Red dics"
    )
    assert '"Red dics"' in line
    assert '"Red disc"' in line


def test_class_by_name_and_by_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An ambiguous name is refused with the paths.

    A path, or its end, selects one.
    """
    project = tmp_path / "a.protoleaf"
    for folder in ("Animal/Bird/Gull", "Machine/Bird/Jet", "Animal/Fish"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    images = [write_shape(tmp_path / f"{seed}.png", "Red disc", seed=seed) for seed in range(4)]
    done(capsys, "new", project)
    assert done(capsys, "import-graph", project, tmp_path / "tree").out.startswith(
        "Added 7 classes and 5 edges"
    )
    line = refused(capsys, "import-images", project, images[0], "--class", "Bird")
    assert '"Animal/Bird"' in line
    assert '"Machine/Bird"' in line
    for image, text in zip(images, ("Fish", "Animal/Bird", "Bird/Jet", "Machine"), strict=True):
        assert (
            done(capsys, "import-images", project, image, "--class", text, "--json").fields[
                "labelled"
            ]
            == 1
        )
    with Project.open(project, for_writing=False) as opened:
        paths = [
            opened.classes.graph.path_text(label.class_id)
            for label in opened.labels.by_image().values()
            if label.class_id
        ]
    assert paths == ["Animal/Fish", "Animal/Bird", "Machine/Bird/Jet", "Machine"]


def test_an_import_never_changes_a_label(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Shots imported again with another class keep theirs."""
    shot = collection.shots / "Red" / "Red disc"
    answer = done(
        capsys, "import-images", collection.project, shot, "--class", "Blue disc", "--json"
    ).fields
    assert (answer["added"], answer["already_there"], answer["labelled"]) == (0, 3, 0)


def test_missing_sources(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the path, for each command that reads one."""
    nowhere = collection.folder / "nowhere"
    project = collection.project
    for arguments in (
        ("import-graph", project, nowhere),
        ("import-images", project, nowhere),
        ("import-images", project, collection.unsorted, nowhere),
        ("import-images", project, nowhere, "--folders-as-classes"),
        ("import-images", project, collection.truth, "--folders-as-classes"),
        ("evaluate", project, "--truth", nowhere),
    ):
        line = refused(capsys, *arguments)
        assert str(nowhere) in line or str(collection.truth) in line


def test_graph_with_a_cycle(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """The error has line and classes of the cycle, and the graph is unchanged."""
    source = collection.folder / "circle.csv"
    source.write_text("child,parent\nA,C\nB,A\nC,B\n", encoding="utf-8")
    line = refused(capsys, "import-graph", collection.project, source)
    assert "line 4" in line
    assert "A > B > C" in line or "B > C > A" in line or "C > A > B" in line
    assert done(capsys, "check", collection.project, "--json").fields["classes"] == 11


def test_a_graph_the_other_way_round(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Red below Red disc, against the project's graph, are two other classes: a class is its path.

    The graph stays valid.
    """
    source = write_graph(collection.folder / "round.csv", {"Red disc": ["Red"]})
    grown = done(capsys, "import-graph", collection.project, source, "--json").fields
    assert grown == {
        "classes_added": 2,
        "edges_added": 1,
        "aliases_added": 0,
        "classes": 13,
        "left_out": [],
    }
    assert done(capsys, "check", collection.project, "--json").fields["sound"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("where,what\nunsorted/024,Red disc\n", 'found "where", "what"'),
        ("", "an empty file"),
        ("image,class\nunsorted/024.png,Red disc\nunsorted/025.png,Purple disc\n", "line 3"),
        ("image,class\n\nunsorted/024.png,Purple disc\n", "Purple disc"),
        ("image,class\nelsewhere/1.png,Red disc\n", "none matching"),
        ("image,class\nshots/Red/Red disc/0.png,Red disc\n", "without a person's label"),
    ],
)
def test_truth_that_cannot_be_used(
    text: str, message: str, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing columns, unknown classes (with line), and unknown images are reported."""
    collection.truth.write_text(text, encoding="utf-8")
    assert message in refused(capsys, "evaluate", collection.project, "--truth", collection.truth)


def test_truth_that_is_no_text(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """Binary files and folders are refused by name; Windows-1252 is read."""
    collection.truth.write_bytes("image,class\nmöwe.png,Möwe\n".encode("cp1252"))
    assert 'no class "Möwe"' in refused(
        capsys, "evaluate", collection.project, "--truth", collection.truth
    )
    collection.truth.write_bytes(b"image,class\nm\0\0we.png,Red disc\n")
    assert "UTF-8" in refused(capsys, "evaluate", collection.project, "--truth", collection.truth)
    assert str(collection.folder) in refused(
        capsys, "evaluate", collection.project, "--truth", collection.folder
    )


@pytest.mark.slow
def test_what_is_missing_before_classifying(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each missing step is named with what to do."""
    project, out = tmp_path / "a.protoleaf", tmp_path / "out.csv"
    image = write_shape(tmp_path / "pictures" / "1.png", "Red disc", seed=1)
    done(capsys, "new", project)
    assert "no classes" in refused(capsys, "classify", project, "-o", out)
    done(capsys, "import-graph", project, write_graph(tmp_path / "classes.csv", FAMILIES))
    assert "no images" in refused(capsys, "classify", project, "-o", out)
    done(capsys, "import-images", project, image)
    assert "Run embed first" in refused(capsys, "classify", project, "-o", out)
    done(capsys, "embed", project, "--device", "cpu")
    assert "no class has an example yet" in refused(capsys, "classify", project, "-o", out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere/out.csv", "cannot be written"),
        ("classes.csv/out.csv", "cannot be written"),
        ("shots", "the output is one file"),
        (f"{'x' * 300}.csv", "cannot be written"),
    ],
    ids=["missing", "file", "folder", "overlong"],
)
def test_predictions_that_cannot_be_written(
    place: str, words: str, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing or invalid folder, a folder as file, a long name: refused without leftovers."""
    names = {path.name for path in collection.folder.iterdir()}
    assert words in refused(capsys, "classify", collection.project, "-o", collection.folder / place)
    assert {path.name for path in collection.folder.iterdir()} == names


@pytest.mark.slow
def test_predictions_replace_an_older_file_whole(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Permissions stay, no temporary file is left, and a link is replaced, not followed."""
    out, link = tmp_path / "results" / "out.csv", tmp_path / "latest.csv"
    out.parent.mkdir()
    out.write_text("old\n" * 10_000, encoding="utf-8")
    mode = out.stat().st_mode
    link.symlink_to(out)
    done(capsys, "classify", collection.project, "-o", link, "--overwrite")
    assert len(link.read_text(encoding="utf-8").splitlines()) == 41
    assert (link.is_symlink(), out.stat().st_size) == (False, 40_000)
    done(capsys, "classify", collection.project, "-o", out, "--overwrite")
    assert len(out.read_text(encoding="utf-8").splitlines()) == 41
    assert (out.stat().st_mode, list(out.parent.iterdir())) == (mode, [out])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_predictions_into_a_pipe(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows are written into a pipe or device, which is not replaced."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(pipe.read_text, encoding="utf-8")
        done(capsys, "classify", collection.project, "-o", pipe)
        assert len(reader.result(timeout=10).splitlines()) == 41
    assert pipe.is_fifo()


def test_damaged_project_is_reported(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A truncated project is refused by every command and unchanged."""
    whole = collection.project.read_bytes()
    collection.project.write_bytes(whole[: len(whole) // 2])
    refused(capsys, "check", collection.project)
    refused(capsys, "classify", collection.project, "-o", collection.folder / "out.csv")
    assert collection.project.read_bytes() == whole[: len(whole) // 2]
