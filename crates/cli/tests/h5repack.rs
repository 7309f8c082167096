//! `hyperslab h5repack`, run as people run `h5repack`. The referee reads the new files.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::PhaseChange;
use std::path::PathBuf;

use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::{fixtures, referee};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
}

/// A folder with `a.h5`.
struct Bench {
    scratch: Scratch,
}

impl Bench {
    fn new() -> Self {
        let scratch = Scratch::new(hyperslab());
        let file = hyperslab::File::create(scratch.path("a.h5")).unwrap();
        let numbers: Vec<i32> = (0..1000).collect();
        for name in ["plain", "group/inner", "some*name"] {
            file.new_dataset(name).write(&numbers).unwrap();
        }
        let square = file.new_dataset("square").of::<f64>().shape(&[20, 30]).chunks(&[10, 10]).deflate(1);
        square.create().unwrap().write(.., &[0.5; 600]).unwrap();
        file.new_dataset("tiny").write(&[1_u8]).unwrap();
        file.link_soft("soft", "/plain").unwrap();
        file.root().set_attribute("units", "K").unwrap();
        file.close().unwrap();
        Self { scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    fn run(&self, arguments: &str) -> Run {
        self.scratch.run_line(&format!("h5repack {arguments}"))
    }

    /// Repacks `a.h5` to `b.h5`, and checks that `b.h5` is sound. Returns standard output and
    /// standard error.
    fn repack(&self, arguments: &str) -> (String, String) {
        let run = self.run(&format!("{arguments} a.h5 b.h5")).succeeds();
        self.scratch.run(["check", "b.h5"]).succeeds();
        (run.out().to_owned(), run.error().to_owned())
    }

    /// Runs the referee on both files. Their elements must be the same.
    fn judge(&self, code: &str) {
        let Some(referee) = referee::python() else { return };
        let same = "import h5py, sys
f, g = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
names = ['plain', 'group/inner', 'some*name', 'square', 'tiny', 'soft']
assert all((f[name][()] == g[name][()]).all() for name in names)
assert g.attrs['units'] == 'K' and g.get('soft', getlink=True).path == '/plain'
how = {name: (g[name].chunks, g[name].compression, g[name].shuffle, g[name].fletcher32) for name in names}\n";
        referee.run_script(&format!("{same}{code}"), [self.path("a.h5"), self.path("b.h5")]).unwrap();
    }
}

#[test]
fn an_unchanged_repack_keeps_the_properties() {
    let bench = Bench::new();
    assert_eq!(bench.repack(""), (String::new(), String::new()));
    bench.judge("assert how['square'] == ((10, 10), 'gzip', False, False) and how['plain'][0] is None");
    assert!(bench.run("-i a.h5 -o c.h5").is_success());
    assert_eq!(std::fs::read(bench.path("b.h5")).unwrap(), std::fs::read(bench.path("c.h5")).unwrap());
}

#[test]
fn filters_and_layouts_of_all_and_of_selected_datasets() {
    let bench = Bench::new();
    let (_, warned) = bench.repack(
        "-f SHUF -f GZIP=6 -f square:NONE -l some*name,group/inner:CHUNK=100 -l plain:CONTI -f plain:NONE -l tiny:COMPA",
    );
    assert_eq!(warned, "");
    bench.judge(
        "assert how['group/inner'] == how['some*name'] == ((100,), 'gzip', True, False)
assert how['square'] == ((10, 10), None, False, False)
assert how['plain'] == (None, None, False, False)
assert g['tiny'].id.get_create_plist().get_layout() == h5py.h5d.COMPACT",
    );
    bench.repack("-m 1000 -f FLET -l square:CHUNK=5x6");
    bench.judge(
        "assert how['plain'][3] and how['square'] == ((5, 6), None, False, True) and how['tiny'][0] is None",
    );
    bench.repack("-f plain:SOFF=0,IN -f group/inner:NBIT -f square:SZIP=8,NN -f some*name:UD=32000,1,0");
    bench.judge(
        "assert g['plain'].scaleoffset is not None and how['square'][1] == 'szip' and how['some*name'][1] == 'lzf'",
    );
    std::fs::write(bench.path("options"), "-f plain:GZIP=2\n-l plain:CHUNK=50\n").unwrap();
    bench.repack("-e options");
    bench.judge("assert how['plain'] == ((50,), 'gzip', False, False)");
    // If the change is impossible for one of the datasets, the tool reports this dataset and leaves
    // it unchanged.
    let (_, warned) = bench.repack("-l CHUNK=10");
    assert!(warned.contains("</square> is stored as before: the dataset has 2 dimensions"), "{warned}");
    bench.judge("assert how['plain'][0] == (10,) and how['square'][0] == (10, 10)");
}

#[test]
fn the_list_of_new_options() {
    let bench = Bench::new();
    let (printed, _) = bench.repack("-v -f SHUF -f GZIP=6 -m 100");
    let expected = "Making new file ...
-----------------------------------------
 Type     Filter (Compression)     Name
-----------------------------------------
 group                       /
  attr                        units
 group                       /group
 dset     SHUF GZIP   (";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(printed.ends_with(" dset                        /tiny\n"), "{printed}");
    assert!(printed.contains("\n link                        /soft\n"), "{printed}");
}

#[test]
fn versions_and_groups() {
    let bench = Bench::new();
    let version = |name: &str| hyperslab::File::open(bench.path(name)).unwrap().info().superblock_version;
    for (arguments, expected) in [("", 0), ("-j 1", 2), ("--low=2 --high=3", 3), ("-L", 3)] {
        bench.repack(arguments);
        assert_eq!(version("b.h5"), expected, "{arguments}");
    }
    bench.repack("-j 1 -c 3 -d 2 -s 16:dtype");
    let file = hyperslab::File::open(bench.path("b.h5")).unwrap();
    assert_eq!(file.link_phase_change().unwrap(), PhaseChange { max_compact: 3, min_dense: 2 });
    assert_eq!(file.storage().unwrap(), hyperslab::GroupStorage::Dense);
    assert_eq!(file.group("group").unwrap().storage().unwrap(), hyperslab::GroupStorage::Compact);
    let shared = file.info().shared_messages;
    let expected = hyperslab::SharedMessages::of(hyperslab::SharedMessageIndexInfo::DATATYPES, 16);
    assert_eq!(shared, expected);
    bench.judge("assert len(g) == 6");
    bench.repack("-s 40 -j 1");
    let file = hyperslab::File::open(bench.path("b.h5")).unwrap();
    assert_eq!(file.info().shared_messages.indexes.len(), 5);
}

#[test]
fn space_and_user_block() {
    let bench = Bench::new();
    let info = || hyperslab::File::open(bench.path("b.h5")).unwrap().info();
    bench.repack("-S PAGE -P 1 -T 5 -G 1024");
    let space = info().file_space;
    assert_eq!(space.strategy, hyperslab::FileSpaceStrategy::Page);
    assert_eq!((space.persist, space.threshold, space.page_size), (true, 5, 1024));
    bench.judge("assert g.id.get_create_plist().get_file_space_page_size() == 1024");
    std::fs::write(bench.path("block"), "my own bytes").unwrap();
    bench.repack("-u block");
    assert_eq!(info().user_block, 1024);
    bench.judge("assert g.userblock_size == 1024");
    let bytes = std::fs::read(bench.path("b.h5")).unwrap();
    assert!(bytes.starts_with(b"my own bytes\0\0\0"));
    bench.repack("-b 2048 -u block");
    assert_eq!(info().user_block, 2048);
    bench.repack("-t 1000 -a 4096 -M 8192");
    let plain = hyperslab::File::open(bench.path("b.h5")).unwrap().dataset("plain").unwrap();
    let hyperslab::Layout::Contiguous { address: Some(address) } = plain.layout() else { panic!() };
    assert!(address.is_multiple_of(4096), "{address}");
}

#[test]
fn datasets_become_sparse() {
    let bench = Bench::new();
    bench.repack("-l plain:SPARSECHUNK=100 -l square:SPARSECHUNK=10x10 --exclude-value square:0.5");
    let file = hyperslab::File::open(bench.path("b.h5")).unwrap();
    // Zero is the fill value.
    assert_eq!(file.dataset("plain").unwrap().sparse().defined_count().unwrap(), 999);
    let square = file.dataset("square").unwrap();
    assert_eq!(square.sparse().defined_count().unwrap(), 0);
    assert_eq!(square.read_raw::<f64>(..).unwrap(), [0.5; 600]);
}

#[test]
fn unsupported_requests_are_reported_and_leave_no_output() {
    let bench = Bench::new();
    std::fs::write(bench.path("options"), "-f").unwrap();
    std::fs::write(bench.path("large"), [0; 600]).unwrap();
    for (arguments, reported) in [
        ("a.h5", "file names missing"),
        ("a.h5 b.h5 c.h5", "more than two"),
        ("a.h5 a.h5", "file names cannot be the same"),
        ("nowhere.h5 b.h5", "unable to open file"),
        ("a.h5 nowhere/b.h5", "cannot write"),
        ("-f BOGUS a.h5 b.h5", "invalid filter type in <BOGUS>"),
        ("-f nothing:GZIP=1 a.h5 b.h5", "</nothing> is not a dataset"),
        ("-f group:GZIP=1 a.h5 b.h5", "</group> is not a dataset"),
        ("-l plain:CHUNK=2x2 a.h5 b.h5", "</plain> has 1 dimensions"),
        ("-l ROUND a.h5 b.h5", "invalid layout type in <ROUND>"),
        ("-l plain:CHUNK=0 a.h5 b.h5", "0"),
        ("-n a.h5 b.h5", "native datatypes are not supported"),
        ("--merge a.h5 b.h5", "external links cannot be changed"),
        ("-z descending a.h5 b.h5", "descending order is not supported"),
        ("-s x a.h5 b.h5", "is not a number of bytes"),
        ("-s 10:all a.h5 b.h5", "dspace, dtype, fill, pline and attr"),
        ("-j 9 a.h5 b.h5", "not a version number"),
        ("-j 3 -k 1 a.h5 b.h5", "v18"),
        ("-S BAG a.h5 b.h5", "not one of FSM_AGGR"),
        ("-b 1000 a.h5 b.h5", "1000"),
        ("-u large -b 512 a.h5 b.h5", "is too small for the 600"),
        ("-a 0 a.h5 b.h5", "above zero"),
        ("-e options a.h5 b.h5", "the last `-f` has no value"),
        ("-e nowhere a.h5 b.h5", "nowhere"),
        ("--nonsense a.h5 b.h5", "`-h` lists the options"),
        ("-c 3 -d 9 -j 1 a.h5 b.h5", "9"),
    ] {
        let output = bench.run(arguments);
        assert_eq!(output.code(), 1, "{arguments}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{arguments}: {error}");
        assert!(!bench.path("b.h5").exists(), "{arguments}");
    }
    let left = std::fs::read_dir(bench.scratch.folder()).unwrap().count();
    assert_eq!(left, 3, "what was begun is gone");
}

#[test]
fn own_fixtures_are_repacked() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["weather_station.h5", "attributes_dense_latest.h5", "links_latest.h5", "filters_latest.h5"] {
        let target = folder.path().join(name);
        hyperslab().with("h5repack").with("-v").run([&fixtures::path(name), &target]).succeeds();
        hyperslab().with("check").run([&target]).succeeds();
    }
}
