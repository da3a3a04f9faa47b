"""Finds images by name and size where only one file and one image have both, and by what the files hold otherwise."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.collection.relink.path_keys import name_key
from engine.collection.relink.records import MissingImage, Way
from engine.collection.relink.seen_files import SeenFiles, names_by_count
from engine.project import ImageId


@dataclass
class Found:
    """Images and files by their numbers."""

    held: Mapping[int, ImageId]  # files that are in the project already, with their images
    # file of each image that was found, and by which way
    files: dict[int, tuple[int, Way]] = field(default_factory=dict)
    doubts: dict[int, Sequence[int]] = field(default_factory=dict)  # files that each image may be that was not
    # files that have an image's place, name and size, and hold something else; as `files`
    mismatched: dict[int, tuple[int, Way]] = field(default_factory=dict)

    @property
    def used(self) -> set[int]:
        """The files that have found their image."""
        return {file for file, _ in self.files.values()}

    def best_of(self, files: Iterable[int]) -> list[int]:
        """Of some files those that are not in the project yet, where there are any."""
        listed = list(files)
        return [file for file in listed if file not in self.held] or listed


def find_by_name(images: Sequence[MissingImage], left: Iterable[int], seen: SeenFiles, found: Found) -> None:
    """Find images by name and size.

    A size that files with other names have as well proves little: then the contents must agree where they are known.

    Args:
        images: all missing images.
        left: numbers of those that were not found yet.
        seen: the files that may be theirs.
        found: gets what was found.
    """
    used, sizes = found.used, names_by_count(seen.files)
    alike: dict[tuple[str, int], list[int]] = {}
    for number in left:
        image = images[number]
        alike.setdefault((name_key(image.path.rpartition("/")[2]), image.size_bytes), []).append(number)
    for key, numbers in alike.items():
        files = found.best_of(file for file in seen.by_name.get(key, ()) if file not in used)
        if len(numbers) == len(files) == 1:
            known = images[numbers[0]].content_hash
            is_telling = known is None or sizes[key[1]] == 1
            if is_telling or (known is not None and seen.has_content(files[0], known)):
                found.files[numbers[0]] = files[0], Way.NAME
        elif files:
            found.doubts.update((number, files) for number in numbers if images[number].content_hash is None)


def find_by_content(
    images: Sequence[MissingImage],
    left: Iterable[int],
    seen: SeenFiles,
    found: Found,
    on_read: Callable[[int], None],
) -> None:
    """Find images whose content is known; only files with the size of one of them are read.

    Args:
        images: all missing images.
        left: numbers of those that were not found yet.
        seen: the files that may be theirs.
        found: gets what was found, and the images that several files hold.
        on_read: called with the number of each file before it is read.
    """
    used, wanted = found.used, _by_content(images, left)
    sizes = {images[number].size_bytes for numbers in wanted.values() for number in numbers}
    holders: dict[bytes, list[int]] = {}
    for size in sizes:
        for file in seen.by_size.get(size, ()):
            if file not in used:
                on_read(file)
                for content in seen.hashes(file) & wanted.keys():
                    holders.setdefault(content, []).append(file)
    for content, files in holders.items():
        _share_out(images, wanted[content], files, seen, found)


def _by_content(images: Sequence[MissingImage], left: Iterable[int]) -> dict[bytes, list[int]]:
    wanted: dict[bytes, list[int]] = {}
    for number in left:
        if (content := images[number].content_hash) is not None:
            wanted.setdefault(content, []).append(number)
    return wanted


def _share_out(
    images: Sequence[MissingImage], numbers: Sequence[int], files: Sequence[int], seen: SeenFiles, found: Found
) -> None:
    """Give images of one content their files: those with a name of their own first, then the last one left."""
    files = found.best_of(files) if len(files) > len(numbers) else files
    names = {number: name_key(images[number].path.rpartition("/")[2]) for number in numbers}
    image_names, file_names = Counter(names.values()), Counter(seen.files[file].key for file in files)
    own = {seen.files[file].key: file for file in files if file_names[seen.files[file].key] == 1}
    named = [number for number in numbers if image_names[names[number]] == 1 and names[number] in own]
    for number in named:
        found.files[number] = own[names[number]], Way.CONTENT
    rest = sorted(set(numbers) - set(named))
    free = found.best_of(sorted(set(files) - {own[names[number]] for number in named}))
    if len(rest) == len(free) == 1:
        found.files[rest[0]] = free[0], Way.CONTENT
    elif free:
        found.doubts.update(dict.fromkeys(rest, free))
