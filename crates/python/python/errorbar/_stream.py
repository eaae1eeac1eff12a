"""Arrow C streams of other libraries, moved to where Rust reads them."""

from __future__ import annotations

import ctypes
from typing import Any


class _Stream(ctypes.Structure):
    """`ArrowArrayStream` of the Arrow C stream interface."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


#: The address that a capsule holds; an exception if it is none, or one of something else.
_address_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def move(capsule: Any, address: int, size: int) -> None:
    """Moves the stream of a capsule to this address, which has room for this many bytes.

    The capsule then holds a stream that was released, as the interface demands of whoever moves one.
    """
    if size != ctypes.sizeof(_Stream):
        raise RuntimeError(f"a stream has {ctypes.sizeof(_Stream)} bytes, and there is room for {size}")
    stream = _Stream.from_address(_address_in(capsule, b"arrow_array_stream"))
    ctypes.memmove(address, ctypes.addressof(stream), size)
    stream.release = None
