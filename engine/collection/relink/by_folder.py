"""Recognises folders that were moved or renamed from some of their images, and finds the others by their paths.

A vote for "what was below A is below B" comes from an image that only one file can be: by name and size, or by the
longest common end of their paths. A sample of what a mapping would find is read: its contents must be the known ones.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.collection.relink.records import MissingImage
from engine.collection.relink.seen_files import Parts, SeenFiles, common_tail, folder_keys, name_key
from engine.events import CancelToken

_MOST_RIVALS: Final = 8  # files with one name and size whose paths are compared; of more, ends of paths are looked up
_LONGEST_TAIL: Final = 4
_MOST_MAPPINGS: Final = 8  # for one folder; the best supported ones
_SAMPLE: Final = 3
_ENOUGH: Final = 3  # so many images of the same size make others of another size believable

Mapping = tuple[Parts, Parts]
Tail = tuple[str, str, int]


@dataclass
class _Offer:
    """What a mapping would find."""

    same: list[tuple[int, int]] = field(default_factory=list)  # image and file number, where the sizes agree
    other: list[tuple[int, int]] = field(default_factory=list)  # the same, where they do not


class ByFolder:
    """Finds images by the folders that were moved."""

    def __init__(self, images: Sequence[MissingImage], seen: SeenFiles, cancel: CancelToken) -> None:
        self._images = images
        self._seen = seen
        self._cancel = cancel
        self._folders: list[Parts] = []
        self._folder_of: list[int] = []
        self._names: list[str] = []
        self._split()

    def find(self) -> dict[int, int]:
        """File by image, both by number, where moved folders leave no doubt."""
        offers = self._offers(self._best_mappings(self._votes()))
        best: dict[int, tuple[tuple[bool, int], set[int]]] = {}
        for mapping, offer in offers.items():
            self._cancel.raise_if_cancelled()
            for image, file in self._believed(offer):
                tail = len(self._folders[self._folder_of[image]]) - len(mapping[0])
                rank = (self._has_same_size(image, file), tail)
                known, files = best.get(image, (rank, set()))
                if rank > known:
                    known, files = rank, set()
                if rank == known:
                    files.add(file)
                best[image] = (known, files)
        return {image: files.pop() for image, (_, files) in best.items() if len(files) == 1}

    def _split(self) -> None:
        numbers: dict[str, int] = {}
        for image in self._images:
            folder, _, name = image.path.rpartition("/")
            if folder not in numbers:
                numbers[folder] = len(self._folders)
                self._folders.append(folder_keys(folder))
            self._folder_of.append(numbers[folder])
            self._names.append(name_key(name))

    # -- voting

    def _votes(self) -> Counter[Mapping]:
        pairs: Counter[tuple[int, int]] = Counter()
        tails: dict[Tail, int] = {}
        for number, image in enumerate(self._images):
            rivals = self._seen.by_name.get((self._names[number], image.size_bytes), ())
            if len(rivals) > _MOST_RIVALS:
                tails = tails or self._tails()
                file = self._by_tail(number, tails)
            else:
                file = self._nearest(number, rivals)
            if file is not None:
                pairs[self._folder_of[number], self._seen.files[file].folder] += 1
        votes: Counter[Mapping] = Counter()
        for (folder, seen_folder), count in pairs.items():
            old, new = self._folders[folder], self._seen.folder_keys[seen_folder]
            tail = common_tail(old, new)
            votes[old[: len(old) - tail], new[: len(new) - tail]] += count
        return votes

    def _nearest(self, image: int, rivals: Sequence[int]) -> int | None:
        """The file whose path has the longest end in common with the image's; None when two have."""
        if len(rivals) < 2:  # noqa: PLR2004 (one or none)
            return rivals[0] if rivals else None
        keys, old = self._seen.folder_keys, self._folders[self._folder_of[image]]
        tails = [common_tail(old, keys[self._seen.files[rival].folder]) for rival in rivals]
        longest = max(tails)
        return rivals[tails.index(longest)] if tails.count(longest) == 1 else None

    def _tails(self) -> dict[Tail, int]:
        """The only file with each end of a path, -1 where there are several, for names of many files."""
        tails: dict[Tail, int] = {}
        ends = [_ends(keys) for keys in self._seen.folder_keys]
        for (name, size), numbers in self._seen.by_name.items():
            if len(numbers) > _MOST_RIVALS:
                for number in numbers:
                    for end in ends[self._seen.files[number].folder]:
                        key = (end, name, size)
                        tails[key] = -1 if key in tails else number
        return tails

    def _by_tail(self, image: int, tails: dict[Tail, int]) -> int | None:
        name, size = self._names[image], self._images[image].size_bytes
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
                    (offer.same if self._has_same_size(image, file) else offer.other).append((image, file))
        return offers

    def _targets(self, keys: Parts, best: dict[Parts, list[Parts]]) -> Iterator[tuple[Mapping, int]]:
        """The folders that a missing folder may be now, with their mappings."""
        for length in range(len(keys) + 1):
            old = keys[:length]
            for new in best.get(old, ()):
                for folder in self._seen.folders_at.get(new + keys[length:], ()):
                    yield (old, new), folder

    def _in_folder(self, image: int, folder: int) -> int | None:
        """The file with an image's name in a folder; where only case differs, the one spelled the same."""
        numbers = self._seen.in_folder.get((folder, self._names[image]), ())
        if len(numbers) > 1:
            name = self._images[image].path.rpartition("/")[2]
            numbers = [number for number in numbers if self._seen.files[number].name == name]
        return numbers[0] if len(numbers) == 1 else None

    def _has_same_size(self, image: int, file: int) -> bool:
        return self._images[image].size_bytes == self._seen.files[file].size_bytes

    def _believed(self, offer: _Offer) -> list[tuple[int, int]]:
        """All of an offer when the sample agrees, else what contents prove."""
        if not offer.same:
            return []
        readable = [pair for pair in offer.same if self._images[pair[0]].content_hash is not None]
        sample = readable[:: max(1, (len(readable) - 1) // (_SAMPLE - 1))][:_SAMPLE]
        if not all(self._is_proven(*pair) for pair in sample):
            return [pair for pair in readable if self._is_proven(*pair)]
        is_sure = len(offer.same) >= max(_ENOUGH, len(offer.other))
        return offer.same + offer.other if is_sure else offer.same

    def _is_proven(self, image: int, file: int) -> bool:
        self._cancel.raise_if_cancelled()
        known = self._images[image].content_hash
        return known is not None and self._seen.has_content(file, known)


def _ends(keys: Parts) -> list[str]:
    return ["/".join(keys[-length:]) for length in range(1, min(len(keys), _LONGEST_TAIL) + 1)]
