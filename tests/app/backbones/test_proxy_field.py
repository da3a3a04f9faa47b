"""Downloads behind a proxy: its address typed, refused, passed on and remembered, its password forgotten."""

import pytest
from PySide6.QtCore import Qt

from app.backbones.controller import Backbones
from app.backbones.logic import Source
from app.jobs.slot import Stage
from app.settings import Settings
from engine.backbones.library import BackboneLibrary
from engine.worker.protocol import Failed
from tests.support.backbone_jobs import SMALL
from tests.support.backbone_panel import listed, panel_for, wait_for
from tests.support.desk import Desk
from tests.support.scripted_workers import Player
from tests.support.weights_server import WeightsServer, serving

Key = Qt.Key


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The computer's own proxies, and their exceptions, stay out of the tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_an_address_the_system_decides(reviewing: Desk) -> None:
    """A quiet line; no proxy has to be entered, and none is passed on."""
    page = listed(reviewing).published
    reviewing.window.of(Backbones).jobs.download.make_job = player = Player([Failed("no way")])
    assert page.proxy.open_button.text() == "Use a proxy…"
    assert not page.proxy.field.isVisible()
    page.card.download_button.click()
    page.card.agree_button.click()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.download, Stage.FAILED)
    assert player.requests[0].proxy == ""


def test_what_is_no_proxy_is_refused_in_place(reviewing: Desk, settings: Settings) -> None:
    """One line below the field, as the command line says it; nothing is fetched or remembered before it is mended."""
    page = listed(reviewing).published
    reviewing.window.of(Backbones).jobs.download.make_job = player = Player([Failed("no way")])
    page.proxy.open_button.click()
    assert page.proxy.field.hasFocus()
    reviewing.qtbot.keyClicks(page.proxy.field, "socks5://anna:secret@here:1")
    reviewing.press(Key.Key_Return)
    problem = page.proxy.problem.text().replace("\u200b", "")
    assert (
        problem
        == "this is not a proxy's address: expected http://host:port, found “socks5://anna@here:1”"
    )
    assert page.proxy.problem.isVisible()
    page.proxy.open_button.click()
    assert page.proxy.field.isVisible()
    page.card.download_button.click()
    page.card.agree_button.click()
    assert (player.requests, settings.proxy) == ([], "")
    assert page.proxy.field.hasFocus()
    page.proxy.field.setText(" proxy.example:3128 ")
    page.card.agree_button.click()
    assert not page.proxy.problem.isVisible()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.download, Stage.FAILED)
    assert (player.requests[0].proxy, settings.proxy) == (
        "proxy.example:3128",
        "proxy.example:3128",
    )


def test_a_download_goes_through_the_proxy(reviewing: Desk, settings: Settings) -> None:
    """With the real worker: the proxy gets the whole address, by name and password; only the name is kept."""
    panel = listed(reviewing)
    page, download = panel.published, reviewing.window.of(Backbones).jobs.download
    page.search.setText("smallnet")
    with serving(WeightsServer(b"another file")) as proxy:
        page.proxy.open_button.click()
        reviewing.qtbot.keyClicks(page.proxy.field, f"http://anna:secret@127.0.0.1:{proxy.port}")
        page.card.download_button.click()
        page.card.agree_button.click()
        wait_for(reviewing, download, Stage.FAILED)
        assert (proxy.paths, proxy.people) == ([SMALL.url], ["anna:secret"])
    assert "is not the expected one" in page.card.run.error
    assert BackboneLibrary().names() == ()
    assert settings.proxy == f"http://anna@127.0.0.1:{proxy.port}"
    assert page.proxy.open_button.text() == f"Proxy: http://anna@127.0.0.1:{proxy.port}"
    assert page.proxy.value.startswith("http://anna:secret@")


def test_the_address_is_there_the_next_time(settings: Settings, reviewing: Desk) -> None:
    """What was remembered is in force from the start; cleared, it is the system's again."""
    settings.proxy = "http://anna:secret@proxy.example:3128"
    page = panel_for(reviewing, Source.PUBLISHED).published
    assert page.proxy.value == "http://anna@proxy.example:3128"
    page.proxy.open_button.click()
    page.proxy.field.clear()
    reviewing.press(Key.Key_Return)
    assert settings.proxy == ""
    assert page.proxy.open_button.text() == "Use a proxy…"
    page.proxy.open_button.click()
    assert not page.proxy.field.isVisible()
