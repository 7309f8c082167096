"""Settings of the package."""

from __future__ import annotations


class Config:
    """The settings of the package; ``get_config()`` returns the only instance."""

    def __init__(self) -> None:
        self._bool_names: tuple[bytes, bytes] = (b"FALSE", b"TRUE")
        self._complex_names: tuple[str, str] = ("r", "i")
        self._track_order = False
        self._default_file_mode = "r"

    @property
    def complex_names(self) -> tuple[str, str]:
        """The names of the members that store real and imaginary part."""
        return self._complex_names

    @complex_names.setter
    def complex_names(self, value: tuple[str, str]) -> None:
        names = tuple(value)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise TypeError("complex_names must be two names")
        self._complex_names = names

    @property
    def _r_name(self) -> bytes:
        return self._complex_names[0].encode()

    @property
    def _i_name(self) -> bytes:
        return self._complex_names[1].encode()

    @property
    def has_native_complex(self) -> bool:
        """True: files can contain complex numbers as HDF5 2.0 defines them."""
        return True

    @property
    def bool_names(self) -> tuple[bytes, bytes]:
        """The names of the values False and True in enumerations."""
        return self._bool_names

    @bool_names.setter
    def bool_names(self, value: tuple[bytes, bytes]) -> None:
        if tuple(value) != (b"FALSE", b"TRUE"):
            raise NotImplementedError("other names of booleans than FALSE and TRUE")

    @property
    def track_order(self) -> bool:
        """Whether new files, groups and datasets track the creation order by default."""
        return self._track_order

    @track_order.setter
    def track_order(self, value: bool) -> None:
        self._track_order = bool(value)

    @property
    def default_file_mode(self) -> str:
        """The mode of ``File`` without a mode: "r"."""
        return self._default_file_mode

    @default_file_mode.setter
    def default_file_mode(self, mode: str) -> None:
        if mode != "r":
            raise ValueError("Using default_file_mode other than 'r' is no longer supported")

    @property
    def mpi(self) -> bool:
        """Whether the package works with MPI: False."""
        return False

    @property
    def ros3(self) -> bool:
        """Whether the package has libhdf5's read-only S3 driver: False."""
        return False

    @property
    def direct_vfd(self) -> bool:
        """Whether the package has libhdf5's direct driver: False."""
        return False

    @property
    def locking(self) -> bool:
        """Whether files are locked: True."""
        return True

    @property
    def default_file_locking(self) -> bool:
        """Whether files are locked by default: True."""
        return True

    @property
    def swmr_min_hdf5_version(self) -> tuple[int, int, int]:
        """The first version of HDF5 with SWMR."""
        return (1, 9, 178)

    @property
    def vds_min_hdf5_version(self) -> tuple[int, int, int]:
        """The first version of HDF5 with virtual datasets."""
        return (1, 9, 233)


_CONFIG = Config()


def get_config() -> Config:
    """Return the settings of the package."""
    return _CONFIG
