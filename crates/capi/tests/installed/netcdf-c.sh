#!/bin/sh
# The tests of netCDF-C 4.9.3 that use HDF5 (h5_test and nc_test4), compiled for Debian 12's libhdf5 and run on the library for
# programs of HDF5 1.10. `cargo xtask capi-suites --suite netcdf-c` runs the script. It prints a line for each test: `PASS ID` or
# `FAIL ID`, and `PROVED` if the programs load the library.
#
#     netcdf-c.sh LIB WORK NETCDF      LIB: the folder with libhdf5_serial.so.103; WORK: the folder of the packages; NETCDF: of the build
set -eu
LIB=$1
WORK=$2
NETCDF=$3
SOURCE=http://deb.debian.org/debian/pool/main/n/netcdf/netcdf_4.9.3.orig.tar.gz
. "$(dirname "$0")/packages.sh"
PATH=$PATH:$A/usr/bin
OTHERS=$L:$A/lib/x86_64-linux-gnu
mkdir -p "$NETCDF/build"
cd "$NETCDF"
[ -e netcdf.tar.gz ] || curl -sfL -o netcdf.tar.gz "$SOURCE" || { rm -f netcdf.tar.gz; echo "skipped: no $SOURCE"; exit 0; }
[ -e netcdf-c-4.9.3/configure ] || tar -xzf netcdf.tar.gz
cd build
if [ ! -e ready ]; then
    LD_LIBRARY_PATH=$OTHERS ../netcdf-c-4.9.3/configure --disable-dap --disable-byterange --disable-plugins --disable-nczarr \
        --disable-utilities --disable-libxml2 --disable-shared --disable-dependency-tracking CFLAGS=-O0 \
        CPPFLAGS="-I$A/usr/include/hdf5/serial" LDFLAGS="-L$L/hdf5/serial -Wl,--allow-shlib-undefined" >configure.log 2>&1
    LD_LIBRARY_PATH=$OTHERS make -j2 >make.log 2>&1
    touch ready
fi
for folder in h5_test nc_test4; do
    rm -f "$folder"/*.trs "$folder"/*.log
    LD_LIBRARY_PATH=$LIB:$OTHERS make -k -C $folder check >"$folder-check.log" 2>&1 || true
    for result in "$folder"/*.trs; do
        name=${result##*/}
        echo "$(sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$result" | head -n 1) $folder/${name%.trs}"
    done
done
if LD_LIBRARY_PATH=$LIB:$OTHERS LD_TRACE_LOADED_OBJECTS=1 h5_test/tst_h_files | grep -q "libhdf5_serial.so.103 => $LIB/"; then
    echo PROVED
fi
