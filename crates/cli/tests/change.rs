//! `hyperslab cp`, `mv`, `rm`, `mkdir`, `ln`, `attr`, `import` and `export`, run like a user runs
//! them. The referee reads the files that they write.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::referee;

/// A folder with a copy of a fixture, `a.h5`.
struct Bench {
    scratch: Scratch,
}

impl Bench {
    fn new() -> Self {
        let scratch = Scratch::new(Program::new(env!("CARGO_BIN_EXE_hyperslab")))
            .with_fixture("weather_station.h5", "a.h5");
        Self { scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    fn run(&self, line: &str) -> Run {
        self.scratch.run_line(line)
    }

    /// Asserts that `hyperslab check` finds no fault in the files `a.h5` and `b.h5`.
    fn check(&self) {
        for name in ["a.h5", "b.h5"].into_iter().filter(|name| self.path(name).exists()) {
            self.run(&format!("check {name}")).succeeds();
        }
    }

    /// Asserts that a run succeeds without warnings, and that the files are sound afterwards.
    fn quiet(&self, line: &str) {
        self.run(line).succeeds().without_warnings();
        self.check();
    }

    fn failure(&self, line: &str) -> String {
        self.run(line).failure()
    }

    fn printed(&self, line: &str) -> String {
        self.run(line).succeeds().out().to_owned()
    }

    /// Returns the output of a referee script, which has `a.h5` open as `f` and, if it exists,
    /// `b.h5` as `g`.
    fn asked(&self, code: &str) -> Option<String> {
        let referee = referee::python()?;
        let open = "import h5py, numpy, sys, os\nf = h5py.File(sys.argv[1])\n\
                    g = h5py.File(sys.argv[2]) if os.path.exists(sys.argv[2]) else None\n";
        let answer = referee.run_script(&format!("{open}{code}"), [self.path("a.h5"), self.path("b.h5")]);
        Some(answer.unwrap().trim().to_owned())
    }

    /// Asserts the output of a referee script.
    fn says(&self, code: &str, expected: &str) {
        if let Some(answer) = self.asked(code) {
            assert_eq!(answer, expected, "{code}");
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn objects_are_copied_within_a_file_and_across() {
    let bench = Bench::new();
    bench.quiet("cp a.h5 series copy");
    bench.quiet("cp a.h5 series/temperature b.h5 deep/down/t");
    bench.quiet("cp a.h5 station b.h5 deep");
    bench.quiet("cp a.h5 / b.h5 all");
    bench.says(
        "print(numpy.array_equal(f['series/temperature'], f['copy/temperature'], equal_nan=True),
            numpy.array_equal(f['series/temperature'], g['deep/down/t'], equal_nan=True),
            sorted(f['station'].keys()) == sorted(g['deep/station'].keys()), sorted(f) == sorted(list(g['all'])))",
        "True True True True",
    );
    assert!(bench.failure("cp a.h5 series/temperature copy/temperature").contains("copy/temperature"));
    assert!(bench.failure("cp a.h5 nothing c.h5 x").contains("nothing"));
    assert!(!bench.path("c.h5").exists());
}

#[test]
fn links_are_made_moved_and_removed() {
    let bench = Bench::new();
    bench.quiet("mkdir a.h5 one");
    assert!(bench.failure("mkdir a.h5 two/deep").contains("--parents"));
    bench.quiet("mkdir -p a.h5 two/deep one");
    bench.quiet("mv a.h5 two/deep one");
    bench.quiet("ln a.h5 series/temperature one/hard");
    bench.quiet("ln -s a.h5 /series/temperature one/soft");
    bench.quiet("ln --external other.h5 a.h5 /x one/out");
    bench.says(
        "print(sorted(f['one']), f['one'].get('soft', getlink=True).path,
            f['one'].get('out', getlink=True).filename, f['one/hard'] == f['series/temperature'], list(f['two']))",
        "['deep', 'hard', 'out', 'soft'] /series/temperature other.h5 True []",
    );
    assert!(bench.failure("rm a.h5 one").contains("--recursive"));
    assert!(bench.failure("rm a.h5 nothing").contains("nothing"));
    bench.quiet("rm -f a.h5 nothing");
    bench.quiet("rm -r a.h5 one two series");
    bench.says("print('one' in f, 'series' in f)", "False False");
    assert!(bench.failure("mv a.h5 nothing x").contains("nothing"));
    assert!(bench.failure("rm -r a.h5 /").contains("root"));
}

#[test]
fn attributes_are_set_renamed_and_removed() {
    let bench = Bench::new();
    bench.quiet("attr set a.h5 / number -3");
    bench.quiet("attr set a.h5 series/temperature list 1 2.5");
    bench.quiet("attr set a.h5 / range 0 500 --type u16");
    bench.quiet("attr set a.h5 / matrix 1 0 0 1 --shape 2x2 --type f32");
    bench.quiet("attr set a.h5 / names a bcd");
    bench.quiet("attr set a.h5 / code 7 --type str");
    bench.quiet("attr set a.h5 / flag true");
    bench.says(
        "a = f.attrs; print(a['number'], f['series/temperature'].attrs['list'], a['range'].dtype, a['matrix'].shape,
            list(a['names']), repr(a['code']), a['flag'], a.get_id('names').dtype == h5py.string_dtype())",
        "-3 [1.  2.5] uint16 (2, 2) ['a', 'bcd'] '7' True True",
    );
    bench.quiet("attr mv a.h5 / number count");
    bench.quiet("attr rm a.h5 / names code flag");
    bench.says("print('number' in f.attrs, f.attrs['count'], 'code' in f.attrs)", "False -3 False");
    assert!(bench.failure("attr rm a.h5 / nothing").contains("nothing"));
    assert!(bench.failure("attr set a.h5 / small 256 --type u8").contains("256"));
    assert!(bench.failure("attr set a.h5 / m 1 2 3 --shape 2x2").contains("3 values"));
}

#[test]
fn csv_files_are_imported_and_exported() {
    let bench = Bench::new();
    write(&bench.path("t.csv"), "id,name,value\n1,\"x, y\",0.5\n2,\"say \"\"hi\"\"\",-1e3\n");
    bench.quiet("import t.csv b.h5 table");
    bench.quiet("import t.csv b.h5 columns --columns");
    bench.says(
        "print(g['table'].dtype.names, g['table'][0], g['table']['value'].tolist(), g['columns/id'][()], g['columns/name'].asstr()[1],
            h5py.check_string_dtype(g['table'].dtype['name']), h5py.check_string_dtype(g['columns/name'].dtype))",
        "('id', 'name', 'value') (1, b'x, y', 0.5) [0.5, -1000.0] [1 2] say \"hi\" \
         string_info(encoding='utf-8', length=None) string_info(encoding='utf-8', length=None)",
    );
    bench.quiet("export b.h5 table out.csv");
    let exported = std::fs::read_to_string(bench.path("out.csv")).unwrap();
    assert!(exported.starts_with("id,name,value\n1,"), "{exported}");
    write(&bench.path("m.csv"), "1,2\n3,4.5\n");
    bench.quiet("import m.csv b.h5 matrix --no-header --chunks 1x2 --filter shuffle,gzip=6");
    bench.says(
        "print(g['matrix'][()].tolist(), g['matrix'].chunks, g['matrix'].compression)",
        "[[1.0, 2.0], [3.0, 4.5]] (1, 2) gzip",
    );
    write(&bench.path("bad.csv"), "a,b\n1\n");
    assert!(bench.failure("import bad.csv c.h5 x").contains("line 2"));
    assert!(!bench.path("c.h5").exists());
    assert!(bench.failure("export b.h5 table out.what").contains("--format"));
}

#[test]
fn npy_files_are_imported_and_exported() {
    let bench = Bench::new();
    let Some(referee) = referee::python() else { return };
    let make = "import numpy, sys, os
os.chdir(sys.argv[1]); n = numpy
n.save('f.npy', n.arange(24, dtype='>f4').reshape(2, 3, 4))
n.save('o.npy', n.asfortranarray(n.arange(6).reshape(2, 3)))
n.save('s.npy', n.float64(2.5)); n.save('u.npy', n.array(['a', 'µm', 'xyz']))
n.save('r.npy', n.array([(1, b'ab', [1, 2])], dtype=[('a', 'i2'), ('b', 'S3'), ('c', 'f8', (2,))]))
n.save('c.npy', n.array([1+2j, 3j])); n.save('t.npy', n.array([True, False])); n.save('e.npy', n.zeros((0, 3)))";
    referee.run_script(make, [bench.scratch.folder()]).unwrap();
    for name in ["f", "o", "s", "u", "r", "c", "t", "e"] {
        bench.quiet(&format!("import {name}.npy b.h5 d/{name}"));
        if name != "u" {
            bench.quiet(&format!("export b.h5 d/{name} back-{name}.npy"));
        }
    }
    let code = "import h5py, numpy, sys, os
os.chdir(sys.argv[1]); g = h5py.File('b.h5')
for name in 'fosrcte':
    a, b = numpy.load(name + '.npy'), numpy.load('back-' + name + '.npy')
    assert a.dtype == b.dtype and a.shape == b.shape and (a == b).all(), (name, a, b)
    assert numpy.array_equal(g['d'][name][()], a), name
print(g['d/u'].asstr()[()].tolist(), g['d/f'].dtype, h5py.check_string_dtype(g['d/u'].dtype).length)";
    let answer = referee.run_script(code, [bench.scratch.folder()]).unwrap();
    assert_eq!(answer.trim(), "['a', 'µm', 'xyz'] >f4 None");
}

#[test]
fn help_has_examples() {
    let bench = Bench::new();
    for command in
        ["cp", "mv", "rm", "mkdir", "ln", "attr set", "attr rm", "attr mv", "import", "export", "repack"]
    {
        let help = bench.printed(&format!("{command} --help"));
        let example = format!("  hyperslab {command} ");
        assert!(help.contains("Example") && help.contains(&example), "{help}");
    }
}
