"""The window speaks another language where there is one."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.language import LANGUAGE_VARIABLE, install_language
from app.texts import plural, speak, tr
from engine.errors import ModelError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pseudo_language() -> Path:
    subprocess.run([sys.executable, str(ROOT / "packaging" / "translations.py")], check=True, cwd=ROOT)
    return ROOT / "build" / "translations" / "protoleaf_pseudo.qm"


def test_texts_plurals_and_errors_are_translated(
    qapp: QApplication, pseudo_language: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values stay as they are, and what nobody translated stays English."""
    monkeypatch.setenv(LANGUAGE_VARIABLE, str(pseudo_language))
    install_language(qapp)
    try:
        assert tr("%1 of %2", "3", "4").startswith("[3 óf 4·")
        assert plural(2, "1 image", "%n images").startswith("[2 ímágéš·")
        error = ModelError("the model file is empty", found="/data/x.onnx")
        assert error.translated().startswith("[thé módél fílé íš émptý·")
        assert "/data/x.onnx" in error.translated()
        assert str(error) == "the model file is empty: found /data/x.onnx"
        assert tr("nobody says so") == "nobody says so"
    finally:
        speak(None)
    assert plural(1, "1 image", "%n images") == "1 image"
