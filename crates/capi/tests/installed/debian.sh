#!/bin/sh
# Programs of Debian 12 on the library for programs of HDF5 1.10, by LD_LIBRARY_PATH, compared with the same programs on Debian's
# library. `cargo xtask capi --debian` runs the script. The packages are unpacked in a scratch folder, and nothing is installed.
#
#     debian.sh LIB WORK      LIB: the folder with libhdf5_serial.so.103; WORK: a folder that keeps the packages
set -eu
LIB=$1
WORK=$2
. "$(dirname "$0")/packages.sh"
U=$A/usr/bin
OTHERS=$L:$A/usr/lib:$A/lib/x86_64-linux-gnu:$L/blas:$L/lapack:$(echo "$L"/octave/*/ | tr ' ' ':')
export GDAL_DATA="$A/usr/share/gdal" PROJ_LIB="$A/usr/share/proj" OCTAVE_HOME="$A/usr"

# Runs all programs in a new folder. $1: its name; $2: the folders of the libraries.
programs() {
    rm -rf "$WORK/$1"
    mkdir -p "$WORK/$1"
    cd "$WORK/$1"
    export LD_LIBRARY_PATH="$2"
cat > a.cdl <<'C'
netcdf a { dimensions: t = UNLIMITED; x = 3; variables: double v(t, x); v:units = "m"; v:_DeflateLevel = 4; string s(x); byte b(x); data: v = 1,2,3,4,5,6; s = "a","bc","d"; b = 1,2,3; group: g { variables: int i(x); data: i = 7, 8, 9; } }
C
echo "== ncgen"; $U/ncgen -k nc4 -o a.nc a.cdl; $U/ncdump -s a.nc | grep -v Provenance; $U/nccopy a.nc b.nc && $U/ncdump -h b.nc
$U/h5dump a.nc | head -60; $U/h5ls -r b.nc
echo "== gdal"; GDAL_DATA=$A/usr/share/gdal PROJ_LIB=$A/usr/share/proj $U/gdalinfo -json NETCDF:a.nc:v 2>&1 | head -40; GDAL_DATA=$A/usr/share/gdal $U/gdalinfo HDF5:a.nc://v 2>&1 | head -40
echo "== octave"; export OCTAVE_HOME=$A/usr
cat > o.m <<'M'
a = magic(4); s.x = 1:3; s.y = "text"; c = {1, "two", [3 4 5]}; z = 1+2i; i8 = int8([1 -2 3]); b = true;
save -hdf5 o.h5 a s c z i8 b
clear all
load -hdf5 o.h5
disp(a); disp(s.y); disp(c{2}); disp(z); disp(i8); disp(b)
M
$U/octave-cli --no-gui --norc -q o.m; $U/h5ls -r o.h5
echo "== c++"
cat > p.cc <<'M'
#include <H5Cpp.h>
#include <iostream>
using namespace H5;
int main() {
  { H5File f("p.h5", H5F_ACC_TRUNC); hsize_t d[2] = {4, 6}; DataSpace s(2, d); DSetCreatPropList p; hsize_t c[2] = {2, 3}; p.setChunk(2, c); p.setDeflate(6);
    DataSet ds = f.createDataSet("x", PredType::NATIVE_INT, s, p); int v[24]; for (int i = 0; i < 24; i++) v[i] = i * i; ds.write(v, PredType::NATIVE_INT);
    Group g = f.createGroup("g"); Attribute a = g.createAttribute("note", StrType(0, H5T_VARIABLE), DataSpace()); a.write(StrType(0, H5T_VARIABLE), std::string("hello")); 
    CompType t((size_t)16); t.insertMember("a", 0, PredType::NATIVE_DOUBLE); t.insertMember("b", 8, PredType::NATIVE_LONG); t.commit(g, "pair"); }
  H5File f("p.h5", H5F_ACC_RDONLY); DataSet ds = f.openDataSet("x"); int v[24]; ds.read(v, PredType::NATIVE_INT); long sum = 0; for (int i : v) sum += i;
  std::string n; Attribute a = f.openGroup("g").openAttribute("note"); a.read(a.getStrType(), n);
  std::cout << sum << " " << n << " " << f.getNumObjs() << " " << f.openGroup("g").getObjnameByIdx(0) << " " << f.getObjCount(H5F_OBJ_ALL) << std::endl;
  Exception::dontPrint(); try { f.openDataSet("missing"); } catch (Exception &e) { std::cout << "caught " << e.getFuncName() << std::endl; } }
M
g++ -I $A/usr/include/hdf5/serial p.cc -o ./p -L $A/usr/lib/x86_64-linux-gnu -Wl,--allow-shlib-undefined -lhdf5_serial_cpp -lhdf5_serial && ./p; $U/h5dump p.h5
echo "== fortran"
cat > q.f90 <<'M'
program q
 use hdf5
 integer(hid_t) :: f, s, d, p; integer :: e, i, v(10), w(10); integer(hsize_t) :: n(1) = (/10/), c(1) = (/5/); logical :: there
 do i = 1, 10; v(i) = i**3; end do
 call h5open_f(e); call h5fcreate_f("q.h5", h5f_acc_trunc_f, f, e); call h5screate_simple_f(1, n, s, e)
 call h5pcreate_f(h5p_dataset_create_f, p, e); call h5pset_chunk_f(p, 1, c, e); call h5pset_deflate_f(p, 4, e)
 call h5dcreate_f(f, "x", h5t_native_integer, s, d, e, p); call h5dwrite_f(d, h5t_native_integer, v, n, e)
 call h5dclose_f(d, e); call h5fclose_f(f, e)
 call h5fopen_f("q.h5", h5f_acc_rdonly_f, f, e); call h5dopen_f(f, "x", d, e); call h5dread_f(d, h5t_native_integer, w, n, e)
 call h5lexists_f(f, "y", there, e); print *, sum(w), all(v == w), there
 call h5dclose_f(d, e); call h5fclose_f(f, e); call h5close_f(e)
end program
M
$A/usr/bin/x86_64-linux-gnu-gfortran-12 -fno-use-linker-plugin -B /usr/lib/gcc/x86_64-linux-gnu/12/ -B $A/usr/lib/gcc/x86_64-linux-gnu/12/ -I $A/usr/include/hdf5/serial q.f90 -o ./q -L $A/usr/lib/gcc/x86_64-linux-gnu/12 -L $A/usr/lib/x86_64-linux-gnu -Wl,--allow-shlib-undefined -lhdf5_serial_fortran -lhdf5_serial && ./q; $U/h5dump q.h5
echo "== h5py"; PYTHONPATH=$A/usr/lib/python3/dist-packages /usr/bin/python3 -c "
import h5py, numpy as np, tables
print(h5py.version.hdf5_version, h5py.__version__, tables.__version__)
with h5py.File('y.h5','w') as f:
    d=f.create_dataset('x',data=np.arange(100).reshape(10,10),chunks=(5,5),compression='gzip'); d.attrs['u']='text'; f['s']=['a','bc']; f['c']=np.zeros(3,dtype=[('a','f8'),('b','i4')]); f['r']=d.ref; f['v']=h5py.SoftLink('/x')
with h5py.File('y.h5') as f:
    print(list(f), f['x'][3:5,2:4], f['x'].attrs['u'], f['s'][:], f[f['r'][()]].name, f['c'].dtype, f['v'].shape); f.visititems(lambda n,o: print(n,o))
    try: f['none']
    except KeyError: print("KeyError")
class T(tables.IsDescription): a=tables.Int32Col(); b=tables.StringCol(5)
with tables.open_file('t.h5','w') as t:
    k=t.create_table('/','t',T,filters=tables.Filters(5,'blosc')); k.append([(i,'x%d'%i) for i in range(100)]); k.cols.a.create_index(); t.create_vlarray('/','v',tables.Int8Atom()).append([1,2])
with tables.open_file('t.h5') as t: print(t, [r['b'] for r in t.root.t.where('a>95')])
" 2>&1 | grep -v "Last modif"
}

(programs stock "$OTHERS") >"$WORK/stock.txt" 2>&1 || true
(programs ours "$LIB:$OTHERS") >"$WORK/ours.txt" 2>&1 || true
for part in h5py fortran c++ octave gdal ncgen; do
    grep -q "^== $part" "$WORK/stock.txt" || { echo "the programs stopped before $part"; exit 1; }
done
if LD_LIBRARY_PATH="$LIB:$OTHERS" LD_DEBUG=libs "$U/h5ls" --version 2>&1 | grep -q "calling init: $LIB"; then :; else
    echo "h5ls did not load $LIB"
    exit 1
fi
diff "$WORK/stock.txt" "$WORK/ours.txt" || exit 1
echo "Debian 12: ncgen, ncdump, nccopy, h5dump, h5ls, gdalinfo, octave, C++, Fortran, h5py and PyTables: $(wc -l <"$WORK/ours.txt") equal lines"
