"""Ontologies in OBO format."""

from dataclasses import replace
from pathlib import Path

import obonet
import pytest

from engine.errors import FormatError
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.detect import detect_format, read_graph
from engine.interchange.imported import LeftOutReason
from engine.interchange.taxonomies import obo
from tests.support.taxonomies import Term, expected_facts, facts_of, made_terms

SMALL = r"""format-version: 1.4
ontology: birds

! a comment
[Term]
id: B:1
name: bird
def: "An animal with \"feathers\",\nand wings." [PMID:1, "a source"] {kind="checked"}

[Term]
id: B:2 {source="x"}
name: gull\, large
synonym: "mew" EXACT []
synonym: "seagull \{old\}" RELATED LAYPERSON [X:1]
is_a: B:1 {inferred="true"} ! bird
relationship: part_of B:3 ! colony

[Term]
id: B:3
name: roc
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def test_parents_that_were_merged_or_replaced(tmp_path: Path) -> None:
    """An id that another term took over means that term."""
    terms = (
        "[Term]\nid: B:5\nname: duck\nis_a: B:9\n",
        "[Term]\nid: B:6\nname: teal\nis_a: B:3 ! roc\n",
    )
    text = SMALL.replace("name: bird\n", "name: bird\nalt_id: B:9\n").replace(
        "is_obsolete: true", "is_obsolete: true\nreplaced_by: B:2"
    )
    graph = read_graph(written(tmp_path, "\n".join((text, *terms))))
    assert set(graph.edges) == {("B:1", "B:2"), ("B:1", "B:5"), ("B:2", "B:6")}
    assert not graph.left_out


def written(folder: Path, text: str) -> Path:
    """A file with this text."""
    path = folder / "birds.obo"
    path.write_text(text, encoding="utf-8")
    return path


def text_of(terms: list[Term]) -> str:
    """Terms as an ontology writes them."""
    stanzas = ["format-version: 1.2\nontology: made\n"]
    for each in terms:
        quoted = each.note.replace('"', '\\"')
        above = "".join(f"is_a: T:{parent:07} ! {terms[parent].name}\n" for parent in each.parents)
        stanzas.append(
            f"[Term]\nid: T:{each.number:07}\nname: {each.name}\nnamespace: made\n"
            f'def: "{quoted}" [MADE:1]\nsynonym: "{each.synonym}" EXACT []\n{above}'
        )
    return "\n".join(stanzas)


def test_escapes_comments_qualifiers_and_what_is_left_out(tmp_path: Path) -> None:
    """Relationships are not parents; obsolete terms and other stanzas are ignored."""
    graph = obo.read(written(tmp_path, SMALL))
    assert [(each.key, each.name, each.attributes) for each in graph.classes] == [
        ("B:1", "bird", ClassAttributes("B:1", note='An animal with "feathers",\nand wings.')),
        ("B:2", "gull, large", ClassAttributes("B:2", ("mew", "seagull {old}"))),
    ]
    assert graph.edges == (("B:1", "B:2"),)


@pytest.mark.slow
def test_some_thousand_terms_as_another_reader_sees_them(tmp_path: Path) -> None:
    """Names, synonyms, definitions and parents; obonet agrees on the edges."""
    terms = made_terms()
    path = written(tmp_path, text_of(terms))
    assert detect_format(path) == "obo"
    graph = read_graph(path)
    assert facts_of(graph) == {
        name: (parents, replace(attributes, source_id=f"T:{int(attributes.source_id):07}"))
        for name, (parents, attributes) in expected_facts(terms, "{}").items()
    }
    theirs = obonet.read_obo(path)
    assert {
        (parent, child) for child, parent, kind in theirs.edges(keys=True) if kind == "is_a"
    } == set(graph.edges)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: B:2", "xref: B:2", "line 10 of birds.obo begins a term without an id"),
        ("name: bird", "name: bird\nis_a: B:2", "its own ancestor: found (bird|gull, large) > "),
        (
            '"mew" EXACT',
            '"mew EXACT',
            'line 13 of birds.obo has no text in quotes: found ""mew EXACT',
        ),
        (
            "name: gull",
            "name gull",
            'line 12 of birds.obo is not part of a term: .* found "name gull',
        ),
    ],
)
def test_broken_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Each is reported with the line that has to be corrected."""
    text = SMALL.replace(old, new, 1)
    assert text != SMALL
    with pytest.raises(FormatError, match=message):
        obo.read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("is_a: B:1", "is_a: BFO:9", LeftOutReason.NO_PARENT),
        ("is_a: B:1", "is_a: B:3", LeftOutReason.NO_PARENT),
        ("id: B:2", "id: B:1", LeftOutReason.REPEATED),
        ("name: bird", "name: \u202ebird", LeftOutReason.BAD_NAME),
        ('"mew" EXACT', '"' + "mew " * 80 + '" EXACT', LeftOutReason.SYNONYM),
    ],
)
def test_what_leaves_itself_out(tmp_path: Path, old: str, new: str, reason: LeftOutReason) -> None:
    """Foreign and obsolete parents and invalid attributes are skipped; the rest is imported."""
    graph = obo.read(written(tmp_path, SMALL.replace(old, new, 1)))
    assert [each.reason for each in graph.left_out] == [reason]
    assert len(graph.classes) == 2 - (reason is LeftOutReason.REPEATED)


@pytest.mark.parametrize(
    ("value", "rank"),
    [
        ("NCBITaxon:species_group ! a comment", "species group"),
        ("http://purl.obolibrary.org/obo/NCBITaxon_genus", "genus"),
        ("TAXRANK:0000004", "family"),
        ("TAXRANK:9999999", ""),
        ('"subspecies" xsd:string', "subspecies"),
    ],
)
def test_ranks(tmp_path: Path, value: str, rank: str) -> None:
    """As a name or a number of a vocabulary; a number that nobody knows is none."""
    text = (
        f"[Term]\nid: B:1\nname: bird\nproperty_value: seen always\nproperty_value: "
        f"has_rank {value}\n"
    )
    assert obo.read(written(tmp_path, text)).classes[0].attributes == ClassAttributes(
        "B:1", rank=rank
    )
