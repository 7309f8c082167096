//! libhdf5 opens salvaged files. Other tests salvage files whose writer was killed.

use std::process::{Command, Stdio};

use hyperslab::{File, Outcome, Recovery};
use hyperslab_testkit::{fixtures, referee, workspace};

use crate::damage::{self, Numbers};
use crate::salvage;
use crate::snapshot::Snapshot;

const READ_ALL: &str = r#"
import sys, h5py, os
for name in sorted(os.listdir(sys.argv[1])):
    with h5py.File(os.path.join(sys.argv[1], name)) as f:
        def see(path, o):
            for a in o.attrs:
                try: o.attrs[a]
                except TypeError: pass
            if isinstance(o, h5py.Dataset) and o.size is not None and o.external is None and not o.is_virtual:
                try: o[()]
                except (TypeError, ValueError): pass
                except OSError as error:
                    # Sound, but nothing that h5py can read: no filter, no conversion, no element and no fill value.
                    if not any(word in str(error) for word in ["filter", "conversion", "doesn't exist"]): raise
        f.visititems(see)
print("read")
"#;

#[test]
fn libhdf5_reads_the_salvaged_files() {
    let Some(python) = referee::python() else {
        workspace::skip("libhdf5_reads_the_salvaged_files", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(5);
    for name in fixtures::names().unwrap() {
        let good = std::fs::read(fixtures::path(&name)).unwrap();
        let original = Snapshot::of(&File::from_bytes(good.clone()).unwrap());
        // libhdf5 does not know structured chunks.
        if name.contains("sparse") || name.contains("structured") {
            continue;
        }
        let blocks = damage::blocks(&good, &original, &mut numbers);
        for (number, (at, kind)) in blocks.into_iter().enumerate().step_by(7) {
            let mut bytes = good.clone();
            damage::destroy(&mut bytes, at, None);
            let (saved, _) = salvage(bytes, &format!("{name}: {kind} at {at:#x}"));
            std::fs::write(folder.path().join(format!("{number}-{name}")), saved).unwrap();
        }
    }
    assert_eq!(python.run_script(READ_ALL, [folder.path()]).unwrap().trim(), "read");
}

/// A script that writes without end, and prints a line after the first flush.
const WRITER: &str = r#"
import sys, h5py, numpy as np
f = h5py.File(sys.argv[1], "w", libver=sys.argv[2])
for number in range(20):
    g = f.create_group(f"before/{number}")
    g.attrs["number"] = number
    g.create_dataset("rows", data=np.arange(500) + number)
    g.create_dataset("chunks", data=np.arange(5000) * number, chunks=(100,), compression="gzip")
f.flush()
print("ready", flush=True)
number = 0
while True:
    g = f.create_group(f"after/{number}")
    g.create_dataset("rows", data=np.arange(2000))
    g.create_dataset("chunks", data=np.arange(3000), chunks=(100,), maxshape=(None,), compression="gzip")
    if number % 3 == 0: f.flush()
    number += 1
"#;

/// The number of values that were flushed before the kill.
const FLUSHED: usize = 20;

#[test]
fn files_of_killed_writers() {
    let Some(python) = referee::python() else {
        workspace::skip("files_of_killed_writers", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut whole, mut partly, mut nothing, mut groups) = (0, 0, 0, 0);
    let rounds = 6_usize;
    for round in 0..rounds {
        let path = folder.path().join("killed.h5");
        let bound = if round % 2 == 0 { "earliest" } else { "latest" };
        let mut writer = Command::new(python.python())
            .args(["-c", WRITER])
            .arg(&path)
            .arg(bound)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 5];
        std::io::Read::read_exact(writer.stdout.as_mut().unwrap(), &mut ready).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(37 * (round as u64 + 1)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let saved = folder.path().join("saved.h5");
        let salvaged = Recovery::new().salvage(&path, &saved).unwrap();
        match salvaged.outcome() {
            Outcome::Whole => whole += 1,
            Outcome::Partly => partly += 1,
            Outcome::Nothing => nothing += 1,
        }
        assert_eq!(hyperslab_check::check_path(&saved).unwrap().faults, 0);
        let file = File::open(&saved).unwrap();
        for number in 0..FLUSHED {
            let rows =
                file.dataset(&format!("before/{number}/rows")).and_then(|rows| rows.read_raw::<i64>(..));
            let expected: Vec<i64> = (0..500).map(|at| at + i64::try_from(number).unwrap()).collect();
            groups += usize::from(rows.is_ok_and(|rows| rows == expected));
        }
    }
    report(&format!(
        "{rounds} files of killed writers: {whole} whole, {partly} partly, {nothing} not; \
         {groups} of {} flushed datasets under their names",
        rounds * FLUSHED
    ));
    assert!(nothing < rounds, "nothing was saved of any file");
}

#[expect(clippy::print_stderr, reason = "numbers that somebody may want to see")]
fn report(line: &str) {
    eprintln!("{line}");
}
