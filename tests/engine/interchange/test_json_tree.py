"""JSON in both forms, there and back."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import FormatError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange import json_tree
from engine.interchange.imported import ImportedClass, LeftOutReason, exported_graph
from engine.interchange.versions.plan import merge_into
from tests.support.graphs import big_graph, seaside_graph, shape_of


def file_of(folder: Path, document: Any) -> Path:
    """Write a JSON document."""
    path = folder / "graph.json"
    path.write_text(json.dumps(document), encoding="utf-8-sig")
    return path


def write(graph: CategoryGraph, path: Path) -> None:
    """Write a graph."""
    path.write_text(json_tree.to_json(exported_graph(graph)), encoding="utf-8")


def test_a_tree(tmp_path: Path) -> None:
    """Names nest by children; a child may be just a name; one name in two places is two classes."""
    document = {
        "name": "Animal",
        "children": [{"name": "Bird", "children": ["Gull", {"name": "Other"}]}, "Other"],
    }
    graph = json_tree.read(file_of(tmp_path, document))
    assert graph.edges == (
        ("Animal", "Animal/Bird"),
        ("Animal/Bird", "Animal/Bird/Gull"),
        ("Animal/Bird", "Animal/Bird/Other"),
        ("Animal", "Animal/Other"),
    )
    assert [each.name for each in graph.classes] == ["Animal", "Bird", "Gull", "Other", "Other"]


def test_several_trees(tmp_path: Path) -> None:
    """A list has several roots."""
    graph = json_tree.read(
        file_of(tmp_path, [{"name": "Animal", "children": None}, {"name": "Plant"}])
    )
    assert ([each.key for each in graph.classes], graph.edges) == (["Animal", "Plant"], ())


def test_a_list_of_classes(tmp_path: Path) -> None:
    """Ids may be numbers or texts, parents may come later, synonyms are kept."""
    document = {
        "classes": [
            {"id": 3, "name": "Puffin", "parents": [1, "2"], "synonyms": ["Fratercula"]},
            {"id": 1, "name": "Bird"},
            {"id": "2", "name": "Diver", "parents": []},
        ]
    }
    graph = json_tree.read(file_of(tmp_path, document))
    assert graph.classes[0] == ImportedClass("3", "Puffin", ClassAttributes("3", ("Fratercula",)))
    assert set(graph.edges) == {("1", "3"), ("2", "3")}


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    """Names in any script, slashes and several parents survive a file."""
    graph = seaside_graph()
    graph.add_class('and/or "海鸥" \\', [2, 3])
    write(graph, tmp_path / "out.json")
    again = CategoryGraph()
    merge_into(again, json_tree.read(tmp_path / "out.json"))
    assert (len(again), again.edge_count) == (len(graph), graph.edge_count)
    assert shape_of(again) == shape_of(graph)


@pytest.mark.slow
def test_a_big_graph_comes_back(tmp_path: Path) -> None:
    """Two thousand classes with shared parents too."""
    graph = big_graph(2000)
    write(graph, tmp_path / "out.json")
    again = CategoryGraph()
    merge_into(again, json_tree.read(tmp_path / "out.json"))
    assert {again.name(p) + ">" + again.name(c) for p, c in again.edges()} == {
        graph.name(p) + ">" + graph.name(c) for p, c in graph.edges()
    }


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (5, "a top class in graph.json is not an object: .*found a number"),
        ([], "contains no classes"),
        ({"children": []}, '"name" of a top class in graph.json is not a text: found nothing'),
        ({"name": "A", "children": {"name": "B"}}, '"children" .*is not a list: found an object'),
        ({"name": "A", "children": ["B", "B"]}, 'has the class "A/B" twice'),
        (
            {"name": "A", "children": [{"name": " "}]},
            'a class under "A" in graph.json: a class needs a name',
        ),
        ({"classes": {}}, "is not a list"),
        (
            {"classes": [{"name": "A", "parents": ["B"]}, {"name": "B", "parents": ["A"]}]},
            "A > B > A|B > A > B",
        ),
        ({"classes": [{"name": "\ud800"}]}, "contains no classes"),
        ({"classes": ["A", 3]}, "class 1 in graph.json is not an object"),
    ],
)
def test_what_is_wrong(tmp_path: Path, document: Any, message: str) -> None:
    """Each mistake is reported with its place."""
    with pytest.raises(FormatError, match=message):
        json_tree.read(file_of(tmp_path, document))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"name": ' * 100_000])
def test_what_is_not_json(tmp_path: Path, text: str) -> None:
    """Broken and bottomless files are reported, not crashed on."""
    path = tmp_path / "graph.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=r"not JSON|nested too deeply"):
        json_tree.read(path)


def test_ids_and_synonyms_come_back(tmp_path: Path) -> None:
    """Our export keeps both and invents no ids; importing it again changes nothing."""
    graph = seaside_graph()
    graph.set_attributes(4, ClassAttributes("n02041246", ("Larus", "海鸥")))
    write(graph, tmp_path / "out.json")
    again = CategoryGraph()
    imported = json_tree.read(tmp_path / "out.json")
    merge_into(again, imported)
    assert again.attributes(again.find("Gull")) == graph.attributes(4)
    assert [each for each in again.classes() if again.attributes(each)] == [again.find("海鸥")]
    with graph.record() as edits:
        merge_into(graph, imported)
    assert edits == []


def test_the_file_s_own_ids_are_kept(tmp_path: Path) -> None:
    """In both forms, as texts or whole numbers; "source_id" wins over "id"."""
    tree = {
        "name": "Bird",
        "id": "n1",
        "children": [{"name": "Gull", "id": 7, "synonyms": ["Larus"]}, "Auk"],
    }
    assert [each.attributes for each in json_tree.read(file_of(tmp_path, tree)).classes] == [
        ClassAttributes("n1"),
        ClassAttributes("7", ("Larus",)),
        ClassAttributes(),
    ]
    rows = {
        "classes": [
            {"id": 1, "name": "Bird", "source_id": "n1"},
            {"id": 2, "name": "Auk", "source_id": None},
        ]
    }
    assert [each.attributes for each in json_tree.read(file_of(tmp_path, rows)).classes] == [
        ClassAttributes("n1"),
        ClassAttributes(),
    ]


def test_what_a_class_of_a_tree_cannot_have_leaves_itself_out(tmp_path: Path) -> None:
    """As in a list; a single synonym need not be a list."""
    children = [{"name": "B", "synonyms": "Larus"}, {"name": "C", "synonyms": ["a|b", "x" * 400]}]
    graph = json_tree.read(file_of(tmp_path, {"name": "A", "children": children}))
    assert [each.attributes.synonyms for each in graph.classes] == [(), ("Larus",), ("a|b",)]
    assert [each.reason for each in graph.left_out] == [LeftOutReason.SYNONYM]


@pytest.mark.parametrize(
    ("document", "edges", "reasons"),
    [
        (
            [{"name": "A"}, {"name": "B", "parent": "A"}, {"name": "C", "parent": "B"}],
            "A>B B>C",
            [],
        ),
        ([{"id": 1, "name": "A"}, {"id": 2, "name": "B", "parent_id": 1}], "A>B", []),
        ({"name": "C", "parent": {"name": "B", "parent": {"name": "A"}}}, "A>B B>C", []),
        ([{"id": 7, "name": "B", "parent": {"id": 3, "name": "A"}}], "A>B", []),
        ({"name": "A", "subclasses": [{"name": "B"}]}, "A>B", []),
        (
            {
                "nodes": [{"id": 1, "label": "A"}, {"id": 2, "label": "B"}],
                "edges": [{"source": 1, "target": 2}],
            },
            "A>B",
            [],
        ),
        (
            {"nodes": [{"id": "A"}, {"id": "B"}], "links": [{"source": "A", "target": "B"}]},
            "A>B",
            [],
        ),
        (
            [{"id": 1, "name": "A", "parent": None}, {"id": 2, "name": "B", "parent": 1.0}],
            "A>B",
            [],
        ),
        (
            {"categories": [{"id": 1, "name": "A"}, {"id": 2, "name": "B", "supercategory": "A"}]},
            "A>B",
            [],
        ),
        (
            {
                "results": [
                    {"key": 5, "scientificName": "A"},
                    {"key": 6, "parentKey": 5, "scientificName": "B"},
                ]
            },
            "A>B",
            [],
        ),
        (
            {"classes": [{"name": "A", "parents": []}, {"name": "B", "parents": ["Z", "A"]}]},
            "A>B",
            [],
        ),
        (
            {"classes": [{"name": "A"}, {"name": "B", "parents": ["Z"]}]},
            "",
            [LeftOutReason.NO_PARENT],
        ),
        (
            {"classes": [{"id": 1, "name": "A"}, {"id": "1", "name": "B"}]},
            "",
            [LeftOutReason.REPEATED],
        ),
        (
            {"classes": [{"id": "x" * 2_000, "name": "A"}, {"parents": None}]},
            "",
            [LeftOutReason.NO_NAME, LeftOutReason.ATTRIBUTE],
        ),
    ],
)
def test_lists_of_others(
    tmp_path: Path, document: Any, edges: str, reasons: list[LeftOutReason]
) -> None:
    """Parents by name, id or object, as several programs write them; errors are skipped."""
    graph = json_tree.read(file_of(tmp_path, document))
    names = {each.key: each.name for each in graph.classes}
    assert (
        sorted(f"{names[parent]}>{names[child]}" for parent, child in graph.edges) == edges.split()
    )
    assert [each.reason for each in graph.left_out] == reasons
