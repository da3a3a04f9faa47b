"""Files on this computer and in object stores (`s3://bucket/photos`), through fsspec."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from engine.credentials import has_credentials, without_credentials
from engine.errors import (
    ImageError,
    ImageMissingError,
    ImageUnreachableError,
    InputError,
    NetworkError,
    ProtoleafError,
    StorageError,
)
from engine.files import open_regular
from engine.images.read_file import MAX_FILE_BYTES
from engine.runtime.sessions import one_line

# Parts of names of exceptions of libraries, in lower case.
_CREDENTIALS = ("credential", "accesskey", "authentication")


def is_address(text: str) -> bool:
    """Whether a text is an address of an object store, not a path."""
    return "://" in text


def refuse_credentials(address: str) -> None:
    """Raise `InputError` for an address with credentials, as data sets store addresses."""
    if has_credentials(address):
        raise InputError(
            "an address contains a password, a token or a key, and data sets store addresses",
            expected=(
                "an address without it, and the credentials where the storage's own tools "
                "look for them"
            ),
            found=without_credentials(address),
        )


@contextmanager
def _reaching(name: str) -> Iterator[None]:
    """Convert exceptions of a store to errors of the program."""
    try:
        yield
    except ProtoleafError:
        raise
    except Exception as error:  # each store has its own exception types
        raise refusal(name, error) from error


def file_system(address: str) -> tuple[Any, str]:
    """File system of an address, and the path in it.

    Raises:
        InputError: unknown protocol, a required package is not installed, or the address has
            credentials.
        StorageError: credentials are missing.
    """
    refuse_credentials(address)
    import fsspec

    with _reaching(address):
        store, path = fsspec.core.url_to_fs(address)
        return store, path


def size_of(name: str) -> int:
    """Size of a file in bytes, by path or address.

    Raises:
        StorageError, NetworkError, InputError: it is missing, or the store does not answer.
    """
    with _reaching(name):
        if not is_address(name):
            return Path(name).stat().st_size
        store, path = file_system(name)
        return int(store.size(path) or 0)


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """Open a file for reading, by path or address.

    Raises:
        StorageError, NetworkError, InputError: it is missing, or the store does not answer.
    """
    with _reaching(name):
        if is_address(name):
            store, path = file_system(name)
            file: IO[bytes] = store.open(path, "rb")
        else:
            file = open_regular(Path(name))
    with file:
        yield file


def read_from_store(address: str) -> bytes:
    """Read an image file of an object store; the counterpart of `read_file`.

    Raises:
        ImageUnreachableError: the store does not return it; `ImageMissingError` if it is missing.
        ImageError: it is empty or too large.
        InputError, StorageError: the store cannot be read: a package or credentials are missing.
    """
    store, path = file_system(address)
    try:
        size = int(store.size(path) or 0)
        data: bytes = store.cat_file(path) if size <= MAX_FILE_BYTES else b""
    except FileNotFoundError as error:
        raise ImageMissingError("the file is not there") from error
    except Exception as error:  # each store has its own exception types
        if _is_about_credentials(error):
            raise refusal(address, error) from error
        raise ImageUnreachableError(
            "the file cannot be read", found=without_credentials(one_line(error))
        ) from error
    if size > MAX_FILE_BYTES:
        raise ImageError("the file is too large", found=f"{size // 1024**2} MB")
    if not data:
        raise ImageError("the file is empty")
    return data


def each_in_store(address: str) -> Iterator[tuple[str, int]]:
    """Yield address and size of every file at or below an address, by folder and name.

    Raises:
        StorageError, NetworkError, InputError: nothing was found, or the store does not answer.
    """
    store, top = file_system(address)
    folders = iter(store.walk(top, detail=True))
    with _reaching(address):
        if store.isfile(top):
            folders = iter([("", {}, {"": store.info(top)})])
        elif not store.exists(top):
            raise StorageError(
                "the file or folder is not there", found=address, remedy="check the address"
            )
    while True:
        with _reaching(address):
            files = next(folders, ("", {}, None))[2]
            if files is None:
                return
            listed = [
                (store.unstrip_protocol(each["name"]), int(each.get("size") or 0))
                for each in files.values()
            ]
        yield from sorted(listed)


def _is_about_credentials(error: BaseException) -> bool:
    kind = type(error).__name__.lower()
    return any(word in kind for word in _CREDENTIALS)


def refusal(name: str, error: Exception) -> ProtoleafError:
    """Error for a file or store that cannot be read."""
    name, reason = without_credentials(name), without_credentials(one_line(error))
    if isinstance(error, FileNotFoundError):
        return StorageError(
            "the file or folder is not there", found=name, remedy="check the path or reconnect it"
        )
    if _is_about_credentials(error) or isinstance(error, PermissionError):
        return StorageError(
            "the storage denies access",
            expected="credentials on every node, where the storage's own tools look for them",
            found="{name}: {reason}",
            remedy="set them, then run the same command again",
            name=name,
            reason=reason,
        )
    if isinstance(error, ImportError):
        return InputError(
            "this storage needs another package",
            found="{name}: {reason}",
            remedy="install it on every node of the cluster",
            name=name,
            reason=reason,
        )
    if not is_address(name):
        return StorageError(
            "the file or folder cannot be read", found="{name}: {reason}", name=name, reason=reason
        )
    return NetworkError(
        "the storage does not answer",
        found="{name}: {reason}",
        remedy="check its address and the network",
        name=name,
        reason=reason,
    )
