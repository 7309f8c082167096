"""Subscripts as selections of dataspaces."""

from __future__ import annotations

from typing import Any

from .._hyperslab import Selection
from .h5s import SpaceID


class Selector:
    """The maker of selections in a dataspace."""

    def __init__(self, space: SpaceID) -> None:
        self.spaceobj = space

    def make_selection(self, args: tuple[Any, ...]) -> Any:
        """Select the elements of a subscript."""
        self.spaceobj._selection = Selection.parse(args, self.spaceobj.shape)
        return self.spaceobj

    def apply_args(self, args: tuple[Any, ...]) -> None:
        """Select the elements of a subscript."""
        self.make_selection(args)
