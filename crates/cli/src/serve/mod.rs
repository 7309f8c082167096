//! `hyperslab serve` and `hyperslab view`: a web server for files, by the feature `serve`.

#[cfg(not(feature = "serve"))]
mod absent;
#[cfg(feature = "serve")]
mod present;

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Result;

#[cfg(not(feature = "serve"))]
use absent as build;
#[cfg(feature = "serve")]
use present as build;

/// The arguments of `serve`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The server prints the address of the page, with a token that other users of the machine do not \
                  know. /api answers as h5grove does, so that H5Web and jupyterlab-h5web work; /files/NAME has the \
                  bytes of a file, with ranges."
)]
pub(crate) struct ServeArguments {
    /// Files, folders with HDF5 files, and URLs of files
    #[arg(required_unless_present = "export_page")]
    paths: Vec<PathBuf>,
    /// Write a page that shows files without a server into FOLDER, for any web server
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["paths", "open"])]
    export_page: Option<PathBuf>,
    #[command(flatten)]
    options: ServerArguments,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

/// The arguments of `view`.
#[derive(Debug, clap::Args)]
pub(crate) struct ViewArguments {
    /// The file, or its URL
    file: PathBuf,
    #[command(flatten)]
    options: ServerArguments,
    /// Print the address of the page only
    #[arg(long)]
    no_open: bool,
}

/// The arguments of a server.
#[derive(Debug, clap::Args)]
struct ServerArguments {
    /// Address to which the server is bound; other machines reach it only if it is given
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Port [default: a free one]
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Token that requests must have [default: a random one]
    #[arg(long, value_name = "TEXT", conflicts_with = "no_token")]
    token: Option<String>,
    /// Answer requests without a token
    #[arg(long)]
    no_token: bool,
    /// Further name of the server in requests, such as that of a proxy
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Origin of other pages that may read answers, such as https://example.org
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Origin of other pages that may show this page in a frame
    #[arg(long, value_name = "ORIGIN")]
    frame_ancestor: Vec<String>,
    /// Largest size of the elements in one answer
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = crate::find::size)]
    max_response: u64,
    /// Memory for decoded chunks and recent answers
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = crate::find::size)]
    cache: u64,
    /// Largest number of requests that are answered at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    requests: u16,
    /// Largest time for the first part of an answer, and for the client to take each part
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..86400))]
    timeout: u64,
    /// Show files while a SWMR writer appends to them: each request reads the present state
    #[arg(long)]
    follow: bool,
}

/// Serves files and folders until the process ends.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<()> {
    build::serve(arguments)
}

/// Serves one file until the process ends, and opens it in the browser.
pub(crate) fn view(arguments: &ViewArguments) -> Result<()> {
    build::view(arguments)
}
