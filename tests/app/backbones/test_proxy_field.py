"""Downloads through a proxy: entered, validated, used and stored, without its password."""

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

pytestmark = pytest.mark.slow

Key = Qt.Key


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the proxy variables of the environment."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_an_address_the_system_decides(reviewing: Desk) -> None:
    """A plain line; no proxy is needed, and none is passed to the download."""
    page = listed(reviewing).published
    reviewing.window.of(Backbones).jobs.download.make_job = player = Player([Failed("no way")])
    assert page.proxy.open_button.text() == "Use a proxy…"
    assert not page.proxy.field.isVisible()
    page.card.download_button.click()
    page.card.agree_button.click()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.download, Stage.FAILED)
    assert player.requests[0].proxy == ""


def test_what_is_no_proxy_is_refused_in_place(reviewing: Desk, settings: Settings) -> None:
    """One line below the field, as on the command line; nothing is downloaded or stored."""
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
    """With the real worker: it gets the full URL and credentials; the password is not stored."""
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
    assert "does not have the expected size" in page.card.run.error
    assert BackboneLibrary().names() == ()
    assert settings.proxy == f"http://anna@127.0.0.1:{proxy.port}"
    assert page.proxy.open_button.text() == f"Proxy: http://anna@127.0.0.1:{proxy.port}"
    assert page.proxy.value.startswith("http://anna:secret@")


def test_the_address_is_there_the_next_time(settings: Settings, reviewing: Desk) -> None:
    """The stored proxy is used from the start; once cleared, the system's is."""
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
