"""The map in the window: shown, moved, selected on, labelled, and updated with the project."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.class_tree.row_data import COLOUR_ROLE
from app.map.canvas import MapCanvas, Tool
from app.map.colouring import ColourBy
from app.map.controller import Maps
from app.map.view import MapPage
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.hidden_images import PRIVATE, hide_categories
from engine.collection.models import model_of
from engine.collection.state import NO_CLASS
from engine.everyday.layout.space import map_space
from engine.files import FoundFile
from engine.map.image_map import ImageMap, content_numbers, map_cache, write_map
from engine.project import Project
from engine.project.records import ImageDetails, NewItem
from tests.support.collections import FAMILIES, Collection
from tests.support.desk import ALT, CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.sessions import act, changed_by

pytestmark = pytest.mark.slow

Key = Qt.Key


def keep_map(collection: Collection, left_out: int = 0) -> None:
    """Store a map with one column of images per top-level class, the unlabelled ones below."""
    with Project.open(collection.project, for_writing=False) as project:
        model = model_of(project, collection.caches)
        embedded = EmbeddedImages(project, model, collection.caches)
        embedded.read()
        names = [
            project.classes.graph.name(each) if each >= 0 else ""
            for each in embedded.images.labels.tolist()
        ]
        family = [
            next((place for place, each in enumerate(FAMILIES) if name.startswith(each)), 3)
            for name in names
        ]
        count = len(names)
        spread = np.random.default_rng(0).uniform(-4, 4, (count, 2))
        places = (np.stack([30 * np.array(family) - 45, np.zeros(count)], axis=1) + spread).astype(
            np.float32
        )
        ids, embeddings = embedded.images.ids, embedded.store.embeddings[embedded.ready_rows]
        kept = np.arange(count - left_out)
        space = map_space(embeddings)
        made = ImageMap(
            ids[kept],
            content_numbers(embedded)[kept],
            places[kept],
            np.zeros(len(kept), dtype=bool),
            space,
            space.apply(embeddings[kept]),
            places[kept],
        )
        write_map(map_cache(project, model, collection.caches), made)
        embedded.close()


def page_of(desk: Desk) -> MapPage:
    page = desk.window.of(Maps).page
    assert page is not None
    return page


def open_map(desk: Desk, collection: Collection) -> MapCanvas:
    """Open the project and the map by its key; the canvas once it has points and prototypes."""
    desk.open(collection.project)
    desk.press(Key.Key_M, CONTROL)
    page = page_of(desk)
    desk.wait(
        lambda: (
            page.is_map_shown
            and page.canvas.scene.order is not None
            and len(page.canvas.scene.prototypes.class_ids) > 0
        )
    )
    return page.canvas


@pytest.fixture
def canvas(desk: Desk, collection: Collection) -> MapCanvas:
    """The visible map with its columns."""
    keep_map(collection)
    return open_map(desk, collection)


def column(canvas: MapCanvas, place: int, away: float = 7) -> list[QPoint]:
    """Corners of a rectangle around a column."""
    x = 30 * place - 45
    corners = ((x - away, -away), (x + away, -away), (x + away, away), (x - away, away))
    return [QPointF(*canvas.camera.to_view(*corner)).toPoint() for corner in corners]


def drag(
    canvas: MapCanvas,
    way: Sequence[QPoint],
    keys: Qt.KeyboardModifier = NO_KEYS,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
) -> None:
    """Press, move along a path, and release."""
    QTest.mousePress(canvas, button, keys, way[0])
    for point in way[1:]:
        at = QPointF(point)
        move = QMouseEvent(
            QEvent.Type.MouseMove, at, canvas.mapToGlobal(at), Qt.MouseButton.NoButton, button, keys
        )
        QApplication.sendEvent(canvas, move)
    QTest.mouseRelease(canvas, button, keys, way[-1])


def names_of(desk: Desk, canvas: MapCanvas) -> set[str]:
    """Labels of the selected images."""
    return {desk.label_of(each) for each in canvas.chosen_ids.tolist()}


def test_hidden_pictures_leave_it_and_come_back(desk: Desk, canvas: MapCanvas) -> None:
    """Pictures in which a detector found people can be hidden from the map."""
    state, marks = desk.state, canvas.scene.prototypes
    count, file = len(state.image_ids), FoundFile.at(state.path_of(int(state.image_ids[0])))
    assert file is not None
    person = NewItem(file, "xywh=percent:5,5,50,50", "person", 0.9)
    act(
        desk.qtbot,
        desk.window.session,
        lambda project: project.images.add_labelled([person], [None]),
    )
    act(desk.qtbot, desk.window.session, lambda project: hide_categories(project, PRIVATE))
    desk.wait(lambda: len(canvas.scene.points) == count - 1)
    prototypes = canvas.scene.prototypes
    assert prototypes.class_ids.tolist() == marks.class_ids.tolist()
    assert prototypes.places.tolist() == marks.places.tolist()
    assert not set(canvas.scene.points.image_ids.tolist()) & desk.state.hidden
    act(desk.qtbot, desk.window.session, lambda project: hide_categories(project, ()))
    desk.wait(lambda: len(canvas.scene.points) == count)


def test_it_shows_every_image_with_a_legend(desk: Desk, canvas: MapCanvas) -> None:
    """All points are visible, the legend counts classes, edges of the graph join prototypes."""
    assert len(canvas.rows_in_view()) == len(desk.state.image_ids)
    assert {text for _colour, text, _count in page_of(desk).legend.rows} >= {"Red", "Green", "Blue"}
    prototypes = canvas.scene.prototypes
    ends = prototypes.class_ids[prototypes.edges].tolist()
    joined = {(desk.graph.name(parent), desk.graph.name(child)) for parent, child in ends}
    assert ("Red", "Red disc") in joined
    desk.wait(lambda: not canvas.moved_recently)
    picture = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(picture.constBits(), dtype=np.uint32) & 0xFFFFFF
    for colour, _text, _count in page_of(desk).legend.rows:
        assert np.count_nonzero(pixels == int(colour[1:], 16)) > 100


def _first(desk: Desk, canvas: MapCanvas, family: str) -> int:
    ids = canvas.scene.points.image_ids.tolist()
    return next(row for row, each in enumerate(ids) if desk.label_of(each).startswith(family))


def test_a_lasso_selects_and_labels(desk: Desk, canvas: MapCanvas) -> None:
    """Shift and drag around a column; R labels all of it in one undoable step."""
    drag(canvas, column(canvas, 0), SHIFT)
    assert names_of(desk, canvas) == {"Red disc", "Red stripes", "Red checks"}
    chosen = set(canvas.chosen_ids.tolist())
    page = page_of(desk)
    assert page.chosen_bar.isVisible()
    assert f"{len(chosen)} images" in page.chosen_bar.count.text()
    desk.press(Key.Key_R)
    desk.type_into_palette("Green disc")
    change = desk.press_for_change(Key.Key_Return)
    assert set(change.labelled) == chosen
    assert names_of(desk, canvas) == {"Green disc"}
    assert page.isVisible()
    changed_by(desk.qtbot, desk.window.session, desk.window.session.undo)
    assert names_of(desk, canvas) == {"Red disc", "Red stripes", "Red checks"}


def test_ctrl_adds_and_alt_takes_away(desk: Desk, canvas: MapCanvas) -> None:
    drag(canvas, column(canvas, 0), SHIFT)
    reds = int(canvas.chosen.sum())
    drag(canvas, column(canvas, 1), SHIFT | CONTROL)
    both = int(canvas.chosen.sum())
    assert both > reds
    drag(canvas, column(canvas, 0), SHIFT | ALT)
    assert int(canvas.chosen.sum()) == both - reds
    assert {name.split()[0] for name in names_of(desk, canvas)} == {"Green"}
    desk.press(Key.Key_Escape)
    assert not canvas.chosen.any()
    assert page_of(desk).isVisible()


def test_tools_draw_without_shift(desk: Desk, canvas: MapCanvas) -> None:
    """L is the lasso; the rectangle takes two corners; Esc ends the tool."""
    desk.press(Key.Key_L)
    drag(canvas, column(canvas, 2))
    assert {name.split()[0] for name in names_of(desk, canvas)} == {"Blue"}
    QTest.mouseClick(page_of(desk).bar.tools[Tool.RECTANGLE], Qt.MouseButton.LeftButton)
    corners = column(canvas, 1)
    drag(canvas, [corners[0], corners[1], corners[2]])
    assert {name.split()[0] for name in names_of(desk, canvas)} == {"Green"}
    canvas.setFocus()
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_Escape)
    before = canvas.camera
    drag(canvas, [corners[0], corners[2]])
    assert canvas.camera != before


def test_dragging_wheel_and_keys_move_it(desk: Desk, canvas: MapCanvas) -> None:
    """The point below the pointer stays fixed while the wheel zooms; 0 shows all."""
    start = canvas.camera
    drag(
        canvas,
        [QPoint(100, 100), QPoint(130, 90), QPoint(160, 80)],
        button=Qt.MouseButton.MiddleButton,
    )
    assert canvas.camera.x == pytest.approx(start.x - 60 / start.scale)
    at = QPointF(120, 80)
    before, scale = canvas.camera.to_plane(120, 80), canvas.camera.scale
    wheel = QWheelEvent(
        at,
        canvas.mapToGlobal(at),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        NO_KEYS,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, wheel)
    assert canvas.camera.scale == pytest.approx(scale * 1.25**2)
    assert canvas.camera.to_plane(120, 80) == pytest.approx(before)
    x = canvas.camera.x
    desk.press(Key.Key_Right)
    assert canvas.camera.x > x
    desk.press(Key.Key_Plus)
    assert canvas.camera.scale > scale * 1.25**2
    desk.press(Key.Key_0)
    assert canvas.camera == start


def test_a_click_shows_the_image_and_a_double_click_opens_it(desk: Desk, canvas: MapCanvas) -> None:
    """Hovering shows the name; the map keeps its view while the image is open."""
    row = _first(desk, canvas, "Green")
    image_id = int(canvas.scene.points.image_ids[row])
    at = canvas.point_of(row).toPoint()
    desk.press(Key.Key_Plus)
    desk.press(Key.Key_0)
    QTest.mouseMove(canvas, at)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(at),
        canvas.mapToGlobal(QPointF(at)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        NO_KEYS,
    )
    QApplication.sendEvent(canvas, move)
    hover = page_of(desk).hover
    assert hover.isVisible()
    QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, NO_KEYS, at)
    desk.wait(lambda: desk.inspected is not None)
    shown = desk.inspected
    assert canvas.chosen_ids.tolist() == [shown]
    canvas.pinch(3)
    camera = canvas.camera
    place = canvas.point_of(row).toPoint()
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, NO_KEYS, place)
    desk.wait(lambda: desk.window.workspace.is_image_open)
    assert desk.grid.current_id == image_id
    desk.press(Key.Key_M, CONTROL)
    desk.wait(lambda: page_of(desk).isVisible())
    assert canvas.camera == camera


def test_the_selection_is_shown_in_the_grid(desk: Desk, canvas: MapCanvas) -> None:
    drag(canvas, column(canvas, 1), SHIFT)
    chosen = set(canvas.chosen_ids.tolist())
    desk.press(Key.Key_Return)
    workspace = desk.window.workspace
    assert workspace.images is not None
    assert set(workspace.model.image_ids.tolist()) == chosen
    assert str(len(chosen)) in workspace.images.title


def test_predictions_of_the_selection_are_accepted(desk: Desk, canvas: MapCanvas) -> None:
    """Predictions above the threshold are accepted in one step."""
    drag(canvas, column(canvas, 3), SHIFT)
    page = page_of(desk)
    assert page.chosen_bar.accept.isVisible()
    free = {each for each in canvas.chosen_ids.tolist() if not desk.label_of(each)}
    button = page.chosen_bar.accept
    change = changed_by(
        desk.qtbot, desk.window.session, lambda: QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    )
    assert set(change.labelled) <= free
    assert all(desk.label_of(each) for each in change.labelled)


def test_colours_follow_labels_and_choices(desk: Desk, canvas: MapCanvas) -> None:
    """A label set elsewhere changes them at once; points can also be coloured by score."""
    legend = page_of(desk).legend
    counts = {text: count for _colour, text, count in legend.rows}
    free = [each for each in desk.state.image_ids.tolist() if not desk.label_of(each)]
    green = desk.graph.find("Green disc")
    act(desk.qtbot, desk.window.session, lambda project: project.labels.set(free, green))
    everybody = len(desk.state.image_ids)
    desk.wait(lambda: {text: count for _colour, text, count in legend.rows} != counts)
    desk.wait(lambda: sum(count for _colour, _text, count in legend.rows) == everybody)
    page_of(desk).bar.choose_by(ColourBy.STATUS)
    desk.wait(
        lambda: [(text, count) for _colour, text, count in legend.rows] == [("Labelled", everybody)]
    )
    assert not page_of(desk).bar.level.isVisible()
    assert (desk.state.label_class != NO_CLASS).all()


def test_typing_goes_on_where_it_began_while_the_map_is_painted_anew(
    desk: Desk, canvas: MapCanvas
) -> None:
    """Predictions arrive while a class is typed: letters and Enter are not keys of the map."""
    drag(canvas, column(canvas, 0), SHIFT)
    canvas.setFocus()
    desk.press(Key.Key_R)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "Green dis")
    scene = canvas.scene
    free = [each for each in desk.state.image_ids.tolist() if not desk.label_of(each)]
    green = desk.graph.find("Green disc")
    act(desk.qtbot, desk.window.session, lambda project: project.labels.set(free, green))
    desk.wait(lambda: canvas.scene is not scene)
    assert QApplication.focusWidget() is field
    desk.press(Key.Key_C)
    assert field.text() == "Green disc"


def test_colours_tell_the_date(desk: Desk, collection: Collection) -> None:
    """Images whose metadata has a date are coloured by it."""
    keep_map(collection)
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)
        taken = datetime(2024, 5, 17, 8, 30)  # noqa: DTZ001 (camera times have no time zone)
        project.details.store(ImageDetails(each, 1, taken_at=taken) for each in ids[:5])
    open_map(desk, collection)
    page_of(desk).bar.choose_by(ColourBy.DATE)
    rest = len(ids) - 5
    desk.wait(lambda: [count for _colour, _text, count in page_of(desk).legend.rows] == [5, rest])
    assert page_of(desk).legend.rows[1][1] == "Without a date"


def test_the_map_is_made_and_completed_by_the_worker(desk: Desk, collection: Collection) -> None:
    """Images missing from a stored map are added without moving the others."""
    keep_map(collection, left_out=3)
    canvas = open_map(desk, collection)
    before = {each: tuple(place) for each, place in _places(canvas).items()}
    desk.wait(lambda: len(canvas.scene.points) == len(desk.state.image_ids))
    after = _places(canvas)
    assert len(after) > len(before) - 1
    assert all(tuple(after[each]) == place for each, place in before.items())


def _places(canvas: MapCanvas) -> dict[int, list[float]]:
    points = canvas.scene.points
    return dict(zip(points.image_ids.tolist(), points.places.tolist(), strict=True))


def test_without_embeddings_it_says_why(desk: Desk, unread: Collection) -> None:
    """Once the images are embedded, the map is computed."""
    desk.open(unread.project)
    desk.press(Key.Key_M, CONTROL)
    page = page_of(desk)
    desk.wait(lambda: bool(page.state.title.text()) or page.is_map_shown)
    desk.wait(lambda: page.is_map_shown)
    assert len(page.canvas.scene.points) > 0


def colours_in_map(canvas: MapCanvas, desk: Desk) -> dict[str, str]:
    """The colour of each class in the legend."""
    colouring = canvas.scene.colouring
    assert colouring is not None
    return {
        desk.graph.name(entry.class_id): entry.colour
        for entry in colouring.legend
        if entry.class_id is not None
    }


def test_a_class_has_one_colour_in_map_list_and_graph_that_no_label_changes(
    desk: Desk, canvas: MapCanvas
) -> None:
    """The colour stays also if a label makes another class the largest one of the map."""
    before = colours_in_map(canvas, desk)
    assert set(before) == {"Red", "Green", "Blue"}
    for name, colour in before.items():
        (index,) = desk.window.tree.front.model().indexes_of(desk.graph.find(name))  # type: ignore[attr-defined]
        assert index.data(COLOUR_ROLE) == colour
    drag(canvas, [*column(canvas, 0), column(canvas, 0)[0]], SHIFT)
    count = len(canvas.chosen_ids)
    assert count
    canvas.setFocus()
    desk.press(Key.Key_R)
    desk.type_into_palette("Green disc")
    desk.press_for_change(Key.Key_Return)
    desk.wait(lambda: desk.window.session.is_settled)
    desk.wait(
        lambda: (
            canvas.scene.colouring is not None and canvas.scene.colouring.legend[0].count > count
        )
    )
    after = colours_in_map(canvas, desk)
    assert after == {name: before[name] for name in after}
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_G, CONTROL)
    board = desk.window.workspace.graph.board
    desk.wait(lambda: len(board.canvas.drawing) > 0 and board.canvas.is_complete)
    for name, colour in before.items():
        assert board.model.look(desk.graph.find(name)).tint.name() == colour
