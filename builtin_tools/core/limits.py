"""Sizes as people write them, and what the machine (or the container around us) really has."""

from __future__ import annotations

import os
import re

from .errors import ConfigurationError

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGTP", 1):
    _UNITS[_letter] = _UNITS[_letter + "B"] = 1000**_power
    _UNITS[_letter + "IB"] = 1024**_power


def parse_size(value: str | int, name: str) -> int:
    """Bytes from `2GB`, `512MiB` or a plain number; decimal units unless written with an i, as DuckDB reads them."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value))
    unit = match[2].upper() if match else ""
    if match is None or unit not in _UNITS:
        raise ConfigurationError(
            f"The user parameter {name} is {value!r}, which is no size.", 'Give a number with a unit, such as "2GB" or "512MB".'
        )
    size = int(float(match[1]) * _UNITS[unit])
    if size < 1:
        raise ConfigurationError(f"The user parameter {name} is {value!r}, which is nothing.", 'Give at least "64MB".')
    return size


def readable_size(count: int) -> str:
    """Bytes as a person reads them: 1,234 B, 48.2 kB, 1.5 GB."""
    if count < 10_000:
        return f"{count:,} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 1000 or unit == "TB":
            break
    return f"{amount:,.1f} {unit}"


def processors() -> int:
    """Processors this process may use: its affinity, less where a cgroup (v1 or v2) grants less time."""
    try:
        count = len(os.sched_getaffinity(0))  # type: ignore[attr-defined, unused-ignore]
    except AttributeError:
        count = os.cpu_count() or 1
    for quota, period in (_cgroup_cpu_v2(), _cgroup_cpu_v1()):
        if quota > 0 and period > 0:
            count = min(count, max(1, quota // period))
    return max(1, count)


def _cgroup_cpu_v2() -> tuple[int, int]:
    words = _read("/sys/fs/cgroup/cpu.max").split()
    if len(words) == 2 and words[0].isdigit():
        return int(words[0]), int(words[1])
    return 0, 0


def _cgroup_cpu_v1() -> tuple[int, int]:
    quota = _read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").strip()
    period = _read("/sys/fs/cgroup/cpu/cpu.cfs_period_us").strip()
    return (int(quota), int(period)) if quota.isdigit() and period.isdigit() else (0, 0)


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as stream:
            return stream.read(4096)
    except (OSError, UnicodeDecodeError):
        return ""
