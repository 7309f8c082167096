"""What others read from files with sparse datasets: one line of JSON for each file that a list names.

outside.py oracle SCRIPT LIST: the sparse datasets, by an independent reader.
outside.py libhdf5 LIST: the ordinary datasets, and what it says of the others.
"""

import importlib.util
import json
import sys


def oracle(path):
    """A reader of one dataset: what it says of it."""
    spec = importlib.util.spec_from_file_location("oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def read(file, names):
        return {name: module.verdict(file, name) for name in names}

    return read


def libhdf5():
    import h5py
    import hdf5plugin  # noqa: F401

    def read(file, names):
        said = {}
        with h5py.File(file, "r") as opened:
            said["links"] = sorted(opened)
            said["plain"] = opened["plain"][...].tolist()
            said["words"] = [text.decode() for text in opened["palette words"][...]]
            said["sequences"] = [items.tolist() for items in opened["palette sequences"][...]]
            for name in names:
                try:
                    opened[name]
                    said[name] = "opened"
                except (KeyError, OSError, RuntimeError, ValueError) as error:
                    said[name] = type(error).__name__
        return said

    return read


def main(arguments):
    read = oracle(arguments[1]) if arguments[0] == "oracle" else libhdf5()
    with open(arguments[-1]) as requests:
        for line in requests:
            file, *names = json.loads(line)
            print(json.dumps(read(file, names)), flush=True)


main(sys.argv[1:])
