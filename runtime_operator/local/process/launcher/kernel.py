"""The system calls that Python's own modules lack, by their names in the manual.

Elsewhere than on Linux the two that only make things safer do nothing; the others are never reached, for
`isolation` finds out first what this machine allows.
"""

from __future__ import annotations

import ctypes
import os
import sys

LINUX = sys.platform == "linux"

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_REMOUNT = 32
MS_BIND = 4096
MS_MOVE = 8192
MS_REC = 16384
MS_UNBINDABLE = 1 << 17
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_PR_SET_PDEATHSIG = 1
_TIOCSCTTY = 0x540E
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_CHILD_SUBREAPER = 36
_MOUNT_SETATTR = 442
"""the same number on every machine"""
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "arm64": 41, "ppc64le": 203, "s390x": 217, "riscv64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def _done(result: int, what: str) -> None:
    """Turn the -1 of a system call into an OSError that names what it was about."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str, target: str, flags: int, *, kind: str = "", options: str = "") -> None:
    """Mount a folder, a file or a file system of a kind."""
    arguments = (os.fsencode(source), os.fsencode(target), kind.encode() or None)
    _done(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None), target)


def set_read_only(target: str, read_only: bool) -> None:
    """Let a mount and all below it be written to, or not."""
    wish = (ctypes.c_uint64 * 4)(MS_RDONLY if read_only else 0, 0 if read_only else MS_RDONLY, 0, 0)
    arguments = (ctypes.c_int(_AT_FDCWD), os.fsencode(target), ctypes.c_uint(_AT_RECURSIVE))
    number, size = ctypes.c_long(_MOUNT_SETATTR), ctypes.c_size_t(ctypes.sizeof(wish))
    _done(_libc.syscall(number, *arguments, ctypes.byref(wish), size), target)


def detach(target: str) -> None:
    """Take a mount away; what is still in use in it goes when its last user goes."""
    _done(_libc.umount2(os.fsencode(target), MNT_DETACH), target)


def pivot_root(new: str, old: str) -> None:
    """Make a folder the root of this mount namespace."""
    number = _PIVOT_ROOT.get(os.uname().machine, -1)
    _done(_libc.syscall(ctypes.c_long(number), os.fsencode(new), os.fsencode(old)), new)


def unshare(flags: int) -> None:
    """Leave the namespaces of these kinds for new ones."""
    _done(_libc.unshare(flags), "unshare")


def setns(descriptor: int, flags: int) -> None:
    """Enter the namespaces of the process or file that a descriptor stands for."""
    _done(_libc.setns(descriptor, flags), "setns")


def sethostname(name: str) -> None:
    """Name the machine as this UTS namespace sees it."""
    data = name.encode()
    _done(_libc.sethostname(data, ctypes.c_size_t(len(data))), name)


def die_with_parent(signal: int) -> None:
    """Ask for a signal when the process that forked this one ends."""
    if LINUX:
        _done(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal), 0, 0, 0), "prctl")


def gain_no_privileges() -> None:
    """Never get more rights than now, whatever is executed."""
    if LINUX:
        _done(_libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "prctl")


def take_terminal(descriptor: int) -> None:
    """Make a terminal the controlling one of this session, which has none."""
    _done(_libc.ioctl(descriptor, ctypes.c_ulong(_TIOCSCTTY), 0), "terminal")


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    if LINUX:
        _done(_libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0), "prctl")
