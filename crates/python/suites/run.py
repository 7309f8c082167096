"""Run the published tests of other packages on hyperslab in the place of h5py.

    python run.py SUITE… --work FOLDER --json FILE [--stock] [-k EXPRESSION]

The suites are fetched by pip at run time. Each suite runs in this Python, which has hyperslab and
the packages of requirements.txt installed. With --stock, the real h5py is used: the baseline.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

# The source archive of a suite (None: the tests lie in the installed package), and its tests.
SUITES = {
    "h5py": (None, ["h5py/tests"]),
    "h5netcdf": (None, ["--pyargs", "h5netcdf.tests"]),
    "xarray": (None, ["--pyargs", "xarray.tests.test_backends", "-k", "H5NetCDF or H5netcdf"]),
    # xarray's tests of a backend, on the engine "hyperslab"; the baseline is the same class with the engine "h5netcdf".
    "xarray-engine": (None, ["-p", "xarray.tests.conftest", str(Path(__file__).with_name("xarray_engine.py"))]),
    "anndata": ("anndata==0.12.19", ["tests/test_readwrite.py", "tests/test_io_elementwise.py", "tests/test_backed_sparse.py",
                                     "tests/test_backed_hdf5.py", "tests/test_backed_dense.py", "tests/test_io_backwards_compat.py",
                                     "tests/test_io_conversion.py", "tests/test_io_dispatched.py", "tests/test_io_partial.py",
                                     "tests/test_io_utils.py", "tests/test_io_warnings.py", "tests/test_concatenate_disk.py"]),
    # The archive of h5grove has no tests: the variable H5GROVE_SOURCE names a checkout.
    "h5grove": (None, ["--benchmark-skip", "--no-cov", "src/tests"]),
}  # fmt: skip
RESULT = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+::.*?)(?: - .*)?$")


def fetch(requirement: str, work: Path) -> Path:
    """Return the folder of an unpacked source archive."""
    name = requirement.split("==")[0]
    folder = work / "sources" / requirement
    if not folder.exists():
        archives = work / "archives"
        archives.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
        subprocess.run([*pip, "--dest", str(archives), requirement], check=False)
        found = sorted(archives.glob(f"{name}-*.tar.gz"))
        if not found:
            raise SystemExit(f"{name}: skipped: no source archive could be fetched")
        with tarfile.open(found[-1]) as archive:
            archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def h5py_package(work: Path, stock: bool) -> Path:
    """Return a folder in which `h5py` is hyperslab (or the real h5py) with the tests of h5py."""
    folder = work / ("h5py-stock" if stock else "h5py-ours")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    real = Path(importlib.util.find_spec("h5py").submodule_search_locations[0])
    if stock:
        return real.parent
    (folder / "h5py").mkdir()
    (folder / "h5py" / "__init__.py").write_text(
        "import os\nfrom hyperslab.compat import install_as_h5py\ninstall_as_h5py([os.path.dirname(__file__)])\n"
    )
    shutil.copytree(real / "tests", folder / "h5py" / "tests")
    return folder


def as_user() -> list[str]:
    """Return the start of a command that obeys the permissions of files if the user is root. The suites expect such a user."""
    if os.geteuid() != 0:
        return []
    command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    try:
        return command if subprocess.run([*command, "true"], check=False).returncode == 0 else []
    except FileNotFoundError:
        return []


def run(suite: str, work: Path, stock: bool, expression: str | None) -> dict[str, str]:
    """Run a suite. Return the result of each test."""
    requirement, tests = SUITES[suite]
    if suite == "h5py":
        folder = h5py_package(work, stock)
    elif suite == "h5grove":
        if "H5GROVE_SOURCE" not in os.environ:
            print("h5grove: skipped: the variable H5GROVE_SOURCE does not name a checkout")
            return {}
        folder = Path(os.environ["H5GROVE_SOURCE"])
    elif requirement is not None:
        folder = fetch(requirement, work)
    else:
        if suite == "xarray-engine" and stock:
            tests = ["--pyargs", "xarray.tests.test_backends", "-k", "TestH5NetCDFData and not Ros3 and not ViaDask"]
        folder = work / "empty"
        folder.mkdir(exist_ok=True)
    pytest = ["pytest", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-n", "2", "--timeout", "120", "--continue-on-collection-errors"]
    command = [*as_user(), sys.executable, "-m"]
    # A plugin reaches the processes of pytest-xdist too.
    in_place = not stock and suite != "xarray-engine"
    plugin = ["-p", "as_h5py_plugin"] if in_place and suite != "h5py" else []
    (work / "plugins").mkdir(exist_ok=True)
    (work / "plugins" / "as_h5py_plugin.py").write_text("from hyperslab.compat import install_as_h5py\n\ninstall_as_h5py()\n")
    # Other plugins may import h5py first: this package takes its place.
    shim = work / "plugins" / "h5py"
    shutil.rmtree(shim, ignore_errors=True)
    if in_place:
        shim.mkdir()
        (shim / "__init__.py").write_text("from hyperslab.compat import install_as_h5py\n\ninstall_as_h5py()\n")
    options = ["-k", expression] if expression else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [folder, work / "plugins", folder / "src"]))}
    done = subprocess.run(
        [*command, *pytest, *plugin, *tests, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    (work / f"{suite}{'-stock' if stock else ''}.log").write_text(done.stdout + done.stderr)
    found = (RESULT.match(line) for line in done.stdout.splitlines())
    return {short(match[2]) if suite != "h5py" else match[2]: match[1].lower() for match in found if match}


def short(name: str) -> str:
    """Return the name of a test without the folder of its file, which depends on the place of the installation."""
    path, _, test = name.partition("::")
    return f"{path.rsplit('/', 1)[-1]}::{test}"


def main() -> None:
    """Run the suites that the command names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", nargs="+", choices=sorted(SUITES))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--stock", action="store_true")
    parser.add_argument("-k", dest="expression")
    choices = parser.parse_args()
    choices.work.mkdir(parents=True, exist_ok=True)
    results = {}
    for suite in choices.suite:
        results[suite] = run(suite, choices.work.resolve(), choices.stock, choices.expression)
        passed = sum(result == "passed" for result in results[suite].values())
        print(f"{suite}: {passed} of {len(results[suite])} tests pass", flush=True)
    choices.json.write_text(json.dumps(results, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
