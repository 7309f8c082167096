//! `hyperslab h5mkgrp` and `h5copy`, run like a user runs the tools of these names. The referee
//! reads the files that they write.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;

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

    /// Returns the standard output of a run that succeeds. Asserts that the files are sound
    /// afterwards.
    fn printed(&self, line: &str) -> String {
        let run = self.run(line).succeeds();
        self.check();
        run.out().to_owned()
    }

    fn failure(&self, line: &str) -> String {
        self.run(line).failure()
    }

    /// Runs a referee script, which has `a.h5` open as `f` and `b.h5` as `g`.
    fn judge(&self, code: &str) {
        let Some(referee) = referee::python() else { return };
        let code = format!("import h5py, sys\nf, g = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])\n{code}");
        referee.run_script(&code, [self.path("a.h5"), self.path("b.h5")]).unwrap();
    }
}

#[test]
fn missing_groups_are_created() {
    let bench = Bench::new();
    assert_eq!(bench.printed("h5mkgrp b.h5 one two"), "");
    let reported = bench.printed("h5mkgrp -v -p b.h5 one three/four/five");
    assert_eq!(reported, "h5mkgrp: Creating parent groups\nh5mkgrp: created group 'three/four/five'\n");
    let reported = bench.printed("h5mkgrp -l -v a.h5 newest");
    assert_eq!(
        reported,
        "h5mkgrp: Creating groups with latest version of the format\nh5mkgrp: created group 'newest'\n"
    );
    bench.judge(
        "assert sorted(g) == ['one', 'three', 'two'] and list(g['three/four']) == ['five']
assert f['newest'].keys() == set() and 'series' in f",
    );
    assert!(bench.failure("h5mkgrp b.h5 one").contains("could not create group 'one'"));
    assert!(bench.failure("h5mkgrp b.h5 six/seven").contains("group </six> doesn't exist"));
    assert!(bench.failure("h5mkgrp b.h5").contains("missing group name(s)"));
    assert!(bench.failure("h5mkgrp").contains("missing file name"));
    assert!(bench.failure("h5mkgrp -p a.h5 events/hour").contains("the path leads to a dataset"));
    assert!(bench.failure("h5mkgrp -p a.h5 events/hour/x").contains("not a group"));
    assert!(bench.failure("h5mkgrp -x b.h5 one").contains("lists the options"));
    assert!(bench.failure("h5mkgrp nowhere/b.h5 one").contains("could not open output file"));
}

#[test]
fn objects_are_copied() {
    let bench = Bench::new();
    assert_eq!(bench.printed("h5copy -i a.h5 -o b.h5 -s /series -d /series"), "");
    let reported =
        bench.printed("h5copy -v -p -i a.h5 -o b.h5 -s series/temperature -d deep/er/copy -f noattr");
    assert_eq!(
        reported,
        "Copying file <a.h5> and object <series/temperature> to file <b.h5> and object <deep/er/copy>\n\
         Using noattr flag\nh5copy: Creating parent groups\n"
    );
    bench.printed("h5copy --input=a.h5 --output=a.h5 --source=events/hour --destination=subtitle");
    bench.judge(
        "assert (f['series/temperature'][()] == g['series/temperature'][()]).all()
assert (f['series/temperature'][()] == g['deep/er/copy'][()]).all()
assert len(g['series/temperature'].attrs) == len(f['series/temperature'].attrs) > 0
assert len(g['deep/er/copy'].attrs) == 0 and list(f['subtitle']) == list(f['events/hour'])",
    );
}

#[test]
fn links_are_followed_if_asked_for() {
    let bench = Bench::new();
    let file = hyperslab::File::open_rw(bench.path("a.h5")).unwrap();
    file.create_group("links").unwrap();
    file.link_soft("links/soft", "/events/hour").unwrap();
    file.link_external("links/out", "other.h5", "/data").unwrap();
    file.new_dataset("links/inner/data").write(&[1, 2]).unwrap();
    file.close().unwrap();
    let other = hyperslab::File::create(bench.path("other.h5")).unwrap();
    other.new_dataset("data").write(&[3_u8]).unwrap();
    other.close().unwrap();
    bench.printed("h5copy -i a.h5 -o b.h5 -s links -d plain");
    bench.printed("h5copy -i a.h5 -o b.h5 -s links -d followed -f soft -f ext");
    bench.printed("h5copy -i a.h5 -o b.h5 -s links -d all -f allflags");
    bench.judge(
        "kind = lambda path: type(g.get(path, getlink=True)).__name__
assert [kind(f'plain/{name}') for name in ('soft', 'out')] == ['SoftLink', 'ExternalLink']
assert [kind(f'followed/{name}') for name in ('soft', 'out')] == ['HardLink', 'HardLink']
assert list(g['followed/out']) == [3] and list(g['followed/soft']) == list(f['events/hour'])
assert list(g['all/inner']) == [] and list(g['plain/inner']) == ['data']",
    );
}

#[test]
fn failed_copies_are_reported_and_leave_no_output() {
    let bench = Bench::new();
    for (arguments, reported) in [
        ("-i nowhere.h5 -o b.h5 -s a -d a", "could not open input file"),
        ("-i a.h5 -o b.h5 -s nothing -d a", "nothing"),
        ("-i a.h5 -o b.h5 -s events/hour -d some/where", "Use -p to create parent groups"),
        ("-i a.h5 -o a.h5 -s events/hour -d some/where", "Use -p to create parent groups"),
        ("-i a.h5 -o a.h5 -s events/hour -d events", "exists already"),
        ("-i a.h5 -o b.h5 -s events/hour", "destination object name missing"),
        ("-o b.h5 -s events/hour -d a", "input file name missing"),
        ("-i a.h5 -s events/hour -d a", "output file name missing"),
        ("-i a.h5 -o b.h5 -d a", "source object name missing"),
        ("-i a.h5 -o b.h5 -s events/hour -d a -f some", "`some` is not one of the flags"),
    ] {
        let error = bench.failure(&format!("h5copy {arguments}"));
        assert!(error.contains(reported), "{arguments}: {error}");
        assert!(!bench.path("b.h5").exists(), "{arguments}");
    }
    for tool in ["h5copy", "h5mkgrp", "h5clear", "h5repack"] {
        assert!(bench.printed(&format!("{tool} --help")).starts_with(&format!("usage: {tool} ")));
        assert!(bench.printed(&format!("{tool} -V")).starts_with(&format!("{tool}: Version ")));
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_with_the_names_of_the_tools_run_the_tools() {
    let bench = Bench::new();
    for tool in ["h5mkgrp", "h5copy", "h5clear", "h5repack", "h5stat"] {
        let link = bench.path(tool);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hyperslab"), &link).unwrap();
        let help = Program::new(link).run(["--help"]).out().to_owned();
        assert!(help.starts_with(&format!("usage: {tool} ")), "{help}");
    }
}
