//! The driver for a file image that a server provides over TCP.
//!
//! The whole image is transferred at once, as in the stream driver of libhdf5 1.4. That driver
//! transferred the image alone. The protocol of this driver has frames, so that an interrupted
//! connection cannot be mistaken for the end of the file:
//!
//! ```text
//! client: 8 signature 89 48 53 53 0d 0a 1a 0a, with a token: `A` and its 32 bytes, 1 request (`G`
//!         get, `P` put; put is followed by an image)
//! server: 1 answer (`+`; to a get, followed by an image), or `-`, 2 length, text of a rejection
//! image:  8 length, little-endian, then the bytes of the image
//! ```
//!
//! Nothing is encrypted, and only the token authenticates a client. The token is sent in plain
//! text. Anyone who can listen to the connection can read the image and the token, and anyone who
//! can modify the connection can modify the image. A server without a token sends its image to
//! every client that can connect. Use this driver on trusted machines and networks only.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyperslab_exact::{to_u64, to_usize};

use crate::{
    Access, Core, Driver, DriverError, DriverKind, FileIdentity, LockKind, ReadRequest, Result, WriteRequest,
};

/// The first bytes of a client's request to a stream server, which offers a file image.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89HSS\r\n\x1a\n";
pub(crate) const GET: u8 = b'G';
pub(crate) const PUT: u8 = b'P';
pub(crate) const TOKEN: u8 = b'A';
pub(crate) const ACCEPTED: u8 = b'+';
pub(crate) const REJECTED: u8 = b'-';

/// A secret of a stream server, which offers a file image to clients: random bytes, created for
/// each server. Clients must know the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StreamToken(pub [u8; 32]);

impl StreamToken {
    /// Returns true if two tokens of stream servers match. The time of the comparison does not
    /// depend on the position of the first difference.
    pub(crate) fn matches(&self, other: &[u8; 32]) -> bool {
        let differences = self.0.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other));
        std::hint::black_box(differences) == 0
    }
}

/// Formats the token without its bytes.
impl fmt::Debug for StreamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamToken(…)")
    }
}

/// The limits and the secret token of a connection to a stream server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOptions {
    /// The largest length of a received image in bytes.
    pub max_bytes: u64,
    /// The longest time to wait for the peer, and for connecting.
    pub timeout: Duration,
    /// The token that clients send, and servers require. It is sent in plain text.
    pub token: Option<StreamToken>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { max_bytes: 1 << 30, timeout: Duration::from_secs(30), token: None }
    }
}

/// A driver for a file image in memory, received from a [`StreamServer`](crate::StreamServer).
///
/// A changed image is sent back as a whole by [`Driver::flush`], [`Driver::sync_data`] and when the
/// driver is dropped. If two drivers send their images, the server keeps the later one.
pub struct Stream {
    name: String,
    server: SocketAddr,
    options: StreamOptions,
    image: Core,
    changed: AtomicBool,
}

impl Stream {
    /// Connects to the stream server `server` and receives its file image. With
    /// [`Access::Truncate`] and [`Access::CreateNew`], starts with an empty image instead.
    ///
    /// A server always has an image, so that [`Access::Create`] receives it, possibly empty.
    ///
    /// # Errors
    /// [`DriverError::Io`] if the server cannot be reached or does not answer,
    /// [`DriverError::TooLarge`] for an image beyond the limit, [`DriverError::Protocol`] if the
    /// peer is no such server, or rejects the request.
    pub fn open(
        server: impl ToSocketAddrs + fmt::Display,
        access: Access,
        options: StreamOptions,
    ) -> Result<Self> {
        let name = server.to_string();
        let (mut socket, server) = connect(&name, server, options)?;
        let bytes = match access {
            Access::ReadOnly | Access::ReadWrite | Access::Create => {
                request(&mut socket, &name, options.token, GET)?;
                answer(&mut socket, &name)?;
                receive(&mut socket, &name, options.max_bytes)?
            }
            Access::Truncate | Access::CreateNew => Vec::new(),
        };
        let image = match access {
            Access::ReadOnly => Core::image(name.as_str(), bytes),
            _ => Core::from_vec(name.as_str(), bytes),
        };
        Ok(Self { name, server, options, image, changed: AtomicBool::new(false) })
    }

    /// Sends the file image to the stream server if the image has changed.
    fn put(&self) -> Result<()> {
        if !self.changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let sent = self.send();
        if sent.is_err() {
            self.changed.store(true, Ordering::Release);
        }
        sent
    }

    fn send(&self) -> Result<()> {
        let (mut socket, _) = connect(&self.name, self.server, self.options)?;
        request(&mut socket, &self.name, self.options.token, PUT)?;
        send(&mut socket, &self.name, &self.image.to_vec())?;
        answer(&mut socket, &self.name)
    }

    fn change<T>(&self, result: Result<T>) -> Result<T> {
        if !self.image.is_read_only() {
            self.changed.store(true, Ordering::Release);
        }
        result
    }
}

fn connect(
    name: &str,
    server: impl ToSocketAddrs,
    options: StreamOptions,
) -> Result<(TcpStream, SocketAddr)> {
    let failed = |source| DriverError::io(name, "connect", source);
    let mut last = io::ErrorKind::AddrNotAvailable.into();
    for address in server.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, options.timeout) {
            Ok(socket) => {
                set_timeouts(&socket, options.timeout).map_err(failed)?;
                return Ok((socket, address));
            }
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

pub(crate) fn set_timeouts(socket: &TcpStream, timeout: Duration) -> io::Result<()> {
    let timeout = Some(timeout).filter(|timeout| !timeout.is_zero());
    socket.set_read_timeout(timeout)?;
    socket.set_write_timeout(timeout)?;
    socket.set_nodelay(true)
}

fn request(socket: &mut TcpStream, name: &str, token: Option<StreamToken>, request: u8) -> Result<()> {
    let mut bytes = SIGNATURE.to_vec();
    if let Some(StreamToken(token)) = token {
        bytes.push(TOKEN);
        bytes.extend(token);
    }
    bytes.push(request);
    socket.write_all(&bytes).map_err(|source| DriverError::io(name, "send", source))
}

/// Receives the stream server's answer to a request. A rejection is an error.
fn answer(socket: &mut TcpStream, name: &str) -> Result<()> {
    let [word] = take(socket, name)?;
    let wrong = |reason: String| DriverError::Protocol { name: name.to_owned(), reason };
    match word {
        ACCEPTED => Ok(()),
        REJECTED => {
            let length = to_usize(number(take::<2>(socket, name)?))?;
            let mut text = vec![0; length];
            socket.read_exact(&mut text).map_err(|source| DriverError::io(name, "receive", source))?;
            Err(wrong(format!("the server rejected the request: {}", String::from_utf8_lossy(&text))))
        }
        _ => Err(wrong("the program at this address is not a stream server of hyperslab".into())),
    }
}

pub(crate) fn take<const N: usize>(socket: &mut impl Read, name: &str) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    socket.read_exact(&mut bytes).map_err(|source| DriverError::io(name, "receive", source))?;
    Ok(bytes)
}

/// Decodes a little-endian number of the protocol of stream servers.
fn number<const N: usize>(bytes: [u8; N]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Receives a file image over a connection to a stream server. Memory is allocated for received
/// bytes, not for the announced length.
pub(crate) fn receive(socket: &mut impl Read, name: &str, max_bytes: u64) -> Result<Vec<u8>> {
    let length = number(take::<8>(socket, name)?);
    if length > max_bytes {
        return Err(DriverError::TooLarge { name: name.to_owned(), offset: 0, length });
    }
    let mut bytes = Vec::new();
    let got = socket.take(length).read_to_end(&mut bytes);
    let got = got.map_err(|source| DriverError::io(name, "receive", source))?;
    if u64::try_from(got).is_ok_and(|got| got == length) {
        return Ok(bytes);
    }
    let reason = format!("the connection ended after {got} of {length} bytes");
    Err(DriverError::Protocol { name: name.to_owned(), reason })
}

pub(crate) fn send(socket: &mut impl Write, name: &str, image: &[u8]) -> Result<()> {
    let length = to_u64(image.len()).to_le_bytes();
    let sent = socket.write_all(&length).and_then(|()| socket.write_all(image));
    sent.and_then(|()| socket.flush()).map_err(|source| DriverError::io(name, "send", source))
}

impl Driver for Stream {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> DriverKind {
        DriverKind::Stream
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        self.image.is_read_only()
    }

    fn len(&self) -> Result<u64> {
        self.image.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.image.read_at(offset, buf)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.image.read_many(requests)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.change(self.image.write_at(offset, bytes))
    }

    fn write_many(&self, requests: &[WriteRequest<'_>]) -> Result<()> {
        self.change(self.image.write_many(requests))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.change(self.image.set_len(len))
    }

    fn flush(&self) -> Result<()> {
        self.put()
    }

    fn sync_data(&self) -> Result<()> {
        self.put()
    }

    fn lock(&self, _kind: LockKind) -> Result<()> {
        Ok(())
    }

    fn unlock(&self) -> Result<()> {
        Ok(())
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.image.as_bytes()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Err(error) = self.put() {
            tracing::error!(name = %self.name, %error, "changes in memory could not be sent");
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("server", &self.server)
            .field("image", &self.image)
            .finish_non_exhaustive()
    }
}
