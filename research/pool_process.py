"""Processes of a pool end with the one that started them."""

import multiprocessing
import os
import threading


def end_pool_process_with_parent() -> None:
    """Let a process of a pool end at once when the one that started it ends, in whatever way; called in the process."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()
