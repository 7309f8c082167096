"""Runs the test cases of h5grove against `hyperslab serve`.

    python h5grove_cases.py CHECKOUT HYPERSLAB [PYTEST ARGUMENTS…]

CHECKOUT is a git checkout of h5grove 4.0.0, HYPERSLAB the program, or `wasm_server.mjs` for the
WebAssembly module of the page. The Python needs h5py, numpy, orjson, pytest and tifffile. The cases
come from the checkout; this script adds only the fixture.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest


class Plugin:
    """The fixture `server` of the cases, and the location of their modules."""

    def __init__(self, program):
        self.program = program

    @pytest.fixture(scope="module")
    def hyperslab_server(self):
        from conftest import SubprocessServer

        # The administrator may read every file, also those of the case about permissions.
        user = "nobody" if os.geteuid() == 0 else None
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            if self.program.endswith(".mjs"):
                command = ["node", self.program, "serve", folder]
            else:
                command = [self.program, "serve", folder, "--no-token"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, user=user)
            try:
                address = process.stdout.readline().strip().rstrip("/")
                yield SubprocessServer(pathlib.Path(folder), f"{address}/api")
            finally:
                process.terminate()
                process.wait(timeout=10)


def main():
    checkout, program, *arguments = sys.argv[1:]
    root = pathlib.Path(checkout).absolute()
    sys.path[:0] = [str(root / "src"), str(root / "src/tests")]
    own = pathlib.Path(__file__).with_name("h5grove_server.py")
    options = ["-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(own.parent)]
    # The fixtures of the checkout, without its other test modules.
    options += ["-p", "conftest", str(own)]
    return pytest.main(options + arguments, plugins=[Plugin(str(pathlib.Path(program).absolute()))])


if __name__ == "__main__":
    sys.exit(main())
