//! A web server for tests and measurements: byte ranges, conditions, uploads as of S3, counts,
//! delays and faults.

mod proxy;
mod uploads;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use proxy::Proxy;

/// A fault of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends in the middle of the body.
    Cut,
    /// The answer has this status and no body.
    Status(u16),
    /// The answer has the whole object and the status 200.
    Whole,
    /// The header `Content-Range` names other bytes than requested.
    WrongRange,
    /// The body has the bytes of another range than the headers state.
    ShortBody,
    /// The answer redirects to another address: [`Server::redirect_to`].
    Redirect,
    /// The answer never comes.
    Silence,
}

/// The counts of a server since its start or [`Server::reset`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Served {
    /// The number of requests.
    pub requests: u64,
    /// The number of bytes in bodies.
    pub bytes: u64,
    /// The largest number of requests at the same time.
    pub at_once: u64,
}

#[derive(Debug, Default)]
struct State {
    objects: HashMap<String, (Arc<[u8]>, u64)>,
    /// Faults of the next requests; the last one stays if `forever` is set.
    faults: Vec<(u64, Fault)>,
    served: Served,
    now: u64,
    /// The header `Authorization` that requests must have.
    authorization: Option<String>,
    /// The paths and ranges of all requests.
    log: Vec<(String, Option<Range<u64>>)>,
    /// The target of redirects.
    redirect: Option<String>,
    has_tags: bool,
    weak_tags: bool,
    /// The parts of unfinished uploads, by the numbers of upload and part.
    parts: BTreeMap<(u64, u64), Vec<u8>>,
    uploads: u64,
}

/// A web server on a port of the loopback interface. It ends when the value is dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    delay: AtomicU64,
    stopped: AtomicBool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request as the server understands it.
struct Request {
    method: String,
    path: String,
    query: String,
    range: Option<Range<u64>>,
    if_match: Option<String>,
    if_none_match: Option<String>,
    authorization: Option<String>,
    body: Vec<u8>,
}

impl Server {
    /// Starts a server without objects.
    ///
    /// # Errors
    /// Returns an error if no port is free.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Mutex::new(State { has_tags: true, ..State::default() });
        let shared = Arc::new(Shared { state, delay: AtomicU64::new(0), stopped: AtomicBool::new(false) });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Relaxed) {
                    return;
                }
                let (Ok(stream), serving) = (stream, Arc::clone(&accepting)) else { continue };
                std::thread::spawn(move || serving.serve(&stream));
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Adds or replaces an object. Its tag changes.
    pub fn put(&self, path: &str, bytes: impl Into<Arc<[u8]>>) {
        let mut state = self.shared.state();
        let version = state.objects.get(path).map_or(1, |(_, version)| version + 1);
        state.objects.insert(path.to_owned(), (bytes.into(), version));
    }

    /// Returns the bytes of an object.
    pub fn get(&self, path: &str) -> Option<Arc<[u8]>> {
        self.shared.state().objects.get(path).map(|(bytes, _)| Arc::clone(bytes))
    }

    /// Returns the paths of all objects, and the number of parts of unfinished uploads.
    pub fn stored(&self) -> (Vec<String>, usize) {
        let state = self.shared.state();
        let mut paths: Vec<String> = state.objects.keys().cloned().collect();
        paths.sort();
        (paths, state.parts.len())
    }

    /// Sets the time between a request and its answer.
    pub fn set_delay(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.shared.delay.store(micros, Relaxed);
    }

    /// Makes requests fail. `after` requests are answered as usual first, the next `count` fail.
    pub fn fail(&self, after: u64, count: u64, fault: Fault) {
        let mut state = self.shared.state();
        let first = state.served.requests + after;
        state.faults.extend((0..count).map(|number| (first + number, fault)));
    }

    /// Sets whether answers have tags, and whether the tags are weak.
    pub fn set_tags(&self, has_tags: bool, weak: bool) {
        let mut state = self.shared.state();
        (state.has_tags, state.weak_tags) = (has_tags, weak);
    }

    /// Sets the target of redirects, which is `/elsewhere` by default.
    pub fn redirect_to(&self, url: &str) {
        self.shared.state().redirect = Some(url.to_owned());
    }

    /// Sets the header `Authorization` without which requests are refused.
    pub fn require(&self, authorization: &str) {
        self.shared.state().authorization = Some(authorization.to_owned());
    }

    /// Returns the counts.
    pub fn served(&self) -> Served {
        self.shared.state().served
    }

    /// Returns the paths and byte ranges of all requests.
    pub fn log(&self) -> Vec<(String, Option<Range<u64>>)> {
        self.shared.state().log.clone()
    }

    /// Sets the counts to zero, and removes all faults.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.faults.clear();
        state.log.clear();
        state.served = Served::default();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Relaxed);
        // Wakes the thread that accepts connections.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    /// Answers the requests of one connection.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        stream.set_nodelay(true).ok();
        while let Some(request) = read_request(&mut reader) {
            let fault = self.begin(&request);
            std::thread::sleep(Duration::from_micros(self.delay.load(Relaxed)));
            let outcome = self.answer(stream, &request, fault);
            self.state().now -= 1;
            if !outcome.unwrap_or(false) || self.stopped.load(Relaxed) {
                stream.shutdown(std::net::Shutdown::Both).ok();
                return;
            }
        }
    }

    /// Counts a request, and returns its fault.
    fn begin(&self, request: &Request) -> Option<Fault> {
        let mut state = self.state();
        let number = state.served.requests;
        state.served.requests += 1;
        state.now += 1;
        state.served.at_once = state.served.at_once.max(state.now);
        state.log.push((request.path.clone(), request.range.clone()));
        let at = state.faults.iter().position(|(when, _)| *when == number)?;
        Some(state.faults.swap_remove(at).1)
    }

    /// Answers one request. Returns whether the connection stays open.
    fn answer(&self, mut stream: &TcpStream, request: &Request, fault: Option<Fault>) -> io::Result<bool> {
        let mut status = |status: &str| -> io::Result<bool> {
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").map(|()| true)
        };
        match fault {
            Some(Fault::Status(code)) => return status(&format!("{code} Fault")),
            Some(Fault::Redirect) => {
                let target = self.state().redirect.clone().unwrap_or_else(|| "/elsewhere".to_owned());
                return status(&format!("302 Found\r\nLocation: {target}"));
            }
            Some(Fault::Silence) => {
                std::thread::sleep(Duration::from_secs(3600));
                return Ok(false);
            }
            _ => {}
        }
        let state = self.state();
        if state.authorization.is_some() && state.authorization != request.authorization {
            return status("401 Unauthorized");
        }
        if matches!(request.method.as_str(), "PUT" | "POST" | "DELETE") {
            drop(state);
            return stream.write_all(self.write(request).as_bytes()).map(|()| true);
        }
        let Some((bytes, version)) = state.objects.get(&request.path).cloned() else {
            return status("404 Not Found");
        };
        let weak = if state.weak_tags { "W/" } else { "" };
        let tag = state.has_tags.then(|| format!("{weak}\"v{version}\""));
        drop(state);
        let differs = |wanted: &String| Some(wanted) != tag.as_ref() || wanted.starts_with("W/");
        if request.if_match.as_ref().is_some_and(differs) {
            return status("412 Precondition Failed");
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let range = request.range.clone().filter(|_| fault != Some(Fault::Whole));
        if range.as_ref().is_some_and(|range| range.start >= length) {
            return status(&format!("416 Range Not Satisfiable\r\nContent-Range: bytes */{length}"));
        }
        let sent = range.clone().map_or(0..length, |range| range.start..range.end.min(length));
        let mut head = String::from(if range.is_some() {
            "HTTP/1.1 206 Partial Content\r\n"
        } else {
            "HTTP/1.1 200 OK\r\n"
        });
        head += "Accept-Ranges: bytes\r\n";
        if let Some(tag) = tag {
            head += &format!("ETag: {tag}\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n");
        }
        if range.is_some() {
            let shift = u64::from(fault == Some(Fault::WrongRange));
            head +=
                &format!("Content-Range: bytes {}-{}/{length}\r\n", sent.start + shift, sent.end - 1 + shift);
        }
        let short = u64::from(fault == Some(Fault::ShortBody)).min(sent.end - sent.start);
        head += &format!("Content-Length: {}\r\n\r\n", sent.end - sent.start - short);
        stream.write_all(head.as_bytes())?;
        if request.method == "HEAD" {
            return Ok(true);
        }
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let mut body = bytes.get(at(sent.start)..at(sent.end - short)).unwrap_or_default();
        let is_cut = fault == Some(Fault::Cut);
        if is_cut {
            body = body.split_at(body.len() / 2).0;
        }
        stream.write_all(body)?;
        self.state().served.bytes += u64::try_from(body.len()).unwrap_or(u64::MAX);
        Ok(!is_cut)
    }
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request = Request {
        method,
        path: path.trim_start_matches('/').to_owned(),
        query: query.to_owned(),
        range: None,
        if_match: None,
        if_none_match: None,
        authorization: None,
        body: Vec::new(),
    };
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "range" => request.range = parse_range(&value),
            "if-match" => request.if_match = Some(value),
            "if-none-match" => request.if_none_match = Some(value),
            "authorization" => request.authorization = Some(value),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn parse_range(value: &str) -> Option<Range<u64>> {
    let (start, end) = value.strip_prefix("bytes=")?.split_once('-')?;
    let start = start.parse().ok()?;
    let end = if end.is_empty() { u64::MAX } else { end.parse::<u64>().ok()?.checked_add(1)? };
    (start < end).then_some(start..end)
}
