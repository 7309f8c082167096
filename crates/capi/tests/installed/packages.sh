#!/bin/sh
# Downloads packages of Debian 12 and unpacks them into $WORK/root; nothing is installed. The other scripts read this file.
# Sets A (the folder of the packages) and L (its folder of libraries). Ends the script with a message if that is not possible.
PACKAGES="hdf5-tools python3-h5py python3-tables netcdf-bin gdal-bin octave gfortran m4 libhdf5-dev libhdf5-cpp-103-1 libhdf5-fortran-102"
mkdir -p "$WORK/archives/partial"
if [ ! -e "$WORK/ready" ]; then
    apt-get install --download-only --yes --no-install-recommends -o Dir::Cache::archives="$WORK/archives" \
        -o Debug::NoLocking=1 $PACKAGES >"$WORK/apt.log" 2>&1 || { echo "skipped: apt-get: see $WORK/apt.log"; exit 0; }
    for package in "$WORK"/archives/*.deb; do
        dpkg -x "$package" "$WORK/root"
    done
    touch "$WORK/ready"
fi
A=$WORK/root
L=$A/usr/lib/x86_64-linux-gnu
if [ ! -e "$L/libhdf5_serial.so.103" ]; then
    echo "skipped: the packages have no libhdf5_serial.so.103: the machine is no Debian 12, or has it installed"
    exit 0
fi
