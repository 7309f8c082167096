//! Callbacks that the library calls during a read may use the file without restrictions.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::{ErrorKind, File, Repack};

use super::{in_time, new_file, sound};

/// Executes several operations on the file. `number` differs in each call.
fn everything(file: &File, number: u64) {
    let name = format!("made {number}");
    file.new_dataset(&name).chunks(&[3]).write(&[number; 10]).unwrap();
    let chunked = file.dataset("chunked").unwrap();
    chunked.write(.., &vec![number; 1000]).unwrap();
    chunked.set_attribute("number", number).unwrap();
    assert_eq!(chunked.read_raw::<u64>(..).unwrap()[0], number);
    file.flush().unwrap();
    file.remove(&name).unwrap();
    file.create_group(&format!("group {number}")).unwrap();
    assert!(file.walk().all(|visited| visited.object.is_ok()));
    std::thread::scope(|scope| {
        scope.spawn(|| file.set_attribute("beside", number).unwrap());
    });
}

fn filled() -> (File, super::Medium) {
    let (file, medium) = new_file();
    file.new_dataset("chunked").chunks(&[100]).unlimited().deflate(1).write(&[0_u64; 1000]).unwrap();
    let sparse = file.new_dataset("sparse").of::<i32>().shape(&[100]).sparse(&[10]).create().unwrap();
    sparse.write(.., &[5; 100]).unwrap();
    (file, medium)
}

#[test]
fn visits_of_chunks_may_change_the_file() {
    in_time(|| {
        let (file, medium) = filled();
        let mut seen = 0;
        let chunked = file.dataset("chunked").unwrap();
        chunked
            .chunks()
            .visit(|_| {
                seen += 1;
                everything(&file, seen);
                chunked.resize(&[1000 + seen]).unwrap();
                chunked.resize(&[1000]).unwrap();
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(seen, 10, "the chunks are those of the start");
        drop(chunked);
        file.close().unwrap();
        sound(&medium);
    });
}

#[test]
fn visits_of_structured_chunks_may_change_the_file() {
    in_time(|| {
        let (file, medium) = filled();
        let mut seen = 0;
        let sparse = file.dataset("sparse").unwrap();
        sparse
            .sparse()
            .visit_chunks(|chunk| {
                seen += 1;
                assert_eq!(chunk.defined, 10);
                everything(&file, seen);
                sparse.write(.., &[6; 100]).unwrap();
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(seen, 10);
        file.remove("sparse").unwrap();
        sparse
            .sparse()
            .visit_chunks(|_| {
                file.flush().unwrap();
                ControlFlow::Continue(())
            })
            .unwrap();
        drop(sparse);
        file.close().unwrap();
        sound(&medium);
    });
}

#[test]
fn visit_links_may_change_the_file() {
    in_time(|| {
        for many in [1, 100] {
            let (file, medium) = filled();
            for number in 0..many {
                file.create_group(&format!("g/{number}")).unwrap();
            }
            let group = file.group("g").unwrap();
            let mut seen = 0;
            let mut visit = |link: hyperslab::LinkRef<'_>| {
                seen += 1;
                if seen <= 3 {
                    everything(&file, seen);
                }
                group.remove(std::str::from_utf8(link.name()).unwrap()).unwrap();
                let gone = file.object_at(link.hard().unwrap()).unwrap_err();
                assert_eq!(gone.kind(), ErrorKind::NotFound);
                ControlFlow::Continue(())
            };
            group.visit_links(&mut visit).unwrap();
            assert_eq!((seen, group.len().unwrap()), (many, 0));
            drop(group);
            file.close().unwrap();
            sound(&medium);
        }
    });
}

#[test]
fn the_progress_of_a_repack_gets_an_error() {
    in_time(|| {
        let (file, _medium) = filled();
        let folder = tempfile::tempdir().unwrap();
        let refused = AtomicU64::new(0);
        let repack = Repack::new().progress(|_, _| {
            assert_eq!(file.flush().unwrap_err().kind(), ErrorKind::Misuse);
            assert!(file.create_group("late").is_err());
            file.dataset("chunked").unwrap().read_raw::<u64>(..).unwrap();
            refused.fetch_add(1, Ordering::Relaxed);
        });
        repack.run(&file, folder.path().join("target.h5")).unwrap();
        drop(repack);
        assert!(refused.load(Ordering::Relaxed) > 0);
        file.create_group("late").unwrap();
        file.close().unwrap();
    });
}
