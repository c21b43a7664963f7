"""Modes of the floating-point unit that another library may leave behind; of x86-64 only."""

import ctypes
import mmap
import platform
from contextlib import contextmanager

import pytest

#: Bits of the control register.
MODES = {
    "operands and results flushed": 0x8040,
    "results flushed": 0x8000,
    "operands flushed": 0x0040,
    "rounded down": 0x2000,
    "rounded up": 0x4000,
    "rounded to zero and flushed": 0xE040,
}
_LOAD, _STORE = bytes.fromhex("0FAE17C3"), bytes.fromhex("0FAE1FC3")  # ldmxcsr, stmxcsr [rdi]; ret


def _called(code, argument):
    with mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as memory:
        memory.write(code)
        start = ctypes.c_char.from_buffer(memory)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.addressof(start))(ctypes.byref(argument))
        del start


@contextmanager
def mode(name):
    """Compute in a mode, in this thread."""
    if platform.machine() != "x86_64" or not hasattr(mmap, "PROT_EXEC"):
        pytest.skip("needs the control register of an x86-64")
    before = ctypes.c_uint32()
    try:
        _called(_STORE, before)
    except OSError:
        pytest.skip("memory cannot be made executable")
    _called(_LOAD, ctypes.c_uint32(before.value | MODES[name]))
    try:
        yield
    finally:
        _called(_LOAD, before)
