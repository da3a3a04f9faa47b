"""Figures computed by hand, and how images of a truth file are found."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.collection.state import NO_CLASS
from engine.errors import FormatError, InputError
from engine.evaluation.evaluate import evaluate
from engine.evaluation.truth_file import read_truth
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.project import Project
from tests.support.classified import made_up
from tests.support.collections import class_ids
from tests.support.projects import named, new_project

CANDIDATES = ("Dog", "Gull", "Auk", "Rock", "Sand", "Clay")


def _grow(graph: CategoryGraph) -> None:
    """Animal above Bird (above Gull and Auk) and Dog; Rock, Sand and Clay are leaves at the top."""
    animal = graph.add_class("Animal")
    bird = graph.add_class("Bird", [animal])
    graph.add_class("Dog", [animal])
    for name in ("Gull", "Auk"):
        graph.add_class(name, [bird])
    for name in ("Rock", "Sand", "Clay"):
        graph.add_class(name)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project with that graph."""
    with new_project(tmp_path) as made:
        made.classes.edit(_grow, named("Grow"))
        yield made


ROWS = {
    # Dog, Gull, Auk, Rock, Sand, Clay
    "a.jpg": (0.03, 0.60, 0.30, 0.03, 0.02, 0.02),  # Gull: right; safe class Bird
    "b.jpg": (0.90, 0.03, 0.03, 0.02, 0.01, 0.01),  # Dog: right, and safe
    "c.jpg": (0.03, 0.45, 0.42, 0.05, 0.03, 0.02),  # Auk: Gull is wrong; safe class Bird is right
    "d.jpg": (
        0.50,
        0.20,
        0.12,
        0.09,
        0.05,
        0.04,
    ),  # Clay: wrong at all levels, not in the top 5; safe class Animal is wrong
    "e.jpg": (
        0.30,
        0.22,
        0.20,
        0.10,
        0.10,
        0.08,
    ),  # Gull: Dog is wrong, Bird and Animal are right; no safe class
    "far.jpg": (0.02, 0.90, 0.02, 0.02, 0.02, 0.02),  # none of the classes, predicted unknown
    "shot.jpg": (0.90, 0.02, 0.02, 0.02, 0.02, 0.02),  # labelled: does not count
    "other.jpg": (0.90, 0.02, 0.02, 0.02, 0.02, 0.02),  # not in the truth: does not count
}


def test_figures_worked_by_hand(project: Project) -> None:
    """Top-1, top-5, levels, calibration, coverage and safe accuracy equal hand-computed ones."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph,
        [ids[name] for name in CANDIDATES],
        list(ROWS.values()),
        paths=list(ROWS),
        far=[5],
        labels={6: ids["Gull"]},
    )
    truth = {
        "a.jpg": ids["Gull"],
        "b.jpg": ids["Dog"],
        "c.jpg": ids["Auk"],
        "d.jpg": ids["Clay"],
        "e.jpg": ids["Gull"],
        "far.jpg": NO_CLASS,
        "shot.jpg": ids["Gull"],
        "nowhere.jpg": ids["Dog"],
    }
    figures = evaluate(project, classified, truth)
    assert figures.images == 6
    assert figures.top1 == pytest.approx(2 / 5)
    assert figures.top5 == pytest.approx(4 / 5)
    # Level 0: all but d. Level 1 (Dog and the stones count themselves): all but d. Level 2: leaves.
    assert figures.levels == pytest.approx((4 / 5, 4 / 5, 2 / 5))
    assert figures.calibration_error == pytest.approx((0.4 + 0.1 + 0.45 + 0.5 + 0.3) / 5, abs=1e-5)
    assert figures.coverage == pytest.approx(4 / 6)
    assert figures.safe_accuracy == pytest.approx(3 / 4)
    assert figures.safe_at_leaf == pytest.approx(1 / 6)
    assert figures.unknown == pytest.approx(1 / 6)
    assert (figures.setting, figures.shrinkage, figures.not_found) == ("ppn+", 1.5, 1)


def test_two_images_in_one_bin_cancel_out(project: Project) -> None:
    """Two scores of 0.5, one right and one wrong, are perfectly calibrated."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph,
        [ids["Dog"], ids["Rock"], ids["Sand"]],
        [(0.5, 0.3, 0.2)] * 2,
        paths=["a.jpg", "b.jpg"],
    )
    figures = evaluate(project, classified, {"a.jpg": ids["Dog"], "b.jpg": ids["Rock"]})
    assert figures.calibration_error == pytest.approx(0, abs=1e-6)


def test_a_leaf_below_two_parents_counts_once(project: Project) -> None:
    """The score of Animal sums distinct leaves, though Gull is on two paths."""
    ids = class_ids(project)
    project.classes.link(ids["Dog"], [ids["Gull"]])
    classified = made_up(
        project.classes.graph,
        [ids["Gull"], ids["Auk"], ids["Rock"]],
        [(0.26, 0.14, 0.60)],
        paths=["a.jpg"],
    )
    figures = evaluate(project, classified, {"a.jpg": ids["Gull"]})
    assert figures.levels[0] == 0


def test_nothing_known_has_no_accuracy(project: Project) -> None:
    """Without known classes accuracy is NaN, coverage is not."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph, [ids["Dog"], ids["Rock"]], [(0.9, 0.1)], paths=["a.jpg"], far=[0]
    )
    figures = evaluate(project, classified, {"a.jpg": NO_CLASS})
    assert all(
        map(math.isnan, (figures.top1, figures.top5, figures.safe_accuracy, *figures.levels))
    )
    assert (figures.coverage, figures.unknown) == (0, 1)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("photos/a/1.jpg", True),
        ("a/1.jpg", True),
        ("{folder}/photos/a/1.jpg", True),
        ("/mnt/2.jpg", True),
        ("2.jpg", True),
        ("os/a/1.jpg", False),
        ("1.JPG", False),
    ],
)
def test_images_are_found_by_path_or_its_end(project: Project, name: str, found: bool) -> None:
    """As in the project, absolute, or by the last components of the path."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph,
        [ids["Dog"], ids["Rock"]],
        [(0.9, 0.1)] * 2,
        paths=["photos/a/1.jpg", "/mnt/2.jpg"],
    )
    truth = {name.format(folder=project.path.parent.as_posix()): ids["Dog"]}
    if not found:
        with pytest.raises(InputError, match="no image of the truth"):
            evaluate(project, classified, truth)
        return
    assert evaluate(project, classified, truth).images == 1


def test_an_end_that_fits_several_images(project: Project) -> None:
    """Two unlabelled images of one name are refused.

    A labelled one or a full path is not ambiguous.
    """
    ids = class_ids(project)
    chances, candidates = [(0.9, 0.1)] * 2, [ids["Dog"], ids["Rock"]]
    twins = made_up(project.classes.graph, candidates, chances, paths=["a/1.jpg", "b/1.jpg"])
    with pytest.raises(InputError, match=r"fits 2 images: found a/1.jpg, b/1.jpg"):
        evaluate(project, twins, {"1.jpg": ids["Dog"]})
    labelled = made_up(
        project.classes.graph,
        candidates,
        chances,
        paths=["a/1.jpg", "b/1.jpg"],
        labels={0: ids["Rock"]},
    )
    assert evaluate(project, labelled, {"1.jpg": ids["Dog"]}).images == 1
    whole = made_up(
        project.classes.graph, candidates, [(0.9, 0.1), (0.1, 0.9)], paths=["1.jpg", "b/1.jpg"]
    )
    figures = evaluate(project, whole, {"1.jpg": ids["Dog"]})
    assert (figures.images, figures.top1) == (1, 1)


def test_truth_file_as_people_write_it(project: Project, tmp_path: Path) -> None:
    """Byte order mark, other columns, blank lines, backslashes, paths as classes, "unknown"."""
    ids = class_ids(project)
    file = tmp_path / "truth.csv"
    text = (
        'class,note,image\r\nAnimal/Dog,x,.\\a\\1.jpg\r\n\r\n" Gull '
        '",,./b.jpg\r\nunknown,,c.jpg\r\n,,d.jpg\r\n'
    )
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_truth(file, project.classes.graph) == {
        ".\\a\\1.jpg": ids["Dog"],
        "./b.jpg": ids["Gull"],
        "c.jpg": NO_CLASS,
        "d.jpg": NO_CLASS,
    }
    candidates = [ids["Dog"], ids["Gull"]]
    classified = made_up(
        project.classes.graph, candidates, [(0.9, 0.1), (0.1, 0.9)], paths=["a/1.jpg", "b.jpg"]
    )
    figures = evaluate(project, classified, read_truth(file, project.classes.graph))
    assert (figures.images, figures.top1, figures.not_found) == (2, 1, 2)


def test_a_truth_by_source_id_and_synonym(project: Project, tmp_path: Path) -> None:
    """Both are names of the class."""
    ids = class_ids(project)
    aliases = ClassAttributes("n02084071", ("Canis familiaris",))
    project.classes.edit(
        lambda graph: graph.set_attributes(ids["Dog"], aliases), named("Import ids")
    )
    file = tmp_path / "truth.csv"
    file.write_text("image,class\na.jpg,n02084071\nb.jpg,Canis familiaris\n", encoding="utf-8")
    assert read_truth(file, project.classes.graph) == {"a.jpg": ids["Dog"], "b.jpg": ids["Dog"]}


def test_a_class_that_is_called_unknown(project: Project, tmp_path: Path) -> None:
    """If the graph has a class of that name, it is used."""
    class_id = project.classes.add("unknown")[1]
    file = tmp_path / "truth.csv"
    file.write_text("image,class\na.jpg,unknown\n", encoding="utf-8")
    assert read_truth(file, project.classes.graph) == {"a.jpg": class_id}


def test_a_synonym_that_is_unknown(project: Project, tmp_path: Path) -> None:
    """WordNet has the synonym "unknown", but in a truth file it means none of the classes."""
    dog = class_ids(project)["Dog"]
    project.classes.edit(
        lambda graph: graph.set_attributes(dog, ClassAttributes(synonyms=("unknown",))),
        named("Import synonyms"),
    )
    file = tmp_path / "truth.csv"
    file.write_text("image,class\na.jpg,unknown\n", encoding="utf-8")
    assert read_truth(file, project.classes.graph) == {"a.jpg": NO_CLASS}


def test_ambiguous_class_in_the_truth(project: Project, tmp_path: Path) -> None:
    """An ambiguous name is refused with the line."""
    project.classes.add("Gull", [class_ids(project)["Rock"]])
    file = tmp_path / "truth.csv"
    file.write_text("image,class\na.jpg,Dog\nb.jpg,Gull\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"line 3 .* fits 2 classes"):
        read_truth(file, project.classes.graph)


@pytest.mark.parametrize(
    "other", ["photos/1.jpg", "./photos/1.jpg", "{folder}/photos/1.jpg", "photos\\1.jpg", "1.jpg"]
)
def test_two_names_of_one_image_that_contradict_each_other(project: Project, other: str) -> None:
    """In any spelling and order; equal classes are accepted."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph, [ids["Dog"], ids["Rock"]], [(0.9, 0.1)], paths=["photos/1.jpg"]
    )
    names = ["photos/1.jpg ", other.format(folder=project.path.parent)]
    for first, second in (names, names[::-1]):
        with pytest.raises(InputError, match="two classes for one image"):
            evaluate(project, classified, {first: ids["Dog"], second: ids["Rock"]})
        assert evaluate(project, classified, {first: ids["Dog"], second: ids["Dog"]}).top1 == 1


def test_an_end_may_belong_to_another_image(project: Project) -> None:
    """`1.jpg` is the image in the root and not `photos/1.jpg`."""
    ids = class_ids(project)
    classified = made_up(
        project.classes.graph,
        [ids["Dog"], ids["Rock"]],
        [(0.9, 0.1)] * 2,
        paths=["1.jpg", "photos/1.jpg"],
    )
    assert (
        evaluate(project, classified, {"photos/1.jpg": ids["Dog"], "1.jpg": ids["Rock"]}).images
        == 2
    )
