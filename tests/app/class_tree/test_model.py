"""The Qt model of the class tree: a row per parent, built lazily and updated by edits."""

import random

import pytest
from PySide6.QtCore import QModelIndex, Qt

from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, HAS_MORE_PARENTS_ROLE, HAS_SHOTS_ROLE, NAME, PATH_ROLE
from app.dragging import DraggedClasses, read_dragged
from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph
from tests.support.graphs import seaside_graph
from tests.support.sessions import recorded
from tests.support.states import Picture, state_of

Tree = dict[str, "Tree"]


@pytest.fixture
def graph() -> CategoryGraph:
    """Nine classes, one of them with two parents."""
    return seaside_graph()


@pytest.fixture
def model(qapp: object, graph: CategoryGraph) -> ClassTreeModel:
    """The model of these classes."""
    model = ClassTreeModel()
    model.set_graph(graph)
    return model


def shown(model: ClassTreeModel, parent: QModelIndex | None = None) -> Tree:
    """All rows as nested names; fetches every branch."""
    above = QModelIndex() if parent is None else parent
    if model.canFetchMore(above):
        model.fetchMore(above)
    rows = [model.index(row, NAME, above) for row in range(model.rowCount(above))]
    return {str(index.data()): shown(model, index) for index in rows}


def expected(graph: CategoryGraph, class_id: int | None = None) -> Tree:
    """The nested names by the graph."""
    below = graph.roots() if class_id is None else graph.children(class_id)
    return {graph.name(each): expected(graph, each) for each in below}


def edit(model: ClassTreeModel, graph: CategoryGraph, name: str, *values: object) -> None:
    """Edit the graph and apply the edits to the model."""
    with graph.record() as edits:
        getattr(graph, name)(*values)
    model.apply_edits(edits)


def test_a_class_stands_under_each_of_its_parents(
    model: ClassTreeModel, graph: CategoryGraph
) -> None:
    """Puffin has two marked rows; the tooltip of each names the other parent."""
    assert shown(model) == expected(graph)
    rows = model.indexes_of(graph.find("Puffin"))
    assert {str(index.parent().data()) for index in rows} == {"Bird", "Diver"}
    assert all(index.data(HAS_MORE_PARENTS_ROLE) for index in rows)
    tips = {
        str(index.parent().data()): str(index.data(Qt.ItemDataRole.ToolTipRole)) for index in rows
    }
    assert "Also under Animal / Diver" in tips["Bird"]
    assert "Also under Animal / Bird" in tips["Diver"]


def test_rows_are_built_when_somebody_looks(model: ClassTreeModel, graph: CategoryGraph) -> None:
    """At first only the roots, which report that they have children."""
    assert model.rowCount() == 2
    animal = model.index(0, NAME)
    assert model.hasChildren(animal)
    assert model.canFetchMore(animal)
    assert model.rowCount(animal) == 0
    assert model.indexes_of(graph.find("Puffin")) == []


def test_counts_and_shots_are_shown(model: ClassTreeModel, graph: CategoryGraph) -> None:
    """The second column counts images; a class with examples below it does not ask for any."""
    puffin, animal, plant = graph.find("Puffin"), graph.find("Animal"), graph.find("Plant")
    shown(model)
    model.set_state(state_of([Picture(label=puffin)], image_counts={puffin: 1, animal: 1234}))
    (root,) = model.indexes_of(animal)
    assert root.siblingAtColumn(COUNT).data() in {"1,234", "1234", "1.234", "1 234"}
    assert root.data(HAS_SHOTS_ROLE)
    (other,) = model.indexes_of(plant)
    assert other.siblingAtColumn(COUNT).data() == ""
    assert not other.data(HAS_SHOTS_ROLE)


def test_an_edit_touches_only_its_own_rows(model: ClassTreeModel, graph: CategoryGraph) -> None:
    """A new class inserts one row below each fetched row of its parent, without a reset."""
    shown(model)
    inserted, removed, resets = (
        recorded(model.rowsInserted),
        recorded(model.rowsRemoved),
        recorded(model.modelReset),
    )
    edit(model, graph, "add_class", "Auk", [graph.find("Bird")])
    assert (len(inserted), removed, resets) == (1, [], [])
    assert shown(model) == expected(graph)


def test_a_rename_moves_the_row_to_its_place(model: ClassTreeModel, graph: CategoryGraph) -> None:
    """Siblings are sorted by name; a moved row keeps its internal id."""
    shown(model)
    (gull,) = model.indexes_of(graph.find("Gull"))
    key = gull.internalId()
    edit(model, graph, "rename", graph.find("Gull"), "Zebra gull")
    (moved,) = model.indexes_of(graph.find("Zebra gull"))
    assert (moved.row(), moved.internalId(), moved.data()) == (1, key, "Zebra gull")
    assert shown(model) == expected(graph)


def test_random_edits_end_where_a_new_model_would(
    model: ClassTreeModel, graph: CategoryGraph
) -> None:
    """After each edit and undo the rows equal those of the graph."""
    generator = random.Random(5)
    shown(model)
    for number in range(120):
        classes = list(graph.classes())
        first, second = generator.choice(classes), generator.choice(classes)
        choices: list[tuple[str, tuple[object, ...]]] = [
            ("add_class", (f"class {generator.randrange(1000)}", [first])),
            ("link", (first, second)),
            ("unlink", (first, second)),
            ("rename", (first, f"name {generator.randrange(1000)}")),
            ("move", (first, next(iter(graph.parents(first)), None), second)),
        ]
        if len(classes) > 6:
            choices.append(("remove", (first,)))
        name, values = generator.choice(choices)
        try:
            edit(model, graph, name, *values)
        except GraphError:
            continue
        assert shown(model) == expected(graph), f"after edit {number}: {name} {values}"


def test_found_classes_are_flat_rows_with_their_path(
    model: ClassTreeModel, graph: CategoryGraph
) -> None:
    """Best match first, each class once; a row has its path and its parent."""
    model.set_graph(
        graph, [graph.find(name) for name in ("Gull", "Puffin", "Herring Gull", "Plant")]
    )
    rows = [model.index(row, NAME) for row in range(model.rowCount())]
    assert [(row.data(), row.data(PATH_ROLE)) for row in rows] == [
        ("Gull", "Animal / Bird"),
        ("Puffin", "Animal / Bird"),
        ("Herring Gull", "Animal / Bird / Gull"),
        ("Plant", ""),
    ]
    assert not any(model.hasChildren(row) for row in rows)
    parents = [graph.find("Bird"), graph.find("Bird"), graph.find("Gull"), None]
    assert [model.parent_class_of(row) for row in rows] == parents
    assert model.index_of_path(graph.paths(graph.find("Herring Gull"))[0]) == rows[2]


def test_a_typed_name_is_a_wish(model: ClassTreeModel, graph: CategoryGraph) -> None:
    """The row changes only with the graph; an unchanged name emits nothing."""
    wishes = recorded(model.rename_requested)
    root = model.index(0, NAME)
    model.setData(root, "Beast")
    model.setData(root, " Animal ")
    assert wishes == [(graph.find("Animal"), "Beast")]
    assert root.data() == "Animal"


def test_a_row_knows_the_parent_it_is_dragged_from(
    model: ClassTreeModel, graph: CategoryGraph
) -> None:
    """The same class is dragged from Bird in one row and from Diver in the other."""
    shown(model)
    rows = model.indexes_of(graph.find("Puffin"))
    taken = [read_dragged(model.mimeData([index])) for index in rows]
    puffin = graph.find("Puffin")
    assert set(taken) == {
        DraggedClasses(((puffin, graph.find("Bird")),)),
        DraggedClasses(((puffin, graph.find("Diver")),)),
    }
    assert read_dragged(model.mimeData([model.index(0, NAME)])) == DraggedClasses(
        ((graph.find("Animal"), None),)
    )


@pytest.mark.slow
def test_twenty_thousand_classes_are_built_lazily(qapp: object) -> None:
    """Showing them builds only the roots; adding one of 20,000 siblings inserts one row."""
    graph = CategoryGraph()
    roots = [graph.add_class(f"branch {number}") for number in range(20)]
    for number in range(20_000 - len(roots)):
        graph.add_class(f"class {number}", [roots[number % 20]])
    model = ClassTreeModel()
    inserted = recorded(model.rowsInserted)
    model.set_graph(graph)
    assert len(model._table._by_key) == 20  # noqa: SLF001 (no public API shows which rows are built)
    branch = model.index(0, NAME)
    model.fetchMore(branch)
    assert model.rowCount(branch) == 999
    assert len(inserted) == 1
    edit(model, graph, "add_class", "newcomer", [model.class_of(branch)])
    assert len(inserted) == 2
    assert len(model._table._by_key) == 20 + 1000  # noqa: SLF001 (no public API shows which rows are built)
