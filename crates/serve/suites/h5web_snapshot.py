"""Runs H5Web's test of h5grove's API against `hyperslab serve`, or against the WebAssembly module.

    python h5web_snapshot.py CHECKOUT HYPERSLAB FOLDER

CHECKOUT is a git checkout of H5Web 17 (bare ones work too), HYPERSLAB the program, or
`wasm_server.mjs` for the WebAssembly module of the page, FOLDER a folder for packages from npm. The
Python needs h5py and numpy. The test, its snapshot and the script that
makes the sample file come from the checkout.
"""

import json
import os
import pathlib
import subprocess
import sys

# The versions of the packages that the test needs, but those of the checkout's packages.
VITEST = "4.1.7"
TEST = "src/providers/h5grove/h5grove-api.test.ts"
CONFIG = """import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: 'packages/app',
  resolve: { alias: [{ find: /^@h5web\\/shared\\/(.*)$/u, replacement: `${import.meta.dirname}/packages/shared/src/$1.ts` }] },
  test: { include: ['%s'], env: { VITE_H5GROVE_URL: process.env.VITE_H5GROVE_URL, VITE_H5GROVE_TEST_FILE: 'sample.h5' } },
});
""" % TEST


def prepare(checkout, folder):
    """Copies the packages of the checkout, and installs what they need."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = ["git", "-C", str(checkout), "archive", "HEAD", "packages/app", "packages/shared", "support/sample"]
    copied = subprocess.run(archive, stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=copied, check=True)
    packages = {"vitest": VITEST}
    for name in ("app", "shared"):
        description = json.loads((folder / "packages" / name / "package.json").read_text())
        for kind in ("devDependencies", "dependencies"):
            for package, version in description.get(kind, {}).items():
                if package.split("/")[-1].startswith(("d3-", "ndarray", "zustand", "react", "axios", "three", "vite")):
                    packages.setdefault(package, version)
    packages = {name: version for name, version in packages.items() if not version.startswith("workspace:")}
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module", "dependencies": packages}))
    (folder / "vitest.config.mjs").write_text(CONFIG)
    # The configurations of the checkout need further packages.
    for pattern in ("*/*.config.*", "*/tsconfig*.json"):
        for found in (folder / "packages").glob(pattern):
            found.unlink()
    if not (folder / "node_modules/vitest").is_dir():
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]
        subprocess.run(command, cwd=folder, check=True)


def main():
    checkout, program, folder = sys.argv[1:]
    folder = pathlib.Path(folder).absolute()
    prepare(pathlib.Path(checkout).absolute(), folder)
    sample = folder / "support/sample/create_h5_sample.py"
    subprocess.run([sys.executable, str(sample)], check=True, stdout=subprocess.DEVNULL)
    command = ["node", program, "serve"] if program.endswith(".mjs") else [program, "serve", "--no-token"]
    server = subprocess.Popen([*command, str(sample.parent / "dist")], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip().rstrip("/")
        environment = {**os.environ, "VITE_H5GROVE_URL": f"{address}/api", "CI": "true"}
        vitest = ["npx", "vitest", "run", "--config", "vitest.config.mjs"]
        return subprocess.run(vitest, cwd=folder, env=environment, check=False).returncode
    finally:
        server.terminate()
        server.wait(timeout=10)


if __name__ == "__main__":
    sys.exit(main())
