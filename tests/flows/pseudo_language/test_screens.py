"""Every screen in the pseudo-language: all is translated, nothing is clipped at 140 %."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt

from app.backbones.logic import Source
from app.compare.controller import Comparing
from app.computing.controller import Computing
from app.exporting.controller import Exporting
from app.jobs.slot import Stage
from app.key_choice.controller import KeyChoice
from app.report.controller import ReportFeature
from app.training.controller import Models
from app.welcome.controller import Projects
from app.workspace.search_filters import FilterPopover
from engine.collection.recommendations import Recommendation, RecommendationKind
from engine.embedding.messages import MeasuredRates
from engine.training.curve import TrainingDuration
from tests.support.backbone_panel import panel_for
from tests.support.collections import LEAVES
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.offers import offer_two
from tests.support.pseudo_reader import Reader
from tests.support.scripted_workers import Player
from tests.support.sessions import settle
from tests.support.surveys import WITHOUT_GPU

pytestmark = pytest.mark.slow


def test_before_a_project(
    desk: Desk, reader: Reader, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start page, and the sheet of a new project."""
    reader.read("welcome")
    offer_two(monkeypatch)
    making = desk.window.of(Projects).making
    making.measuring.make_job = Player([MeasuredRates({})])
    making.begin()
    desk.wait(lambda: making.card is not None and making.card.isVisible())
    desk.wait(lambda: making.measuring.stage is Stage.DONE)
    reader.read("new-project")


SCREENS: Sequence[str] = (
    "tune_propagation",
    "train_backbone",
    "show_model_versions",
    "backups",
    "find_moved_images",
    "show_suggestions",
    "show_keys",
    "settings",
    "command_palette",
    "relabel",
    "show_graph",
    "open_image",
    "rename_class",
    "move_class",
    "link_parent",
    "merge_class",
    "new_class",
    "new_sibling",
    "new_parent",
    "new_top_class",
    "copy_report",
    "export_graph",
    "import_labels",
    "merge_copy",
    "import_classes",
    "what_if",
    "show_changed_images",
    "discard_what_if",
    "split_class",
    "change_keys",
    "compare",
    "flag",
    "stars_3",
    "copy_path",
    "search_images",
    "clear_search",
    "undo",
    "redo",
)
"""Actions that open something or show a message."""


def test_every_action(reviewing: Desk, reader: Reader) -> None:
    """Whatever an action opens, with an image and a class selected."""
    read_every_action(reviewing, reader)


def read_every_action(reviewing: Desk, reader: Reader) -> None:
    """Read the screens of all actions, one after another."""
    window = reviewing.window
    window.of(Models).forecast.measuring.make_job = Player(*[[TrainingDuration(1.0, 40.0)]] * 3)
    reader.read("images")
    reviewing.choose(0)
    reader.read("image-chosen")
    window.tree.select_class(reviewing.graph.find("Red disc"))
    settle(reviewing.qtbot, window.session)
    reader.read("class-chosen")
    for name in SCREENS:
        window.registry.trigger(name)
        settle(reviewing.qtbot, window.session)
        reader.read(name)
        reviewing.press(Qt.Key.Key_Escape)


def test_searching(reviewing: Desk, reader: Reader) -> None:
    """Completions, filters, invalid terms, no matches; and a comment."""
    window = reviewing.window
    reviewing.choose(0)
    reviewing.press(Qt.Key.Key_N)
    reader.read("comment")
    reviewing.press(Qt.Key.Key_Escape)
    reviewing.press(Qt.Key.Key_F, CONTROL)
    bar = window.workspace.search_bar
    reviewing.press(Qt.Key.Key_Down)
    assert bar.offers.isVisible()
    reader.read("search-fields")
    bar.offers.hide()
    for name, query in (
        ("search-problem", "date:yesterday"),
        ("search-field", "xxx:55"),
        ("search-has", "has:fleas"),
    ):
        bar.field.setText(query)
        reviewing.wait(lambda: bool(bar.problem))
        reader.read(name)
        bar.field.setText("stars:0")
        reviewing.wait(lambda: not bar.problem)
    bar.field.setText("stars:5")
    reviewing.wait(lambda: window.workspace.model.rowCount() == 0)
    reader.read("search-nothing")
    filters = FilterPopover(bar)  # without folder names, which are not translated
    filters.show()
    reader.read("search-filters", filters)
    filters.hide()


def test_images_beside_one_another(reviewing: Desk, reader: Reader) -> None:
    """Comparison of several images, and of one with examples of its classes; a key conflict."""
    window = reviewing.window
    reviewing.choose(0)
    for _ in range(4):
        reviewing.press(Qt.Key.Key_Right, SHIFT)
    reviewing.press(Qt.Key.Key_C)
    settle(reviewing.qtbot, window.session)
    reader.read("compare-four")
    reviewing.press(Qt.Key.Key_Escape)
    reviewing.choose(0)
    reviewing.press(Qt.Key.Key_C)
    page = window.of(Comparing).why_not
    assert page is not None
    reviewing.wait(lambda: all(row.shot_ids for row in page.rows))
    reader.read("why-not")
    reviewing.press(Qt.Key.Key_Escape)
    window.registry.trigger("change_keys")
    card = window.of(KeyChoice).card
    assert card is not None
    for key in (Qt.Key.Key_R, Qt.Key.Key_Tab):
        card.choose("accept")
        card.field.begin()
        reader.read("recording")
        reviewing.qtbot.keyClick(card.field, key)
        reader.read(f"key-{key.name}")
    reviewing.press(Qt.Key.Key_Escape)


def test_cards_that_take_their_time(
    reviewing: Desk, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices and recommendations, formats, imports, backbones: after they are loaded."""
    window = reviewing.window
    ids = tuple(reviewing.graph.find(name) for name in LEAVES[:2])
    kinds = (RecommendationKind.ACCURATE_BACKBONE, RecommendationKind.MORE_EXAMPLES)
    recommended = tuple(Recommendation(kind, ids, 1_240) for kind in kinds)
    monkeypatch.setattr(
        "engine.collection.recommendations.recommendations_of", lambda _live: recommended
    )
    computing, exporting = window.of(Computing), window.of(Exporting)
    computing.looking.make_job = Player([WITHOUT_GPU])
    window.registry.trigger("choose_device")
    panel = computing.panel
    assert panel is not None
    reviewing.wait(
        lambda: computing.looking.stage is Stage.DONE and bool(panel.recommendations[1].text)
    )
    reader.read("devices")
    reviewing.press(Qt.Key.Key_Escape)
    window.registry.trigger("export")
    card = exporting.card
    assert card is not None
    for name in card.formats.buttons:
        card.formats.choose(name)
        reviewing.wait(lambda: card.look is not None)
        reader.read(f"export-{name}")
    reviewing.press(Qt.Key.Key_Escape)
    for source in Source:
        panel_for(reviewing, source)
        reader.read(f"backbones-{source}")


def test_the_report(reviewing: Desk, reader: Reader) -> None:
    """Each of its sections, also with another setting."""
    window = reviewing.window
    window.registry.trigger("report")
    page = window.of(ReportFeature).page
    assert page is not None
    reviewing.wait(lambda: page.made is not None)
    page.rival.setCurrentIndex(1)
    page.make_requested.emit()
    reviewing.wait(lambda: page.made is not None and page.made.report.comparison is not None)
    for key in list(page.chips):
        page.show_section(key)
        settle(reviewing.qtbot, window.session)
        reader.read(f"report-{key}")
