//! The server of the viewer in notebooks, by the feature `serve`.

use std::path::PathBuf;

use hyperslab::Limits;
use hyperslab_serve::{Disk, Server, ServerOptions, Token};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The memory for decoded chunks and recent answers.
const CACHE_BYTES: u64 = 256 << 20;

/// Starts a server for one file on a thread of its own, which ends with the process. Returns the
/// port, and the path and query of the page, which have the token.
#[pyfunction]
#[pyo3(signature = (path, frame_ancestors, hosts))]
pub(crate) fn serve(
    path: PathBuf,
    frame_ancestors: Vec<String>,
    hosts: Vec<String>,
) -> PyResult<(u16, String)> {
    let failed = |error: std::io::Error| PyOSError::new_err(error.to_string());
    let token = Some(Token::random().map_err(failed)?);
    let options = ServerOptions { token, frame_ancestors, hosts, ..ServerOptions::default() };
    let limits = Limits { result_bytes: options.limits.response_bytes * 4, ..Limits::cautious() };
    let disk = Disk::new(&[path], limits, CACHE_BYTES, false).map_err(failed)?;
    let server = Server::bind(options, disk).map_err(failed)?;
    let (port, page) = (server.address().map_err(failed)?.port(), server.framed_path());
    let run = move || {
        // An error of the runtime leaves a port without answers, which the frame shows.
        let _ = server.run();
    };
    std::thread::Builder::new().name("hyperslab-serve".into()).spawn(run).map_err(failed)?;
    Ok((port, page))
}
