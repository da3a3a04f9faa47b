"""Source 2: published networks, listed offline, downloaded after confirmation."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSplitter

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.jobs.process_job import ProcessJob
from app.jobs.slot import Stage
from engine.backbones.library import BackboneLibrary
from engine.backbones.messages import AddedBackbone, AddPublished, ListPublished
from engine.backbones.published.titles import Advice
from engine.collection.state import ImageStatus
from engine.worker.protocol import Request
from tests.support.backbone_jobs import LARGE, SMALL, progress, store_catalogue
from tests.support.backbone_panel import EXPORT_MS, listed, panel_for, tasks_of, wait_for
from tests.support.desk import Desk
from tests.support.other_backbones import add_to_library
from tests.support.scripted_workers import Player
from tests.support.sessions import changed_by
from tests.support.weights_server import WeightsServer, serving
from tests.support.widgets import texts

pytestmark = pytest.mark.slow


def test_the_list_is_searched_and_sorted(reviewing: Desk) -> None:
    """By words, and by a click on a heading; no match differs from an empty list."""
    panel = listed(reviewing)
    page = panel.published
    assert [row.name for row in page.model.rows] == ["Largenet (SWAG)", "Smallnet"]
    assert page.current is not None
    assert page.card.isVisible()
    page.table.sortByColumn(1, page.table.horizontalHeader().sortIndicatorOrder())
    assert [row.name for row in page.model.rows] == ["Smallnet", "Largenet (SWAG)"]
    page.search.setText("commercial")
    assert [row.name for row in page.model.rows] == ["Largenet (SWAG)"]
    assert page.card.row is not None
    assert page.card.row.network.network == "largenet"
    page.search.setText("nothing like it")
    assert page.table.isHidden()
    assert page.card.isHidden()
    assert "No network matches" in texts(page)
    page.search.clear()
    assert len(page.model.rows) == 2


def test_nothing_is_fetched_before_the_answer(reviewing: Desk) -> None:
    """Size, host and licence first; "Not now" cancels; a stopped download resumes."""
    panel = listed(reviewing)
    card, download = panel.published.card, reviewing.window.of(Backbones).jobs.download
    player = Player([progress(1_200_000, 4_800_000, "bytes", rate=600_000.0), "wait"], ["wait"])
    download.make_job = player
    panel.published.search.setText("smallnet")
    assert card.download_button.text() == "Download 4.8\u00a0MB…"
    card.download_button.click()
    assert "Downloads 4.8\u00a0MB from 127.0.0.1" in card.question_text
    assert "Licence: none named" in card.question_text.replace("\u200b", "")
    card.refuse_button.click()
    assert player.requests == []
    card.download_button.click()
    card.agree_button.click()
    reviewing.wait(lambda: card.run.progress.facts.startswith("1.2 of 4.8\u00a0MB"))
    assert "600.0\u00a0kB/s" in card.run.progress.facts
    assert "6\u00a0s left" in card.run.progress.facts
    (request,) = player.requests
    assert request == AddPublished(
        reviewing.window.session.caches.root, "torchvision:smallnet", "IMAGENET1K_V1"
    )
    part = reviewing.window.session.caches.root / "downloads" / "smallnet-0123abcd.pth.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(1_200_000))
    card.run.progress.cancel_button.click()
    reviewing.wait(
        lambda: card.download_button.text() == "Resume: 1.2\u00a0MB of 4.8\u00a0MB done…"
    )
    assert card.download_button.isVisible()


def test_a_network_that_is_here_can_be_used(reviewing: Desk, tmp_path: Path) -> None:
    """The card offers it after the download; a toast does if the panel is closed."""
    panel = listed(reviewing)
    card, tasks = panel.published.card, reviewing.window.of(Backbones).jobs
    tasks.download.make_job = Player([AddedBackbone(SMALL.library_name, "00ff", 512)])
    tasks.change.make_job = player = Player(["wait"])
    panel.published.search.setText("smallnet")
    card.download_button.click()
    add_to_library(tmp_path, name=SMALL.library_name)
    card.agree_button.click()
    reviewing.wait(card.use_button.isVisible)
    assert reviewing.window.toast.message == "Added Smallnet"
    assert card.download_button.isHidden()
    card.use_button.click()
    reviewing.wait(lambda: tasks.change.stage is Stage.RUNNING)
    assert player.requests[0].backbone == SMALL.library_name
    tasks.change.cancel()
    reviewing.wait(lambda: tasks.change.stage is Stage.IDLE)


def test_no_network_is_touched_by_looking(reviewing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the page and selecting rows starts one worker, which only lists."""
    requests: list[type] = []
    make_job = reviewing.window.of(Backbones).jobs.listing.make_job

    def make(title: str, request: Request[Any]) -> ProcessJob:
        requests.append(type(request))
        return make_job(title, request)

    for task in tasks_of(reviewing):
        task.make_job = make
    panel = listed(reviewing)
    for row in range(2):
        panel.published.table.selectRow(row)
    panel.show_source(Source.FILE)
    panel.show_source(Source.PUBLISHED)
    assert requests == [ListPublished]
    assert LARGE.library_name not in BackboneLibrary().names()


def test_a_download_that_is_another_file_is_refused(reviewing: Desk) -> None:
    """With a real worker and server: checksum mismatch, nothing is stored, one line in the card."""
    with serving(WeightsServer(bytes(4_800_000))) as server:
        store_catalogue(reviewing.window.session.caches, [replace(SMALL, url=server.url)])
        panel = panel_for(reviewing, Source.PUBLISHED)
        wait_for(reviewing, reviewing.window.of(Backbones).jobs.listing, Stage.DONE)
        card = panel.published.card
        card.download_button.click()
        assert server.ranges == []
        card.agree_button.click()
        wait_for(reviewing, reviewing.window.of(Backbones).jobs.download, Stage.FAILED)
        assert server.ranges == [None]
    assert "not the published one" in card.run.error
    assert card.download_button.isVisible()
    assert BackboneLibrary().names() == ()
    assert not list((reviewing.window.session.caches.root / "downloads").glob("*.part"))


@pytest.mark.slow
def test_a_published_network_comes_in_and_is_used(reviewing: Desk) -> None:
    """It is downloaded, exported, compared with PyTorch, embedded and evaluated."""
    from tests.support.published_networks import SMALL as REAL
    from tests.support.published_networks import facts_of, random_state, saved

    content = saved(random_state(REAL))
    with serving(WeightsServer(content)) as server:
        facts = facts_of(REAL, content, server.url)
        store_catalogue(reviewing.window.session.caches, [facts])
        panel = panel_for(reviewing, Source.PUBLISHED)
        wait_for(reviewing, reviewing.window.of(Backbones).jobs.listing, Stage.DONE)
        card = panel.published.card
        card.download_button.click()
        card.agree_button.click()
        wait_for(
            reviewing,
            reviewing.window.of(Backbones).jobs.download,
            Stage.DONE,
            timeout_ms=EXPORT_MS,
        )
    reviewing.wait(card.use_button.isVisible)
    card.use_button.click()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.change, Stage.DONE)
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    assert reviewing.state.model_name == facts.library_name
    assert (reviewing.state.status == ImageStatus.READY).all()


def test_three_are_recommended_before_all_others(reviewing: Desk) -> None:
    """Each has its facts and its own download; only the chosen card shows progress."""
    fast = replace(
        SMALL,
        network="mobilenet_v3_small",
        billion_operations=0.06,
        url="http://127.0.0.1:9/m-0.pth",
    )
    best = replace(
        SMALL, network="convnext_large", billion_operations=34.4, top1=84.4, size_bytes=791_000_000
    )
    store_catalogue(reviewing.window.session.caches, [best, LARGE, SMALL, fast])
    panel = panel_for(reviewing, Source.PUBLISHED)
    page, download = panel.published, reviewing.window.of(Backbones).jobs.download
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.listing, Stage.DONE)
    reviewing.wait(page.recommended[Advice.FAST].isVisible)
    first, second, third = (page.recommended[advice] for advice in Advice)
    assert not second.isVisible()
    assert "MobileNet V3 Small" in texts(first)
    assert "58.1% ImageNet top-1" in texts(first)
    assert "about 573 times slower" in texts(third)
    download.make_job = player = Player([progress(1, 100, "bytes"), "wait"])
    for place in (third.download_button, third.agree_button):
        QTest.mouseClick(place, Qt.MouseButton.LeftButton)
    reviewing.wait(third.run.isVisible)
    assert player.requests[0].source == "torchvision:convnext_large"
    assert not first.run.isVisible()
    assert not first.download_button.isEnabled()
    QTest.mouseClick(third.run.progress.cancel_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: not download.is_busy)


@pytest.mark.parametrize("width", [320, 440, 620])
def test_names_are_distinct_at_every_width(reviewing: Desk, width: int) -> None:
    """The name is never cut; other columns are shown as far as they fit."""
    names = ("convnext_tiny", "convnext_small", "convnext_base", "convnext_large")
    store_catalogue(
        reviewing.window.session.caches, [replace(SMALL, network=name) for name in names]
    )
    panel = panel_for(reviewing, Source.PUBLISHED)
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.listing, Stage.DONE)
    panes = reviewing.window.findChild(QSplitter)
    assert isinstance(panes, QSplitter)
    reviewing.window.resize(1600, 800)
    panes.setSizes([200, 1398 - width, width])
    QApplication.processEvents()
    table = panel.published.table
    shown = {}
    for row in range(4):
        index = table.model().index(row, 0)
        room = table.visualRect(index).width() - 16
        text = str(index.data())
        shown[text] = table.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, room)
    assert all(text == seen for text, seen in shown.items())
    right = max(table.visualRect(table.model().index(0, place)).right() for place in range(5))
    assert right <= table.viewport().width()
    assert (
        sum(not table.isColumnHidden(place) for place in range(5))
        == {320: 2, 440: 4, 620: 5}[width]
    )
