"""Two publishers in one list: filtered, searched fast, downloaded from a mirror."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSpinBox, QSplitter

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.backbones.published_page import PublishedPage
from app.backbones.wording import NOT_KNOWN
from app.jobs.slot import Stage
from app.settings import Settings
from engine.backbones.messages import AddedBackbone
from engine.worker.protocol import Failed
from tests.support.backbone_jobs import LARGE, SMALL, store_catalogue
from tests.support.backbone_panel import panel_for, wait_for
from tests.support.clipping import clipped
from tests.support.desk import CONTROL, Desk
from tests.support.other_backbones import add_to_library
from tests.support.scripted_workers import Player
from tests.support.widgets import texts

pytestmark = pytest.mark.slow

Key = Qt.Key
Left = Qt.MouseButton.LeftButton
DINOV2 = replace(
    SMALL,
    publisher="timm",
    network="vit_small_patch14_dinov2",
    weights="lvd142m",
    top1=None,
    top5=None,
    billion_operations=None,
    input_side=518,
    sha256_prefix="",
    size_bytes=88_200_000,
    licence="Apache 2.0",
    url="https://huggingface.co/timm/vit_small_patch14_dinov2.lvd142m/resolve/main/model.safetensors",
)
FRAME_S = 1 / 60


def page_of(desk: Desk, *networks: object) -> PublishedPage:
    """The page with these networks, listed by the real worker."""
    store_catalogue(desk.window.session.caches, networks)  # type: ignore[arg-type]
    page = panel_for(desk, Source.PUBLISHED).published
    wait_for(desk, desk.window.of(Backbones).jobs.listing, Stage.DONE)
    return page


def test_a_publisher_is_chosen(reviewing: Desk) -> None:
    """By keyboard; the search continues among its networks; unknown values are dashes."""
    page = page_of(reviewing, SMALL, LARGE, DINOV2)
    assert len(page.model.rows) == 3
    assert page.publisher.isVisible()
    page.publisher.setFocus()
    QTest.keyClicks(page.publisher, "timm", delay=20)
    assert [row.name for row in page.model.rows] == ["vit_small_patch14_dinov2.lvd142m"]
    assert page.model.index(0, 2).data() == NOT_KNOWN
    assert page.card.download_button.text() == "Download about 88.2\u00a0MB…"
    QTest.mouseClick(page.search, Left)
    QTest.keyClicks(page.search, "dino apache", delay=20)
    assert len(page.model.rows) == 1
    QTest.keyClicks(page.search, " resnet", delay=20)
    assert "No network matches" in texts(page)


@pytest.mark.parametrize("width", [330, 440])
def test_search_and_publisher_are_whole_at_every_width(reviewing: Desk, width: int) -> None:
    """The placeholder of the search and the chosen publisher are not clipped."""
    page = page_of(reviewing, SMALL, DINOV2)
    panes = reviewing.window.findChild(QSplitter)
    assert isinstance(panes, QSplitter)
    reviewing.window.resize(1600, 800)
    panes.setSizes([200, 1398 - width, width])
    reviewing.wait(lambda: clipped(page) == [])
    page.publisher.setFocus()
    QTest.keyClicks(page.publisher, "torchvision", delay=5)
    reviewing.wait(lambda: clipped(page) == [])


def test_without_timm_the_page_says_what_it_would_bring(reviewing: Desk) -> None:
    """A line with the command that installs it; no filter with a single entry."""
    page = page_of(reviewing, SMALL, LARGE)
    assert page.publisher.isHidden()
    assert "pip install protoleaf[timm]" in texts(page)


@pytest.mark.parametrize("width", [330, 620])
def test_names_of_timm_are_distinct(reviewing: Desk, width: int) -> None:
    """They differ in the middle, so a narrow panel hides other columns, and always empty ones."""
    with_registers = replace(DINOV2, network="vit_small_patch14_reg4_dinov2")
    page = page_of(reviewing, SMALL, DINOV2, with_registers)
    panes = reviewing.window.findChild(QSplitter)
    assert isinstance(panes, QSplitter)
    reviewing.window.resize(1600, 800)
    panes.setSizes([200, 1398 - width, width])
    QTest.keyClicks(page.search, "dinov2", delay=5)
    QApplication.processEvents()
    table = page.table
    for row in range(2):
        index = table.model().index(row, 0)
        text, room = str(index.data()), table.visualRect(index).width() - 16
        assert table.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room) == text
    assert table.isColumnHidden(2)
    assert table.isColumnHidden(1) == (width == 330)


def test_two_thousand_rows_are_searched_within_frames(reviewing: Desk) -> None:
    """A key press in the search costs a few frames of CPU time at most."""
    many = [
        replace(DINOV2, network=f"network_{number}", url=f"{DINOV2.url}{number}")
        for number in range(2_000)
    ]
    page = page_of(reviewing, SMALL, LARGE, *many)
    assert len(page.model.rows) == 2_002
    QTest.mouseClick(page.search, Left)
    spent = []
    for letter in "network_1999":
        start = time.thread_time()
        QTest.keyClicks(page.search, letter)
        spent.append(time.thread_time() - start)
    assert [row.network.network for row in page.model.rows] == ["network_1999"]
    assert sorted(spent)[len(spent) // 2] < 6 * FRAME_S


def test_a_mirror_is_typed_and_remembered(
    reviewing: Desk, settings: Settings, tmp_path: Path
) -> None:
    """A path that is no folder is rejected at once; the question names the mirror."""
    page = page_of(reviewing, DINOV2)
    reviewing.window.of(Backbones).jobs.download.make_job = player = Player([Failed("no way")])
    assert page.mirror.open_button.text() == "Use a mirror…"
    QTest.mouseClick(page.mirror.open_button, Left)
    assert page.mirror.field.hasFocus()
    reviewing.qtbot.keyClicks(page.mirror.field, str(tmp_path / "gone"))
    reviewing.press(Key.Key_Return)
    assert "the mirror is not a folder" in page.mirror.problem.text()
    assert settings.mirror == ""
    page.mirror.field.selectAll()
    reviewing.qtbot.keyClicks(page.mirror.field, str(tmp_path))
    reviewing.press(Key.Key_Return)
    assert settings.mirror == str(tmp_path)
    assert page.mirror.open_button.text().startswith("Mirror: ")
    page.card.download_button.click()
    assert "Nothing is downloaded" in page.card.question_text
    page.card.agree_button.click()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.download, Stage.FAILED)
    (request,) = player.requests
    assert (request.source, request.mirror) == (
        "timm:vit_small_patch14_dinov2.lvd142m",
        str(tmp_path),
    )


def type_size(desk: Desk, box: QSpinBox, text: str) -> None:
    """Replace the text of the box."""
    QTest.mouseClick(box.lineEdit(), Left)
    desk.press(Key.Key_A, CONTROL)
    QTest.keyClicks(box, text, delay=5)
    desk.press(Key.Key_Return)


def test_a_network_of_timm_takes_another_input_size(reviewing: Desk, tmp_path: Path) -> None:
    """In pixels; an impossible size is rejected, and the result is a backbone of its own."""
    page = page_of(reviewing, SMALL, DINOV2)
    card, jobs = page.card, reviewing.window.of(Backbones).jobs
    assert card.input_size.isHidden()
    QTest.keyClicks(page.search, "dinov2", delay=5)
    assert card.input_size.isVisible()
    type_size(reviewing, card.input_size.box, "220")
    assert "The input size must be a multiple of 14." in texts(card)
    assert not card.download_button.isEnabled()
    type_size(reviewing, card.input_size.box, "224")
    assert "about 88.2\u00a0MB  ·  224\u00a0px" in texts(card)
    assert "measured once it is on this computer" in texts(card)
    name = f"{DINOV2.library_name}-224px"
    jobs.download.make_job = player = Player([AddedBackbone(name, "00ff", 384)])
    QTest.mouseClick(card.download_button, Left)
    add_to_library(tmp_path, name=name)
    QTest.mouseClick(card.agree_button, Left)
    reviewing.wait(card.use_button.isVisible)
    assert [request.input_side for request in player.requests] == [224]
    jobs.change.make_job = change = Player(["wait"])
    QTest.mouseClick(card.use_button, Left)
    reviewing.wait(lambda: bool(change.requests))
    assert change.requests[0].backbone == name
    jobs.change.cancel()
    reviewing.wait(lambda: not jobs.change.is_busy)
    type_size(reviewing, card.input_size.box, "518")
    assert card.download_button.isVisible()


@pytest.mark.parametrize(
    ("mirror", "host"), [("", "huggingface.co"), ("https://hub.example", "hub.example")]
)
def test_the_question_names_the_server(
    reviewing: Desk, settings: Settings, mirror: str, host: str
) -> None:
    """The question names the server that will be contacted."""
    settings.mirror = mirror
    page = page_of(reviewing, DINOV2)
    page.card.download_button.click()
    assert f"Downloads about 88.2\u00a0MB from {host}" in page.card.question_text
