//! Reads and writes at an offset of a [`File`] on all supported systems.

use std::fs::File;
use std::io;

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", windows))]
use hyperslab_exact::to_u64;

/// Fills `buf` with the bytes of a file from `offset` on. Returns [`io::ErrorKind::UnexpectedEof`]
/// if the file ends too early.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buf, offset)
}

/// The largest number of buffers that one read call can fill on every operating system.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const MAX_PARTS_PER_CALL: usize = 1024;

/// Fills the buffers `parts`, one after another, with the contiguous bytes of a file from `offset`
/// on. Returns [`io::ErrorKind::UnexpectedEof`] if the file ends too early.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
pub(crate) fn read_exact_parts(file: &File, parts: &mut [&mut [u8]], mut offset: u64) -> io::Result<()> {
    use std::io::IoSliceMut;
    let mut slices: Vec<IoSliceMut<'_>> = parts.iter_mut().map(|part| IoSliceMut::new(part)).collect();
    let mut rest = slices.as_mut_slice();
    IoSliceMut::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        let count = rest.len().min(MAX_PARTS_PER_CALL);
        match rustix::io::preadv(file, rest.split_at_mut(count).0, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                IoSliceMut::advance_slices(&mut rest, count);
                offset += to_u64(count);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes all of `bytes` to the file `file` from the offset `offset` on.
#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Fills `buf` with the bytes of a file from `offset` on. Returns [`io::ErrorKind::UnexpectedEof`]
/// if the file ends too early.
#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buf.is_empty() {
        match file.seek_read(buf, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buf = buf.split_at_mut(count).1;
                offset += to_u64(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `bytes` to the file `file` from the offset `offset` on.
#[cfg(windows)]
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = bytes.split_at(count).1;
                offset += to_u64(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reports that the system has no files, as in a browser.
#[cfg(not(any(unix, windows)))]
pub(crate) fn read_exact_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reports that the system has no files, as in a browser.
#[cfg(not(any(unix, windows)))]
pub(crate) fn write_all_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
