"""File drivers by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_BUILT_IN: dict[str, tuple[str, ...]] = {
    "core": ("backing_store", "block_size"), "family": ("memb_size",), "fileobj": ("fileobj",), "mmap": (), "sec2": (),
    "split": ("meta_ext", "raw_ext"), "stdio": (),
}  # fmt: skip
_REGISTERED: dict[str, Callable[..., Any]] = {}


def registered_drivers() -> frozenset[str]:
    """Return the names of the drivers."""
    return frozenset(_BUILT_IN) | frozenset(_REGISTERED)


def register_driver(name: str, set_fapl: Callable[..., Any]) -> None:
    """Register a driver: a function that changes a file access list."""
    _REGISTERED[name] = set_fapl


def unregister_driver(name: str) -> None:
    """Remove a registered driver."""
    del _REGISTERED[name]


def _setter(name: str) -> Callable[..., None]:
    """Return the function that sets a built-in driver in a file access list."""

    def set_driver(plist: Any, **options: Any) -> None:
        plist.values.update(driver=name, **driver_options(name, options))

    return set_driver


def driver_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that set drivers in file access lists."""
    return {name: _setter(name) for name in _BUILT_IN} | _REGISTERED


def driver_options(driver: str | None, kwds: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a driver from further keywords of ``File``."""
    if driver in _REGISTERED:
        from .low.h5p import PropFAID

        plist = PropFAID()
        _REGISTERED[driver](plist, **kwds)
        return {"driver": None, **plist.file_options()}
    if driver is not None and driver not in _BUILT_IN:
        raise ValueError(f"Unknown driver type {driver!r}")
    allowed = _BUILT_IN.get(driver or "", ())
    options: dict[str, Any] = {}
    for name, value in kwds.items():
        if name not in allowed:
            raise TypeError(f"'{name}' is an invalid keyword argument for File with the driver {driver!r}")
        options[name] = value.decode() if isinstance(value, bytes) else value
    return options
