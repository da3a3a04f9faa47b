"""The page of suspected label errors: what it shows, and its keys."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton

from app.label_check.controller import LabelChecking
from app.label_check.queue_list import HEIGHT
from app.label_check.view import LabelCheckPage
from engine.project import Change, Project
from tests.support.clipping import clipped
from tests.support.collections import Collection, class_ids, read_truth_table
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.projects import named
from tests.support.sessions import LONG_MS, act

Key = Qt.Key
WRONG = {
    "Red disc": "Blue stripes",
    "Green stripes": "Red checks",
    "Blue checks": "Green disc",
}
"""The first unlabelled picture of each of these is labelled as another class."""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check labels without a debounce."""
    monkeypatch.setattr("app.label_check.controller.REST_MS", 20)


@pytest.fixture
def wrong(desk: Desk, collection: Collection) -> dict[int, str]:
    """All images labelled, three of them wrongly: their true classes by image."""
    desk.open(collection.project)
    truth = read_truth_table(collection)
    paths = dict(zip(desk.state.paths, desk.state.image_ids.tolist(), strict=True))
    found: dict[int, str] = {}

    def label(project: Project) -> Change:
        ids, left = class_ids(project), dict(WRONG)
        with project.history.one_step(named("Label all")) as step:
            for path, leaf in truth.items():
                given = left.pop(leaf, leaf)
                project.labels.set([paths[path]], ids[given], who="Ada")
                if given != leaf:
                    found[paths[path]] = leaf
        return step.change

    act(desk.qtbot, desk.window.session, label)
    return found


def open_page(desk: Desk) -> LabelCheckPage:
    """Open it by its keys and wait for the result of the check."""
    desk.press(Key.Key_R, CONTROL | SHIFT)
    page = desk.window.of(LabelChecking).page
    assert page is not None
    desk.wait(
        lambda: desk.window.workspace.page is page and not desk.window.of(LabelChecking).is_looking
    )
    return page


def asked(desk: Desk) -> list[int]:
    """Images in the queue."""
    return [each.image_id for each in desk.window.of(LabelChecking).queue.open]


def current(desk: Desk) -> int:
    """The current image, which is the one shown large."""
    image_id = desk.window.of(LabelChecking).queue.current
    page = desk.window.of(LabelChecking).page
    assert image_id is not None
    assert page is not None
    assert page.card.canvas.source == desk.state.source_of(image_id)
    return image_id


def on_disk(collection: Collection, image_id: int) -> str:
    """The label in the project file; "" without one, "?" for none of the classes."""
    with Project.open(collection.project, for_writing=False) as project:
        label = project.labels.of(image_id)
        if label is None:
            return ""
        return "?" if label.class_id is None else project.classes.graph.name(label.class_id)


@pytest.mark.slow
def test_wrong_labels_are_asked_about_with_their_reasons(desk: Desk, wrong: dict[int, str]) -> None:
    """All three, each with the true class proposed, annotator, reason, and example images."""
    page = open_page(desk)
    assert set(asked(desk)) == set(wrong)
    queue = desk.window.of(LabelChecking).queue
    assert {each.image_id: desk.graph.name(each.proposed) for each in queue.open} == wrong
    shown, label = current(desk), desk.label_of(current(desk))
    desk.wait(lambda: page.card.own.texts[1].startswith("by Ada, "))
    assert page.card.own.texts[0] == f"Labelled {label}"
    assert page.card.other.texts[0] == f"Looks like {wrong[shown]}"
    assert "likely wrong. " in page.card.reason.text()
    assert wrong[shown] in page.card.reason.text()
    assert desk.window.workspace.header.title == "Check labels: 3 left"
    assert desk.window.registry.action("check_labels").text() == "Check labels (3)"


@pytest.mark.slow
def test_what_could_not_be_judged_stands_below_the_list(desk: Desk, wrong: dict[int, str]) -> None:
    """A class with a single label cannot be checked."""
    page = open_page(desk)
    assert page.note.isHidden()
    stripes, state = desk.graph.find("Red stripes"), desk.state
    few = state.image_ids[state.label_class == stripes].tolist()[1:]
    act(desk.qtbot, desk.window.session, lambda project: project.labels.remove(few))
    desk.wait(page.note.isVisible)
    assert (
        page.note.text()
        == "56 of 57 labels could be judged. 1 class has too few labels: Red stripes"
    )


@pytest.mark.slow
def test_enter_relabels_on_disk_before_the_next_and_undo_brings_it_back(
    desk: Desk, wrong: dict[int, str], collection: Collection
) -> None:
    open_page(desk)
    first, before = current(desk), desk.label_of(current(desk))
    desk.press(Key.Key_Return)
    assert current(desk) != first
    assert on_disk(collection, first) == wrong[first] == desk.label_of(first)
    desk.press(Key.Key_Z, CONTROL)
    desk.wait(lambda: desk.window.of(LabelChecking).queue.current == first)
    assert on_disk(collection, first) == before
    assert len(asked(desk)) == 3


@pytest.mark.slow
def test_what_is_kept_is_not_asked_again(
    desk: Desk, wrong: dict[int, str], collection: Collection
) -> None:
    """A confirmed label is not listed after reopening the page; undo lists it again."""
    open_page(desk)
    kept, label = current(desk), desk.label_of(current(desk))
    desk.press(Key.Key_K)
    assert kept not in asked(desk)
    with Project.open(collection.project, for_writing=False) as project:
        assert set(project.labels.confirmed()) == {kept}
    assert on_disk(collection, kept) == label
    desk.press(Key.Key_Escape)
    assert desk.window.workspace.page is None
    open_page(desk)
    assert set(asked(desk)) == set(wrong) - {kept}
    desk.press(Key.Key_Z, CONTROL)
    desk.wait(lambda: set(asked(desk)) == set(wrong))


@pytest.mark.slow
def test_later_moves_it_to_the_end(desk: Desk, wrong: dict[int, str]) -> None:
    page = open_page(desk)
    before = asked(desk)
    desk.press(Key.Key_L)
    assert asked(desk) == [*before[1:], before[0]]
    assert current(desk) == before[1]
    desk.press(Key.Key_E)
    assert asked(desk)[-1] == before[1]
    assert page.hasFocus()


@pytest.mark.slow
@pytest.mark.parametrize(("key", "label"), [(Key.Key_U, "?"), (Key.Key_X, "")])
def test_unknown_and_remove(
    desk: Desk, wrong: dict[int, str], collection: Collection, key: Qt.Key, label: str
) -> None:
    open_page(desk)
    first = current(desk)
    desk.press(key)
    assert first not in asked(desk)
    desk.wait(lambda: desk.window.session.is_settled)
    assert on_disk(collection, first) == label


@pytest.mark.slow
def test_another_class_by_its_name_and_by_its_digit(
    desk: Desk, wrong: dict[int, str], collection: Collection
) -> None:
    """The digit of a class is the one shown in the inspector."""
    open_page(desk)
    first = current(desk)
    desk.press(Key.Key_R)
    desk.type_into_palette("green disc")
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.window.session.is_settled)
    assert on_disk(collection, first) == "Green disc"
    second = current(desk)
    desk.wait(lambda: not desk.window.inspector.is_waiting_for(second))
    digit = desk.graph.name(desk.window.inspector.top_classes_of(second)[1])
    desk.press(Key.Key_2)
    desk.wait(lambda: desk.window.session.is_settled)
    assert on_disk(collection, second) == digit


@pytest.mark.slow
def test_several_selected_ones_are_one_step(desk: Desk, wrong: dict[int, str]) -> None:
    """Selected by mouse and relabelled with one key, each as proposed; one undo restores all."""
    page = open_page(desk)
    rows = [QPoint(40, HEIGHT * place + HEIGHT // 2) for place in range(3)]
    desk.window.resize(1500, 900)
    desk.wait(page.list.isVisible)
    desk.qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=rows[0])
    desk.qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, SHIFT, rows[2])
    assert len(page.selected) == 3
    open_ones = desk.window.of(LabelChecking).queue.open
    proposed = {each.image_id: desk.graph.name(each.proposed) for each in open_ones}
    assert proposed.keys() == wrong.keys()
    assert page.card.buttons["relabel"].text().startswith("Relabel 3 as proposed")
    steps = len_of_history(desk)
    desk.press(Key.Key_Return)
    desk.wait(lambda: desk.window.session.is_settled)
    assert {each: desk.label_of(each) for each in wrong} == proposed
    assert len_of_history(desk) == steps + 1
    assert page.is_empty
    assert page.empty.title.text() == "No other label looks wrong"
    desk.press(Key.Key_Z, CONTROL)
    desk.wait(lambda: set(asked(desk)) == set(wrong))


def len_of_history(desk: Desk) -> int:
    found: list[int] = []
    session = desk.window.session
    session.ask(lambda live: len(live.project.history.steps()), found.append, owner=session)
    desk.wait(lambda: bool(found))
    return found[0]


@pytest.mark.slow
def test_buttons_do_what_keys_do(desk: Desk, wrong: dict[int, str]) -> None:
    page = open_page(desk)
    first = current(desk)
    button = page.card.buttons["relabel"]
    assert isinstance(button, QPushButton)
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.label_of(first) == wrong[first])
    assert page.hasFocus()


@pytest.mark.slow
def test_a_new_check_leaves_the_label_under_the_eye(desk: Desk, wrong: dict[int, str]) -> None:
    """Labels changed elsewhere start another check; the current one stays until it is settled."""
    page = open_page(desk)
    desk.press(Key.Key_Down)
    shown = current(desk)
    other = next(each for each in asked(desk) if each != shown)
    right = desk.graph.find(wrong[other])
    act(desk.qtbot, desk.window.session, lambda project: project.labels.set([other], right))
    desk.wait(lambda: other not in asked(desk) and not desk.window.of(LabelChecking).is_looking)
    assert current(desk) == shown
    assert page.selected == (shown,)


@pytest.mark.slow
def test_nothing_looks_wrong(desk: Desk, collection: Collection) -> None:
    desk.open(collection.project)
    page = open_page(desk)
    assert page.is_empty
    assert page.empty.title.text() == "No label looks wrong"
    assert "24 labels" in page.empty.text.text()


def test_too_few_labels(desk: Desk, collection: Collection) -> None:
    """The page shows how many more are needed."""
    with Project.open(collection.project) as project:
        project.labels.remove(list(project.labels.by_image())[3:])
    desk.open(collection.project)
    page = open_page(desk)
    assert page.empty.title.text() == "Too few labels to check"
    assert page.empty.text.text() == "Label 7 more images first."


@pytest.mark.slow
def test_a_project_for_reading_is_only_looked_at(
    desk: Desk, wrong: dict[int, str], collection: Collection
) -> None:
    session = desk.window.session
    with desk.qtbot.waitSignal(session.closed, timeout=LONG_MS):
        session.close()
    with desk.qtbot.waitSignal(session.loaded, timeout=LONG_MS):
        session.open(collection.project, for_writing=False)
    page = open_page(desk)
    before = asked(desk)
    assert not page.card.buttons["relabel"].isEnabled()
    desk.press(Key.Key_Return)
    desk.press(Key.Key_K)
    assert asked(desk) == before
    assert "read-only" in desk.window.toast.message
    desk.press(Key.Key_L)
    assert asked(desk) != before


@pytest.mark.slow
@pytest.mark.parametrize("width", [1000, 1440])
def test_nothing_is_clipped(desk: Desk, wrong: dict[int, str], width: int) -> None:
    desk.window.resize(width, 720)
    page = open_page(desk)
    desk.wait(lambda: not clipped(page))  # after the layout
    desk.qtbot.wait(50)
    assert not clipped(page)  # also later


@pytest.mark.slow
def test_the_project_is_closed_while_the_page_is_shown(desk: Desk, wrong: dict[int, str]) -> None:
    open_page(desk)
    with desk.qtbot.waitSignal(desk.window.session.closed, timeout=LONG_MS):
        desk.window.session.close()
    assert desk.window.workspace.page is None
    assert desk.window.registry.action("check_labels").text() == "Check labels"
