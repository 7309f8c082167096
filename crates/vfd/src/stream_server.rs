//! The server of the stream driver: stores a file image, and sends and receives it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::stream::{self, ACCEPTED, GET, PUT, REJECTED, SIGNATURE, TOKEN};
use crate::{DriverError, Result, StreamOptions, StreamToken};

/// A server that offers a file image to [`Stream`](crate::Stream) drivers. The server serves one
/// connection at a time, until the value is dropped.
///
/// **Nothing is encrypted.** Without a token ([`StreamOptions::token`]) every client that can
/// connect receives the image. With a token, every client that knows the token receives it, and the
/// token can be read by anyone who can listen to a connection. Use a loopback address unless the
/// whole network is trusted.
///
/// ```
/// use hyperslab_vfd::{Access, Driver, Stream, StreamOptions, StreamServer};
/// let options = StreamOptions::default();
/// let server = StreamServer::bind("127.0.0.1:0", b"an image".to_vec(), options)?;
/// let image = Stream::open(server.address(), Access::ReadOnly, options)?;
/// assert_eq!(image.as_bytes(), Some(&b"an image"[..]));
/// # Ok::<(), hyperslab_vfd::DriverError>(())
/// ```
pub struct StreamServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    image: Mutex<Arc<[u8]>>,
    options: StreamOptions,
    accepts_images: bool,
    stopped: AtomicBool,
}

impl StreamServer {
    /// Starts a stream server that sends the file image to clients at the given address. Port 0
    /// means any free port. Clients cannot replace the image.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the server cannot listen at the address.
    pub fn bind(
        address: impl ToSocketAddrs,
        image: impl Into<Arc<[u8]>>,
        options: StreamOptions,
    ) -> Result<Self> {
        Self::listen(address, image.into(), options, false)
    }

    /// Starts a stream server like [`bind`](Self::bind). Clients with the token can replace the
    /// file image.
    ///
    /// ```
    /// use hyperslab_vfd::{Access, Driver, Stream, StreamOptions, StreamServer, StreamToken};
    /// # let random = [7; 32];
    /// let token = Some(StreamToken(random));
    /// let options = StreamOptions { token, ..StreamOptions::default() };
    /// let server = StreamServer::bind_writable("127.0.0.1:0", *b"old", options)?;
    /// let stream = Stream::open(server.address(), Access::ReadWrite, options)?;
    /// stream.write_at(0, b"new")?;
    /// stream.flush()?;
    /// assert_eq!(&*server.image(), b"new");
    /// # Ok::<(), hyperslab_vfd::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`bind`](Self::bind); [`DriverError::Unsupported`] if `options` has no token:
    /// every client that can connect could replace the image.
    pub fn bind_writable(
        address: impl ToSocketAddrs,
        image: impl Into<Arc<[u8]>>,
        options: StreamOptions,
    ) -> Result<Self> {
        if options.token.is_none() {
            let name = "stream server".to_owned();
            return Err(DriverError::Unsupported { name, operation: "receiving images without a token" });
        }
        Self::listen(address, image.into(), options, true)
    }

    fn listen(
        address: impl ToSocketAddrs,
        image: Arc<[u8]>,
        options: StreamOptions,
        accepts_images: bool,
    ) -> Result<Self> {
        let failed = |source| DriverError::io("stream server", "listen", source);
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stopped = AtomicBool::new(false);
        let shared = Arc::new(Shared { image: Mutex::new(image), options, accepts_images, stopped });
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("stream server".into())
            .spawn(move || serving.run(&listener))
            .map_err(failed)?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Returns the network address of the stream server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the current file image of the stream server.
    pub fn image(&self) -> Arc<[u8]> {
        Arc::clone(&self.shared.image())
    }

    /// Replaces the file image of the stream server.
    pub fn set_image(&self, image: impl Into<Arc<[u8]>>) {
        *self.shared.image() = image.into();
    }
}

impl Drop for StreamServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // A connection wakes the thread. If connecting fails, the thread is not joined.
        let woken = TcpStream::connect_timeout(&self.address, self.shared.options.timeout).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn image(&self) -> MutexGuard<'_, Arc<[u8]>> {
        // Poisoning is harmless: the image is replaced in one step.
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves connections of clients until the stream server is stopped.
    fn run(&self, listener: &TcpListener) {
        while !self.stopped.load(Ordering::Acquire) {
            match listener.accept() {
                Ok((socket, peer)) => {
                    if self.stopped.load(Ordering::Acquire) {
                        return;
                    }
                    if let Err(error) = self.serve(socket, &peer.to_string()) {
                        tracing::warn!(%peer, %error, "a stream client was not served");
                    }
                }
                Err(error) => tracing::warn!(%error, "a connection could not be accepted"),
            }
        }
    }

    /// Serves one connection to the stream server: receives a client's request and answers it.
    fn serve(&self, mut socket: TcpStream, peer: &str) -> Result<()> {
        stream::set_timeouts(&socket, self.options.timeout)
            .map_err(|source| DriverError::io(peer, "set up the connection", source))?;
        let mut reader =
            RequestReader { socket: &mut socket, until: Instant::now().checked_add(REQUEST_TIME_LIMIT) };
        let signature: [u8; 8] = stream::take(&mut reader, peer)?;
        let [mut request] = stream::take(&mut reader, peer)?;
        let mut token = None;
        if signature == SIGNATURE && request == TOKEN {
            token = Some(stream::take::<32>(&mut reader, peer)?);
            [request] = stream::take(&mut reader, peer)?;
        }
        stream::set_timeouts(&socket, self.options.timeout)
            .map_err(|source| DriverError::io(peer, "set up the connection", source))?;
        let send = |socket: &mut TcpStream, bytes: &[u8]| {
            socket.write_all(bytes).map_err(|source| DriverError::io(peer, "send", source))
        };
        let is_known = |wanted: StreamToken| token.is_some_and(|token| wanted.matches(&token));
        if signature == SIGNATURE && !self.options.token.is_none_or(is_known) {
            return send(&mut socket, &rejection("the token is missing or wrong"));
        }
        match request {
            GET if signature == SIGNATURE => {
                send(&mut socket, &[ACCEPTED])?;
                let image = Arc::clone(&self.image());
                stream::send(&mut socket, peer, &image)
            }
            PUT if signature == SIGNATURE => {
                let image = stream::receive(&mut socket, peer, self.options.max_bytes);
                match image {
                    Ok(image) if self.accepts_images => {
                        *self.image() = image.into();
                        send(&mut socket, &[ACCEPTED])
                    }
                    Ok(_) => send(&mut socket, &rejection("the server does not accept images")),
                    Err(error) => {
                        send(&mut socket, &rejection(&error.to_string()))?;
                        Err(error)
                    }
                }
            }
            _ => send(&mut socket, &rejection("the request is unknown")),
        }
    }
}

/// The time limit in which a stream server receives the complete request of a client.
const REQUEST_TIME_LIMIT: Duration = Duration::from_secs(10);

/// A reader of a client's request to a stream server. The time limit covers all bytes of the
/// request: a client cannot extend the time by sending single bytes.
struct RequestReader<'a> {
    socket: &'a mut TcpStream,
    until: Option<Instant>,
}

impl Read for RequestReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // Saturates: 0 after the end of the time limit.
        let remaining = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let remaining = remaining.filter(|remaining| !remaining.is_zero()).ok_or(io::ErrorKind::TimedOut)?;
        // The shorter of both limits applies: a silent client has no extra time.
        let socket_limit = self.socket.read_timeout()?.unwrap_or(remaining);
        self.socket.set_read_timeout(Some(remaining.min(socket_limit)))?;
        self.socket.read(bytes)
    }
}

/// Returns the bytes of the answer of a stream server that rejects a client's request.
fn rejection(reason: &str) -> Vec<u8> {
    let text = reason.as_bytes();
    // A longer reason is cut.
    let length = hyperslab_exact::to_u64(text.len()).min(0xffff) as u16;
    let mut bytes = vec![REJECTED];
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.iter().take(usize::from(length)));
    bytes
}

impl fmt::Debug for StreamServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamServer")
            .field("address", &self.address)
            .field("bytes", &self.image().len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Driver, Stream, conformance};

    const OPTIONS: StreamOptions = StreamOptions {
        max_bytes: 8 << 20,
        timeout: Duration::from_secs(5),
        token: Some(StreamToken([0x5a; 32])),
    };

    #[test]
    fn nobody_gets_or_puts_without_the_token() {
        let server = StreamServer::bind_writable("127.0.0.1:0", *b"mine", OPTIONS).unwrap();
        let mut near = [0x5a; 32];
        near[31] ^= 1;
        for token in [None, Some(StreamToken(near)), Some(StreamToken([0; 32]))] {
            let options = StreamOptions { token, ..OPTIONS };
            let error = Stream::open(server.address(), Access::ReadOnly, options).unwrap_err();
            assert!(
                error.to_string().contains("rejected the request: the token is missing or wrong"),
                "{error}"
            );
            let stream = Stream::open(server.address(), Access::Truncate, options).unwrap();
            stream.write_at(0, b"yours").unwrap();
            assert!(stream.flush().is_err());
            std::mem::forget(stream);
        }
        assert_eq!(&*server.image(), b"mine");
        assert!(Stream::open(server.address(), Access::ReadOnly, OPTIONS).is_ok());
        assert_eq!(format!("{:?}", OPTIONS.token.unwrap()), "StreamToken(…)");
    }

    #[test]
    fn images_are_not_taken_without_a_token() {
        let options = StreamOptions { token: None, ..OPTIONS };
        let error = StreamServer::bind_writable("127.0.0.1:0", *b"mine", options).unwrap_err();
        assert!(matches!(error, DriverError::Unsupported { .. }), "{error}");
        // A client with a token can use a server without one.
        let server = StreamServer::bind("127.0.0.1:0", *b"ours", options).unwrap();
        assert!(Stream::open(server.address(), Access::ReadOnly, OPTIONS).is_ok());
    }

    #[test]
    fn the_driver_keeps_the_contract() {
        let server = StreamServer::bind_writable("127.0.0.1:0", [], OPTIONS).unwrap();
        conformance::run(|| Stream::open(server.address(), Access::Truncate, OPTIONS).unwrap());
        conformance::run_read_only(|bytes| {
            server.set_image(bytes);
            Stream::open(server.address(), Access::ReadOnly, OPTIONS).unwrap()
        });
    }

    #[test]
    fn changes_go_back_at_flush_and_drop() {
        let server = StreamServer::bind_writable("127.0.0.1:0", *b"old", OPTIONS).unwrap();
        let stream = Stream::open(server.address(), Access::ReadWrite, OPTIONS).unwrap();
        stream.write_at(3, b"er").unwrap();
        assert_eq!(&*server.image(), b"old");
        stream.flush().unwrap();
        assert_eq!(&*server.image(), b"older");
        server.set_image(*b"by somebody else");
        stream.flush().unwrap();
        assert_eq!(&*server.image(), b"by somebody else", "nothing was changed since");
        stream.set_len(1).unwrap();
        drop(stream);
        assert_eq!(&*server.image(), b"o");
    }

    #[test]
    fn a_server_may_refuse() {
        let server = StreamServer::bind("127.0.0.1:0", *b"mine", OPTIONS).unwrap();
        let stream = Stream::open(server.address(), Access::ReadWrite, OPTIONS).unwrap();
        stream.write_at(0, b"yours").unwrap();
        let error = stream.flush().unwrap_err();
        assert!(
            error.to_string().contains("rejected the request: the server does not accept images"),
            "{error}"
        );
        assert_eq!(&*server.image(), b"mine");
        drop(stream);
        let small = StreamOptions { max_bytes: 3, ..OPTIONS };
        let error = Stream::open(server.address(), Access::ReadOnly, small).unwrap_err();
        assert!(matches!(error, DriverError::TooLarge { length: 4, .. }), "{error}");
    }

    #[test]
    fn strangers_and_silence_end_by_themselves() {
        let options = StreamOptions { timeout: Duration::from_millis(200), ..OPTIONS };
        let server = StreamServer::bind_writable("127.0.0.1:0", *b"image", options).unwrap();
        let mut browser = TcpStream::connect(server.address()).unwrap();
        browser.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        // The server closes the connection with unread bytes, which may appear as a reset.
        let _ = browser.read_to_end(&mut answer);
        let silent = TcpStream::connect(server.address()).unwrap();
        // The server discards an incomplete image.
        let mut broken = TcpStream::connect(server.address()).unwrap();
        broken
            .write_all(&[&SIGNATURE[..], b"A", &[0x5a; 32], b"P", &9_u64.to_le_bytes(), b"half"].concat())
            .unwrap();
        drop(broken);
        let start = Instant::now();
        let next = Stream::open(server.address(), Access::ReadOnly, OPTIONS).unwrap();
        assert_eq!(next.as_bytes(), Some(&b"image"[..]));
        assert!(start.elapsed() < Duration::from_secs(5));
        drop(silent);
    }

    #[test]
    fn servers_that_are_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let answers: [&[u8]; 3] =
                [b"HTTP/1.1 400", b"+\xff\xff\xff\xff\xff\xff\xff\xff", b"+\x09\0\0\0\0\0\0\0half"];
            for answer in answers {
                let (mut socket, _) = listener.accept().unwrap();
                socket.write_all(answer).unwrap();
                let _ = socket.read(&mut [0; 64]);
            }
            let _silent = listener.accept().unwrap();
            std::thread::sleep(Duration::from_millis(600));
        });
        let options = StreamOptions { timeout: Duration::from_millis(200), ..OPTIONS };
        let open = || Stream::open(address, Access::ReadOnly, options).unwrap_err();
        assert!(matches!(open(), DriverError::Protocol { .. }));
        assert!(matches!(open(), DriverError::TooLarge { length: u64::MAX, .. }));
        let half = open();
        assert!(half.to_string().contains("4 of 9 bytes"), "{half}");
        let silence = open();
        assert!(matches!(silence, DriverError::Io { operation: "receive", .. }), "{silence}");
        thread.join().unwrap();
        let gone = Stream::open(address, Access::ReadOnly, options).unwrap_err();
        assert!(matches!(gone, DriverError::Io { operation: "connect", .. }), "{gone}");
    }
}
