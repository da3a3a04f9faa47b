"""Folding of texts for search: in any script, ignoring case and accents."""

import unicodedata

# Letters without a Unicode decomposition, as in the search folding of ICU and in the Latin-ASCII
# transform of CLDR;
# and direction marks, which are not typed.
_LETTERS = str.maketrans(
    {
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "\u0131": "i",
        "ł": "l",
        "ŋ": "n",
        "ŧ": "t",
        "œ": "oe",
        "æ": "ae",
        "þ": "th",
        "\u2018": "'",
        "\u2019": "'",
        "\u02bc": "'",
        "\u2010": "-",
        "\u2011": "-",
        "\u200e": "",
        "\u200f": "",
        "\u2066": "",
        "\u2067": "",
        "\u2068": "",
        "\u2069": "",
    }
)


def folded(text: str) -> str:
    """Fold a text: lower case, and letters without accents and strokes.

    "Großer Käfer", "Øre" and "Σκύλος" become "grosser kafer", "ore" and "σκυλοσ".
    """
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in bare if not unicodedata.combining(letter)).translate(
        _LETTERS
    )
