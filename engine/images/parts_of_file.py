"""Files with several pictures: the parts to import, and the pixels of each.

The kind of a file is detected by its first bytes. Libraries for documents and videos are loaded on
demand.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from engine.errors import ImageError
from engine.events import CancelToken
from engine.file_parts import FilePart
from engine.files import open_regular
from engine.images.animations import AnimationFrames
from engine.images.frame_times import is_animation
from engine.images.media_kinds import DOCUMENT_SUFFIXES, VIDEO_SUFFIXES, is_document, is_video
from engine.images.multi_page import ImagePages
from engine.images.part_reader import EVERYTHING, PartReader, PartsWanted
from engine.images.read_file import refusals
from engine.images.readers import SNIFFED_BYTES


def parts_of(
    path: Path, wanted: PartsWanted = EVERYTHING, cancel: CancelToken | None = None
) -> list[FilePart]:
    """The parts of a file that become images, in order.

    Returns:
        the whole of a plain image; pages of a PDF, and of a TIFF or MPO with several; frames of a
        video, and of an animation of which more than one is wanted.

    Raises:
        ImageError: there is no picture in the file, or there are too many.
        Cancelled: stopped.
    """
    with open_file_parts(path, cancel) as opened:
        return opened.parts(wanted)


@contextmanager
def open_file_parts(path: Path, cancel: CancelToken | None = None) -> Iterator[PartReader]:
    """A file that stays open while its parts are read: ascending frames decode a video once.

    Raises:
        ImageError: the file cannot be read, or is damaged from the start.
        Cancelled: stopped while a video was decoded.
    """
    with closing(_reader(path, cancel)) as reader:
        yield reader


def _reader(path: Path, cancel: CancelToken | None) -> PartReader:
    with refusals(), open_regular(path) as file:
        head = file.read(SNIFFED_BYTES)
        is_animated = is_animation(file)
    if not head:
        raise ImageError("the file is empty")
    suffix = path.suffix.lower()
    if is_document(head) or suffix in DOCUMENT_SUFFIXES:
        from engine.images.documents import DocumentPages

        return DocumentPages(path)
    if is_video(head) or suffix in VIDEO_SUFFIXES:
        return _video(path, cancel)
    return AnimationFrames(path, cancel) if is_animated else ImagePages(path)


def _video(path: Path, cancel: CancelToken | None) -> PartReader:
    try:
        from engine.images.videos import VideoFrames
    except ImportError as error:
        raise ImageError(
            "videos are not read by this installation",
            expected="the Python package av",
            remedy="install Protoleaf with Python and that package, or save frames of the video as "
            "images",
        ) from error
    return VideoFrames(path, cancel)
