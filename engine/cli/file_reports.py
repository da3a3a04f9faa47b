"""What commands say of files that they did not take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from engine.cli.output import counted
from engine.files import FileFailure

if TYPE_CHECKING:
    from engine.images.left_out import LeftOut

MOST_FAILURES_SHOWN: Final = 20
"""Files that are named; the rest is a number."""


def failure_rows(failures: Sequence[FileFailure]) -> list[dict[str, str]]:
    """Files that could not be used, for JSON."""
    return [{"path": str(failure.path), "reason": failure.reason} for failure in failures]


def left_out_text(left_out: "LeftOut") -> str:
    """Pictures and videos that are not read, by kind; other files as a number."""
    lines = []
    if left_out.count:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in left_out.by_kind())
        were = (
            "was left out: this kind of file is" if left_out.count == 1 else "were left out: these kinds of files are"
        )
        advice = " Save pictures as JPEG, PNG or TIFF to add them." if left_out.has_pictures else ""
        lines.append(f"{kinds} {were} not read.{advice}")
    if left_out.raw_doubles:
        lines.append(
            f"{counted(left_out.raw_doubles, 'RAW photo')} passed over: beside it lies the same as JPEG or HEIC."
        )
    if left_out.others:
        lines.append(f"{counted(left_out.others, 'other file')} passed over: neither pictures nor videos.")
    return "".join(f"\n{line}" for line in lines)


def failure_text(failures: Sequence[FileFailure], what: str = "could not be read") -> str:
    """Files that could not be used, the first of them by name; lines that begin anew."""
    if not failures:
        return ""
    lines = [f"  {failure.path}: {failure.reason}" for failure in failures[:MOST_FAILURES_SHOWN]]
    if len(failures) > MOST_FAILURES_SHOWN:
        lines.append(f"  and {len(failures) - MOST_FAILURES_SHOWN:,} more")
    return f"\n{counted(len(failures), 'file')} {what}:\n" + "\n".join(lines)
