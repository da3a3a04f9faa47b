"""Search for moved or renamed folders, and for images by their paths below them.

An image with one candidate file, by name and size or by the longest common suffix of the paths, is
a vote for a mapping "what was below A is below B". A sample of the files that a mapping finds is
verified by content.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import final

from engine.events import CancelToken
from engine.relink.records import LostImages
from engine.relink.seen_files import Parts, SeenFiles, common_tail, folder_keys

# files with one name and size whose paths are compared; of more, suffixes are looked up
_MOST_RIVALS = 8
_LONGEST_TAIL = 4
_MOST_MAPPINGS = 8  # for one folder; the best supported ones
_SAMPLE = 3
_NO_FILE = -1
_SEVERAL = -2
_SAME_SIZE = 2**32  # bonus of an equal size over any number of equal folder names
_ENOUGH = 3  # images with equal sizes from which different sizes are accepted too

Mapping = tuple[Parts, Parts]
Tail = tuple[str, str, int]


@final
class _Pairs:
    """Pairs of image and candidate file, by number."""

    def __init__(self) -> None:
        self.images, self.files = array("q"), array("q")

    def __len__(self) -> int:
        return len(self.images)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.images, self.files, strict=True)

    def add(self, image: int, file: int) -> None:
        self.images.append(image)
        self.files.append(file)


@dataclass
class _Offer:
    """Files that a mapping finds."""

    same: _Pairs = field(default_factory=_Pairs)  # with equal sizes
    other: _Pairs = field(default_factory=_Pairs)  # with different sizes


class ByFolder:
    """Finds images in moved folders."""

    def __init__(self, images: LostImages, seen: SeenFiles, cancel: CancelToken) -> None:
        self._images = images
        self._seen = seen
        self._cancel = cancel
        self._folders: list[Parts] = []
        self._folder_of = array("q")
        self._split()

    def find(self) -> Iterator[tuple[int, int]]:
        """Unambiguous pairs of image and file, by number."""
        offers = self._offers(self._best_mappings(self._votes()))
        ranks, files = (array("q", [_NO_FILE]) * len(self._images) for _ in range(2))
        for mapping, offer in offers.items():
            self._cancel.raise_if_cancelled()
            for image, file in self._accepted(offer):
                tail = len(self._folders[self._folder_of[image]]) - len(mapping[0])
                rank = tail + _SAME_SIZE * self._has_same_size(image, file)
                if rank > ranks[image]:
                    ranks[image], files[image] = rank, file
                elif rank == ranks[image] and file != files[image]:
                    files[image] = _SEVERAL
        claims = Counter(files)  # two paths that differ by case only may claim one file
        return (
            (image, file) for image, file in enumerate(files) if file >= 0 and claims[file] == 1
        )

    def _split(self) -> None:
        numbers: dict[str, int] = {}
        for image in range(len(self._images)):
            folder = self._images.path(image).rpartition("/")[0]
            if folder not in numbers:
                numbers[folder] = len(self._folders)
                self._folders.append(folder_keys(folder))
            self._folder_of.append(numbers[folder])

    # -- voting

    def _votes(self) -> Counter[Mapping]:
        pairs: Counter[tuple[int, int]] = Counter()
        tails: dict[Tail, int] = {}
        for number, name in enumerate(self._seen.wanted):
            rivals = self._seen.by_name.get((name, self._images.size_bytes(number)))
            if len(rivals) > _MOST_RIVALS:
                tails = tails or self._tails()
                file = self._by_tail(number, tails)
            else:
                file = self._nearest(number, rivals)
            if file is not None:
                pairs[self._folder_of[number], self._seen.files.folder_of[file]] += 1
        votes: Counter[Mapping] = Counter()
        for (folder, seen_folder), count in pairs.items():
            old, new = self._folders[folder], self._seen.folder_keys[seen_folder]
            tail = common_tail(old, new)
            votes[old[: len(old) - tail], new[: len(new) - tail]] += count
        return votes

    def _nearest(self, image: int, rivals: Sequence[int]) -> int | None:
        """The file with the longest common path suffix; None if it is not unique."""
        if len(rivals) < 2:  # noqa: PLR2004 (one or none)
            return rivals[0] if rivals else None
        keys, old = self._seen.folder_keys, self._folders[self._folder_of[image]]
        tails = [common_tail(old, keys[self._seen.files.folder_of[rival]]) for rival in rivals]
        longest = max(tails)
        return rivals[tails.index(longest)] if tails.count(longest) == 1 else None

    def _tails(self) -> dict[Tail, int]:
        """The file by path suffix, -1 for several; of frequent names."""
        tails: dict[Tail, int] = {}
        seen, ends = self._seen, [_ends(keys) for keys in self._seen.folder_keys]
        for numbers in seen.by_name.groups():
            if len(numbers) > _MOST_RIVALS:
                for number in numbers:
                    for end in ends[seen.files.folder_of[number]]:
                        key = (end, seen.keys[number], seen.files.sizes_bytes[number])
                        tails[key] = -1 if key in tails else number
        return tails

    def _by_tail(self, image: int, tails: dict[Tail, int]) -> int | None:
        name, size = self._seen.wanted[image], self._images.size_bytes(image)
        for end in reversed(_ends(self._folders[self._folder_of[image]])):
            if (number := tails.get((end, name, size))) is not None:
                return None if number < 0 else number
        return None

    def _best_mappings(self, votes: Counter[Mapping]) -> dict[Parts, list[Parts]]:
        best: dict[Parts, list[Parts]] = {}
        for (old, new), _count in votes.most_common():
            rivals = best.setdefault(old, [])
            if len(rivals) < _MOST_MAPPINGS:
                rivals.append(new)
        return best

    # -- applying

    def _offers(self, best: dict[Parts, list[Parts]]) -> dict[Mapping, _Offer]:
        offers: dict[Mapping, _Offer] = {}
        targets = [list(self._targets(keys, best)) for keys in self._folders]
        for image in range(len(self._images)):
            for mapping, folder in targets[self._folder_of[image]]:
                file = self._in_folder(image, folder)
                if file is not None:
                    offer = offers.setdefault(mapping, _Offer())
                    (offer.same if self._has_same_size(image, file) else offer.other).add(
                        image, file
                    )
        return offers

    def _targets(
        self, keys: Parts, best: dict[Parts, list[Parts]]
    ) -> Iterator[tuple[Mapping, int]]:
        """Candidates for a missing folder, with their mappings."""
        for length in range(len(keys) + 1):
            old = keys[:length]
            for new in best.get(old, ()):
                for folder in self._seen.folders_at.get(new + keys[length:], ()):
                    yield (old, new), folder

    def _in_folder(self, image: int, folder: int) -> int | None:
        """The file with an image's name in a folder; the exact case wins."""
        numbers = self._seen.in_folder.get((folder, self._seen.wanted[image]))
        if len(numbers) > 1:
            name = self._images.path(image).rpartition("/")[2]
            numbers = [number for number in numbers if self._seen.files.names[number] == name]
        return numbers[0] if len(numbers) == 1 else None

    def _has_same_size(self, image: int, file: int) -> bool:
        return self._images.size_bytes(image) == self._seen.files.sizes_bytes[file]

    def _accepted(self, offer: _Offer) -> Iterable[tuple[int, int]]:
        """All of an offer if its sample is verified, else what can be verified."""
        readable = _Pairs()
        for image, file in offer.same:
            if self._images.content_hash(image) is not None:
                readable.add(image, file)
        step = max(1, (len(readable) - 1) // (_SAMPLE - 1))
        sample = zip(
            readable.images[::step][:_SAMPLE], readable.files[::step][:_SAMPLE], strict=True
        )
        if not all(self._is_verified(*pair) for pair in sample):
            return (pair for pair in readable if self._is_verified(*pair))
        is_sure = len(offer.same) >= max(_ENOUGH, len(offer.other))
        return chain(offer.same, offer.other) if is_sure else offer.same

    def _is_verified(self, image: int, file: int) -> bool:
        self._cancel.raise_if_cancelled()
        known = self._images.content_hash(image)
        return known is not None and self._seen.has_content(file, known)


def _ends(keys: Parts) -> list[str]:
    return ["/".join(keys[-length:]) for length in range(1, min(len(keys), _LONGEST_TAIL) + 1)]
