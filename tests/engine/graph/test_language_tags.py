"""Names in the languages of people."""

import csv

import pytest

from engine.config import assets_folder
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.graph.language_tags import name_in, split_language, with_language, with_name_in
from engine.graph.shown_language import show_names_in

TENCH = (
    "tinca",
    "Tench@en",
    "Tenca@es",
    "Tenca-portuguesa@pt-PT",
    "Tenca-brasileira@pt-BR",
    "丁鱥@zh",
    "丁鱥魚@zh-Hant",
)


@pytest.mark.parametrize(
    ("synonym", "name", "language"),
    [
        ("Schleie@de", "Schleie", "de"),
        ("Schleie@deu", "Schleie", "de"),
        (" Schleie @ de ", " Schleie", "de"),
        ("Schleie@" + "de-" * 20, "Schleie@" + "de-" * 20, ""),
        ("Schleie@DE-at", "Schleie", "de-AT"),
        ("丁鱥@zh-hans", "丁鱥", "zh-Hans"),
        ("a@b@fr", "a@b", "fr"),
        ("somebody@home", "somebody@home", ""),
        ("lens @ f/8", "lens @ f/8", ""),
        ("@de", "@de", ""),
        ("Schleie@", "Schleie@", ""),
        ("Schleie", "Schleie", ""),
    ],
)
def test_a_language_behind_a_name(synonym: str, name: str, language: str) -> None:
    """One that is registered, in its standard form; anything else is a part of the name."""
    assert split_language(synonym) == (name, language)


def test_a_language_is_written_in_its_standard_form() -> None:
    """As sources call it: by two or three letters, with underscores; what is none is left out."""
    assert [
        with_language("Schleie", each) for each in ("ger", "de_AT", "", "German", "und so weiter")
    ] == ["Schleie@de", "Schleie@de-AT", "Schleie", "Schleie", "Schleie"]


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("en-GB", "Tench"),
        ("pt-BR", "Tenca-brasileira"),
        ("pt", "Tenca-brasileira"),
        ("zh_CN", "丁鱥"),
        ("zh-TW", "丁鱥魚"),
        ("es-MX", "Tenca"),
        ("ca", ""),
        ("de", ""),
    ],
)
def test_the_name_in_a_language(language: str, name: str) -> None:
    """The country's own variant first, never another script or another language."""
    assert name_in(language, TENCH) == name


def test_they_are_found_without_their_language() -> None:
    """By search, and as what a text means."""
    graph = CategoryGraph()
    tench = graph.add_class(
        "Tinca tinca", attributes=ClassAttributes(synonyms=("Schleie@deu", "Tench@en"))
    )
    assert graph.search("schlei") == [tench]
    assert graph.search("SCHLEIE") == [tench]
    assert graph.search("@de") == []
    assert graph.find("Tench") == tench


def test_a_name_stands_there_once() -> None:
    """With its language rather than without; the class's own name may have one."""
    graph = CategoryGraph()
    names = ("Tench", "Tench@en", "Schleie@deu", "Schleie@de", "Tinca tinca", "Tinca tinca@la")
    tench = graph.add_class("Tinca tinca", attributes=ClassAttributes(synonyms=names))
    assert graph.attributes(tench).synonyms == ("Tench@en", "Schleie@de", "Tinca tinca@la")


def test_b10_a_name_in_no_known_language_is_better_than_none() -> None:
    """And no better than one in the language that people see names in."""
    assert name_in("de", ("tinca", "Tench@und")) == "Tench"
    assert name_in("de", ("Tench@und", "Schleie@de")) == "Schleie"
    assert name_in("de", ("Tench@en",)) == ""


def test_names_that_people_see() -> None:
    """In their language where there is one.

    Children are in the order of these, also after a change of either.
    """
    graph = CategoryGraph()
    fish = graph.add_class("Pisces", attributes=ClassAttributes(synonyms=("Fische@de",)))
    tench = graph.add_class("Tinca", [fish], attributes=ClassAttributes(synonyms=("Schleie@de",)))
    perch = graph.add_class("Perca", [fish])
    assert (graph.children(fish), graph.shown_name(tench), graph.second_name(tench)) == (
        (perch, tench),
        "Tinca",
        "",
    )
    show_names_in("de-AT")
    assert (graph.shown_name(fish), graph.second_name(fish), graph.name(fish)) == (
        "Fische",
        "Pisces",
        "Pisces",
    )
    assert graph.shown_name(perch) == "Perca"
    graph.set_attributes(perch, ClassAttributes(synonyms=("Zander@de",)))
    assert graph.children(fish) == (tench, perch)
    graph.set_attributes(perch, ClassAttributes(synonyms=("Barsch@de",)))
    assert (graph.children(fish), graph.shown_name(perch)) == ((perch, tench), "Barsch")
    graph.rename(perch, "Perca fluviatilis")
    assert (graph.shown_name(perch), graph.second_name(perch)) == ("Barsch", "Perca fluviatilis")
    graph.set_attributes(perch, ClassAttributes())
    assert graph.shown_name(perch) == graph.copy().shown_name(perch) == "Perca fluviatilis"
    show_names_in("fr")
    assert [graph.shown_name(each) for each in graph.children(fish)] == [
        "Perca fluviatilis",
        "Tinca",
    ]
    assert graph.path_text(tench) == "Pisces/Tinca"


def test_names_that_are_no_other_languages() -> None:
    """Those in the person's language, in none and in Latin.

    All of them where names are as in the project.
    """
    attributes = ClassAttributes(synonyms=("tinca", "Tinca tinca@la", "Schleie@de", "Tench@en"))
    assert attributes.names_for("de-AT") == ("tinca", "Tinca tinca", "Schleie")
    assert attributes.names_for("") == ("tinca", "Tinca tinca", "Schleie", "Tench")
    assert (attributes.name_in("de"), attributes.name_in("")) == ("Schleie", "")


def test_the_sample_has_names_in_every_language_of_the_window() -> None:
    """Each class once and more, by tags that are known."""
    sample = assets_folder() / "sample"
    with (sample / "edges.csv").open(encoding="utf-8") as file:
        classes = {row["child"] for row in csv.DictReader(file)}
    with (sample / "names.csv").open(encoding="utf-8") as file:
        named = [(row["class"], *split_language(row["name"])) for row in csv.DictReader(file)]
    for language in ("de", "fr", "es", "pt-BR", "zh-CN"):
        has_one = {
            each for each, name, tag in named if name_in(language, [with_language(name, tag)])
        }
        assert has_one == classes, language


@pytest.mark.parametrize(
    ("name", "synonyms", "after"),
    [
        ("Schleie", (), ("Schleie@de",)),
        ("Schleie", ("tinca", "Tench@en"), ("tinca", "Tench@en", "Schleie@de")),
        ("Schleie", ("Schlei@de-AT", "tinca"), ("Schleie@de-AT", "tinca")),
        (
            "Schleie",
            ("Schlei@de", "Tench@en", "Schuster@de"),
            ("Schleie@de", "Tench@en", "Schuster@de"),
        ),
        ("", ("tinca", "Schlei@de"), ("tinca",)),
        ("", ("tinca", "Tench@en"), ("tinca", "Tench@en")),
    ],
)
def test_another_name_in_a_language(
    name: str, synonyms: tuple[str, ...], after: tuple[str, ...]
) -> None:
    """It takes the place of the one that is shown; the others stay."""
    assert with_name_in("de", name, synonyms) == after


def test_what_people_see_of_a_name() -> None:
    """Of namesakes only where they are called alike.

    Of a class that was removed what it was called.
    """
    show_names_in("de")
    graph = CategoryGraph()
    fish, plant = graph.add_class("Pisces"), graph.add_class("Plantae")
    tench = graph.add_class("Tinca", (fish,), attributes=ClassAttributes(synonyms=("Schleie@de",)))
    assert [graph.shown_as(name) for name in ("Tinca", "Pisces", "Perca", "")] == [
        "Schleie",
        "Pisces",
        "Perca",
        "",
    ]
    other = graph.add_class("Tinca", (plant,), attributes=ClassAttributes(synonyms=("Tinke@de",)))
    assert graph.shown_as("Tinca") == "Tinca"
    graph.remove(other)
    assert graph.shown_as("Tinca") == "Schleie"
    graph.remove(tench)
    assert graph.shown_as("Tinca") == "Schleie"
    show_names_in("fr")
    assert graph.shown_as("Tinca") == "Tinca"
