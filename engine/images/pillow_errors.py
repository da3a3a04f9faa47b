"""Turns whatever Pillow raises about a file into one `ImageError`."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import UnidentifiedImageError

from engine.errors import ImageError
from engine.images.readers import PILLOW_DAMAGE, not_an_image, pillow_is_quiet
from engine.images.unsupported_storage import is_unsupported, unsupported

_DAMAGE: Final = (*PILLOW_DAMAGE, AssertionError, RuntimeError, struct.error, zlib.error)


@contextmanager
def pillow_errors(data: bytes) -> Iterator[None]:
    """Let Pillow read the bytes of a file inside the block, without a warning.

    Raises:
        ImageError: no image, damage, an unsupported kind of storage, or no memory.
    """
    with pillow_is_quiet():
        try:
            yield
        except UnidentifiedImageError as error:
            raise (unsupported("") if is_unsupported(data, "") else not_an_image(data)) from error
        except _DAMAGE as error:
            if is_unsupported(data, str(error)):
                raise unsupported(str(error)) from error
            raise ImageError(
                "the image is damaged or incomplete", found=str(error) or type(error).__name__
            ) from error
        except MemoryError as error:
            raise ImageError("there is not enough memory for this image") from error
