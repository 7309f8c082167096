//! `hyperslab import` and `export` of sparse matrices, run as people run them. SciPy is the referee, both ways.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::referee::{self, Referee};

/// An empty folder.
struct Bench {
    scratch: Scratch,
}

impl Bench {
    fn new() -> Self {
        let scratch = Scratch::new(Program::new(env!("CARGO_BIN_EXE_hyperslab")));
        Self { scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, line: &str) -> Run {
        self.scratch.run_line(line)
    }

    /// Asserts that a run succeeds without warnings.
    fn done(&self, line: &str) {
        self.run(line).succeeds().without_warnings();
    }

    /// Asserts that `hyperslab check` finds no fault in the files `a.h5` and `b.h5`.
    fn check(&self) {
        for name in ["a.h5", "b.h5"].into_iter().filter(|name| self.path(name).exists()) {
            self.run(&format!("check {name}")).succeeds();
        }
    }

    /// Asserts that a run succeeds without warnings, and that the files are sound afterwards.
    fn quiet(&self, line: &str) {
        self.done(line);
        self.check();
    }

    fn failure(&self, line: &str) -> String {
        self.run(line).failure()
    }

    /// Returns the output of the referee's script, which runs in the folder.
    fn asked(&self, referee: &Referee, code: &str) -> String {
        let begin = "import sys, os, numpy as n, scipy.sparse as s, scipy.io as io, h5py
os.chdir(sys.argv[1])
def same(a, b):
    a, b = s.csr_array(a), s.csr_array(b)
    assert a.shape == b.shape, (a.shape, b.shape)
    assert n.array_equal(a.toarray(), b.toarray(), equal_nan=True), (a, b)
def group(path, name='m'):
    g = h5py.File(path)[name]
    assert g.attrs['encoding-type'] == 'csr_matrix' and g.attrs['encoding-version'] == '0.1.0'
    assert g['indices'].dtype == g['indptr'].dtype == n.int32
    return s.csr_array((g['data'][()], g['indices'][()], g['indptr'][()]), shape=g.attrs['shape'])
";
        let answer = referee.run_script(&format!("{begin}{code}"), [self.scratch.folder()]);
        answer.unwrap().trim().to_owned()
    }
}

/// Returns a referee with SciPy.
fn scipy() -> Option<Referee> {
    let referee = referee::python()?;
    if referee.run_script("import scipy.sparse, scipy.io", [""; 0]).is_err() {
        hyperslab_testkit::workspace::skip("tests of sparse matrices", "the referee has no SciPy");
        return None;
    }
    Some(referee)
}

#[test]
fn matrices_that_scipy_saves_are_imported() {
    let (bench, Some(referee)) = (Bench::new(), scipy()) else { return };
    let made = "r = n.random.default_rng(3); made = []
def put(name, m, **k):
    s.save_npz(name + '.npz', m, **k); made.append(name)
base = s.random_array((60, 84), density=0.1, rng=r)
for i, format in enumerate(['csr', 'csc', 'coo', 'bsr']):
    for j, t in enumerate(['f8', 'f4', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', '?', 'c8', 'c16']):
        if (i + j) % 3 == 2: continue
        m = (base * 100).astype(t).asformat(format)
        put(f'{format}{j}', m if j % 2 else s.csr_matrix(m).asformat(format), compressed=bool(i % 2))
put('blocks', s.bsr_array((base * 9).toarray(), blocksize=(4, 7)))
put('twice', s.coo_array((n.arange(6.), ([1, 0, 1, 1, 0, 1], [2, 0, 2, 2, 0, 0])), shape=(2, 3)))
unsorted = s.csr_array((n.arange(1., 5), [2, 0, 1, 1], [0, 2, 4]), shape=(2, 3))
put('unsorted', unsorted); put('empty', s.csr_array((0, 5))); put('nothing', s.csc_array((3, 5)))
print(' '.join(made))";
    let names = bench.asked(&referee, made);
    assert!(names.split(' ').count() > 35);
    for name in names.split(' ') {
        bench.done(&format!("import {name}.npz a.h5 {name} --as csr"));
        bench.done(&format!("export a.h5 {name} back-{name}.npz"));
        bench.done(&format!("import {name}.npz s.h5 {name} --as sparse"));
        bench.done(&format!("export s.h5 {name} sparse-{name}.npz"));
    }
    bench.quiet("import twice.npz a.h5 deep/twice --as csr --filter shuffle --deflate 5 --chunks 100");
    let compared = "for name in os.listdir():
    if name.endswith('.npz') and not name.startswith(('back-', 'sparse-')):
        a, b, c = s.load_npz(name), group('a.h5', name[:-4]), s.load_npz('back-' + name)
        same(a, b); same(a, c); d = s.load_npz('sparse-' + name); same(a, d)
        assert d.dtype == c.dtype and d.nnz == c.nnz, name
        assert b.dtype == c.dtype == a.dtype, (name, a.dtype, b.dtype)
        assert c.has_canonical_format and c.format == 'csr'
g = h5py.File('a.h5')['deep/twice']
print(g['data'].chunks, g['data'].compression, g['data'].shuffle)";
    assert_eq!(bench.asked(&referee, compared), "(100,) gzip True");
}

#[test]
fn matrix_market_files_of_scipy_are_imported() {
    let (bench, Some(referee)) = (Bench::new(), scipy()) else { return };
    let made = "r = n.random.default_rng(5)
base = s.random_array((40, 40), density=0.1, rng=r)
c = base + 1j * base.T
for name, m, k in [('real', base, {}), ('integer', (base * 100).astype('i8'), {}), ('complex', c, {}),
        ('unsigned', s.csr_array(n.array([[0, 2**64 - 1]], dtype='u8')), {}),
        ('symmetric', base + base.T, dict(symmetry='symmetric')), ('skew', base - base.T, dict(symmetry='skew-symmetric')),
        ('hermitian', c + c.conj().T, dict(symmetry='hermitian')), ('pattern', base, dict(field='pattern')),
        ('array', base.toarray(), {}), ('wide', s.random_array((3, 700), density=0.2, rng=r), {})]:
    io.mmwrite(name + '.mtx', m, **k)
import gzip; gzip.open('packed.mtx.gz', 'wb').write(open('hermitian.mtx', 'rb').read())
print(' '.join(sorted(os.listdir())))";
    let names = bench.asked(&referee, made);
    for name in names.split(' ') {
        let stem = name.split('.').next().unwrap();
        bench.quiet(&format!("import {name} a.h5 {stem} --as csr"));
        if stem != "unsigned" {
            bench.quiet(&format!("export a.h5 {stem} back-{stem}.mtx"));
            bench.quiet(&format!("export a.h5 {stem} back-{stem}.mtx.gz --deflate 9"));
        }
    }
    let compared = "for name in list(os.listdir()):
    if name.startswith('back-') or '.mtx' not in name: continue
    stem = name.split('.')[0]
    a, b = io.mmread(name), group('a.h5', stem)
    same(a, b)
    if stem == 'unsigned': continue
    same(a, io.mmread(f'back-{stem}.mtx')); same(a, io.mmread(f'back-{stem}.mtx.gz'))
print(open('back-integer.mtx').readline().strip(), group('a.h5', 'pattern').dtype)";
    let expected = "%%MatrixMarket matrix coordinate integer general uint8";
    assert_eq!(bench.asked(&referee, compared), expected);
    // The command refuses to write a file that no other program can read.
    assert!(bench.failure("export a.h5 unsigned back.mtx").contains("18446744073709551615"));
    assert!(!bench.path("back.mtx").exists());
}

#[test]
fn groups_and_datasets_are_imported_and_exported() {
    let (bench, Some(referee)) = (Bench::new(), scipy()) else { return };
    let made = "r = n.random.default_rng(7)
m = s.random_array((300, 50), density=0.2, rng=r, format='csr')
with h5py.File('in.h5ad', 'w') as f:
    for name, x in [('X', m), ('layers/c', m.tocsc())]:
        g = f.create_group(name)
        g.attrs['encoding-type'] = x.format + '_matrix'; g.attrs['encoding-version'] = '0.1.0'; g.attrs['shape'] = x.shape
        for part in ['data', 'indices', 'indptr']: g.create_dataset(part, data=getattr(x, part), chunks=(33,), compression='gzip')
    g = f.create_group('matrix'); x = m.T.tocsc().astype('i4')
    g['data'], g['indices'], g['indptr'], g['shape'] = (m.T.tocsc() * 9).astype('i4').data, x.indices, x.indptr, n.array(x.shape, 'i4')
    g['barcodes'] = [b'x'] * 300
    f['dense'] = m.toarray()
    f['cube'] = n.zeros((2, 2, 2)); f['text'] = ['a']; f.create_group('other')
s.save_npz('m.npz', m)";
    bench.asked(&referee, made);
    for (inside, name) in [("X", "x"), ("layers/c", "c"), ("matrix", "tenx"), ("dense", "dense")] {
        bench.quiet(&format!("import in.h5ad:/{inside} a.h5 {name} --as csr"));
        bench.quiet(&format!("export in.h5ad {inside} b.h5:/{name} --deflate 4"));
    }
    bench.quiet("import a.h5:/x a.h5 again --as csr --dtype f32");
    bench.quiet("export a.h5 x a.h5:/more/x");
    let compared = "m = s.load_npz('m.npz')
for file in ['a.h5', 'b.h5']:
    for name in ['x', 'c', 'dense']: same(m, group(file, name))
    same((m.T * 9).astype('i4'), group(file, 'tenx'))
same(m.astype('f4'), group('a.h5', 'again')); same(m, group('a.h5', 'more/x'))
print(group('a.h5', 'again').dtype, h5py.File('b.h5')['x/data'].compression)";
    assert_eq!(bench.asked(&referee, compared), "float32 gzip");
    assert!(bench.failure("export in.h5ad cube x.mtx").contains("two dimensions, not 3"));
    assert!(bench.failure("export in.h5ad text x.npz").contains("cannot be stored in a sparse matrix"));
    assert!(bench.failure("export in.h5ad other x.npz").contains("`indptr`"));
    assert!(bench.failure("import in.h5ad:/X a.h5 x --as csr").contains("already"));
    assert!(bench.failure("import in.h5ad:/X a.h5 n --as csr --dtype i8").contains("cannot be stored as i8"));
    assert_eq!(bench.asked(&referee, "print('n' in h5py.File('a.h5'))"), "False");
}

#[test]
fn sparse_datasets_are_imported_and_exported() {
    let (bench, Some(referee)) = (Bench::new(), scipy()) else { return };
    let made = "r = n.random.default_rng(11)
m = s.random_array((700, 3000), density=0.01, rng=r, format='csc')
m.data[::5] = 0
s.save_npz('m.npz', m); io.mmwrite('m.mtx', m)
s.save_npz('cube.npz', s.coo_array((n.arange(1., 5), n.array([[0, 1, 1, 29], [5, 6, 6, 39], [49, 0, 0, 49]])), shape=(30, 40, 50)))";
    bench.asked(&referee, made);
    for (number, options) in [
        "",
        "--chunks 64x3000",
        "--chunks 7x2999 --deflate 1",
        "--chunks 700x11",
        "--filter shuffle,gzip=6 --dtype f32",
    ]
    .into_iter()
    .enumerate()
    {
        bench.done(&format!("import m.npz a.h5 m{number} --as sparse {options}"));
        bench.done(&format!("import m.mtx a.h5 t{number} --as sparse {options}"));
        bench.done(&format!("export a.h5 m{number} m{number}.npz"));
        bench.done(&format!("export a.h5 t{number} t{number}.mtx.gz"));
        bench.done(&format!("import a.h5:/t{number} b.h5 again{number} --as csr"));
    }
    let compared = "m = s.load_npz('m.npz').tocsr(); m.sort_indices()
for i in range(5):
    a = m.astype('f4') if i == 4 else m
    b, c = s.load_npz(f'm{i}.npz'), group('b.h5', f'again{i}')
    same(a, b); same(a, c); same(a, io.mmread(f't{i}.mtx.gz')) if i < 4 else None
    assert n.array_equal(b.indices, m.indices) and n.array_equal(c.indptr, m.indptr), i
print(m.nnz)";
    assert_eq!(bench.asked(&referee, compared), "21000");
    let size = |encoding: &str| {
        bench.done(&format!("import m.npz {encoding}.h5 m --as sparse --encoding {encoding}"));
        bench.done(&format!("export {encoding}.h5 m {encoding}.npz --deflate 0"));
        let same = std::fs::read(bench.path(&format!("{encoding}.npz"))).unwrap();
        (std::fs::metadata(bench.path(&format!("{encoding}.h5"))).unwrap().len(), same)
    };
    let [(blocks, one), (points, two), (shortest, three)] = ["blocks", "points", "shortest"].map(size);
    assert!(
        points < blocks && shortest <= points && one == two && two == three,
        "{blocks} {points} {shortest}"
    );
    bench.done("import cube.npz a.h5 cube");
    let text = bench.run("cat a.h5 cube -s 1,6,0:2");
    assert_eq!(text.out().to_owned().trim(), "[5.0 0.0]");
    assert!(bench.failure("export a.h5 cube cube.mtx").contains("two dimensions"));
    assert!(
        bench.failure("import cube.npz a.h5 flat --chunks 10x10").contains("chunks of the shape [10, 10]")
    );
    assert!(bench.run("check a.h5").is_success());
}

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn failed_commands_leave_no_output() {
    let bench = Bench::new();
    bench.write("bad.mtx", &format!("{BANNER}2 2 2\n1 1 1\n"));
    let error = bench.failure("import bad.mtx new.h5 m --as csr");
    assert!(error.contains("line 4") && error.contains("1 of 2 entries"), "{error}");
    assert!(!bench.path("new.h5").exists());
    bench.write("good.txt", &format!("{BANNER}2 2 2\n1 1 1\n2 1 0.5\n"));
    bench.quiet("import good.txt a.h5 deep/m --as csr");
    assert!(bench.failure("import bad.mtx a.h5 deep/er/m --as csr").contains("line 4"));
    assert!(bench.failure("import bad.mtx a.h5 deep/er/m").contains("line 4"));
    assert!(bench.failure("import good.txt a.h5 other/m --as csr --chunks 2x2").contains("one dimension"));
    assert!(bench.failure("import good.txt a.h5 other/m --as csr --dtype i8").contains("0.5 at [1, 0]"));
    let listed = bench.run("ls a.h5");
    let listed = listed.out().to_owned();
    assert!(listed.contains("deep") && !listed.contains("other"), "{listed}");
    assert!(bench.failure("export a.h5 deep/m out.mtx --select 0").contains("--select"));
    assert!(bench.failure("import nothing.mtx a.h5 x").contains("nothing.mtx"));
    bench.quiet("export a.h5 deep/m out.mtx");
    let text = std::fs::read_to_string(bench.path("out.mtx")).unwrap();
    assert!(text.starts_with(BANNER) && text.ends_with("2 2 2\n1 1 1.0\n2 1 0.5\n"), "{text}");
    let left: Vec<_> =
        std::fs::read_dir(bench.scratch.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "{left:?}");
}
