"""References against the files: zarr over references reads the values of h5py, and xarray over references equals
xarray over the file.

    python compare.py HYPERSLAB FOLDER_OR_FILE…

HYPERSLAB is the command. Prints one line for each difference, and the counts at the end. The exit status is 1 if a
value differs.
"""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import warnings

import fsspec
import h5py
import hdf5plugin  # noqa: F401 - h5py then knows its filters
import numpy as np
import xarray
import zarr
from fsspec.implementations.reference import ReferenceFileSystem

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

SECONDS = 60
LARGEST = 64 << 20
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: pathlib.Path) -> bool:
    """Return whether a file has the signature of HDF5 at an offset where it may be."""
    size = path.stat().st_size
    with path.open("rb") as file:
        at = 0
        while at < size:
            file.seek(at)
            if file.read(8) == SIGNATURE:
                return True
            at = max(512, 2 * at)
    return False


def plain(values: np.ndarray) -> np.ndarray:
    """Return values in a form that NumPy compares: texts as bytes, records without padding, numbers as they are."""
    values = np.asarray(values)
    if values.dtype.names is not None:
        names = sorted(name for name in values.dtype.names if not name.startswith("padding"))
        return np.array([[repr(plain(row[name]).tolist()) for name in names] for row in values.ravel()])
    if values.dtype.kind in "OTU":
        texts = [text.encode() if isinstance(text, str) else bytes(text or b"") for text in values.ravel()]
        return np.array(texts, dtype=object).reshape(values.shape)
    if values.dtype.kind == "S":
        return np.array(values.ravel().tolist(), dtype=object).reshape(values.shape)
    if values.dtype.kind in "VmM":
        if values.dtype.kind != "V":
            values = values.view(f"V{values.dtype.itemsize}")
        return np.array([bytes(value) for value in values.ravel()], dtype=object).reshape(values.shape)
    return values


def differs(one: object, other: object) -> str | None:
    """Return how two arrays differ."""
    one, other = plain(one), plain(other)
    if one.shape != other.shape:
        return f"shapes {one.shape} and {other.shape}"
    if one.dtype.kind in "fc" or other.dtype.kind in "fc":
        same = (one == other) | (np.isnan(one) & np.isnan(other))
    else:
        same = one == other
    return None if np.all(same) else f"{int(np.sum(~np.asarray(same)))} of {one.size} elements"


def compare_values(path: str, store: object, skipped: set[str]) -> collections.Counter[str]:
    """Compare all arrays with the datasets of h5py."""
    found: collections.Counter[str] = collections.Counter()
    with h5py.File(path, "r") as file:
        root = zarr.open_group(store, mode="r", zarr_format=2, use_consolidated=False)

        def visit(name: str) -> None:
            try:
                dataset = file[name]
            except (KeyError, OSError, RuntimeError):
                return
            if not isinstance(dataset, h5py.Dataset):
                return
            try:
                itemsize = dataset.dtype.itemsize
            except (KeyError, OSError, TypeError, ValueError) as error:  # KeyError: numbers of VAX
                found["h5py cannot read"] += 1
                print(f"  {name}: h5py: {error}")
                return
            if dataset.shape is not None and itemsize * dataset.size > LARGEST:
                found["dataset too large to compare"] += 1
                return
            if name in skipped:
                found["dataset left out"] += 1
                return
            try:
                array = root[name]
            except KeyError:
                scale = dataset.attrs.get("NAME", b"")
                if bytes(scale).startswith(b"This is a netCDF dimension but not"):
                    found["dataset only a size"] += 1
                else:
                    found[f"MISSING {name}"] += 1
                return
            try:
                expected = dataset[...]
            except (OSError, TypeError, ValueError) as error:
                found["h5py cannot read"] += 1
                print(f"  {name}: h5py: {error}")
                return
            values = array[...]
            if None in dataset.maxshape and values.ndim == expected.ndim:
                # Variables that share a dimension without a limit have its size.
                values = values[tuple(slice(length) for length in expected.shape)]
            difference = differs(expected, values)
            found["dataset equal" if difference is None else f"DIFFERS {name}: {difference}"] += 1

        names: list[str] = []  # h5py's names of bytes that are not UTF-8 have lone surrogates

        def collect(group: h5py.Group, prefix: str, seen: frozenset[object]) -> None:
            for name in group:
                if not isinstance(name, str) or not name.isprintable():
                    continue
                full = f"{prefix}{name}"
                try:
                    link = group.get(name, getlink=True)
                except TypeError:  # a user-defined link
                    continue
                if isinstance(link, h5py.ExternalLink):
                    continue
                names.append(full)
                child = group.get(name, getclass=True) if not isinstance(link, h5py.SoftLink) else None
                if child is h5py.Group and len(names) < 100_000:
                    opened = group[name]
                    if opened.id not in seen:
                        collect(opened, f"{full}/", seen | {opened.id})

        collect(file, "", frozenset([file["/"].id]))
        for name in names:
            parents = [name[:at] for at, character in enumerate(name) if character == "/"]
            if any(parent in skipped for parent in parents):
                continue
            visit(name)
    return found


def compare_xarray(path: str, store: object) -> str:
    """Compare the datasets of the root group in xarray."""
    raw = {"decode_times": False, "mask_and_scale": False, "decode_coords": False}
    try:
        ours = xarray.open_dataset(store, engine="zarr", consolidated=False, zarr_format=2, **raw)
    except Exception as error:  # noqa: BLE001
        ours = error
    try:
        theirs = xarray.open_dataset(path, engine="h5netcdf", phony_dims="access", **raw)
    except Exception as error:  # noqa: BLE001
        return "xarray cannot open the file" if not isinstance(ours, Exception) else "xarray opens neither"
    if isinstance(ours, Exception):
        return f"XARRAY REFUSES THE REFERENCES: {type(ours).__name__}: {str(ours)[:150]}"
    for name, variable in theirs.variables.items():
        if name not in ours.variables or variable.nbytes > LARGEST:
            continue
        other = ours.variables[name]
        if len(other.dims) > len(variable.dims):
            continue  # array elements, which h5netcdf has no dimensions for: compare_values has compared them
        # Without scales, h5netcdf takes a dimension of the same size, if there is one.
        pairs = zip(variable.dims, other.dims, strict=True)
        if any(one != two and not str(one).startswith("phony") and not str(two).startswith("phony") for one, two in pairs):
            return f"XARRAY DIFFERS: dimensions of {name}: {variable.dims} {other.dims}"
        try:
            difference = differs(variable.values, other.values)
        except (TypeError, ValueError, OSError, RuntimeError, NotImplementedError, KeyError):
            continue
        if difference is not None:
            return f"XARRAY DIFFERS: {name}: {difference}"
    return "xarray equal"


def examine(hyperslab: str, path: str, queue: object) -> None:
    """Examine one file, and put the result in the queue."""
    os.setsid()  # the command ends with this process
    try:
        queue.put(result(hyperslab, path))
    except Exception as error:  # noqa: BLE001
        queue.put([f"FAILED: {type(error).__name__}: {str(error)[:150]}"])


def result(hyperslab: str, path: str) -> list[str]:
    """Return the classes of results of one file."""
    with tempfile.TemporaryDirectory() as folder:
        references = os.path.join(folder, "refs.json")
        command = [hyperslab, "export", path, "kerchunk", "-o", references, "--skip-unsupported", "--recode"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        if done.returncode != 0:
            return [f"not exported: {done.stderr.strip().splitlines()[-1][:200] if done.stderr else done.returncode}"]
        skipped = {line.split("`")[1] for line in done.stderr.splitlines() if "has no references" in line}
        reasons = [line.split("has no references: ")[1].split("`")[0] for line in done.stderr.splitlines() if "has no references" in line]
        with open(references, encoding="utf-8") as file:
            refs = json.load(file)
        fs = ReferenceFileSystem(refs, remote_protocol="file", asynchronous=True)
        store = zarr.storage.FsspecStore(fs, read_only=True, path="")
        results = [f"left out: {reason}" for reason in reasons]
        try:
            values = compare_values(path, store, skipped)
        except OSError as error:
            return [f"h5py cannot open: {str(error)[:80]}"]
        for name, count in values.items():
            results += [name] * (count if not name.startswith(("DIFFERS", "MISSING")) else 1)
        results.append(compare_xarray(path, store))
        return results


def attempt(hyperslab: str, path: pathlib.Path, method: str) -> list[str] | None:
    """Examine one file in a process of its own. Return None if the process crashes or takes too long."""
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=examine, args=(hyperslab, str(path), queue))
    process.start()
    try:
        return queue.get(timeout=SECONDS)
    except Exception:  # noqa: BLE001
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        return None
    finally:
        process.join()


def main() -> int:
    """Examine all files."""
    hyperslab, *folders = sys.argv[1:]
    files: list[pathlib.Path] = []
    for folder in map(pathlib.Path, folders):
        files += [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    counts: collections.Counter[str] = collections.Counter()
    examined = exported = bad = 0
    for path in files:
        if path.stat().st_size > LARGEST or not is_hdf5(path):
            continue
        examined += 1
        results = attempt(hyperslab, path, "fork") or attempt(hyperslab, path, "spawn") or ["CRASHED or too slow"]
        exported += not any(name.startswith("not exported") for name in results)
        for name in results:
            is_bad = name.split(" ")[0].isupper() and not name.startswith("XARRAY REFUSES")
            bad += is_bad
            if is_bad or name.startswith("XARRAY") or name.startswith("not exported"):
                print(f"{path}: {name}", flush=True)
            counts[name.split(":")[0] if name.startswith(("DIFFERS", "MISSING", "XARRAY", "FAILED", "not exported")) else name] += 1
    print(f"\n{examined} HDF5 files, {exported} exported")
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:8} {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
