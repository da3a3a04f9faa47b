"""Search for missing images by unique name and size, and by content hash.

Another photo may have the same name and size: cameras restart their numbers, and uncompressed
pictures have equal sizes. So a sample of the matches of each folder is verified by content, and
every match with an ambiguous size.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from engine.project import ImageId
from engine.relink.records import LostImages, Way
from engine.relink.seen_files import SeenFiles

NO_FILE = -1
FEWEST_READ = 20  # minimum sample of a folder; all files of smaller ones
SHARE_READ = 5  # at least one of so many files of a folder is read


@final
@dataclass
class Search:
    """A search for missing images; images and files are referred to by number."""

    images: LostImages
    seen: SeenFiles  # candidate files
    held: Mapping[int, ImageId]  # image of files that are in the project already
    on_read: Callable[[], None]  # called before a file is read
    files: "array[int]" = field(init=False)  # file of each image, or `NO_FILE`
    ways: list[Way] = field(init=False)  # how each image was found
    # candidate files of images with several
    doubts: dict[int, Sequence[int]] = field(default_factory=dict)
    # files with the path, name and size of an image, but other content
    mismatched: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = array("q", [NO_FILE]) * len(self.images)
        self.ways = [Way.PATH] * len(self.images)

    @property
    def left(self) -> list[int]:
        return [number for number, file in enumerate(self.files) if file == NO_FILE]

    @property
    def is_used(self) -> bytearray:
        """Flags of files that are matched."""
        flags = bytearray(len(self.seen.files))
        for file in self.files:
            if file != NO_FILE:
                flags[file] = True
        return flags

    def take(self, number: int, file: int, way: Way) -> None:
        """Match an image with a file."""
        self.files[number], self.ways[number] = file, way

    def find_by_name(self) -> None:
        """Match by name and size; if other files have the size too, content must agree."""
        is_used, seen = self.is_used, self.seen
        sizes = Counter(seen.files.sizes_bytes[files[0]] for files in seen.by_name.groups())
        alike: dict[tuple[str, int], list[int]] = {}
        for number in self.left:
            alike.setdefault((seen.wanted[number], self.images.size_bytes(number)), []).append(
                number
            )
        for key, numbers in alike.items():
            files = self._best_of(file for file in seen.by_name.get(key) if not is_used[file])
            if len(numbers) == len(files) == 1:
                known = self.images.content_hash(numbers[0])
                if known is None or sizes[key[1]] == 1 or seen.has_content(files[0], known):
                    self.take(numbers[0], files[0], Way.NAME)
            elif files:
                self.doubts.update(
                    (number, files)
                    for number in numbers
                    if self.images.content_hash(number) is None
                )

    def find_by_content(self) -> None:
        """Match by content hash; only files with the size of a missing image are read."""
        is_used, wanted = self.is_used, defaultdict[bytes, list[int]](list)
        for number in self.left:
            if (content := self.images.content_hash(number)) is not None:
                wanted[content].append(number)
        holders = defaultdict[bytes, list[int]](list)
        for size in {
            self.images.size_bytes(number) for numbers in wanted.values() for number in numbers
        }:
            for file in self.seen.by_size.get(size):
                if not is_used[file]:
                    self.on_read()
                    for content in self.seen.hashes(file) & wanted.keys():
                        holders[content].append(file)
        for content, files in holders.items():
            self._match_equal_content(wanted[content], files)

    def verify(self) -> None:
        """Read a sample of the matched files, and drop matches with other content.

        Of each folder a fifth is read, at least `FEWEST_READ`, and all files whose size is not
        unique. If one of them has other content, the whole folder is read. Images without a
        content hash cannot be verified.
        """
        sizes = Counter(self.seen.files.sizes_bytes[file] for file in self.files if file != NO_FILE)
        for numbers in self._by_folder().values():
            sample = _sample(numbers, lambda number: sizes[self.images.size_bytes(number)] > 1)
            if all(self._is_same(number) for number in sample):
                continue
            for number in numbers:
                if not self._is_same(number):
                    self.mismatched[number], self.files[number] = self.files[number], NO_FILE

    def _best_of(self, files: Iterable[int]) -> list[int]:
        """The files that are not in the project yet, or all if there are none."""
        listed = list(files)
        return [file for file in listed if file not in self.held] or listed

    def _match_equal_content(self, numbers: Sequence[int], files: Sequence[int]) -> None:
        """Match images of equal content: by unique names first, then the last one left."""
        keys = self.seen.keys
        files = self._best_of(files) if len(files) > len(numbers) else files
        names = {number: self.seen.wanted[number] for number in numbers}
        image_names, file_names = Counter(names.values()), Counter(keys[file] for file in files)
        own = {keys[file]: file for file in files if file_names[keys[file]] == 1}
        named = [
            number for number in numbers if image_names[names[number]] == 1 and names[number] in own
        ]
        for number in named:
            self.take(number, own[names[number]], Way.CONTENT)
        rest = sorted(set(numbers) - set(named))
        free = self._best_of(sorted(set(files) - {own[names[number]] for number in named}))
        if len(rest) == len(free) == 1:
            self.take(rest[0], free[0], Way.CONTENT)
        elif free:
            self.doubts.update(dict.fromkeys(rest, free))

    def _by_folder(self) -> dict[str, list[int]]:
        """Matched images with a content hash and their file's size, by their old folder."""
        folders: defaultdict[str, list[int]] = defaultdict(list)
        images, sizes = self.images, self.seen.files.sizes_bytes
        for number, file in enumerate(self.files):
            is_as_large = file != NO_FILE and sizes[file] == images.size_bytes(number)
            if is_as_large and images.content_hash(number) is not None:
                folders[images.path(number).rpartition("/")[0]].append(number)
        return folders

    def _is_same(self, number: int) -> bool:
        file, content = self.files[number], self.images.content_hash(number)
        assert content is not None, "others are not checked"
        if not self.seen.was_read(file):
            self.on_read()
        return self.seen.has_content(file, content)


def _sample(numbers: Sequence[int], is_ambiguous: Callable[[int], bool]) -> list[int]:
    """Images spread evenly over the folder, and all whose size is ambiguous."""
    wanted = min(len(numbers), max(FEWEST_READ, -(-len(numbers) // SHARE_READ)))
    spread = {numbers[place * len(numbers) // wanted] for place in range(wanted)}
    return [number for number in numbers if number in spread or is_ambiguous(number)]
