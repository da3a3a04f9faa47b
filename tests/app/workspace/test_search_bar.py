"""Searching by keys and mouse: live, combined with subsets and classes, cleared, updated."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.image_grid.held_order import Order
from app.session.subsets import Subset
from app.workspace.search_bar import completions
from app.workspace.search_filters import Filters, date_term, filters_of
from app.workspace.view import Workspace
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import act
from tests.support.widgets import button, texts

Key = Qt.Key


@pytest.fixture
def searcher(desk: Desk, collection: Collection) -> Desk:
    """A window with the small collection, some images with stars."""
    desk.open(collection.project)
    ids = desk.state.image_ids.tolist()
    act(desk.qtbot, desk.window.session, lambda project: project.notes.set_stars(ids[:5], 4))
    desk.grid.setFocus()
    return desk


def workspace_of(desk: Desk) -> Workspace:
    return desk.window.workspace


def type_search(desk: Desk, text: str, *, hits: int) -> None:
    """Press Ctrl+F and type; wait until this number of cards is left."""
    desk.press(Key.Key_F, CONTROL)
    field = workspace_of(desk).search_bar.field
    assert field.hasFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    desk.wait(
        lambda: (
            workspace_of(desk).model.rowCount() == hits
            and workspace_of(desk).searching.text == text
        )
    )


@pytest.mark.slow
def test_ctrl_f_finds_while_one_types(searcher: Desk) -> None:
    """The cards are the matches; Enter focuses them, Esc shows everything again."""
    workspace, everything = workspace_of(searcher), workspace_of(searcher).model.rowCount()
    type_search(searcher, "stars:>=3", hits=5)
    assert texts(workspace.search_bar).splitlines() == ["5 images"]
    searcher.press(Key.Key_Return)
    assert searcher.grid.hasFocus()
    searcher.press(Key.Key_Escape)
    assert workspace.model.rowCount() == everything
    assert not workspace.search_bar.isVisible()
    assert searcher.grid.hasFocus()


@pytest.mark.slow
def test_the_button_in_the_header_opens_and_closes_it(searcher: Desk) -> None:
    workspace = workspace_of(searcher)
    QTest.mouseClick(workspace.header.search_button, Qt.MouseButton.LeftButton)
    assert workspace.search_bar.field.hasFocus()
    QTest.mouseClick(workspace.header.search_button, Qt.MouseButton.LeftButton)
    assert not workspace.search_bar.isVisible()


@pytest.mark.slow
def test_a_search_is_composed_with_subsets_and_classes(searcher: Desk) -> None:
    """The selection on the left filters the matches, and stays when the search is cleared."""
    workspace, state = workspace_of(searcher), searcher.state
    type_search(searcher, "stars:4", hits=5)
    labelled = sum(int(label) != -1 for label in state.label_class[:5].tolist())
    searcher.window.tree.select_subset(Subset.LABELLED)
    assert workspace.model.rowCount() == labelled
    assert workspace.searching.text == "stars:4"
    workspace.search_bar.close_search()
    assert workspace.model.filter.subset is Subset.LABELLED


@pytest.mark.slow
def test_what_is_not_understood_is_reported_and_the_last_hits_stay(searcher: Desk) -> None:
    workspace = workspace_of(searcher)
    type_search(searcher, "stars:4", hits=5)
    workspace.search_bar.field.setText("stars:4 colour:red")
    searcher.wait(lambda: bool(workspace.search_bar.problem))
    assert 'There is no field "colour" to search in, at character 9' in workspace.search_bar.problem
    assert workspace.model.rowCount() == 5
    workspace.search_bar.field.setText("stars:4 ")
    searcher.wait(lambda: not workspace.search_bar.problem)


@pytest.mark.slow
def test_nothing_matches_looks_like_it(searcher: Desk) -> None:
    """The empty page quotes the search, and its button clears it."""
    workspace = workspace_of(searcher)
    type_search(searcher, "unicorn", hits=0)
    assert "Nothing matches" in texts(workspace.empty)
    assert "unicorn" in texts(workspace.empty)
    button(workspace.empty, "Clear the search").click()
    searcher.wait(lambda: workspace.model.rowCount() > 5)


@pytest.mark.slow
def test_labelled_cards_leave_the_search_and_the_others_keep_their_places(searcher: Desk) -> None:
    """Keys act on visible cards, also in a search that labels affect."""
    workspace = workspace_of(searcher)
    unlabelled = int((searcher.state.label_class == -1).sum())
    type_search(searcher, "unlabelled", hits=unlabelled)
    searcher.press(Key.Key_Return)
    searcher.choose(0)
    first, *others = workspace.model.image_ids.tolist()
    searcher.press_for_change(Key.Key_1)
    searcher.wait(lambda: workspace.model.rowCount() == unlabelled - 1)
    assert workspace.model.image_ids.tolist() == others
    searcher.press_for_change(Key.Key_Z, CONTROL)
    searcher.wait(lambda: first in workspace.model.image_ids.tolist())


@pytest.mark.slow
def test_completions_of_fields_by_keys(searcher: Desk) -> None:
    """Letters offer fields; the arrow key and Enter insert one."""
    assert completions("da", 2)[0][0] == "date:"
    assert completions("date:20", 7) == []
    assert [name for name, _ in completions("-un", 3)] == [
        "is:unlabelled",
        "is:unknown",
        "is:unreadable",
    ]
    searcher.press(Key.Key_F, CONTROL)
    bar = workspace_of(searcher).search_bar
    QTest.keyClicks(bar.field, "fo")
    assert bar.offers.isVisible()
    QTest.keyClick(bar.field, Key.Key_Down)
    QTest.keyClick(bar.field, Key.Key_Return)
    assert (bar.field.text(), bar.offers.isVisible()) == ("folder:", False)
    assert bar.field.hasFocus()
    bar.field.clear()
    QTest.keyClick(bar.field, Key.Key_Down)
    assert bar.offers.count() > 10
    QTest.keyClick(bar.field, Key.Key_Escape)
    assert not bar.offers.isVisible()
    assert bar.isVisible()
    QTest.keyClicks(bar.field, "cam")
    QTest.mouseClick(
        bar.offers.viewport(),
        Qt.MouseButton.LeftButton,
        pos=bar.offers.visualItemRect(bar.offers.item(0)).center(),
    )
    assert bar.field.text() == "camera:"


@pytest.mark.slow
def test_filters_write_the_search_and_read_it(searcher: Desk) -> None:
    """Filters are written into the field, and parsed from it."""
    workspace = workspace_of(searcher)
    searcher.press(Key.Key_F, CONTROL)
    QTest.mouseClick(workspace.search_bar.filter_button, Qt.MouseButton.LeftButton)
    popover = workspace.search_bar.popover
    assert popover is not None
    searcher.wait(popover.isVisible)
    searcher.wait(lambda: popover._folder.count() > 1)  # noqa: SLF001
    stars = popover._stars  # noqa: SLF001
    stars.setFocus()
    QTest.keyClick(stars, Key.Key_Down)
    stars.activated.emit(stars.currentIndex())
    assert workspace.search_bar.field.text() == "stars:>=1"
    button(popover, "Flagged").click()
    assert workspace.search_bar.field.text() == "stars:>=1 flagged"
    workspace.search_bar.field.setText("stars:>=3 has:comment fox")
    assert (stars.currentData(), button(popover, "Flagged").isChecked()) == (3, False)
    assert button(popover, "With a comment").isChecked()
    button(popover, "Clear all filters").click()
    assert workspace.search_bar.field.text() == "fox"
    popover.hide()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("date:2024-01..2024-03", Filters("2024-01", "2024-03")),
        ("date:2024 camera:Reconyx", Filters("2024", "2024", "Reconyx")),
        ('folder:"site 3" -stars:5 source:import', Filters(folder="site 3", source="import")),
        ("stars:>=2 flagged has:comment", Filters(stars=2, is_flagged=True, has_comment=True)),
        ("colour:red", Filters()),
    ],
)
def test_filters_of_a_search(query: str, expected: Filters) -> None:
    assert filters_of(query) == expected


def test_terms_of_dates() -> None:
    assert date_term("2024", "2024") == "date:2024"
    assert date_term("2024-05", " ") == "date:2024-05.."
    assert date_term("", "") == ""


@pytest.mark.slow
def test_in_the_class_graph_it_finds_a_class(searcher: Desk) -> None:
    """The graph has a search of its own; the search for images is kept."""
    workspace = workspace_of(searcher)
    type_search(searcher, "stars:4", hits=5)
    searcher.press(Key.Key_G, CONTROL)
    assert not workspace.search_bar.isVisible()
    searcher.press(Key.Key_F, CONTROL)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert workspace.graph.isAncestorOf(focused) or focused is workspace.graph
    searcher.press(Key.Key_G, CONTROL)
    assert workspace.search_bar.isVisible()
    assert workspace.model.rowCount() == 5


@pytest.mark.slow
def test_orders_by_what_is_known(searcher: Desk) -> None:
    for name in ("order_name", "order_folder", "order_size", "order_taken"):
        searcher.window.registry.trigger(name)
        order = Order(name.removeprefix("order_"))
        searcher.wait(partial(_is_sorted, searcher, order))


def _is_sorted(desk: Desk, order: Order) -> bool:
    state, shown = desk.state, workspace_of(desk).model.image_ids
    if order.sorting is None or order.sorting not in state.ranks:
        return False
    ranks = state.ranks[order.sorting][[state.position(image_id) for image_id in shown.tolist()]]
    return bool((ranks[1:] > ranks[:-1]).all()) and len(shown) == len(state.image_ids)


@pytest.mark.slow
def test_another_project_begins_without_a_search(searcher: Desk) -> None:
    type_search(searcher, "stars:4", hits=5)
    searcher.window.session.close()
    searcher.wait(lambda: searcher.window.session.info is None)
    assert workspace_of(searcher).searching.text == ""
    assert workspace_of(searcher).search_bar.field.text() == ""
