//! Requests of h5grove's protocol for damaged files: every request has an answer of a known status, whose body is
//! what its headers say. The input is a file, a request, and one byte with the length of the request.
#![no_main]

use hyperslab::{File, OpenOptions};
use hyperslab_fuzz::{mutate, walk};
use hyperslab_serve::grove::{Answer, AnswerLimits, Entry, Failure, Library, answer};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Objects of a file that are asked for.
const MOST_PATHS: usize = 6;
/// Limits on answers, small ones, so that bodies have several pieces.
const LIMITS: AnswerLimits = AnswerLimits {
    response_bytes: 1 << 20,
    piece_bytes: 1 << 12,
    summed_bytes: 1 << 20,
    until: None,
};

#[derive(Debug)]
struct One(File);

impl Library for One {
    fn open(&self, _: Option<&str>) -> Result<File, Failure> {
        Ok(self.0.clone())
    }

    fn list(&self, _: &str) -> Result<Vec<Entry>, Failure> {
        Ok(Vec::new())
    }
}

/// Divides an input into the file and the request.
fn divide(bytes: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = bytes.split_last() else { return (bytes, &[]) };
    rest.split_at(rest.len().saturating_sub(usize::from(*length)))
}

fn ask(library: &One, path: &str, query: &str) -> Option<Vec<u8>> {
    let Answer { status, content_type, length, body, .. } = answer(library, path, query, &LIMITS);
    assert!([200, 404, 422, 500].contains(&status), "{path}?{query}: {status}");
    // A body may fail in the middle; what there is of it is then not the whole.
    let body = body.into_bytes().ok()?;
    assert!(length.is_none_or(|length| length == body.len() as u64), "{path}?{query}: {length:?}");
    if content_type.starts_with("application/json") {
        assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok(), "{path}?{query}: no JSON");
    }
    (status == 200).then_some(body)
}

fuzz_target!(|bytes: &[u8]| {
    let (file, request) = divide(bytes);
    let options = OpenOptions::new().limits(walk::limits()).ignore_status_flags(true);
    let Ok(file) = options.open_bytes(file.to_vec()) else { return };
    let (library, request) = (One(file), String::from_utf8_lossy(request));
    let (path, query) = request.split_once('?').unwrap_or(("/data", &request));
    ask(&library, path, query);
    let paths = ask(&library, "/paths", "").unwrap_or_default();
    let paths: Vec<String> = serde_json::from_slice(&paths).unwrap_or_default();
    for path in paths.iter().take(MOST_PATHS) {
        let path: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for rest in ["/meta?", "/attr?", "/stats?", "/data?", "/data?format=bin&dtype=safe&", "/data?format=csv&"] {
            let (endpoint, rest) = rest.split_once('?').unwrap_or_default();
            ask(&library, endpoint, &format!("{rest}path={path}"));
            ask(&library, endpoint, &format!("{rest}path={path}&{query}"));
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let Some(last) = size.checked_sub(1) else { return fuzzer_mutate(data, size, max_size) };
    let request = divide(&data[..size]).1.to_vec();
    if seed % 3 == 0 {
        // The request, in a buffer with room for more.
        let mut changed = request.clone();
        changed.resize(usize::from(u8::MAX), 0);
        let length = fuzzer_mutate(&mut changed, request.len(), usize::from(u8::MAX));
        let start = last - request.len();
        if start + length + 1 > max_size.min(data.len()) {
            return size;
        }
        data[start..start + length].copy_from_slice(&changed[..length]);
        data[start + length] = u8::try_from(length).unwrap_or(u8::MAX);
        return start + length + 1;
    }
    let room = max_size.min(data.len()).saturating_sub(request.len() + 1);
    let file = (last - request.len()).min(room);
    let length = mutate::file(data, file, room, seed);
    data[length..length + request.len()].copy_from_slice(&request);
    data[length + request.len()] = u8::try_from(request.len()).unwrap_or(u8::MAX);
    length + request.len() + 1
});
