//! Asynchronous files: the same contents as from disk, concurrent tasks, cancelled futures, faults.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use hyperslab::{File, FileOptions, ObjectKind, Result, filter::FilterSpec, s};
use hyperslab_cloud::{AsyncFile, CloudOptions};
use hyperslab_testkit::web::{Fault, Server};
use hyperslab_testkit::workspace;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn quick() -> CloudOptions {
    // No test depends on the time, so that a busy machine does not matter.
    CloudOptions::new().deadline(Duration::from_secs(120)).retries(1)
}

/// Options under which nearly each structure needs a request of its own.
fn fine() -> CloudOptions {
    quick().first(512).line(512)
}

/// Returns a text with all links, attributes and elements of a file.
fn digest(file: &File) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for visited in file.walk() {
        let path = String::from_utf8_lossy(&visited.path).into_owned();
        let links =
            visited.links.map(|links| links.map(|links| format!("{links:?}")).map_err(|error| error.kind()));
        lines.push(format!("{path} {links:?}"));
        let Ok(object) = visited.object else {
            lines.push(format!("{path} cannot be opened"));
            continue;
        };
        match object.attributes() {
            Ok(attributes) => {
                lines.extend(attributes.iter().map(|attribute| {
                    format!("{path} {:?}", attribute.read_dyn().map_err(|error| error.kind()))
                }));
            }
            Err(error) => lines.push(format!("{path} {:?}", error.kind())),
        }
        if object.kind() == Some(ObjectKind::Dataset) {
            let read = object.into_dataset().and_then(|dataset| dataset.read_dyn(..));
            lines.push(format!("{path} {:?}", read.map_err(|error| error.kind())));
        }
    }
    Ok(lines)
}

/// A file with 200 chunks of 100 kB, and its values.
fn chunked() -> (Vec<u8>, Vec<u32>) {
    let values: Vec<u32> = (0..2_000_000_u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let file = FileOptions::new().create_in_memory().unwrap();
    let new = file.new_dataset("big").shape(&[2_000_000]).chunks(&[10_000]);
    new.filter(FilterSpec::deflate(1)).write(&values).unwrap();
    for group in 0..20 {
        let group = file.create_group(&format!("g{group}")).unwrap();
        group.new_dataset("x").write(&[1.5, 2.5]).unwrap().set_attribute("unit", "V").unwrap();
    }
    (file.to_bytes().unwrap(), values)
}

#[test]
fn fixtures_are_read_as_from_disk() {
    let folder = workspace::root().join("fixtures");
    let server = Server::start().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file() && entry.metadata().unwrap().len() < 300_000)
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in &names {
        server.put(&format!("f/{name}"), std::fs::read(folder.join(name)).unwrap());
    }
    let mut compared = 0;
    for name in names.iter().filter(|name| name.ends_with(".h5")) {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        // Files with members are read by their own drivers.
        if File::from_bytes(bytes).is_err() {
            continue;
        }
        let Ok(expected) = File::open(folder.join(name)).and_then(|file| digest(&file)) else { continue };
        let url = server.url(&format!("f/{name}"));
        let blocking = fine().open(&url).unwrap();
        assert_eq!(digest(&blocking).unwrap(), expected, "{name}");
        let got = block_on(async {
            let file = AsyncFile::open(&url, fine()).await?;
            file.run(digest).await
        });
        assert_eq!(got.unwrap(), expected, "{name}, asynchronously");
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn a_dataset_is_fetched_in_few_rounds() {
    let (bytes, values) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes);
    server.set_delay(Duration::from_millis(10));
    block_on(async {
        let file = AsyncFile::open(&server.url("a.h5"), quick()).await.unwrap();
        assert_eq!(file.usage().rounds, 1);
        file.prefetch_metadata("/").await.unwrap();
        let before = file.usage();
        let dataset = file.dataset("big").await.unwrap();
        assert_eq!(dataset.read_raw::<u32>(..).await.unwrap(), values);
        let used = file.usage().since(before);
        let stored: u64 = dataset.run(hyperslab::Dataset::storage_size).await.unwrap();
        assert!(used.rounds <= 3 && used.bytes * 10 <= stored * 13, "{used:?} of {stored}");
        let part = dataset.read_slice::<u32>(s![1_999_990..]).await.unwrap();
        assert_eq!(part.as_slice().unwrap(), values.get(1_999_990..).unwrap());
        // Metadata that was prefetched needs no requests.
        let before = file.usage();
        let names = file.run(|file| file.group("g7")?.dataset("x")?.attribute("unit")?.read_dyn()).await;
        assert!(names.is_ok() && file.usage() == before);
    });
}

#[test]
fn contiguous_elements_are_fetched_in_one_round() {
    let values: Vec<u32> = (0..4_000_000_u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
    let file = FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("x").shape(&[2000, 2000]).write(&values).unwrap();
    let server = Server::start().unwrap();
    server.put("a.h5", file.to_bytes().unwrap());
    block_on(async {
        let file = AsyncFile::open(&server.url("a.h5"), quick()).await.unwrap();
        let dataset = file.dataset("x").await.unwrap();
        let before = file.usage();
        assert_eq!(dataset.read_raw::<u32>(..).await.unwrap(), values);
        assert_eq!(file.usage().since(before).rounds, 1);
        let before = file.usage();
        let part = dataset.read_raw::<u32>(s![500.., 1..1990]).await.unwrap();
        assert_eq!((part.len(), part[1989]), (1500 * 1989, values[501 * 2000 + 1]));
        assert_eq!(file.usage().since(before).rounds, 1);
        let before = file.usage();
        let converted = dataset.read_raw::<f64>(s![500..1500, ..]).await.unwrap();
        assert!(converted.iter().zip(&values[1_000_000..]).all(|(got, value)| *got == f64::from(*value)));
        assert_eq!(file.usage().since(before).rounds, 1);
    });
}

#[test]
fn a_stream_returns_all_blocks() {
    let (bytes, values) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes);
    let all = block_on(async {
        let file = AsyncFile::open(&server.url("a.h5"), quick()).await.unwrap();
        let dataset = file.dataset("big").await.unwrap();
        let blocks = dataset.read_blocks::<u32>(1 << 20);
        blocks.map(|block| block.unwrap().1).collect::<Vec<_>>().await
    });
    assert!(all.len() > 4);
    assert_eq!(all.concat(), values);
}

#[test]
fn a_hundred_tasks_read_one_file() {
    let (bytes, values) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes);
    server.set_delay(Duration::from_millis(1));
    let file = block_on(AsyncFile::open(&server.url("a.h5"), quick())).unwrap();
    // Four threads, each with an executor of its own.
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let (file, values) = (file.clone(), &values);
            scope.spawn(move || {
                block_on(join_all((0..25_usize).map(|task| {
                    let file = file.clone();
                    async move {
                        let start = (thread * 25 + task) * 19_000;
                        let dataset = file.dataset("big").await.unwrap();
                        let end = start + 30_000;
                        let got = dataset.read_raw::<u32>(s![start..end]).await.unwrap();
                        assert_eq!(got, values.get(start..end).unwrap());
                    }
                })));
            });
        }
    });
    assert!(server.served().at_once <= 32);
}

#[test]
fn a_cancelled_future_leaves_nothing_behind() {
    let (bytes, values) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes);
    block_on(async {
        let file = AsyncFile::open(&server.url("a.h5"), quick()).await.unwrap();
        let dataset = file.dataset("big").await.unwrap();
        server.fail(0, 1000, Fault::Silence);
        for _ in 0..3 {
            let read = dataset.read_raw::<u32>(..);
            assert!(tokio::time::timeout(Duration::from_millis(50), read).await.is_err());
        }
        server.reset();
        assert_eq!(dataset.read_raw::<u32>(..).await.unwrap(), values);
    });
}

#[test]
fn a_failure_is_reported_and_not_kept() {
    let (bytes, values) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes.clone());
    let opened = block_on(AsyncFile::open(&server.url("a.h5"), fine())).unwrap();
    // Each request of a read fails once.
    for number in 0..40 {
        server.reset();
        server.fail(number, 10, Fault::Status(403));
        let file = block_on(AsyncFile::open(&server.url("a.h5"), fine()));
        let read = |file: AsyncFile| async move {
            let dataset = file.dataset("big").await?;
            dataset.read_raw::<u32>(s![100_000..350_000]).await
        };
        let again = match file {
            Err(_) => continue,
            Ok(file) => {
                let outcome = block_on(read(file.clone()));
                if let Ok(got) = &outcome {
                    assert_eq!(got, values.get(100_000..350_000).unwrap());
                }
                file
            }
        };
        server.reset();
        assert_eq!(block_on(read(again)).unwrap(), values.get(100_000..350_000).unwrap(), "{number}");
    }
    // A replaced object is an error, never a mixture.
    server.reset();
    server.put("a.h5", bytes);
    let error = block_on(opened.dataset("big")).unwrap_err();
    assert!(format!("{error:?}").contains("has changed"), "{error:?}");
}

#[test]
fn work_runs_again_until_its_bytes_are_there() {
    let (bytes, _) = chunked();
    let server = Server::start().unwrap();
    server.put("a.h5", bytes);
    block_on(async {
        let file = AsyncFile::open(&server.url("a.h5"), fine()).await.unwrap();
        let runs = AtomicUsize::new(0);
        let count = file
            .run(|file| {
                runs.fetch_add(1, Relaxed);
                // An error inside is ignored: the result of such a run does not count.
                Ok(file.walk().filter(|visited| visited.object.is_ok()).count())
            })
            .await
            .unwrap();
        assert_eq!(count, 42);
        assert!(runs.load(Relaxed) > 2);
        let large = AsyncFile::open(&server.url("a.h5"), quick().cache(0)).await.unwrap();
        let dataset = large.dataset("big").await.unwrap();
        assert!(dataset.read_raw::<u32>(..).await.is_ok());
    });
}
