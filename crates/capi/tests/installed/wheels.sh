#!/bin/sh
# `hyperslab adopt` on the wheels of h5py, netCDF4 and tables in a scratch environment: each works with the adopted library, all three
# share files, and each has its own library again afterwards. `cargo xtask capi --wheels` runs the script.
#
#     wheels.sh COMMAND LIB WORK      COMMAND: the program hyperslab; LIB: the folder with libhdf5.so.320; WORK: a scratch folder
set -eu
COMMAND=$1
LIB=$2
WORK=$3
PYTHON=$WORK/venv/bin/python
if [ ! -e "$WORK/venv/ready" ]; then
    rm -rf "$WORK/venv"
    python3 -m venv "$WORK/venv" || { echo "skipped: no python3 with venv"; exit 0; }
    "$PYTHON" -m pip install -q --disable-pip-version-check --only-binary :all: h5py==3.16.0 netCDF4==1.7.5.1.post1 tables==3.11.1 ||
        { echo "skipped: the wheels cannot be installed"; exit 0; }
    touch "$WORK/venv/ready"
fi
sums() { find "$WORK/venv" -name 'libhdf5*' -type f -exec sha256sum {} + | sort -k 2; }

BEFORE=$(sums)
"$COMMAND" adopt h5py netCDF4 tables --python "$PYTHON" --lib "$LIB"
cd "$WORK"
"$PYTHON" -W ignore - "$LIB" <<'PROGRAM'
import sys, warnings
import h5py, netCDF4, tables
import numpy as np

with h5py.File("wheels.h5", "w") as f:
    f.create_dataset("x", data=np.arange(60.0).reshape(6, 10), chunks=(2, 5), compression="gzip", shuffle=True)
    f["x"].attrs["unit"] = "m"
with tables.open_file("wheels.h5", "a") as f:
    assert (f.root.x[2:4, 3] == [23, 33]).all() and f.root.x.attrs.unit == "m"
    class Row(tables.IsDescription):
        a = tables.Int64Col()
        b = tables.StringCol(4)
    table = f.create_table("/", "t", Row, filters=tables.Filters(5, "blosc"))
    table.append([(i, b"r%d" % i) for i in range(1000)])
    table.flush()
    assert [row["b"] for row in table.where("a > 997")] == [b"r998", b"r999"]
with netCDF4.Dataset("wheels.nc", "w") as f:
    f.createDimension("t", None)
    f.createDimension("y", 4)
    f.createVariable("v", "f4", ("t", "y"), compression="zlib")[:] = np.arange(12).reshape(3, 4)
    f.title = "wheels"
with h5py.File("wheels.nc") as f:
    assert f.attrs["title"] == b"wheels" and f["v"].dims[1][0].name == "/y" and f["v"][2, 3] == 11
with open("/proc/self/maps") as maps:
    mapped = {line.split()[-1] for line in maps if "libhdf5-" in line}
own = open(sys.argv[1] + "/libhdf5.so.320", "rb").read()
assert len(mapped) == 3 and all(open(path, "rb").read() == own for path in mapped), mapped
print("three wheels use the library:", h5py.version.hdf5_version, netCDF4.__hdf5libversion__)
PROGRAM
"$COMMAND" adopt --undo h5py netCDF4 tables --python "$PYTHON"
[ "$(sums)" = "$BEFORE" ] || { echo "the wheels do not have their own libraries again"; exit 1; }
"$PYTHON" -c 'import h5py, netCDF4, tables; print("own libraries:", h5py.version.hdf5_version, netCDF4.__hdf5libversion__)'
