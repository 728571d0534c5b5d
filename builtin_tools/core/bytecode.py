"""Bytecode of modules that only a worker imports: fenced in, it cannot write it, so the watchdog does after the answer.

Without it each call would compile those modules anew.
"""

from __future__ import annotations

import os
import sys


def uncached(package: str) -> list[str]:
    """The source files of this process's modules of `package` that have no up-to-date bytecode file yet."""
    missing = []
    for name, module in list(sys.modules.items()):
        if not name.startswith(package + "."):
            continue
        source, cached = getattr(module, "__file__", None), getattr(module, "__cached__", None)
        if source and cached and _stale(source, cached):
            missing.append(source)
    return missing


def _stale(source: str, cached: str) -> bool:
    try:
        return os.stat(cached).st_mtime_ns < os.stat(source).st_mtime_ns
    except OSError:
        return True


def write(sources: list[str]) -> None:
    """Compiles source files where their folders can be written to; never raises."""
    import py_compile

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for source in sources:
        if os.path.realpath(source).startswith(os.path.realpath(package) + os.sep) and os.access(
            os.path.dirname(source), os.W_OK
        ):
            try:
                py_compile.compile(source, quiet=2)
            except OSError:
                return
