"""The filters of ``create_dataset``, as objects that name their number and options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import _hyperslab as core

_NUMBERS = {"gzip": 1, "shuffle": 2, "fletcher32": 3, "szip": 4, "scaleoffset": 6, "lzf": 32000}
_AVAILABLE = frozenset(core.filters_available())

decode = tuple(name for name, number in _NUMBERS.items() if number in _AVAILABLE)
encode = decode


class FilterRefBase(Mapping[str, Any]):
    """The number and the options of a filter: the keywords of ``create_dataset``."""

    filter_id: int | None = None
    filter_options: tuple[int, ...] = ()

    @property
    def _kwargs(self) -> dict[str, Any]:
        return {"compression": self.filter_id, "compression_opts": self.filter_options}

    def __hash__(self) -> int:
        return hash((self.filter_id, self.filter_options))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilterRefBase) and self._kwargs == other._kwargs

    def __len__(self) -> int:
        return len(self._kwargs)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kwargs)

    def __getitem__(self, item: str) -> Any:
        return self._kwargs[item]


class Gzip(FilterRefBase):
    """The filter gzip with a level."""

    filter_id = 1

    def __init__(self, level: int = 4) -> None:
        self.filter_options = (level,)
