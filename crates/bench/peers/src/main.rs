//! The work of the benchmark `peers` by other crates: `hyperslab-bench-peers LIBRARY VALUES`. Each
//! line on standard input is a request; `../../src/peers/request.rs` describes it and its answer.
#![forbid(unsafe_code)]

#[expect(dead_code, reason = "this program measures no memory")]
#[path = "../../src/clock.rs"]
mod clock;
mod pure;
#[path = "../../src/peers/request.rs"]
mod request;
mod rust_hdf5;
#[path = "../../src/sum.rs"]
mod sum;
mod zarr;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let name = args.next().context("no library")?;
    let values = PathBuf::from(args.next().context("no file of values")?);
    match name.as_str() {
        "rust-hdf5" => request::serve(&mut rust_hdf5::RustHdf5, &values),
        "hdf5-pure" => request::serve(&mut pure::Pure, &values),
        "zarrs" => request::serve(&mut zarr::Zarr { shard: None }, &values),
        "zarrs-sharded" => request::serve(&mut zarr::Zarr { shard: Some(2048) }, &values),
        other => bail!("unknown library `{other}`"),
    }
}
