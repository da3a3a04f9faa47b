"""JSON output of commands is the same in every language; error messages are translated."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from app.language import LANGUAGE_VARIABLE, language_names
from app.texts import speak
from engine.cli.output import failure_rows
from engine.errors import ImageError, reason_of
from engine.files import FileFailure
from engine.texts import Message
from tests.support.collections import Collection

ENGLISH = ("--language", "en")
OTHERS = (("--language", "de"), ("--language", "zh_CN"), ())


@pytest.fixture(autouse=True)
def languages(compiled_languages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compiled translations; none is chosen, and the system's messages are French."""
    monkeypatch.setattr("app.language.TRANSLATIONS", compiled_languages)
    monkeypatch.setenv("LC_MESSAGES", "fr_FR.UTF-8")
    language_names.cache_clear()
    yield
    speak(None)
    language_names.cache_clear()


@pytest.fixture
def commands(collection: Collection, tmp_path: Path) -> list[tuple[int, tuple[str, ...]]]:
    """Commands with their exit statuses: successful, rejected and misused."""
    project = str(collection.project)
    (tmp_path / "broken.csv").write_text("parent,child\nA,B\nB,A\n")
    return [
        (0, ("check", project)),
        (0, ("versions", project)),
        (0, ("suggest", project, "--count", "3")),
        (0, ("duplicates", project)),
        (0, ("images", project, "--search", "Red")),
        (0, ("check-labels", project)),
        (0, ("backups", "list", project)),
        (0, ("report", project, str(tmp_path / "report.html"))),
        (0, ("export-graph", project, str(tmp_path / "graph.svg"))),
        (0, ("what-if", project, "--unlink", "Red disc=Red")),
        (0, ("import-images", project, str(collection.unsorted))),
        (1, ("import-graph", project, str(tmp_path / "broken.csv"))),
        (1, ("images", project, "--search", "date:yesterday")),
        (1, ("check", str(tmp_path / "none.protoleaf"))),
        (1, ("what-if", project, "--unlink", "Purple disc=Red")),
        (2, ("versions",)),
        (2, ("doctor", "--nonsense")),
        (2, ("evaluate", project, "--truth", str(collection.truth), "--setting", "magic")),
    ]


@pytest.mark.slow
def test_json_is_the_same_in_every_language(
    commands: list[tuple[int, tuple[str, ...]]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Byte for byte, except a report's time and the messages on standard error."""

    def run(language: tuple[str, ...], command: tuple[str, ...]) -> tuple[int, str, str]:
        speak(None)
        monkeypatch.setenv(LANGUAGE_VARIABLE, "")
        capsys.readouterr()
        status = main([*language, *command, "--json"])
        out, error = capsys.readouterr()
        return status, re.sub(r'"made_at": "[^"]*"', "", out), error

    for status, command in commands:
        expected = run(ENGLISH, command)
        assert expected[0] == status, expected
        assert bool(expected[1]) is (status == 0), expected
        for language in OTHERS:
            assert run(language, command) == expected, (language, command)


def test_files_that_cannot_be_used_have_a_code() -> None:
    """A code accompanies the English reason, also if it is the cause of another error."""
    error = ImageError("{path} is empty", remedy="copy it again", path="a.jpg")
    failures = [
        FileFailure(Path("a.jpg"), reason_of(error)),
        FileFailure(Path("b"), Message("it is not there")),
    ]
    assert failure_rows(failures) == [
        {"path": "a.jpg", "reason": "a.jpg is empty. Copy it again", "code": "is-empty"},
        {"path": "b", "reason": "it is not there", "code": "it-is-not-there"},
    ]


@pytest.mark.slow
def test_results_and_files_are_english_and_errors_are_not(
    collection: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A report, too, as its readers may use another language."""
    found, report = [], tmp_path / "report.csv"
    for language in (ENGLISH, *OTHERS):
        monkeypatch.setenv(LANGUAGE_VARIABLE, "")
        assert main([*language, "report", str(collection.project), str(report)]) == 0
        found.append((capsys.readouterr().out, report.read_bytes()))
    assert found == found[:1] * 4
    errors = []
    for language in (ENGLISH, *OTHERS):
        monkeypatch.setenv(LANGUAGE_VARIABLE, "")
        assert main([*language, "check", str(tmp_path / "none.protoleaf")]) == 1
        errors.append(capsys.readouterr().err)
    assert len(set(errors)) == 4, errors
