"""A bare Qt window, the reference of `protoleaf benchmark startup`."""

import os
import sys
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication, QMainWindow

from research.window.startup_report import REPORT_VARIABLE, FirstPaint, memory_mib, write_report


def main() -> int:
    """Show the window, report the time, exit."""
    application = QApplication(sys.argv[:1])
    window = QMainWindow()
    window.resize(1440, 900)

    def on_painted() -> None:
        target = os.environ.get(REPORT_VARIABLE)
        if target:
            visible_s = time.monotonic()
            write_report(Path(target), {"visible_s": visible_s, "memory_mib": memory_mib()})
        application.quit()

    FirstPaint(window, on_painted)
    window.show()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
