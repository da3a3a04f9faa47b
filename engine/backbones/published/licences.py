"""Licences of published weights in words: the hub tells them in short names, and some forbid commercial use."""

from collections.abc import Mapping
from typing import Final

from engine.backbones.published.facts import FOR_RESEARCH, NON_COMMERCIAL, UNNAMED

NOT_KNOWN: Final = f"{UNNAMED} for the weights; see the network's page on the hub"
_RESEARCH: Final[Mapping[str, str]] = {
    "cc-by-nc-4.0": NON_COMMERCIAL,
    "cc-by-nc-sa-4.0": f"CC-BY-NC-SA 4.0{FOR_RESEARCH}",
    "cc-by-nc-nd-4.0": f"CC-BY-NC-ND 4.0{FOR_RESEARCH}",
    "fair-noncommercial-research-license": f"FAIR Noncommercial Research License{FOR_RESEARCH}",
    "apple-amlr": f"Apple Machine Learning Research Model License{FOR_RESEARCH}",
}
_USUAL: Final[Mapping[str, str]] = {
    "apache-2.0": "Apache 2.0", "mit": "MIT", "bsd-3-clause": "BSD-3-Clause", "cc-by-4.0": "CC-BY 4.0",
    "cc0-1.0": "CC0 1.0",
}  # fmt: skip
_NOBODYS: Final = frozenset({"", "unknown", "other", "none"})


def licence_in_words(short: str | None) -> str:
    """What a short name of the hub means: `Apache 2.0`; `CC-BY-NC 4.0: not for commercial use`; own terms by name."""
    name = (short or "").strip().lower()
    if name in _NOBODYS:
        return NOT_KNOWN
    return _RESEARCH.get(name) or _USUAL.get(name) or f"{name}; its own terms, see the network's page on the hub"
