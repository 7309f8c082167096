"""The base of low-level identifiers, and the lock that h5py's programs expect."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Lock:
    """A lock that a thread can take several times. Nothing in this package waits for it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock."""
        return self._lock.acquire(blocking)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *details: object) -> None:
        self._lock.release()


phil = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=phil.acquire, after_in_child=phil.release, after_in_parent=phil.release)


def with_phil(function: Function) -> Function:
    """Return a function as it is: no function of this package needs the lock."""
    return function


class ObjectID:
    """The identifier of something that is open."""

    _handle: Any = None

    def __init__(self, id: Any = 0) -> None:
        self._number = id

    @property
    def id(self) -> int:
        """A number of the identifier."""
        return self._number if isinstance(self._number, int) else 0

    @property
    def valid(self) -> int:
        """1 if the object is open, else 0."""
        return int(bool(self))

    def __bool__(self) -> bool:
        handle = self._handle
        return bool(handle.is_open) if hasattr(handle, "is_open") else bool(self._number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectID) and type(self) is type(other) and self._number == other._number

    __hash__ = None  # type: ignore[assignment]

    def close(self) -> None:
        """Close the handle."""
        handle = self._handle
        if hasattr(handle, "close"):
            handle.close()
        self._number = 0

    _close = close


class LinkedID(ObjectID):
    """The identifier of an object of a file."""

    def __init__(self, handle: Any) -> None:
        super().__init__(1)
        self._handle = handle

    @property
    def id(self) -> int:
        return hash(self._handle.number) & 0x7FFFFFFFFFFFFFFF if self._handle.is_open else 0

    @property
    def fileno(self) -> int:
        """The number of the file."""
        return int(self._handle.file.identity)

    def __eq__(self, other: object) -> bool:
        handle = getattr(other, "_handle", None)
        if handle is None or not hasattr(handle, "number"):
            return NotImplemented
        mine = self._handle
        if not (mine.is_open and handle.is_open):
            return mine is handle
        return bool(mine.number == handle.number)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._handle.number)
