"""Checks by content what was found by folders, names and sizes: a sample of each folder, more where sizes tell little.

A name and a size may belong to another photo: cameras number from 1 again, and uncompressed pictures all have one size.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from engine.collection.relink.by_content import Found
from engine.collection.relink.records import MissingImage
from engine.collection.relink.seen_files import SeenFiles

FEWEST_READ: Final = 20
"""Files of a folder that are read at least; all where there are fewer."""
SHARE_READ: Final = 5
"""One of so many files of a folder is read at least."""


def verify(images: Sequence[MissingImage], seen: SeenFiles, found: Found, on_read: Callable[[int], None]) -> None:
    """Read a sample of the files that were found, and take back those that hold something else.

    Of each folder a fifth is read, `FEWEST_READ` at least, and every file whose size another one has, too. Where one of
    them holds something else, the whole folder is read. Images whose content was never read cannot be checked.

    Args:
        images: all missing images.
        seen: the files that may be theirs.
        found: what was found by folders, names and sizes; loses what is not so, which is noted in its `mismatched`.
        on_read: called with the number of each file before it is read.
    """
    sizes = Counter(seen.files[file].size_bytes for file, _way in found.files.values())
    for numbers in _by_folder(images, seen, found).values():
        sample = _sample(numbers, lambda number: sizes[images[number].size_bytes] > 1)
        if all(_is_same(images, seen, found, number, on_read) for number in sample):
            continue
        for number in numbers:
            if not _is_same(images, seen, found, number, on_read):
                found.mismatched[number] = found.files.pop(number)


def _by_folder(images: Sequence[MissingImage], seen: SeenFiles, found: Found) -> dict[str, list[int]]:
    """Images of a known content whose file has their size, by the folder that they were in."""
    folders: defaultdict[str, list[int]] = defaultdict(list)
    for number, (file, _way) in found.files.items():
        image = images[number]
        if image.content_hash is not None and seen.files[file].size_bytes == image.size_bytes:
            folders[image.path.rpartition("/")[0]].append(number)
    return folders


def _sample(numbers: Sequence[int], is_ambiguous: Callable[[int], bool]) -> list[int]:
    """Evenly over the folder, so that a part of it that is another's is met, and all whose size does not tell."""
    wanted = min(len(numbers), max(FEWEST_READ, -(-len(numbers) // SHARE_READ)))
    spread = {numbers[place * len(numbers) // wanted] for place in range(wanted)}
    return [number for number in numbers if number in spread or is_ambiguous(number)]


def _is_same(
    images: Sequence[MissingImage], seen: SeenFiles, found: Found, number: int, on_read: Callable[[int], None]
) -> bool:
    file, content = found.files[number][0], images[number].content_hash
    assert content is not None, "others are not checked"
    if not seen.was_read(file):
        on_read(file)
    return seen.has_content(file, content)
