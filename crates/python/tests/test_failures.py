"""Failures: damaged files, Ctrl-C, forks, exits, threads and memory."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

DATA = np.arange(600, dtype="<i4").reshape(30, 20)
KINDS = {"corrupt", "exists", "internal", "io", "limit", "locked", "misuse", "not found", "unsupported"}
RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


def make(path: Path, **options: Any) -> None:
    """Write a small file with h5py."""
    with h5py.File(path, "w", **options) as f:
        f["g/contiguous"] = DATA
        f.create_dataset("chunked", data=DATA, chunks=(7, 6), compression="gzip", fletcher32=True)
        f.create_dataset("texts", data=["a", "bc", "def"])
        f["g"].attrs["list"] = np.arange(5)


@pytest.mark.parametrize(
    "use, kind",
    [
        (lambda f: f["absent"], "not found"),
        (lambda f: f.attrs["absent"], "not found"),
        (lambda f: f.create_group("g"), "exists"),
        (lambda f: f["chunked"].resize((31, 20)), "misuse"),
    ],
)
def test_exceptions_have_details(path: Path, use: Callable[[Any], Any], kind: str) -> None:
    make(path)
    with hyperslab.File(path, "r+") as f, pytest.raises(Exception) as caught:
        use(f)
    details = caught.value.hyperslab
    assert details.kind == kind and details.message and kind in repr(details)


def test_exceptions_of_damaged_structures_have_structure_and_address(path: Path) -> None:
    make(path, libver="latest")
    with h5py.File(path) as f:
        address = h5py.h5o.get_info(f["g"].id).addr
    damaged = bytearray(path.read_bytes())
    damaged[address + 20] ^= 0xFF
    path.write_bytes(damaged)
    with hyperslab.File(path) as f:
        with pytest.raises(OSError) as caught:
            list(f["g"])
        np.testing.assert_array_equal(f["chunked"][...], DATA)
    details = caught.value.hyperslab
    assert details.kind == "corrupt" and details.address == address and details.structure


def test_damaged_chunks_name_the_chunk(path: Path) -> None:
    make(path)
    with h5py.File(path) as f:
        info = f["chunked"].id.get_chunk_info(3)
    damaged = bytearray(path.read_bytes())
    damaged[info.byte_offset + info.size // 2] ^= 0xFF
    path.write_bytes(damaged)
    with hyperslab.File(path) as f:
        with pytest.raises(OSError) as caught:
            f["chunked"][...]
        np.testing.assert_array_equal(f["g/contiguous"][...], DATA)
    details = caught.value.hyperslab
    assert details.kind == "corrupt" and details.address == info.byte_offset and details.structure == "chunk"


def test_a_locked_file(path: Path) -> None:
    make(path)
    with h5py.File(path, "r+"), pytest.raises(BlockingIOError) as caught:
        hyperslab.File(path)
    assert caught.value.hyperslab.kind == "locked"


FLIPS = """
import io, sys, warnings
import numpy as np, hyperslab
warnings.simplefilter("ignore")
image = open(sys.argv[1], "rb").read()
seed, count = int(sys.argv[2]), int(sys.argv[3])
expected = np.arange(600, dtype="<i4").reshape(30, 20)
rng = np.random.default_rng(seed)
raised = 0

def walk(f):
    found = []
    def visit(name, obj):
        found.append((name, dict(obj.attrs)))
        if isinstance(obj, hyperslab.Dataset):
            if obj.nbytes < 1 << 24:
                found.append(obj[()])
    f.visititems(visit)
    return found

for _ in range(count):
    damaged = bytearray(image)
    for _ in range(int(rng.integers(1, 4))):
        damaged[int(rng.integers(0, len(image)))] ^= 1 << int(rng.integers(0, 8))
    try:
        with hyperslab.File.in_memory(bytes(damaged)) as f:
            walk(f)
            if sys.argv[4] == "latest":
                # Checksums protect all metadata and the chunks.
                assert (f["chunked"][()] == expected).all(), "wrong data"
    except AssertionError:
        raise
    except Exception as error:
        raised += 1
        if type(error) is RuntimeError or type(error).__name__ == "PanicException":
            raise
        details = getattr(error, "hyperslab", None)
        if details is None and not isinstance(error, (UnicodeError, ValueError, TypeError, KeyError, OverflowError)):
            raise
print(raised)
"""


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_flipped_bits_never_crash(path: Path, run_python: RunPython, libver: str) -> None:
    make(path, libver=libver)
    done = run_python(FLIPS, path, 1, 400, libver, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 20 < int(done.stdout) < 400


INTERRUPTED = """
import signal, sys, hyperslab
signal.signal(signal.SIGINT, signal.default_int_handler)  # Shells ignore the signal in background jobs.
f = hyperslab.File(sys.argv[1])
print("ready", flush=True)
try:
    while True:
        f["d"][...]
        print("end", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise SystemExit(7)
"""


def test_ctrl_c_ends_a_long_read(path: Path, tmp_path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dset = f.create_dataset("d", (1024, 1 << 19), "i4", chunks=(16, 1 << 16), compression="gzip", compression_opts=1)
        dset[:16] = np.random.default_rng(1).integers(0, 1000, (16, 1 << 19))
        for column in range(8):
            mask, data = dset.id.read_direct_chunk((0, column << 16))
            for row in range(16, 1024, 16):
                dset.id.write_direct_chunk((row, column << 16), data, mask)
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen([sys.executable, script, path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        start = time.monotonic()
        try:
            output, _ = child.communicate(timeout=30)
        finally:
            child.kill()
        seconds = time.monotonic() - start
    print(f"a read ended {seconds:.2f} s after SIGINT")
    assert child.returncode == 7 and output == "interrupted\n" and seconds < 5


FORK = """
import os, sys, threading
import numpy as np, hyperslab
readable, writable = sys.argv[1:]
r = hyperslab.File(readable)
w = hyperslab.File(writable, "w")
w["d"] = np.arange(10)
expected = r["chunked"][...]
child = os.fork()
if child == 0:
    code = 0
    try:
        assert (r["chunked"][...] == expected).all()
        for use in (lambda: w["d"][0], lambda: w.create_group("g"), lambda: w.flush()):
            try:
                use()
            except OSError as error:
                assert "forked" in str(error)
            else:
                code = 4
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        code = 5
    sys.exit(code)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
w["after"] = 1
w.close()
"""


def test_forks(path: Path, tmp_path: Path, run_python: RunPython) -> None:
    make(path)
    done = run_python(FORK, path, tmp_path / "w.h5", timeout=60)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "w.h5") as f:
        assert f["after"][()] == 1 and f["d"][9] == 9


EXIT = """
import sys, threading
import numpy as np, hyperslab
readable, writable = sys.argv[1:]
w = hyperslab.File(writable, "w")
d = w.create_dataset("d", (100, 1000), "i4", chunks=(10, 100), compression="gzip")
d[...] = 5
kept = [hyperslab.File(readable)["chunked"]]
def work():
    while True:
        try:
            kept[0][...]
            d[3:7] = 5
        except ValueError:
            pass  # The files are closed at exit, and the thread goes on.
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
"""


def test_exit_with_open_files_and_threads(path: Path, tmp_path: Path, run_python: RunPython) -> None:
    make(path)
    for _ in range(10):
        done = run_python(EXIT, path, tmp_path / "w.h5", timeout=60)
        assert done.returncode == 0 and "anic" not in done.stderr, done.stderr
        with h5py.File(tmp_path / "w.h5") as f:
            assert (f["d"][...] == 5).all()


ENDED = """
import sys, threading
import hyperslab
readable, writable = sys.argv[1:]
dataset = hyperslab.File(readable)["chunked"]
hyperslab._hyperslab.end()
found = []
def work():
    try:
        dataset[...]
    except ValueError as error:
        found.append(str(error))
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert found == ["the file is closed, because Python ends"], found
# The thread that ends Python may write a last file.
with hyperslab.File(writable, "w") as f:
    f["x"] = 7
"""


def test_calls_of_other_threads_are_errors_when_python_ends(path: Path, tmp_path: Path, run_python: RunPython) -> None:
    make(path)
    done = run_python(ENDED, path, tmp_path / "w.h5", timeout=60)
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "w.h5") as f:
        assert f["x"][()] == 7


OPENS = """
import gc, os, sys, hyperslab
def memory():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def work(count):
    for _ in range(count):
        with hyperslab.File(sys.argv[1]) as f:
            f["g/contiguous"][0, 0], f["g"].attrs["list"], f["chunked"][3, 3]
count = int(sys.argv[2])
work(1000)
before = memory()
work(count)
print(memory() - before)
"""


def test_memory_of_many_opens(path: Path, run_python: RunPython) -> None:
    make(path)
    done = run_python(OPENS, path, os.environ.get("HYPERSLAB_TEST_OPENS", "5000"), timeout=1200)
    assert done.returncode == 0, done.stderr
    print(f"{int(done.stdout)} bytes more after many opens")
    assert int(done.stdout) < 2 << 20


def count_for(seconds: float) -> float:
    """Return how often a loop of Python runs in a second."""
    end, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        number += 1
    return number / seconds


def count_beside(work: Callable[[], None], stop: threading.Event) -> float:
    """Return the speed of the loop while 16 threads work."""
    stop.clear()
    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    speed = count_for(3.0)
    stop.set()
    for thread in threads:
        thread.join()
    return speed


def test_threads_leave_the_interpreter_free(path: Path) -> None:
    rows = np.random.default_rng(2).integers(0, 50, (64, 1 << 16)).astype("i4")
    stop = threading.Event()
    errors: list[BaseException] = []
    numbers = itertools.count()
    with hyperslab.File(path, "w") as f:
        dset = f.create_dataset("d", (16 * 64, 1 << 16), "i4", chunks=(16, 1 << 15), compression="gzip", compression_opts=1)
        for at in range(16):
            dset[at * 64 : at * 64 + 64] = rows

        def work() -> None:
            number = next(numbers)
            own = slice(number * 64, number * 64 + 64)
            try:
                while not stop.is_set():
                    if number % 4 == 0:
                        dset[own] = rows
                    assert (dset[own] == rows).all()
            except BaseException as error:  # noqa: BLE001 - the main thread raises it
                errors.append(error)

        def compress() -> None:
            data = rows.tobytes()
            while not stop.is_set():
                zlib.compress(data)

        # Threads share the processors: the bar is the speed beside threads that never need the interpreter.
        busy = count_beside(compress, stop)
        beside = count_beside(work, stop)
    assert not errors
    alone = count_for(1.0)
    print(f"a counting thread keeps {beside / alone:.0%} of its speed beside 16 threads, and {busy / alone:.0%} beside zlib")
    with h5py.File(path) as f:
        for at in range(16):
            np.testing.assert_array_equal(f["d"][at * 64 : at * 64 + 64], rows)
    assert beside >= 0.5 * busy


def test_threads_create_and_read_objects(path: Path) -> None:
    with hyperslab.File(path, "w") as f:

        def work(number: int) -> None:
            for at in range(20):
                f[f"t{number}/d{at}"] = np.full(100, at)
                f[f"t{number}"].attrs["last"] = at
                assert (f[f"t{number}/d{at}"][...] == at).all()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with h5py.File(path) as f:
        for number in range(16):
            assert len(f[f"t{number}"]) == 20 and f[f"t{number}"].attrs["last"] == 19
            assert all((f[f"t{number}/d{at}"][...] == at).all() for at in range(20))
