"""Generate a taxonomy of WordNet's shape, for benchmarks without WordNet."""

import random
from pathlib import Path

from engine.interchange.taxonomies.wordnet import IS_A_FILE, WORDS_FILE
from engine.new_file import write_file

WORDNET_CLASSES = 82_115
"""Noun synsets of WordNet 3.0."""
FURTHER_PARENTS = 2_313 / WORDNET_CLASSES
"""Share of edges beyond a tree's: WordNet has 84,427 edges."""
CHILDREN = 5
"""Children of a class that has any: 4.6 in WordNet."""
_SYLLABLES = (
    "ba",
    "cor",
    "den",
    "fi",
    "gul",
    "ha",
    "lus",
    "mi",
    "nor",
    "pe",
    "quil",
    "ra",
    "so",
    "ter",
    "vin",
)


def write_taxonomy(folder: Path, classes: int, *, seed: int = 0) -> Path:
    """Write a taxonomy in the format in which ImageNet publishes WordNet.

    Args:
        folder: an empty folder.
        classes: how many.
        seed: of the random choices.

    Returns:
        The file of edges; `words.txt` is next to it.
    """
    chance = random.Random(seed)
    edges: dict[tuple[int, int], None] = {}
    for child in range(1, classes):
        latest = child // CHILDREN
        edges[min(chance.randint(max(0, latest - CHILDREN), latest), child - 1), child] = None
        if chance.random() < FURTHER_PARENTS:
            # Most further parents are on the same level, so that there are no cycles.
            edges[chance.randrange(latest + 1) if latest else 0, child] = None
    words = {
        number: " ".join(_word(chance) for _ in range(chance.choice((1, 1, 2))))
        for number in range(classes)
    }
    write_file(
        folder / IS_A_FILE, "".join(f"{_id(parent)} {_id(child)}\n" for parent, child in edges)
    )
    write_file(
        folder / WORDS_FILE, "".join(f"{_id(number)}\t{word}\n" for number, word in words.items())
    )
    return folder / IS_A_FILE


def _id(number: int) -> str:
    return f"n{number:08d}"


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4)))
