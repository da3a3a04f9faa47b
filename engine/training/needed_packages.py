"""What needs more than classification does says so before it begins."""

from collections.abc import Sequence
from importlib.util import find_spec

from engine.errors import ModelError


def check_packages(packages: Sequence[str], what: str, *, extra: str = "train") -> None:
    """Refuse where only what classification needs is installed.

    Args:
        packages: names to import.
        what: needs them, as the beginning of a sentence: "training needs", "networks of timm need".
        extra: of Protoleaf, that brings them.

    Raises:
        ModelError: names the packages that are missing.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ModelError(
            f"{what} packages that are not installed",
            expected=", ".join(packages),
            found=f"no {', '.join(missing)}",
            remedy=f"install protoleaf[{extra}]",
        )
