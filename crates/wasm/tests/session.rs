//! Answers from sources whose bytes come in ranges, compared with the answers from whole files.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a failed test panics")]

use hyperslab::{File, FileLocking, FileOptions, Limits, OpenOptions};
use hyperslab_exact::{to_u64, to_usize};
use hyperslab_serve::grove::{AnswerLimits, Entry, Failure, Library, answer};
use hyperslab_testkit::fixtures;
use hyperslab_wasm::{Outcome, Session};

/// The size of a block of the session.
const BLOCK_BYTES: u64 = 64 << 10;

/// A session, and the bytes of its sources.
#[derive(Default)]
struct Page {
    session: Session,
    sources: Vec<Vec<u8>>,
}

/// An answer, and what it took.
struct Got {
    status: u16,
    body: Vec<u8>,
    attempts: usize,
    bytes: u64,
}

impl Page {
    fn add(&mut self, name: &str, bytes: Vec<u8>) {
        let number = self.session.add(name, to_u64(bytes.len()));
        assert_eq!(number as usize, self.sources.len());
        self.sources.push(bytes);
    }

    fn of(name: &str, bytes: Vec<u8>) -> Self {
        let mut page = Self::default();
        page.add(name, bytes);
        page
    }

    /// Answers a request as a page does.
    fn get(&self, request: &str) -> Got {
        let mut fetched = 0;
        for attempts in 1..200 {
            match self.session.ask(request) {
                Outcome::Answered { status, body, .. } => {
                    self.session.finish();
                    return Got { status, body, attempts, bytes: fetched };
                }
                Outcome::Missing(ranges) => {
                    assert!(!ranges.is_empty(), "{request}: nothing is missing, and there is no answer");
                    for range in ranges {
                        assert!(range.start % BLOCK_BYTES == 0 && range.start < range.end, "{range:?}");
                        fetched += range.end - range.start;
                        let source = self.sources.get(range.source as usize).unwrap();
                        let bytes = to_usize(range.start).unwrap()..to_usize(range.end).unwrap();
                        self.session.provide(range.source, range.start, source.get(bytes).unwrap());
                    }
                }
            }
        }
        panic!("{request}: no answer after many attempts");
    }
}

/// A library of one file on disk.
#[derive(Debug)]
struct Whole(File);

impl Library for Whole {
    fn open(&self, _: Option<&str>) -> Result<File, Failure> {
        Ok(self.0.clone())
    }

    fn list(&self, _: &str) -> Result<Vec<Entry>, Failure> {
        Ok(Vec::new())
    }
}

/// Returns the requests for all objects of a file.
fn requests(file: &File) -> Vec<String> {
    let mut requests = vec!["/paths?".to_owned()];
    for visited in file.walk() {
        let Ok(path) = String::from_utf8(visited.path) else { continue };
        let path: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        requests.extend([format!("/meta?path={path}"), format!("/attr?path={path}")]);
        let dataset = visited.object.ok().and_then(|object| object.into_dataset().ok());
        if dataset
            .is_some_and(|dataset| dataset.dataspace().element_count().is_none_or(|count| count < 100_000))
        {
            requests.extend(
                ["&flatten=true", "&format=bin&dtype=safe", "&format=npy"]
                    .map(|rest| format!("/data?path={path}{rest}")),
            );
            requests.push(format!("/stats?path={path}"));
        }
    }
    requests
}

#[test]
fn answers_are_those_for_whole_files() {
    let mut answers = 0;
    for name in fixtures::names().unwrap() {
        let path = fixtures::path(&name);
        let bytes = std::fs::read(&path).unwrap();
        let limits = Limits { result_bytes: 1 << 30, ..Limits::cautious() };
        let options = OpenOptions::new().limits(limits).locking(FileLocking::Off);
        // The file alone: no files beside it.
        let Ok(file) = options.open_bytes(bytes.clone()) else { continue };
        let page = Page::of(&name, bytes);
        for request in requests(&file) {
            let (path, query) = request.split_once('?').unwrap();
            let whole = answer(&Whole(file.clone()), path, query, &AnswerLimits::default());
            let (status, body) = (whole.status, whole.body.into_bytes());
            let got = page.get(&request);
            if status == 200
                && let Ok(body) = body
            {
                assert!(
                    got.status == 200 && got.body == body,
                    "{name} {request}: {}",
                    String::from_utf8_lossy(&got.body)
                );
                answers += 1;
            } else {
                assert_ne!(got.status, 200, "{name} {request}");
            }
        }
    }
    assert!(answers > 1000, "{answers} answers");
}

/// One thread, as in a browser: several threads end an attempt at different places.
#[test]
fn a_slice_needs_few_bytes_and_few_attempts() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(slice_and_whole_dataset);
}

fn slice_and_whole_dataset() {
    let file = FileOptions::new().create_in_memory().unwrap();
    let values: Vec<u32> = (0..4_000_000).collect();
    file.new_dataset("x").shape(&[4_000_000]).chunks(&[100_000]).write(&values).unwrap();
    let page = Page::of("a.h5", file.to_bytes().unwrap());
    let tree = page.get("/meta?path=/");
    assert!(tree.status == 200 && tree.bytes <= 4 * BLOCK_BYTES, "{} bytes", tree.bytes);
    let slice = page.get("/data?path=/x&selection=1500000:1500010");
    assert_eq!(
        slice.body,
        b"[1500000,1500001,1500002,1500003,1500004,1500005,1500006,1500007,1500008,1500009]"
    );
    assert!(
        slice.bytes < 10 * BLOCK_BYTES && slice.attempts <= 4,
        "{} bytes, {} attempts",
        slice.bytes,
        slice.attempts
    );
    let all = page.get("/data?path=/x&format=bin");
    assert_eq!(all.body.len(), 16_000_000);
    assert!(all.attempts <= 3, "{} attempts", all.attempts);
    assert_eq!(page.get("/data?path=/x&format=bin").bytes, 0, "the bytes are in memory");
}

#[test]
fn links_lead_to_other_sources() {
    let other = FileOptions::new().create_in_memory().unwrap();
    other.new_dataset("data").write(&[1, 2, 3]).unwrap();
    let file = FileOptions::new().create_in_memory().unwrap();
    file.link_external("link", "/somewhere/other.h5", "/data").unwrap();
    let mut page = Page::of("a.h5", file.to_bytes().unwrap());
    assert_eq!(page.get("/data?file=a.h5&path=/link").status, 422);
    page.add("other.h5", other.to_bytes().unwrap());
    let got = page.get("/data?file=a.h5&path=/link");
    assert_eq!((got.status, got.body.as_slice()), (200, b"[1,2,3]".as_slice()));
    assert_eq!(page.get("/data?file=other.h5&path=/data").status, 200);
    assert_eq!(page.get("/data?file=none.h5&path=/data").status, 404);
    assert!(String::from_utf8_lossy(&page.get("/list?").body).contains("other.h5"));
}

#[test]
fn other_files_and_short_files_are_refused() {
    let page = Page::of("a.h5", b"no file of HDF5".to_vec());
    assert_eq!(page.get("/meta?").status, 422);
    assert_eq!(Page::of("a.h5", Vec::new()).get("/meta?").status, 422);
    let mut bytes = std::fs::read(fixtures::path("weather_station.h5")).unwrap();
    bytes.truncate(bytes.len() / 2);
    let got = Page::of("a.h5", bytes).get("/paths?");
    assert_ne!(got.status, 500, "{}", String::from_utf8_lossy(&got.body));
}
