"""Writes the files of `cargo xtask bench-cloud`, and reads them through other libraries.

    peers.py write FOLDER            writes classic.h5, latest.h5, paged.h5 and plain.h5
    peers.py read PEER URL DATASET   opens, lists and reads; prints seconds as a JSON line
"""

import json
import sys
import time


def write(folder):
    import h5py
    import numpy as np

    random = np.random.default_rng(7)
    kinds = {
        "classic": {},
        "latest": {"libver": "latest"},
        "paged": {"libver": "latest", "fs_strategy": "page", "fs_page_size": 1 << 20},
    }
    with h5py.File(f"{folder}/plain.h5", "w") as file:
        file.create_dataset("plain", data=random.integers(0, 1 << 30, size=64 << 20).astype("i4"))
    for name, options in kinds.items():
        with h5py.File(f"{folder}/{name}.h5", "w", **options) as file:
            for number in range(20):
                group = file.create_group(f"g{number:02}")
                for column in range(10):
                    values = random.normal(size=(384, 384)).astype("f4")
                    dataset = group.create_dataset(
                        f"v{column}", data=values, chunks=(64, 64), compression="gzip", compression_opts=1
                    )
                    for attribute in range(5):
                        dataset.attrs[f"a{attribute}"] = f"text {attribute}"
            values = random.integers(0, 1 << 14, size=(256, 8192)).astype("i4")
            file.create_dataset("big", data=values, chunks=(1, 8192), compression="gzip", compression_opts=1)


def listed(file):
    """Visits all headers, shapes and attributes."""

    def visit(_, one):
        dict(one.attrs)
        getattr(one, "shape", None)

    file.visititems(visit)


def open_h5py(url, cache):
    import fsspec
    import h5py

    options = {"readahead": ("readahead", 5 << 20), "blocks": ("blockcache", 4 << 20), "none": ("none", 5 << 20)}
    kind, block = options[cache]
    return h5py.File(fsspec.filesystem("http").open(url, cache_type=kind, block_size=block), "r")


def open_pyfive(url):
    import fsspec
    import pyfive

    return pyfive.File(fsspec.filesystem("http").open(url, cache_type="blockcache", block_size=4 << 20))


def read(peer, url, name):
    steps = {}

    def step(key, work):
        start = time.perf_counter()
        result = work()
        steps[key] = {"seconds": time.perf_counter() - start}
        print(json.dumps({"step": key}), flush=True)
        sys.stdin.readline()
        return result

    if peer.startswith("h5py-"):
        file = step("open", lambda: open_h5py(url, peer.removeprefix("h5py-")))
        step("list", lambda: listed(file))
        step("read", lambda: file[name][...])
    elif peer == "pyfive":
        file = step("open", lambda: open_pyfive(url))
        step("list", lambda: listed(file))
        step("read", lambda: file[name][...])
    elif peer == "h5coro":
        from h5coro import h5coro, webdriver

        file = step("open", lambda: h5coro.H5Coro(url, webdriver.HTTPDriver, errorChecking=True))
        step("read", lambda: file.readDatasets([name], block=True)[name])
    elif peer == "zarr-kerchunk":
        import fsspec
        import zarr
        from kerchunk.hdf import SingleHdf5ToZarr

        references = SingleHdf5ToZarr(url, inline_threshold=300).translate()
        print(json.dumps({"step": "references"}), flush=True)
        sys.stdin.readline()
        system = lambda: fsspec.filesystem("reference", fo=references, remote_protocol="http", remote_options={"asynchronous": True}, asynchronous=True)
        group = step("open", lambda: zarr.open_group(zarr.storage.FsspecStore(system(), path=""), mode="r", zarr_format=2))
        step("list", lambda: [(dict(array.attrs), array.shape) for _, one in group.groups() for _, array in one.arrays()])
        step("read", lambda: group[name][...])
    else:
        raise SystemExit(f"no peer is called {peer}")
    print(json.dumps(steps), flush=True)


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
