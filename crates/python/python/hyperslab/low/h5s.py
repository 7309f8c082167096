"""Dataspaces."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from .._hyperslab import Selection
from ._objects import ObjectID

SELECT_NOOP, SELECT_SET, SELECT_OR, SELECT_AND, SELECT_XOR, SELECT_NOTB, SELECT_NOTA = range(-1, 6)
SELECT_APPEND, SELECT_PREPEND, SELECT_INVALID = 6, 7, 8
UNLIMITED = 2**64 - 1
NO_CLASS, SCALAR, SIMPLE, NULL = -1, 0, 1, 2
SEL_ERROR, SEL_NONE, SEL_POINTS, SEL_HYPERSLABS, SEL_ALL = -1, 0, 1, 2, 3
_KINDS = {"none": SEL_NONE, "points": SEL_POINTS, "hyperslab": SEL_HYPERSLABS, "all": SEL_ALL}
_OPERATIONS: dict[int, Literal["and", "or", "xor", "notb", "nota"]] = {
    SELECT_OR: "or", SELECT_AND: "and", SELECT_XOR: "xor", SELECT_NOTB: "notb", SELECT_NOTA: "nota",
}  # fmt: skip


class SpaceID(ObjectID):
    """A dataspace: a shape, a maximum shape and a selection."""

    def __init__(self, shape: tuple[int, ...] | None, maxshape: tuple[int | None, ...] | None = None) -> None:
        super().__init__(1)
        self._shape = shape
        self._maxshape = shape if maxshape is None else maxshape
        self._selection = None if shape is None else Selection.all(shape)

    @classmethod
    def of(cls, selection: Selection) -> Self:
        """Return the dataspace of a selection."""
        made = cls(tuple(selection.shape))
        made._selection = selection
        return made

    @property
    def selection(self) -> Selection:
        """The selection."""
        if self._selection is None:
            raise ValueError("A null dataspace has no selection")
        return self._selection

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self._known_shape()

    def _known_shape(self) -> tuple[int, ...]:
        return () if self._shape is None else tuple(self._shape)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    # ------------------------------------------------------------ extent

    def copy(self) -> Self:
        """Return a copy with the same selection."""
        made = type(self)(self._shape, self._maxshape)
        made._selection = self._selection
        return made

    def encode(self) -> bytes:
        """Return shape and selection as bytes."""
        rank = len(self._known_shape())
        head = np.array([0 if self._shape is None else 1, rank, *self._known_shape()], dtype="<u8").tobytes()
        return head + (b"" if self._selection is None else self._selection.encode())

    def is_simple(self) -> bool:
        """Return True: all dataspaces are simple."""
        return True

    def get_simple_extent_ndims(self) -> int:
        """Return the number of dimensions."""
        return len(self._known_shape())

    def get_simple_extent_dims(self, maxdims: int = False) -> tuple[int, ...] | None:
        """Return the shape, or the maximum shape."""
        if self._shape is None:
            return None
        if maxdims:
            return tuple(UNLIMITED if size is None else size for size in self._maxshape or ())
        return self._shape

    def get_simple_extent_npoints(self) -> int:
        """Return the number of elements."""
        return 0 if self._shape is None else int(np.prod(self._shape, dtype=object))

    def get_simple_extent_type(self) -> int:
        """Return the number of the class."""
        return NULL if self._shape is None else SIMPLE if self._shape else SCALAR

    def set_extent_simple(self, dims: tuple[int, ...], max_dims: tuple[int, ...] | None = None) -> None:
        """Change the shape. All elements become selected."""
        made = create_simple(dims, max_dims)
        self._shape, self._maxshape, self._selection = made._shape, made._maxshape, made._selection

    def set_extent_none(self) -> None:
        """Make the dataspace null."""
        self._shape = self._maxshape = self._selection = None

    def extent_copy(self, source: SpaceID) -> None:
        """Take the shape of another dataspace."""
        self._shape, self._maxshape, self._selection = source._shape, source._maxshape, source._selection

    def extent_equal(self, other: SpaceID) -> bool:
        """Return True for equal shapes."""
        return self._shape == other._shape and self._maxshape == other._maxshape

    # ------------------------------------------------------------ selection

    def select_all(self) -> None:
        """Select all elements."""
        self._selection = Selection.all(self._known_shape())

    def select_none(self) -> None:
        """Select no elements."""
        self._selection = Selection.none(self._known_shape())

    def select_valid(self) -> bool:
        """Return True if the selection is inside the shape."""
        return True

    def select_elements(self, coords: npt.ArrayLike, op: int = SELECT_SET) -> None:
        """Select single elements, one row of coordinates for each."""
        points = Selection.of_points(np.ascontiguousarray(coords, dtype=np.uint64), self._known_shape())
        self._apply(points, op)

    def select_hyperslab(self, start: Any, count: Any, stride: Any = None, block: Any = None, op: int = SELECT_SET) -> None:
        """Select a regular hyperslab; a count or a block of ``UNLIMITED`` has no end."""
        rank = len(self._known_shape())
        stride = (1,) * rank if stride is None else tuple(stride)
        block = (1,) * rank if block is None else tuple(block)
        counts = [None if value == UNLIMITED else int(value) for value in count]
        arguments = (tuple(start), stride, tuple(counts), block)
        try:
            part = Selection.hyperslab(*arguments, self._known_shape())
        except ValueError:
            # A selection may reach to elements that the dataspace gets when it grows.
            if self._maxshape == self._shape or self._maxshape is None:
                raise
            grown = tuple(size if most is None else most for size, most in zip(self._known_shape(), self._maxshape, strict=True))
            part = Selection.hyperslab(*arguments, grown)
        self._apply(part, op)

    def _apply(self, part: Selection, op: int) -> None:
        if op == SELECT_SET:
            self._selection = part
        elif op in _OPERATIONS:
            self._selection = self.selection.combine(_OPERATIONS[op], part)
        else:
            raise ValueError(f"Unknown operation {op}")

    def combine_select(self, space2: SpaceID, op: int) -> SpaceID:
        """Return a dataspace with the combination of two selections."""
        made = self.copy()
        made._apply(space2.selection, op)
        return made

    def modify_select(self, space2: SpaceID, op: int) -> None:
        """Combine the selection with another one."""
        self._apply(space2.selection, op)

    def select_copy(self, source: SpaceID) -> None:
        """Take the selection of another dataspace."""
        self._selection = source._selection

    def select_shape_same(self, other: SpaceID) -> bool:
        """Return True for selections of the same form."""
        a, b = self.selection, other.selection
        if a.kind != "hyperslab" and b.kind != "hyperslab":
            return tuple(a.kept_shape) == tuple(b.kept_shape)
        if a.count != b.count:
            return False
        return bool(np.array_equal(_from_origin(a), _from_origin(b)))

    def get_select_npoints(self) -> int:
        """Return the number of selected elements."""
        return 0 if self._selection is None else self._selection.count

    def get_select_type(self) -> int:
        """Return the number of the kind of the selection."""
        return SEL_NONE if self._selection is None else _KINDS[self._selection.kind]

    def get_select_bounds(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the first and the last coordinate of the selection in each dimension."""
        return self.selection.bounds

    def get_select_elem_npoints(self) -> int:
        """Return the number of selected single elements."""
        return self.selection.count

    def get_select_elem_pointlist(self) -> npt.NDArray[np.uint64]:
        """Return the coordinates of selected single elements."""
        return self.selection.coordinates()

    def get_select_hyper_nblocks(self) -> int:
        """Return the number of blocks."""
        return len(self.selection.blocks())

    def get_select_hyper_blocklist(self) -> npt.NDArray[np.uint64]:
        """Return first and last coordinates of all blocks."""
        return self.selection.blocks()

    def is_regular_hyperslab(self) -> bool:
        """Return True for a regular hyperslab."""
        return self.selection.kind == "hyperslab" and self.selection.regular is not None

    def get_regular_hyperslab(self) -> tuple[tuple[int, ...], ...]:
        """Return start, stride, count and block."""
        regular = self.selection.regular
        if regular is None:
            raise ValueError("The selection is not a regular hyperslab")
        start, stride, count, block = regular
        return start, stride, tuple(UNLIMITED if value is None else value for value in count), block


def _from_origin(selection: Selection) -> npt.NDArray[np.uint64]:
    """Return the coordinates of a selection, counted from its first coordinates."""
    coordinates = selection.coordinates()
    return coordinates - coordinates.min(axis=0) if len(coordinates) else coordinates


class _All(SpaceID):
    """The dataspace that stands for all elements of a dataset."""

    def __init__(self) -> None:
        super().__init__(())


ALL = _All()


def create(class_code: int) -> SpaceID:
    """Return a scalar or a null dataspace."""
    return SpaceID(None if class_code == NULL else ())


def create_simple(dims: tuple[int, ...], max_dims: tuple[int, ...] | None = None) -> SpaceID:
    """Return a dataspace of a shape."""
    shape = tuple(int(size) for size in dims)
    if max_dims is None:
        return SpaceID(shape)
    return SpaceID(shape, tuple(None if size in (None, UNLIMITED) else int(size) for size in max_dims))


def decode(data: bytes) -> SpaceID:
    """Return the dataspace that ``SpaceID.encode`` made bytes of."""
    present, rank = (int(value) for value in np.frombuffer(data[:16], dtype="<u8"))
    if not present:
        return SpaceID(None)
    shape = tuple(int(value) for value in np.frombuffer(data[16 : 16 + 8 * rank], dtype="<u8"))
    made = SpaceID(shape)
    made._selection = Selection.decode(data[16 + 8 * rank :], shape)
    return made
