"""WordNet's own files."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import read_graph
from engine.interchange.taxonomies import wordnet
from tests.support.taxonomies import expected_facts, facts_of, made_terms

INSTALLED = Path("/usr/share/wordnet/data.noun")
"""Where the package wordnet-base puts it."""

LICENCE = (
    "  1 This software and database is being provided to you, the LICENSEE, by  \n  2 "
    "Princeton University  \n"
)
ENTITY = "00000001 03 n 01 entity 0 002 ~ 00000002 n 0000 ~ 00000003 n 0000 | that which is  "
CRANE = (
    "00000002 05 n 02 crane 0 wading_bird 3 002 @ 00000001 n 0000 + 00000009 v 0101 | "
    'wades; "a crane | a heron"  '
)
PARIS = "00000003 15 n 01 Paris 0 001 @i 00000001 n 0000 | a city  "


def written(folder: Path, *lines: str) -> Path:
    """A file of these synsets below the licence."""
    path = folder / "data.noun"
    path.write_text(LICENCE + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_words_glosses_and_both_kinds_of_above(tmp_path: Path) -> None:
    """Underscores are blanks; only hypernym pointers count; a gloss may have bars."""
    graph = wordnet.read(written(tmp_path, ENTITY, CRANE, PARIS))
    assert [(each.key, each.name, each.attributes) for each in graph.classes] == [
        ("n00000001", "entity", ClassAttributes("n00000001", note="that which is")),
        (
            "n00000002",
            "crane",
            ClassAttributes("n00000002", ("wading bird",), 'wades; "a crane | a heron"'),
        ),
        ("n00000003", "Paris", ClassAttributes("n00000003", note="a city")),
    ]
    assert graph.edges == (("n00000001", "n00000002"), ("n00000001", "n00000003"))


def test_namesakes_get_their_number(tmp_path: Path) -> None:
    """Synsets under one other that share their first word are distinguished, as ImageNet's are."""
    machine = "00000004 06 n 01 crane 4 001 @ 00000001 n 0000 | lifts"
    graph = wordnet.read(written(tmp_path, ENTITY, CRANE, machine))
    assert [each.name for each in graph.classes] == [
        "entity",
        "crane (n00000002)",
        "crane (n00000004)",
    ]


@pytest.mark.slow
def test_some_thousand_synsets(tmp_path: Path) -> None:
    """A file of real shape and size, found by the folder that it is in."""
    terms = made_terms()
    lines = []
    for each in terms:
        words = f"02 {each.name} 0 {each.synonym} 0".replace("Ärt ", "Ärt_").replace(
            "Species ", "Species_"
        )
        pointers = " ".join(f"@ {parent:08} n 0000" for parent in each.parents)
        lines.append(
            f"{each.number:08} 05 n {words} {len(each.parents):03} {pointers} | {each.note}  "
        )
    written(tmp_path, *lines)
    assert facts_of(read_graph(tmp_path)) == {
        name: (parents, replace(attributes, source_id=f"n{int(attributes.source_id):08}"))
        for name, (parents, attributes) in expected_facts(terms, "{}").items()
    }


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED.exists(), reason="the package wordnet-base is not installed")
def test_the_package(tmp_path: Path) -> None:
    """All nouns of WordNet 3.0."""
    graph = read_graph(INSTALLED)
    assert (len(graph.classes), len(graph.edges)) == (82_115, 84_427)
    kit_fox = {each.key: each for each in graph.classes}["n02119789"]
    assert (kit_fox.name, kit_fox.attributes.synonyms) == (
        "kit fox (n02119789)",
        ("kit fox", "Vulpes macrotis"),
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([ENTITY, "00000002 05 n 01 crane"], "line 4 of data.noun is not a synset"),
        ([ENTITY, CRANE[:60]], "line 4 of data.noun is not a synset"),
        ([ENTITY, "a letter"], 'line 4 .* found "a letter"'),
        (
            [ENTITY, CRANE, CRANE],
            "line 5 of data.noun has the number of an earlier synset: found n00000002",
        ),
        ([CRANE], "line 3 of data.noun leads to a synset that is not there: found n00000001"),
        (
            [ENTITY.replace("~ 00000002", "@ 00000002"), CRANE],
            "its own ancestor: found .*entity > ",
        ),
        ([ENTITY, CRANE.replace("02 crane", "zz crane")], "is not a synset"),
    ],
)
def test_broken_files(tmp_path: Path, lines: list[str], message: str) -> None:
    """Half a file, a synset twice, a missing one and a circle are reported with their line."""
    with pytest.raises(FormatError, match=message):
        wordnet.read(written(tmp_path, *lines))
