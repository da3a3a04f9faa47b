"""Path, name or synonym, and id are read separately; contradictions match no class."""

import pytest

from engine.collection.importing.class_reading import ClassReader
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.versions.source_version import SourceClass, SourceVersion

PLUM, APPLE, PEAR, CRANE, OTHER_CRANE, TENCH = 2, 3, 4, 5, 6, 8


@pytest.fixture
def reader() -> ClassReader:
    graph = CategoryGraph()
    fruit = graph.add_class("Fruit")
    graph.add_class("Plum", (fruit,), attributes=ClassAttributes("1", ("Damson",)))
    graph.add_class("Apple", (fruit,), attributes=ClassAttributes("Pear"))
    graph.add_class("Pear", (fruit,), attributes=ClassAttributes("Fruit/Apple"))
    graph.add_class("Crane", (fruit,), attributes=ClassAttributes("http://birds/crane"))
    graph.add_class(
        "Crane",
        (graph.add_class("Machine", class_id=7),),
        class_id=OTHER_CRANE,
        attributes=ClassAttributes("Colour/Crane"),
    )
    graph.add_class("Tench", attributes=ClassAttributes("n01440764"))
    return ClassReader(
        graph,
        lambda: [SourceVersion("list", {PLUM: SourceClass(PLUM, "Prune", ClassAttributes("1"))})],
    )


@pytest.mark.parametrize(
    ("names", "source_id", "class_id"),
    [
        (("Fruit", "Plum"), "", PLUM),
        (("Fruit", "Plum"), "1", PLUM),
        (("Plum",), "unheard of", PLUM),
        (("Damson",), "", PLUM),
        (("Fruit", "Apple"), "Pear", APPLE),
        (("Apple",), "", APPLE),
        (("Pear",), "Fruit/Apple", PEAR),
        (("Fruit", "Crane"), "", CRANE),
        (("Machine", "Crane"), "Colour/Crane", OTHER_CRANE),
        (("Crane",), "http://birds/crane", CRANE),
        (("Grue",), "http://birds/crane", CRANE),
        (("n01440764",), "", TENCH),
        (("Prune",), "1", PLUM),
    ],
)
def test_one_class(
    reader: ClassReader, names: tuple[str, ...], source_id: str, class_id: int
) -> None:
    reading = reader.read(names, source_id)
    assert (reading.class_id, reading.is_conflict) == (class_id, False)


@pytest.mark.parametrize(
    ("names", "source_id", "named", "identified"),
    [
        (("Fruit", "Apple"), "1", (APPLE,), (PLUM,)),
        (("Damson",), "Pear", (PLUM,), (APPLE,)),
        (("Quince",), "1", (), (PLUM,)),
        (("Crane",), "", (CRANE, OTHER_CRANE), ()),
        (("Crane",), "Colour/Crane", (CRANE, OTHER_CRANE), (OTHER_CRANE,)),
    ],
)
def test_conflicts(
    reader: ClassReader,
    names: tuple[str, ...],
    source_id: str,
    named: tuple[int, ...],
    identified: tuple[int, ...],
) -> None:
    reading = reader.read(names, source_id)
    assert (reading.class_id, reading.is_conflict) == (None, True)
    assert (reading.named, reading.identified) == (named, identified)


@pytest.mark.parametrize("names", [("1",), ("Quince",), ("Colour", "Plum"), ("Colour", "Crane")])
def test_ids_are_no_names(reader: ClassReader, names: tuple[str, ...]) -> None:
    """An id is not matched as a name, nor a name under another parent."""
    reading = reader.read(names)
    assert (reading.class_id, reading.is_conflict) == (None, False)
