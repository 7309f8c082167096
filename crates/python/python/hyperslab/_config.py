"""Settings of the process, as ``h5py.get_config()`` gives them."""

from typing import Any


class H5PYConfig:
    """The settings of the process. There is one object."""

    def __init__(self) -> None:
        self._complex_names = ("r", "i")
        self._bool_names = ("FALSE", "TRUE")
        self._track_order = False
        self.read_byte_strings = False

    @staticmethod
    def _pair(value: Any, subject: str) -> tuple[str, str]:
        names = tuple(value)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{subject} must be two names, not {value!r}")
        return names

    @property
    def complex_names(self) -> tuple[str, str]:
        """The names of the real and the imaginary member of a complex number."""
        return self._complex_names

    @complex_names.setter
    def complex_names(self, value: Any) -> None:
        self._complex_names = self._pair(value, "complex_names")

    @property
    def bool_names(self) -> tuple[str, str]:
        """The names of the members of the enumeration that stores booleans."""
        return self._bool_names

    @bool_names.setter
    def bool_names(self, value: Any) -> None:
        self._bool_names = self._pair(value, "bool_names")

    @property
    def track_order(self) -> bool:
        """The default of the argument ``track_order``."""
        return self._track_order

    @track_order.setter
    def track_order(self, value: bool) -> None:
        self._track_order = bool(value)

    @property
    def _r_name(self) -> bytes:
        return self._complex_names[0].encode()

    @property
    def _i_name(self) -> bytes:
        return self._complex_names[1].encode()

    mpi = False
    ros3 = False
    direct_vfd = False
    has_native_complex = True
    default_file_mode = "r"
    swmr_min_hdf5_version = (1, 9, 178)
    vds_min_hdf5_version = (1, 9, 233)


_CONFIG = H5PYConfig()


def get_config() -> H5PYConfig:
    """Return the settings of the process."""
    return _CONFIG
