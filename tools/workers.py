"""Worker processes that do not outlive the process that started them."""

from __future__ import annotations

import contextlib
import os
import threading


def end_with_parent() -> None:
    """In a worker: end when the process that started it does, however that ended."""
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        with contextlib.suppress(OSError):
            if parent is not None:
                parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
