"""How texts are compared when they are searched: in any script, whatever the capitals and accents."""

import unicodedata
from typing import Final

# What no Unicode decomposition takes apart, as in the search folding of ICU and in the Latin-ASCII transform of CLDR;
# and marks of the direction that names are read in, which nobody types.
_LETTERS: Final = str.maketrans(
    {
        "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "ł": "l", "ŋ": "n", "ŧ": "t", "œ": "oe", "æ": "ae",
        "þ": "th", "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-",
        "\u200e": "", "\u200f": "", "\u2066": "", "\u2067": "", "\u2068": "", "\u2069": "",
    }
)  # fmt: skip


def folded(text: str) -> str:
    """A text without the difference of capitals, and of letters with and without accents or strokes.

    "Großer Käfer", "Øre" and "Σκύλος" become "grosser kafer", "ore" and "σκυλοσ".
    """
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in bare if not unicodedata.combining(letter)).translate(
        _LETTERS
    )
