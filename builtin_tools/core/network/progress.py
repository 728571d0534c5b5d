"""How far a download is, on one line of standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
import time

from ..limits import readable_size

_BETWEEN = 0.1
_WIDTH = 24


class Progress:
    """Draws at most ten times a second; `close` wipes the line."""

    def __init__(self, name: str) -> None:
        self._name = name[:40]
        self._shown = False
        self._last = 0.0
        self._started = time.monotonic()
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def show(self, received: int, total: int | None) -> None:
        now = time.monotonic()
        if not self._on or now - self._last < _BETWEEN:
            return
        self._last, self._shown = now, True
        speed = f"{readable_size(int(received / max(now - self._started, 0.001)))}/s"
        if total:
            full = min(_WIDTH, _WIDTH * received // total)
            bar = f"[{'#' * full}{'.' * (_WIDTH - full)}] {min(100, 100 * received // total):3d}%  "
            text = f"{self._name}  {bar}{readable_size(received)} of {readable_size(total)}  {speed}"
        else:
            text = f"{self._name}  {readable_size(received)}  {speed}"
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
