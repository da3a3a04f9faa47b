"""Metadata of one block of an image file, cleaned: one-line texts, plausible dates."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.images.taken_time import NOT_KNOWN, TakenTime, first_taken

LONGEST_NAME = 200  # characters of a camera, a lens, a name. Chosen.
LONGEST_TEXT = 4_000  # characters of a description. Chosen.
MOST_KEYWORDS = 200  # Chosen.
SEPARATOR = "\n"  # between keywords; no clean text holds one
TAKEN_ON = "taken_on"  # field of a date without a time: "1912", "1912-06", "1912-06-03"
FIELDS = (
    *("title", "description", "keywords", "creator", "copyright", "rating"),
    *("serial", "lens", "exposure_s", "aperture", "iso", "focal_length_mm", TAKEN_ON),
)
"""Names of further details, in the order in which they are shown."""
_MEAN_NOTHING = frozenset(
    {"olympus digital camera", "sony dsc", "default", "minolta digital camera", "exif_jpeg_picture"}
)
"""Default descriptions of cameras."""
_COMPANIES = frozenset(
    {
        "corporation",
        "corp",
        "corp.",
        "co",
        "co.",
        "co.,",
        "co.,ltd",
        "co.,ltd.",
        "ltd",
        "ltd.",
        "inc",
        "inc.",
        "imaging",
        "company",
        "gmbh",
        "ag",
        "optical",
        "electronics",
        "techwin",
    }
)
_INVISIBLE = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\ufeff")
"""Characters that turn the direction of all text behind them, or are not seen."""


@dataclass(frozen=True, slots=True)
class FoundDetails:
    """Metadata of one block; empty where missing or implausible."""

    taken: TakenTime = NOT_KNOWN
    digitized: TakenTime = NOT_KNOWN  # when a scan was made; a camera writes the same time twice
    camera: str = ""
    latitude: float | None = None
    longitude: float | None = None
    fields: Mapping[str, str] = field(default_factory=dict)  # names as in `FIELDS`
    is_sideways: bool = False  # whether rows are columns
    width: int = 0  # pixels as stored, if the block has them
    height: int = 0


def merged(found: Sequence[FoundDetails]) -> FoundDetails:
    """Merge blocks: the first one with a value decides facts, the last one user texts."""
    fields: dict[str, str] = {}
    for each in found:
        fields.update(each.fields)
    place = next((each for each in found if each.latitude is not None), FoundDetails())
    taken = first_taken(each.taken for each in found)
    if not taken.is_known:
        taken = first_taken(each.digitized for each in found)
    fields |= present({TAKEN_ON: taken.date})
    return FoundDetails(
        taken,
        NOT_KNOWN,
        next((each.camera for each in found if each.camera), ""),
        place.latitude,
        place.longitude,
        {name: fields[name] for name in FIELDS if name in fields},
    )


def present(fields: Mapping[str, str]) -> dict[str, str]:
    """The non-empty fields."""
    return {name: text for name, text in fields.items() if text}


def clean(value: object, longest: int = LONGEST_NAME) -> str:
    """One line of text of a value that a file holds; "" for other values."""
    if isinstance(value, bytes):
        value = decoded(value)
    if not isinstance(value, str):
        return ""
    text = value.lstrip("\0").split("\0", 1)[0]
    if text.isascii() and text.isprintable() and len(text) <= longest:
        return " ".join(text.split())
    seen = "".join(
        " " if unicodedata.category(each) in _INVISIBLE or each in _TURNING else each
        for each in text[: 2 * longest]
    )
    line = " ".join(seen.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def decoded(value: bytes) -> str:
    """Many programs write undeclared UTF-8; anything else is Latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def clean_description(value: object) -> str:
    """As `clean`, longer; "" also for what cameras write there by themselves."""
    text = clean(value, LONGEST_TEXT)
    return "" if text.casefold() in _MEAN_NOTHING or not any(map(str.isalnum, text)) else text


def clean_keywords(values: Iterable[object]) -> str:
    """Distinct keywords, each on its line."""
    words: dict[str, None] = {}
    for value in values:
        if (word := clean(value)) and len(words) < MOST_KEYWORDS:
            words[word] = None
    return SEPARATOR.join(words)


def camera_name(make: object, model: object) -> str:
    """Make and model, without repetition and legal form: "NIKON D70", "RECONYX HYPERFIRE 2"."""
    words = [word for word in clean(make).split() if word.casefold().strip(",") not in _COMPANIES]
    name = clean(model)
    if not words or (name and name.casefold().startswith(words[0].casefold())):
        return name
    return clean(f"{' '.join(words)} {name}")


def real_place(
    latitude: float | None, longitude: float | None
) -> tuple[float | None, float | None]:
    """Valid degrees; None for others, and for 0, 0, which devices without a fix write."""
    if (
        latitude is None
        or longitude is None
        or not (math.isfinite(latitude) and math.isfinite(longitude))
    ):
        return None, None
    is_valid = abs(latitude) <= 90 and abs(longitude) <= 180  # noqa: PLR2004 (degrees)
    if not is_valid or latitude == longitude == 0:
        return None, None
    return latitude, longitude


def number_text(value: float | None, *, smallest: float = 0.0, largest: float = 1e7) -> str:
    """A number with at most two decimals; "" for other values and absurd ones."""
    if value is None or not math.isfinite(value) or not smallest < value <= largest:
        return ""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def rating_text(value: object) -> str:
    """1 to 5 stars; "" for none, or for anything else."""
    try:
        stars = round(float(value)) if isinstance(value, str | int | float) else 0
    except (ValueError, OverflowError):
        return ""
    return str(stars) if 1 <= stars <= 5 else ""  # noqa: PLR2004 (stars)
