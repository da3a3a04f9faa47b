"""`make run`: with a display the window comes first; without one it is not needed."""

import pytest

from research.window import sample_run


def test_with_a_display_the_window_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn before: the window creates the sample itself and shows progress."""
    asked: list[tuple[object, bool]] = []

    def open_window(project: object, *, with_sample: bool = False) -> int:
        asked.append((project, with_sample))
        return 0

    def draw(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the sample was made before the window was shown")

    monkeypatch.setattr(sample_run, "has_display", lambda: True)
    monkeypatch.setattr("app.__main__.open_window", open_window)
    monkeypatch.setattr("research.window.embedded_sample.make_sample_project", draw)
    assert sample_run.main() == 0
    assert asked == [(None, True)]
