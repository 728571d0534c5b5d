"""Says which system packages are missing for PDFs: exit status 0 with none, else 1 and their names on one line.

WeasyPrint lays text out by Pango, which it loads at run time; and a font must have the signs of Korean, Japanese and
Chinese. Uses the standard library alone, since it runs before anything is installed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
import subprocess
import sys

# Library, as the loader knows it on Linux and as find_library does on macOS; package of Debian and of Homebrew.
LIBRARIES = (
    ("libpango-1.0.so.0", "pango-1.0", "libpango-1.0-0", "pango"),
    ("libpangoft2-1.0.so.0", "pangoft2-1.0", "libpangoft2-1.0-0", "pango"),
    ("libharfbuzz-subset.so.0", "harfbuzz-subset", "libharfbuzz-subset0", "harfbuzz"),
)
LANGUAGES = ("ko", "ja", "zh-cn")
FONT_PACKAGE = "fonts-wqy-microhei"  # 1.6 MB, and has all three; fonts-noto-cjk looks better and has 57 MB


def missing_packages() -> list[str]:
    """Names of packages as this system's package manager knows them."""
    mac = sys.platform == "darwin"
    missing = [brew if mac else debian for name, short, debian, brew in LIBRARIES if not _loads(name, short)]
    if not mac and not _has_fonts():  # macOS brings its fonts
        missing.append(FONT_PACKAGE)
    return list(dict.fromkeys(missing))


def can_print() -> bool:
    """Whether WeasyPrint finds the libraries it loads; a font may still be missing."""
    return all(_loads(name, short) for name, short, _, _ in LIBRARIES[:2])


def _loads(name: str, short: str) -> bool:
    folders = os.environ.get("DYLD_FALLBACK_LIBRARY_PATH", "").split(":")
    for candidate in (name, ctypes.util.find_library(short), *(f"{folder}/lib{short}.dylib" for folder in folders if folder)):
        try:
            if candidate:
                ctypes.CDLL(candidate)
                return True
        except OSError:
            continue
    return False


def _has_fonts() -> bool:
    if shutil.which("fc-list") is None:
        return False
    return all(
        subprocess.run(["fc-list", f":lang={language}", "family"], capture_output=True, check=False).stdout
        for language in LANGUAGES
    )


if __name__ == "__main__":
    found = missing_packages()
    print(" ".join(found))
    sys.exit(1 if found else 0)
