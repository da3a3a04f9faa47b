"""Visual order and Arabic shaping of text, since PDF places glyphs.

Right-to-left words are turned around and Arabic letters get their joined forms, which Unicode has
as characters. A simple reading of the Unicode Bidirectional Algorithm: enough for names and short
lines, without embeddings.
"""

import unicodedata
from functools import cache
from itertools import groupby

_RIGHT_TO_LEFT = frozenset({"R", "AL"})
_LEFT_TO_RIGHT = frozenset({"L", "EN", "AN"})
_MARK = "NSM"
_ISOLATES = dict.fromkeys(map(ord, "\u2066\u2068\u2069"))
_FIRST_FORM, _LAST_FORM = 0xFB50, 0xFEFC
_LAM = "\u0644"
_FIRST_LAM_ALEF = 0xFEF5


def visual(text: str) -> str:
    """The characters in visual order, from left to right, without isolates."""
    text = text.translate(_ISOLATES)
    classes = [unicodedata.bidirectional(each) for each in text]
    if not _RIGHT_TO_LEFT.intersection(classes):
        return text
    shaped = _joined(text)
    directions = _directions(shaped)
    runs = [
        (is_right, [each for each, _ in run])
        for is_right, run in groupby(zip(shaped, directions, strict=True), lambda pair: pair[1])
    ]
    pieces = [
        "".join(map(_mirrored, _clusters_reversed(run))) if is_right else "".join(run)
        for is_right, run in runs
    ]
    return "".join(reversed(pieces)) if _base(shaped) else "".join(pieces)


def _base(text: str) -> bool:
    """Whether the base direction is right to left: that of the first letter."""
    for each in text:
        direction = unicodedata.bidirectional(each)
        if direction in _RIGHT_TO_LEFT:
            return True
        if direction == "L":
            return False
    return False


def _directions(text: str) -> list[bool]:
    """Whether each character is right to left; neutral ones follow both neighbours or the base."""
    base, known = _base(text), list[bool | None]()
    for each in text:
        direction = unicodedata.bidirectional(each)
        if direction in _RIGHT_TO_LEFT or (direction == _MARK and known and known[-1]):
            known.append(True)
        else:
            known.append(False if direction in _LEFT_TO_RIGHT else None)
    directions, before = list[bool](), base
    for place, own in enumerate(known):
        after = next((each for each in known[place:] if each is not None), base)
        directions.append(own if own is not None else before if before == after else base)
        before = before if own is None else own
    return directions


def _clusters_reversed(run: list[str]) -> list[str]:
    """Letters in reverse, with their marks behind them."""
    clusters = list[str]()
    for each in run:
        if clusters and unicodedata.bidirectional(each) == _MARK:
            clusters[-1] += each
        else:
            clusters.append(each)
    return clusters[::-1]


_PAIRS = {
    "(": ")",
    ")": "(",
    "[": "]",
    "]": "[",
    "{": "}",
    "}": "{",
    "<": ">",
    ">": "<",
    "«": "»",
    "»": "«",
}


def _mirrored(cluster: str) -> str:
    return _PAIRS.get(cluster, cluster)


@cache
def _forms() -> dict[tuple[str, str], str]:
    """Presentation forms by letters and `initial`, `medial`, `final` or `isolated`."""
    forms: dict[tuple[str, str], str] = {}
    for code in range(_FIRST_FORM, _LAST_FORM + 1):
        kind, _, rest = unicodedata.decomposition(chr(code)).partition(" ")
        letters = "".join(chr(int(each, 16)) for each in rest.split()) if rest else ""
        is_lam_alef = code >= _FIRST_LAM_ALEF and letters[0] == _LAM and len(letters) > 1
        if kind.startswith("<") and (len(letters) == 1 or is_lam_alef):
            forms.setdefault((letters, kind.strip("<>")), chr(code))
    return forms


def _joined(text: str) -> str:
    """Arabic letters in their contextual forms."""
    forms, letters = _forms(), _with_ligatures(text)
    shaped = []
    for place, each in enumerate(letters):
        joins_before = _joins_next(_neighbour(letters, place, -1)) and (each, "final") in forms
        after = _neighbour(letters, place, 1)
        joins_after = _joins_next(each) and (after, "final") in forms
        kind = (
            ("medial" if joins_after else "final")
            if joins_before
            else "initial"
            if joins_after
            else "isolated"
        )
        shaped.append(forms.get((each, kind), each))
    return "".join(shaped)


def _with_ligatures(text: str) -> list[str]:
    """Letters, with lam-alef as one."""
    forms, letters = _forms(), list[str]()
    for each in text:
        if letters and (letters[-1] + each, "isolated") in forms and len(letters[-1]) == 1:
            letters[-1] += each
        else:
            letters.append(each)
    return letters


def _joins_next(letters: str) -> bool:
    return (letters, "initial") in _forms() or letters in ("\u0640", "\u200d")


def _neighbour(letters: list[str], place: int, step: int) -> str:
    """The next letter in a direction, skipping marks."""
    place += step
    while 0 <= place < len(letters) and unicodedata.bidirectional(letters[place][0]) == _MARK:
        place += step
    return letters[place] if 0 <= place < len(letters) else ""
