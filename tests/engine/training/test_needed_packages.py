"""What is reported where only classification was installed."""

import sys

import pytest
from installer.flavours import TRAINING

from engine.errors import ModelError
from engine.training.needed_packages import check_packages


@pytest.mark.parametrize(
    ("packaged", "extra", "remedy"),
    [
        (False, "train", "Install protoleaf[train]"),
        (
            True,
            "train",
            (
                f"Install the package {TRAINING.package} in place of this one; "
                "projects and settings stay"
            ),
        ),
        (True, "timm", "Install Protoleaf with Python: pipx install 'protoleaf[timm]'"),
    ],
)
def test_the_remedy_fits_the_installation(
    packaged: bool, extra: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a packaged program no package can be added."""
    monkeypatch.setattr(sys, "frozen", packaged, raising=False)
    with pytest.raises(ModelError, match="no absent_package") as refused:
        check_packages(("numpy", "absent_package"), "this needs", extra=extra)
    assert str(refused.value).endswith(remedy)
