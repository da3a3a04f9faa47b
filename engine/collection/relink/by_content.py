"""Finds images by name and size where only one file and one image have both, and by what the files hold otherwise.

A name and a size may belong to another photo: cameras number from 1 again, and uncompressed pictures all have one size.
So what was found by folders, names and sizes is checked by content: a sample of each folder, more where sizes tell
little.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

from engine.collection.relink.records import MissingImage, Way
from engine.collection.relink.seen_files import SeenFiles, name_key
from engine.project import ImageId

FEWEST_READ: Final = 20  # files of a folder that are read at least; all where there are fewer
SHARE_READ: Final = 5  # one of so many files of a folder is read at least


@final
@dataclass
class Search:
    """A search for missing images; images and files are known by their numbers."""

    images: Sequence[MissingImage]
    seen: SeenFiles  # the files that may be theirs
    held: Mapping[int, ImageId]  # files that are in the project already, with their images
    on_read: Callable[[], None]  # called before each file that is read
    # file of each image that was found, and by which way
    files: dict[int, tuple[int, Way]] = field(default_factory=dict)
    doubts: dict[int, Sequence[int]] = field(default_factory=dict)  # files that each image may be that was not
    # files that have an image's place, name and size, and hold something else; as `files`
    mismatched: dict[int, tuple[int, Way]] = field(default_factory=dict)

    @property
    def left(self) -> list[int]:
        return [number for number in range(len(self.images)) if number not in self.files]

    @property
    def used(self) -> set[int]:
        return {file for file, _ in self.files.values()}

    def find_by_name(self) -> None:
        """Find images by name and size; where files of other names have the size, too, known contents must agree."""
        used, seen = self.used, self.seen
        sizes = Counter(size for _, size in {(file.key, file.size_bytes) for file in seen.files})
        alike: dict[tuple[str, int], list[int]] = {}
        for number in self.left:
            alike.setdefault((self._name(number), self.images[number].size_bytes), []).append(number)
        for key, numbers in alike.items():
            files = self._best_of(file for file in seen.by_name.get(key, ()) if file not in used)
            if len(numbers) == len(files) == 1:
                known = self.images[numbers[0]].content_hash
                if known is None or sizes[key[1]] == 1 or seen.has_content(files[0], known):
                    self.files[numbers[0]] = files[0], Way.NAME
            elif files:
                self.doubts.update((number, files) for number in numbers if self.images[number].content_hash is None)

    def find_by_content(self) -> None:
        """Find images whose content is known; only files with the size of one of them are read."""
        used, wanted = self.used, defaultdict[bytes, list[int]](list)
        for number in self.left:
            if (content := self.images[number].content_hash) is not None:
                wanted[content].append(number)
        holders = defaultdict[bytes, list[int]](list)
        for size in {self.images[number].size_bytes for numbers in wanted.values() for number in numbers}:
            for file in self.seen.by_size.get(size, ()):
                if file not in used:
                    self.on_read()
                    for content in self.seen.hashes(file) & wanted.keys():
                        holders[content].append(file)
        for content, files in holders.items():
            self._share_out(wanted[content], files)

    def verify(self) -> None:
        """Read a sample of the files that were found, and take back those that hold something else.

        Of each folder a fifth is read, `FEWEST_READ` at least, and every file whose size another one has, too. Where
        one of them holds something else, the whole folder is read. Images of unknown content cannot be checked.
        """
        sizes = Counter(self.seen.files[file].size_bytes for file, _way in self.files.values())
        for numbers in self._by_folder().values():
            sample = _sample(numbers, lambda number: sizes[self.images[number].size_bytes] > 1)
            if all(self._is_same(number) for number in sample):
                continue
            for number in numbers:
                if not self._is_same(number):
                    self.mismatched[number] = self.files.pop(number)

    def _best_of(self, files: Iterable[int]) -> list[int]:
        """Those of some files that are not in the project yet, or all where there are none."""
        listed = list(files)
        return [file for file in listed if file not in self.held] or listed

    def _share_out(self, numbers: Sequence[int], files: Sequence[int]) -> None:
        """Give images of one content their files: those with a name of their own first, then the last one left."""
        seen = self.seen.files
        files = self._best_of(files) if len(files) > len(numbers) else files
        names = {number: self._name(number) for number in numbers}
        image_names, file_names = Counter(names.values()), Counter(seen[file].key for file in files)
        own = {seen[file].key: file for file in files if file_names[seen[file].key] == 1}
        named = [number for number in numbers if image_names[names[number]] == 1 and names[number] in own]
        for number in named:
            self.files[number] = own[names[number]], Way.CONTENT
        rest = sorted(set(numbers) - set(named))
        free = self._best_of(sorted(set(files) - {own[names[number]] for number in named}))
        if len(rest) == len(free) == 1:
            self.files[rest[0]] = free[0], Way.CONTENT
        elif free:
            self.doubts.update(dict.fromkeys(rest, free))

    def _by_folder(self) -> dict[str, list[int]]:
        """Images of a known content whose file has their size, by the folder that they were in."""
        folders: defaultdict[str, list[int]] = defaultdict(list)
        for number, (file, _way) in self.files.items():
            image = self.images[number]
            if image.content_hash is not None and self.seen.files[file].size_bytes == image.size_bytes:
                folders[image.path.rpartition("/")[0]].append(number)
        return folders

    def _is_same(self, number: int) -> bool:
        file, content = self.files[number][0], self.images[number].content_hash
        assert content is not None, "others are not checked"
        if not self.seen.was_read(file):
            self.on_read()
        return self.seen.has_content(file, content)

    def _name(self, number: int) -> str:
        return name_key(self.images[number].path.rpartition("/")[2])


def _sample(numbers: Sequence[int], is_ambiguous: Callable[[int], bool]) -> list[int]:
    """Spread evenly over the folder, as a part of it may be another's, and all whose size is ambiguous."""
    wanted = min(len(numbers), max(FEWEST_READ, -(-len(numbers) // SHARE_READ)))
    spread = {numbers[place * len(numbers) // wanted] for place in range(wanted)}
    return [number for number in numbers if number in spread or is_ambiguous(number)]
