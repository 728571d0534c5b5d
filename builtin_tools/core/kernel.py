"""What the kernel enforces on a worker: death with its parent, resource limits, and Landlock's fence around files.

Landlock (Linux 5.13 and later) is asked for by its three system calls, since the C library has no wrappers;
numbers and bits are those of the kernel's `include/uapi/linux/landlock.h`. Where a layer does not exist it is
reported as absent, and `require_kernel_sandbox` makes that an error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 1, 38, 4

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_ALL_OF_ABI_1 = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime",
    "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/proc/self/cgroup", "/proc/self/mountinfo", "/proc/self/maps", "/proc/self/statm", "/proc/self/status", "/proc/meminfo", "/sys/fs/cgroup",
    "/sys/devices/system/cpu",
    # The engine's allocator asks whether memory is overcommitted. Not told, it commits by mapping over what it has reserved,
    # and that the kernel does not count against RLIMIT_DATA.
    "/proc/sys/vm/overcommit_memory",
)  # fmt: skip
_FONTS = (
    "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    "/opt/homebrew/share/fonts", "~/.fonts", "~/.local/share/fonts", "~/.cache/fontconfig", "/usr/share/mime",
)  # fmt: skip
_NETWORK = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/run/systemd/resolve", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/usr/share/pki",
)  # fmt: skip


@dataclass(frozen=True)
class Fence:
    """What a worker may touch: folders to read, folders to write, and whether it needs the network or fonts."""

    readable: tuple[str, ...]
    writable: tuple[str, ...]
    network: bool = False
    fonts: bool = False


def die_with_parent(parent: int) -> bool:
    """Has the kernel end this process when its parent ends. False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    if _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(1)
    return True


def limit_memory(memory_bytes: int) -> bool:
    """Bounds the private memory of this process and forbids core dumps. False where the system cannot."""
    try:
        import resource
    except ImportError:
        return False
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    except (OSError, ValueError):
        return False
    return sys.platform.startswith("linux")


def limit_files(file_bytes: int) -> bool:
    """Bounds the size of any file that this process writes: past it a write fails with EFBIG. False where the system cannot."""
    try:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    except (ImportError, OSError, ValueError, AttributeError):
        return False
    return True


def landlock_version() -> int:
    """The version of Landlock's interface that the kernel offers; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    import ctypes

    found = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, int(found))


def fence_files(fence: Fence) -> int:
    """Confines this thread and all it starts to the fence. Gives the version in force, 0 where there is none."""
    version = landlock_version()
    if version < 1:
        return 0
    import ctypes

    handled = _ALL_OF_ABI_1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        handled |= right if version >= since else 0
    tcp = 3 if version >= 4 and not fence.network else 0  # bind and connect
    scoped = 3 if version >= 6 else 0  # abstract sockets and signals of others
    attributes = (ctypes.c_uint64 * 3)(handled, tcp, scoped)
    size = 8 if version < 4 else (16 if version < 6 else 24)
    libc = _libc()
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return 0
    try:
        for path in _readable(fence):
            _allow(ruleset, path, _READ & handled)
        for path in fence.writable:
            _allow(ruleset, path, handled & ~_EXECUTE)
        _allow(ruleset, "/dev/null", (_READ_FILE | _WRITE_FILE) & handled)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return 0
        if libc.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0)) != 0:
            return 0
    finally:
        os.close(ruleset)
    return version


def _readable(fence: Fence) -> list[str]:
    paths = [*fence.readable, *_code_folders(), *_SYSTEM]
    if fence.fonts:
        paths += [os.path.expanduser(path) for path in _FONTS]
    if fence.network:
        paths += [*_NETWORK, *_authorities()]
    return paths


def _authorities() -> list[str]:
    """Where this interpreter finds certificate authorities, SSL_CERT_FILE and SSL_CERT_DIR of the environment included."""
    import ssl

    found = ssl.get_default_verify_paths()
    return [path for path in (found.cafile, found.capath, found.openssl_cafile, found.openssl_capath) if path]


def _code_folders() -> list[str]:
    """Where the interpreter, its libraries and this package lie: modules may be loaded after the fence stands."""
    package = str(Path(__file__).resolve().parents[1])
    named = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    shared = [os.path.join(sys.base_prefix, "lib"), sysconfig.get_path("stdlib", vars={"base": sys.base_prefix})]
    return list(dict.fromkeys([package, *named, *shared]))


def _allow(ruleset: int, path: str, rights: int) -> None:
    import ctypes

    class Beneath(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]

    try:
        descriptor = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        rule = Beneath(rights, descriptor)
        _libc().syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(descriptor)


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
