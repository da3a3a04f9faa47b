"""Review by group with keys and mouse: one answer per group, saved and undoable as one step."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter

from app.group_review.cards import MOST_SIDE
from app.group_review.controller import GroupReview
from app.group_review.logic import Review
from app.group_review.view import GroupPage
from app.image_grid.card import CardPlace, paint_card
from app.image_grid.card_words import Card
from app.image_grid.geometry import GAP
from engine.graph.codes import EMPTY, NO_CLASS
from engine.project import Project
from engine.project.labels import IN_BULK
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import recorded

Key = Qt.Key


class GroupDesk:
    """A window in review by group."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        feature = next(each for each in desk.window.children() if isinstance(each, GroupReview))
        desk.press(Key.Key_R, CONTROL)
        page, review = feature.page, feature.review
        assert page is not None
        assert review is not None
        self.page: GroupPage = page
        self.review: Review = review
        desk.wait(lambda: self.review.current is not None)

    @property
    def ids(self) -> tuple[int, ...]:
        """The images of the current group."""
        return self.page.cards.image_ids

    def labels(self) -> list[str]:
        """Labels of the group's images."""
        return [self.desk.label_of(image_id) for image_id in self.ids]


@pytest.fixture
def by_group(reviewing: Desk) -> GroupDesk:
    """The page with its first group."""
    return GroupDesk(reviewing)


def on_disk(collection: Collection) -> dict[int, int | None]:
    """Class by image, read from the project file."""
    with Project.open(collection.project, for_writing=False) as project:
        return {image_id: label.class_id for image_id, label in project.labels.by_image().items()}


def test_enter_labels_the_group_and_shows_the_next(
    by_group: GroupDesk, collection: Collection
) -> None:
    """A group is labelled and saved in one step; Ctrl+Z shows the group again."""
    desk, ids, heading = by_group.desk, by_group.ids, by_group.page.heading.text()
    group = by_group.review.current
    assert group is not None
    name = desk.graph.name(group.class_id)
    assert heading == f"{len(ids)} images: {name}"
    change = desk.press_for_change(Key.Key_Return)
    assert set(change.labelled) == set(ids)
    assert {on_disk(collection)[image_id] for image_id in ids} == {desk.graph.find(name)}
    with Project.open(collection.project, for_writing=False) as project:
        assert dict(project.labels.sources(ids)) == dict.fromkeys(ids, IN_BULK)
    assert set(by_group.ids).isdisjoint(ids)
    desk.press_for_change(Key.Key_Z, CONTROL)
    assert (by_group.ids, by_group.page.heading.text()) == (ids, heading)
    assert set(on_disk(collection)).isdisjoint(ids)


@pytest.mark.slow
def test_the_next_group_is_painted_before_it_comes(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next group is painted at its final size, so that showing it paints no card again."""
    painted = list[int]()

    def note(painter: QPainter, place: CardPlace, card: Card, *rest: object) -> None:
        painted.append(card.image_id)
        paint_card(painter, place, card, *rest)  # type: ignore[arg-type]

    # Before the page opens: cards are painted at once.
    monkeypatch.setattr("app.image_grid.card.paint_card", note)
    by_group = GroupDesk(reviewing)
    desk = by_group.desk
    desk.wait(lambda: bool(by_group.review.ahead))
    coming = set(by_group.review.ahead[0].image_ids)
    desk.wait(lambda: coming <= set(painted))
    painted.clear()
    desk.press(Key.Key_E)
    assert set(by_group.ids) == coming
    assert coming.isdisjoint(painted)


@pytest.mark.slow
def test_b11_groups_come_without_another_fit_and_show_that_they_are_found(reviewing: Desk) -> None:
    """The page shows an indeterminate progress bar, never "All done", and then the group."""
    fits = recorded(reviewing.window.session.fitting_changed)
    reviewing.press(Key.Key_R, CONTROL)
    page = reviewing.window.of(GroupReview).page
    assert page is not None
    titles = set[str]()

    def is_there() -> bool:
        if page.empty_title:
            titles.add(page.empty_title)
            assert page.empty.bar.isVisible()
        return bool(page.cards.image_ids)

    assert not is_there()
    reviewing.wait(is_there)
    assert titles == {"Grouping look-alikes…"}
    assert fits == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1440, 900), (1000, 640)])
def test_b11_a_group_fills_its_page(by_group: GroupDesk, size: tuple[int, int]) -> None:
    """Cards have the largest size that fits the viewport."""
    by_group.desk.window.resize(*size)
    cards = by_group.page.cards
    by_group.desk.wait(lambda: cards.width() > 0 and not by_group.desk.window.thumbnails.is_busy)
    area = cards.viewport().rect()
    rects = [cards.rect_of(place) for place in range(len(by_group.ids))]
    assert all(area.contains(rect) for rect in rects)
    columns = len({rect.left() for rect in rects})
    wider = area.width() // max(1, columns - 1) - GAP
    rows = -(-len(rects) // max(1, columns - 1))
    is_largest = (
        columns == 1
        or rows * (wider * rects[0].height() // rects[0].width()) > area.height() - 2 * GAP
    )
    assert is_largest or rects[0].width() > MOST_SIDE


@pytest.mark.slow
def test_an_image_that_is_left_out_gets_no_label(by_group: GroupDesk) -> None:
    """Excluded by a click and by T; it returns in a later group; M labels it with the group."""
    desk, ids = by_group.desk, by_group.ids
    cards = by_group.page.cards
    desk.qtbot.mouseClick(
        cards.viewport(), Qt.MouseButton.LeftButton, pos=cards.rect_of(1).center()
    )
    assert by_group.review.left_out == {ids[1]}
    assert by_group.page.heading.text().startswith(f"{len(ids) - 1} image")
    desk.press(Key.Key_Home)
    desk.press(Key.Key_T)
    assert by_group.review.left_out == {ids[0], ids[1]}
    change = desk.press_for_change(Key.Key_Return)
    assert (set(change.labelled), set(change.excluded)) == (set(ids[2:]), set(ids[:2]))
    change = desk.press_for_change(Key.Key_Z, CONTROL)
    assert set(change.excluded) == set(ids[:2])
    assert by_group.review.left_out == {ids[0], ids[1]}
    change = desk.press_for_change(Key.Key_M)
    assert set(change.labelled) == set(ids)


@pytest.mark.slow
def test_all_groups_are_answered_in_turn(by_group: GroupDesk, collection: Collection) -> None:
    """Groups follow one another until none is left, which the page reports."""
    desk = by_group.desk
    for _group in range(60):
        desk.wait(
            lambda: (
                by_group.review.current is not None or bool(by_group.page.empty_title == "All done")
            )
        )
        if by_group.review.current is None:
            break
        desk.press(Key.Key_M if by_group.review.current.tops else Key.Key_U)
    desk.wait(lambda: by_group.page.empty_title == "All done")
    desk.wait(lambda: len(on_disk(collection)) == len(desk.state.image_ids))
    assert set(on_disk(collection)) == set(desk.state.image_ids.tolist())


@pytest.mark.slow
def test_the_next_group_comes_and_ctrl_z_goes_back_to_it(by_group: GroupDesk) -> None:
    """E labels nothing, and adds nothing to the window's undo history."""
    desk, first, before = by_group.desk, by_group.ids, dict(on_disk_of(by_group))
    desk.press(Key.Key_E)
    assert set(by_group.ids).isdisjoint(first)
    desk.press(Key.Key_Z, CONTROL)
    assert by_group.ids == first
    assert on_disk_of(by_group) == before


def on_disk_of(by_group: GroupDesk) -> dict[int, str]:
    """Labels shown in the window."""
    desk = by_group.desk
    return {image_id: desk.label_of(image_id) for image_id in desk.state.image_ids.tolist()}


@pytest.mark.slow
def test_a_dismissed_class_is_not_proposed_again(by_group: GroupDesk) -> None:
    """X: the same images return with another class; Ctrl+Z restores the group."""
    desk, ids, group = by_group.desk, set(by_group.ids), by_group.review.current
    assert group is not None
    desk.press(Key.Key_X)
    assert set(by_group.ids).isdisjoint(ids)

    def proposed() -> set[int]:
        shown = [by_group.review.current, *by_group.review.ahead]
        return {
            each.class_id for each in shown if each is not None and ids.intersection(each.image_ids)
        }

    desk.wait(lambda: bool(proposed()) and group.class_id not in proposed())
    change = desk.press_for_change(Key.Key_Z, CONTROL)
    assert (change.kind, set(change.excluded)) == ("undone", ids)
    assert set(by_group.ids) == ids
    assert not by_group.review.memory.dismissed


@pytest.mark.slow
def test_a_coarse_answer_is_followed_by_the_finer_classes(
    by_group: GroupDesk, collection: Collection
) -> None:
    """Shift+Enter labels as the family; the images return, split by its subclasses."""
    desk, ids, group = by_group.desk, set(by_group.ids), by_group.review.current
    assert group is not None
    assert group.coarse_id >= 0
    desk.press_for_change(Key.Key_Return, SHIFT)
    assert {on_disk(collection)[image_id] for image_id in ids} == {group.coarse_id}

    def finer() -> list[int]:
        shown = [by_group.review.current, *by_group.review.ahead]
        return [
            each.class_id for each in shown if each is not None and each.branch == group.coarse_id
        ]

    desk.wait(lambda: bool(finer()))
    assert set(finer()) <= set(desk.graph.descendants(group.coarse_id))


@pytest.mark.slow
def test_u_and_digits_and_the_palette_label_the_ticked(by_group: GroupDesk) -> None:
    """U, digits and a typed class; a digit without a class does nothing."""
    desk, ids = by_group.desk, by_group.ids
    desk.press_for_change(Key.Key_U)
    assert {desk.label_of(image_id) for image_id in ids} == {"?"}
    second, group = by_group.ids, by_group.review.current
    assert group is not None
    desk.press(Key.Key_9)
    assert by_group.ids == second, "so many classes are not likely"
    desk.press_for_change(Key(Key.Key_0 + len(group.tops)))
    assert {desk.label_of(image_id) for image_id in second} == {
        desk.graph.name(group.tops[-1].class_id)
    }
    third = by_group.ids
    desk.press(Key.Key_R)
    desk.type_into_palette("Blue disc")
    desk.press_for_change(Key.Key_Return)
    assert {desk.label_of(image_id) for image_id in third} == {"Blue disc"}


@pytest.mark.slow
def test_space_looks_and_escape_leaves(by_group: GroupDesk) -> None:
    """First the image view, then the page; the grid has the focus again."""
    desk = by_group.desk
    desk.press(Key.Key_Space)
    looking = [by_group.page.is_looking]
    desk.press(Key.Key_Space)
    looking.append(by_group.page.is_looking)
    assert looking == [True, False]
    desk.press(Key.Key_Escape)
    assert desk.window.workspace.page is None
    assert desk.grid.hasFocus()


@pytest.mark.slow
def test_0_labels_a_group_as_empty(by_group: GroupDesk) -> None:
    """As with "none of the classes", images left out are not excluded from the class."""
    desk, ids = by_group.desk, by_group.ids
    desk.press(Key.Key_Home)
    desk.press(Key.Key_T)
    change = desk.press_for_change(Key.Key_0)
    assert (set(change.labelled), set(change.excluded)) == (set(ids[1:]), set())
    state = desk.state
    assert {int(state.label_class[state.position(each)]) for each in ids[1:]} == {EMPTY}
    assert state.label_class[state.position(ids[0])] == NO_CLASS
    desk.press_for_change(Key.Key_Z, CONTROL)
    assert by_group.ids == ids
