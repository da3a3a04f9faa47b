"""End processes of a pool with their parent."""

import multiprocessing
import os
import threading


def end_pool_process_with_parent() -> None:
    """End this pool process at once when its parent ends, in whatever way."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()
