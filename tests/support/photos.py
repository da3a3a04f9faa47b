"""Photos with time and place in EXIF."""

from datetime import datetime
from pathlib import Path

from PIL import Image
from PIL.TiffImagePlugin import IFDRational

EXIF_DIRECTORY, GPS_DIRECTORY = 0x8769, 0x8825


def save_photo(
    path: Path, *, taken_at: datetime, latitude: float, longitude: float, zone: str = ""
) -> None:
    """Write a small JPEG, replacing an existing file.

    Args:
        path: of the file.
        taken_at: local time.
        latitude, longitude: in degrees; south and west are negative.
        zone: such as "+02:00"; "" for none.
    """
    exif = Image.Exif()
    times = {0x9003: taken_at.strftime("%Y:%m:%d %H:%M:%S"), **({0x9011: zone} if zone else {})}
    exif.get_ifd(EXIF_DIRECTORY).update(times)
    exif.get_ifd(GPS_DIRECTORY).update(
        {
            1: "S" if latitude < 0 else "N",
            2: _parts(abs(latitude)),
            3: "W" if longitude < 0 else "E",
            4: _parts(abs(longitude)),
        }
    )
    Image.new("RGB", (32, 24), (90, 140, 60)).save(path, "JPEG", exif=exif)


def _parts(degrees: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    whole = int(degrees)
    return (
        IFDRational(whole),
        IFDRational(0),
        IFDRational(round((degrees - whole) * 3600 * 1000), 1000),
    )
