"""The options of access to files, datasets and links."""

from __future__ import annotations

import os
from typing import Any, Self

from .. import _access
from .._file import locking_of
from ._properties import PropInstanceID
from .h5ac import CacheConfig

_LIBVER = ("earliest", "v108", "v110", "v112", "v114", "v200")
CHUNK_CACHE = (8191, 8 * 1024 * 1024, 0.75)


class PropFAID(PropInstanceID):
    """Options of opening files."""

    class_name = "FILE_ACCESS"

    @classmethod
    def of_file(cls, file: Any) -> Self:
        """Return the options with which a file was opened."""
        made = cls()
        if file.locking is not None:
            made.values["locking"] = locking_of(file.locking)
        made.values.update(_access.recall_file(file))
        made.values["_info"] = file.info()
        return made

    def file_options(self) -> dict[str, Any]:
        """Return the options for the core."""
        names = (
            "driver", "backing_store", "block_size", "memb_size", "meta_ext", "raw_ext", "libver", "rdcc_nbytes",
            "page_buf_size", "alignment_threshold", "alignment_interval", "meta_block_size", "locking",
        )  # fmt: skip
        return {name: self.values[name] for name in names if self.values.get(name) is not None}

    # ------------------------------------------------------------ drivers

    def _set_driver(self, name: str | None, **options: Any) -> None:
        self.values.update(driver=name, **options)

    def set_fapl_sec2(self) -> None:
        """Use the driver of POSIX files."""
        self._set_driver("sec2")

    def set_fapl_stdio(self) -> None:
        """Use the driver of C streams."""
        self._set_driver("stdio")

    def set_fapl_core(self, block_size: int = 64 * 1024, backing_store: bool = True) -> None:
        """Use the driver of files in memory."""
        self._set_driver("core", block_size=block_size, backing_store=bool(backing_store))

    def get_fapl_core(self) -> tuple[int, bool]:
        """Return the options of the driver of files in memory."""
        return self.values.get("block_size", 64 * 1024), self.values.get("backing_store", True)

    def set_fapl_family(self, memb_size: int = 2**31 - 1, memb_fapl: Any = None) -> None:
        """Use the driver of files in parts of a size."""
        self._set_driver("family", memb_size=memb_size)

    def set_fapl_split(self, meta_ext: str = "-m.h5", meta_plist: Any = None, raw_ext: str = "-r.h5", raw_plist: Any = None) -> None:
        """Use the driver with one file of metadata and one of raw data."""
        decoded = [item.decode() if isinstance(item, bytes) else item for item in (meta_ext, raw_ext)]
        self._set_driver("split", meta_ext=decoded[0], raw_ext=decoded[1])

    def get_driver(self) -> int:
        """Return the number of the driver."""
        from . import h5fd

        numbers = {"core": h5fd.CORE, "family": h5fd.FAMILY, "split": h5fd.MULTI, "stdio": h5fd.STDIO}
        return numbers.get(self.values.get("driver") or "sec2", h5fd.SEC2)

    def set_file_image(self, image: Any) -> None:
        """Set the bytes of a file in memory."""
        self.values["image"] = bytes(image)

    # ------------------------------------------------------------ numbers

    def set_libver_bounds(self, low: int, high: int) -> None:
        """Set the bounds of library versions."""
        self.values["libver"] = (_LIBVER[low], _LIBVER[high])

    def get_libver_bounds(self) -> tuple[int, int]:
        """Return the bounds of library versions."""
        low, high = self.values.get("libver", ("earliest", "v200"))
        return tuple(5 if name == "latest" else _LIBVER.index(name) for name in (low, high))  # type: ignore[return-value]

    def set_cache(self, mdc: int, rdcc: int, rdcc_nbytes: int, rdcc_w0: float) -> None:
        """Set the cache of chunks."""
        self.values.update(rdcc_nslots=rdcc, rdcc_nbytes=rdcc_nbytes, rdcc_w0=rdcc_w0)

    def get_cache(self) -> tuple[int, int, int, float]:
        """Return the cache of chunks."""
        slots, size, weight = CHUNK_CACHE
        values = self.values
        return 0, values.get("rdcc_nslots", slots), values.get("rdcc_nbytes", size), values.get("rdcc_w0", weight)

    def set_alignment(self, threshold: int, alignment: int) -> None:
        """Set the alignment of large objects."""
        self.values.update(alignment_threshold=threshold, alignment_interval=alignment)

    def get_alignment(self) -> tuple[int, int]:
        """Return the alignment of large objects."""
        return self.values.get("alignment_threshold", 1), self.values.get("alignment_interval", 1)

    def set_meta_block_size(self, size: int) -> None:
        """Set the size of blocks of metadata."""
        self.values["meta_block_size"] = size

    def get_meta_block_size(self) -> int:
        """Return the size of blocks of metadata."""
        return int(self.values.get("meta_block_size", 2048))

    def set_page_buffer_size(self, buf_size: int, min_meta_per: int = 0, min_raw_per: int = 0) -> None:
        """Set the size of the page buffer."""
        self.values.update(page_buf_size=buf_size, min_meta_keep=min_meta_per, min_raw_keep=min_raw_per)

    def get_page_buffer_size(self) -> tuple[int, int, int]:
        """Return the size of the page buffer: whole pages, and 0 for a file without pages."""
        size = int(self.values.get("page_buf_size", 0))
        info = self.values.get("_info")
        if info is not None and size:
            page = int(info.get("fs_page_size") or 4096)
            size = max(size // page, 1) * page if info.get("fs_strategy") == "page" else 0
        return size, self.values.get("min_meta_keep", 0), self.values.get("min_raw_keep", 0)

    def set_file_locking(self, use_file_locking: bool, ignore_when_disabled: bool) -> None:
        """Set the use of file locks."""
        self.values["locking"] = "best-effort" if use_file_locking and ignore_when_disabled else bool(use_file_locking)
        self.values["locking_pair"] = (bool(use_file_locking), bool(ignore_when_disabled))

    def get_file_locking(self) -> tuple[int, int]:
        """Return the use of file locks."""
        pair: tuple[int, int] | None = self.values.get("locking_pair")
        if pair is not None:
            return pair
        pairs: dict[Any, tuple[int, int]] = {None: (1, 1), True: (1, 0), False: (0, 0), "best-effort": (1, 1)}
        return pairs[self.values.get("locking")]

    def set_sieve_buf_size(self, size: int) -> None:
        """Keep a number that libhdf5 uses for its sieve buffer."""
        self.values["sieve"] = size

    def get_sieve_buf_size(self) -> int:
        """Return the number of ``set_sieve_buf_size``."""
        return int(self.values.get("sieve", 65536))

    def set_fclose_degree(self, close_degree: int) -> None:
        """Keep what libhdf5 does with open objects at the end of a file."""
        self.values["fclose_degree"] = close_degree

    def get_fclose_degree(self) -> int:
        """Return the number of ``set_fclose_degree``."""
        return int(self.values.get("fclose_degree", 3))

    def set_mdc_config(self, config: CacheConfig) -> None:
        """Keep the configuration of libhdf5's metadata cache."""
        self.values["mdc_config"] = config

    def get_mdc_config(self) -> CacheConfig:
        """Return the configuration of libhdf5's metadata cache."""
        found: CacheConfig = self.values.get("mdc_config", CacheConfig())
        return found


class PropLAID(PropInstanceID):
    """Options of the use of links."""

    class_name = "LINK_ACCESS"

    def set_nlinks(self, nlinks: int) -> None:
        """Set the largest number of soft links in a path."""
        self.values["nlinks"] = nlinks

    def get_nlinks(self) -> int:
        """Return the largest number of soft links in a path."""
        return int(self.values.get("nlinks", 16))

    def set_elink_prefix(self, prefix: bytes) -> None:
        """Set the folder of files of external links."""
        self.values["elink_prefix"] = bytes(prefix)

    def get_elink_prefix(self) -> bytes:
        """Return the folder of files of external links."""
        return bytes(self.values.get("elink_prefix", b""))

    def set_elink_acc_flags(self, flags: int) -> None:
        """Set the flags with which files of external links are opened."""
        self.values["elink_acc_flags"] = flags

    def get_elink_acc_flags(self) -> int:
        """Return the flags with which files of external links are opened."""
        return int(self.values.get("elink_acc_flags", 0xFFFF))

    def set_elink_fapl(self, fapl: PropFAID) -> None:
        """Set the options with which files of external links are opened."""
        self.values["elink_fapl"] = fapl.copy()

    def get_elink_fapl(self) -> PropFAID:
        """Return the options with which files of external links are opened."""
        found: PropFAID = self.values.get("elink_fapl") or PropFAID()
        return found.copy()


class PropDAID(PropLAID):
    """Options of opening datasets."""

    class_name = "DATASET_ACCESS"

    @classmethod
    def of_dataset(cls, handle: Any) -> Self:
        """Return the options with which a dataset was opened."""
        made = cls()
        made.values.update({**_access.recall_file(handle.file), **_access.recall(handle)})
        for name in ("efile_prefix", "virtual_prefix"):
            if name in made.values:
                text = os.fsdecode(made.values[name])
                folder = os.path.dirname(os.path.abspath(handle.file.name))
                made.values[name] = os.fsencode(text.replace("${ORIGIN}", folder))
        return made

    def access_options(self) -> dict[str, Any]:
        """Return the options that this list sets."""
        names = ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0", "efile_prefix", "virtual_prefix")
        return {name: self.values[name] for name in names if name in self.values}

    def set_chunk_cache(self, rdcc_nslots: int, rdcc_nbytes: int, rdcc_w0: float) -> None:
        """Set the cache of chunks."""
        self.values.update(rdcc_nslots=rdcc_nslots, rdcc_nbytes=rdcc_nbytes, rdcc_w0=rdcc_w0)

    def get_chunk_cache(self) -> tuple[int, int, float]:
        """Return the cache of chunks."""
        slots, size, weight = CHUNK_CACHE
        values = self.values
        return values.get("rdcc_nslots", slots), values.get("rdcc_nbytes", size), values.get("rdcc_w0", weight)

    def set_efile_prefix(self, prefix: bytes) -> None:
        """Set the folder of external raw files."""
        self.values["efile_prefix"] = prefix

    def get_efile_prefix(self) -> bytes:
        """Return the folder of external raw files."""
        return os.fsencode(self.values.get("efile_prefix", b""))

    def set_virtual_prefix(self, prefix: bytes) -> None:
        """Set the folder of the files of virtual datasets."""
        self.values["virtual_prefix"] = prefix

    def get_virtual_prefix(self) -> bytes:
        """Return the folder of the files of virtual datasets."""
        return os.fsencode(self.values.get("virtual_prefix", b""))

    def set_virtual_view(self, view: int) -> None:
        """Set the extent of virtual datasets without end."""
        self.values["virtual_view"] = view

    def get_virtual_view(self) -> int:
        """Return the extent of virtual datasets without end."""
        return int(self.values.get("virtual_view", 1))
