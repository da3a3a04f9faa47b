"""Checks for packages beyond those of classification."""

from collections.abc import Sequence
from importlib.util import find_spec

from engine.config import is_packaged
from engine.errors import ModelError
from engine.texts import enumerated, marked

_PACKAGE = "protoleaf-training"
"""The package of the program with the extra "train" (packaging/installer/flavours.py)."""


def check_packages(packages: Sequence[str], what: str, *, extra: str = "train") -> None:
    """Refuse where packages are missing; `what` needs them begins the sentence: "training needs".

    Raises:
        ModelError: names the packages that are missing.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ModelError(
            "{subject} packages that are not installed",
            expected=enumerated(packages),
            found="no {missing}",
            remedy=_remedy(extra),
            subject=what,
            missing=enumerated(missing),
            extra=extra,
            package=_PACKAGE,
        )


def _remedy(extra: str) -> str:
    if not is_packaged():
        return marked("install protoleaf[{extra}]")
    if extra == "train":
        return marked(
            "install the package {package} in place of this one; projects and settings stay"
        )
    return marked("install Protoleaf with Python: pipx install 'protoleaf[{extra}]'")
