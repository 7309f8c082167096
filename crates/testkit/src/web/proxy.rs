//! A proxy before a web server that adds faults to its answers.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Fault;

/// A proxy on a port of the loopback interface, before a server on another port. It ends when the
/// value is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: u16,
    state: Mutex<State>,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    requests: u64,
    delay: Duration,
    /// The numbers of requests, and their faults.
    faults: Vec<(u64, Fault)>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message of HTTP: the first line, the headers, and the body.
#[derive(Debug, Default)]
struct Message {
    first: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Proxy {
    /// Starts a proxy before the server on a port of the loopback interface.
    ///
    /// # Errors
    /// Returns an error if no port is free.
    pub fn start(server: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { server, state: Mutex::default(), stopped: AtomicBool::new(false) });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Relaxed) {
                    return;
                }
                let (Ok(stream), serving) = (stream, Arc::clone(&accepting)) else { continue };
                // The client sees the end of the connection, whatever its cause.
                std::thread::spawn(move || serving.serve(&stream).unwrap_or(()));
            }
        });
        Ok(Self { port, shared })
    }

    /// Returns the port of the proxy.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of requests.
    pub fn requests(&self) -> u64 {
        self.shared.state().requests
    }

    /// Sets the time before each answer.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.state().delay = delay;
    }

    /// Makes answers fail: after `after` further requests, the next `count` ones. An answer with
    /// [`Fault::Whole`] has the requested bytes and the status 200: the proxy cannot ask for other
    /// bytes, because the signature of a request covers its byte range.
    pub fn fail(&self, after: u64, count: u64, fault: Fault) {
        let mut state = self.shared.state();
        let first = state.requests + after;
        state.faults.extend((0..count).map(|number| (first + number, fault)));
    }

    /// Removes all faults and delays.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.faults.clear();
        state.delay = Duration::ZERO;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Relaxed);
        // Wakes the thread that accepts connections.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    /// Passes on the requests and answers of one connection.
    fn serve(&self, mut client: &TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut reader = BufReader::new(client);
        while let Some(mut request) = Message::read(&mut reader, false)? {
            let (delay, fault) = self.begin();
            std::thread::sleep(delay);
            match fault {
                Some(Fault::Silence) => {
                    std::thread::sleep(Duration::from_secs(3600));
                    return Ok(());
                }
                Some(Fault::Status(code)) => {
                    write!(client, "HTTP/1.1 {code} Fault\r\nContent-Length: 0\r\n\r\n")?;
                    continue;
                }
                _ => {}
            }
            let is_head = request.first.starts_with("HEAD ");
            request.remove("connection");
            request.headers.push(("Connection".into(), "close".into()));
            let mut server = TcpStream::connect(("127.0.0.1", self.server))?;
            request.write(&mut server)?;
            let answer = Message::read(&mut BufReader::new(server), is_head)?;
            let Some(mut answer) = answer else { return Ok(()) };
            answer.remove("connection");
            if let Some(fault) = fault {
                answer.spoil(fault);
            }
            if fault == Some(Fault::Cut) {
                let half = answer.body.len() / 2;
                answer.body.truncate(half);
                answer.write(&mut client)?;
                return client.shutdown(std::net::Shutdown::Both);
            }
            answer.write(&mut client)?;
        }
        Ok(())
    }

    /// Counts a request, and returns its delay and its fault.
    fn begin(&self) -> (Duration, Option<Fault>) {
        let mut state = self.state();
        let number = state.requests;
        state.requests += 1;
        let at = state.faults.iter().position(|(when, _)| *when == number);
        (state.delay, at.map(|at| state.faults.swap_remove(at).1))
    }
}

impl Message {
    /// Reads a message; `None` at the end of the connection. An answer to `HEAD` has no body.
    fn read(reader: &mut BufReader<impl io::Read>, is_head: bool) -> io::Result<Option<Self>> {
        let mut message = Self::default();
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        line.trim_end().clone_into(&mut message.first);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            message.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        if is_head {
            return Ok(Some(message));
        }
        if message.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            message.body = read_chunks(reader)?;
            message.remove("transfer-encoding");
            message.headers.push(("Content-Length".into(), message.body.len().to_string()));
            return Ok(Some(message));
        }
        let length = message.header("content-length").and_then(|value| value.parse().ok());
        message.body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut message.body)?;
        Ok(Some(message))
    }

    fn write(&self, to: &mut impl io::Write) -> io::Result<()> {
        let mut head = format!("{}\r\n", self.first);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        to.write_all((head + "\r\n").as_bytes())?;
        to.write_all(&self.body)
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn remove(&mut self, name: &str) {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
    }

    /// Changes an answer as a fault demands.
    fn spoil(&mut self, fault: Fault) {
        match fault {
            Fault::WrongRange => {
                let wrong = self.header("content-range").and_then(shifted);
                self.remove("content-range");
                self.headers.extend(wrong.map(|wrong| ("Content-Range".to_owned(), wrong)));
            }
            Fault::Whole if self.header("content-range").is_some() => {
                self.remove("content-range");
                "HTTP/1.1 200 OK".clone_into(&mut self.first);
            }
            Fault::ShortBody if !self.body.is_empty() => {
                self.body.pop();
                self.remove("content-length");
                self.headers.push(("Content-Length".into(), self.body.len().to_string()));
            }
            _ => {}
        }
    }
}

/// Returns the value of `Content-Range` for the bytes after the ones that it names.
fn shifted(value: &str) -> Option<String> {
    let (range, length) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, end) = range.split_once('-')?;
    let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    Some(format!("bytes {}-{}/{length}", start + 1, end + 1))
}

/// Reads a body in chunks of HTTP.
fn read_chunks(reader: &mut BufReader<impl io::Read>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = line.trim_end().split(';').next().unwrap_or_default();
        let length = usize::from_str_radix(length, 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length];
        reader.read_exact(&mut chunk)?;
        body.append(&mut chunk);
        // The end of the chunk, or of the body.
        reader.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(body);
        }
    }
}
