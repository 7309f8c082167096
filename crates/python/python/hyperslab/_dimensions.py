"""Labels and scales of dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._base import handle_of

if TYPE_CHECKING:
    from ._dataset import Dataset


class DimensionProxy:
    """The label and the scales of one dimension, as a sequence of scales."""

    def __init__(self, handle: Any, dimension: int) -> None:
        self._handle, self._dimension = handle, dimension

    @property
    def label(self) -> str:
        """The label of the dimension; an empty text without a label."""
        return str(self._handle.dimension_label(self._dimension))

    @label.setter
    def label(self, val: str) -> None:
        self._handle.set_dimension_label(self._dimension, val)

    def _scales(self) -> list[Any]:
        return list(self._handle.scales(self._dimension))

    def __hash__(self) -> int:
        return hash((type(self), self._handle.number, self._dimension))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimensionProxy) and hash(self) == hash(other)

    def __iter__(self) -> Iterator[str]:
        yield from self.keys()

    def __len__(self) -> int:
        return len(self._scales())

    def __getitem__(self, item: int | str) -> Dataset:
        from ._dataset import Dataset

        scales = self._scales()
        if isinstance(item, int):
            if not -len(scales) <= item < len(scales):
                raise RuntimeError(f"dimension {self._dimension} has {len(scales)} scales, not a scale {item}")
            return Dataset(scales[item])
        for scale in scales:
            if scale.scale_name() == item:
                return Dataset(scale)
        raise KeyError(item)

    def attach_scale(self, dset: Dataset) -> None:
        """Attach a dimension scale to the dimension."""
        self._handle.attach_scale(self._dimension, handle_of(dset))

    def detach_scale(self, dset: Dataset) -> None:
        """Detach a dimension scale from the dimension."""
        self._handle.detach_scale(self._dimension, handle_of(dset))

    def items(self) -> list[tuple[str, Dataset]]:
        """Return names and datasets of the scales."""
        from ._dataset import Dataset

        return [(str(scale.scale_name() or ""), Dataset(scale)) for scale in self._scales()]

    def keys(self) -> list[str]:
        """Return the names of the scales."""
        return [name for name, _ in self.items()]

    def values(self) -> list[Dataset]:
        """Return the datasets of the scales."""
        return [scale for _, scale in self.items()]

    def __repr__(self) -> str:
        if not self._handle.is_open:
            return "<Dimension of closed HDF5 dataset>"
        return f'<"{self.label}" dimension {self._dimension} of HDF5 dataset at {id(self._handle)}>'


class DimensionManager:
    """The dimensions of a dataset, as a sequence."""

    def __init__(self, parent: Any) -> None:
        self._handle = handle_of(parent)

    def __getitem__(self, index: int) -> DimensionProxy:
        if index > len(self) - 1:
            raise IndexError("Index out of range")
        return DimensionProxy(self._handle, index)

    def __len__(self) -> int:
        return len(self._handle.shape or ())

    def __iter__(self) -> Iterator[DimensionProxy]:
        for at in range(len(self)):
            yield self[at]

    def __repr__(self) -> str:
        if not self._handle.is_open:
            return "<Dimensions of closed HDF5 dataset>"
        return f"<Dimensions of HDF5 object at {id(self._handle)}>"

    def create_scale(self, dset: Dataset, name: str = "") -> None:
        """Make a dataset a dimension scale. ``dataset.make_scale(name)`` does the same."""
        import warnings

        warnings.warn("other_ds.dims.create_scale(ds, name) is deprecated. Use ds.make_scale(name) instead.", FutureWarning, stacklevel=2)
        dset.make_scale(name)
