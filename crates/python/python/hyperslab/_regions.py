"""References to elements of a dataset."""

from typing import Any

from . import _hyperslab as core
from ._base import HLObject


class RegionProxy:
    """The maker of references to elements of a dataset."""

    def __init__(self, target: HLObject) -> None:
        self._target = target

    def __getitem__(self, args: Any) -> core.RegionReference:
        from ._selections import parse_selection

        handle = self._target._handle
        if not isinstance(handle, core.Dataset):
            raise TypeError("Region references can only be made to datasets")
        shape = handle.shape
        if shape is None:
            raise TypeError("Region references need a dataset with elements")
        return handle.region_reference(parse_selection(args, shape))

    def _selection(self, reference: core.RegionReference) -> core.Selection:
        return self._target._handle.file.root.region(reference)

    def shape(self, reference: core.RegionReference) -> tuple[int, ...]:
        """Return the shape of the dataset of a reference."""
        return self._selection(reference).shape

    def selection(self, reference: core.RegionReference) -> tuple[int, ...]:
        """Return the shape of the selected elements of a reference."""
        from ._selections import guess_shape

        return guess_shape(self._selection(reference))
