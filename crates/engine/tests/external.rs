//! Tests of raw data in other files.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::sync::Arc;

use hyperslab_dataspace::{Dims, Hyperslab, Points, RegularHyperslab, Selection};
use hyperslab_engine::data::linear::{ExternalFilePart, ExternalSource, OpenRaw};
use hyperslab_engine::data::transfer::{ReadContext, ReadTarget, Resources, Source};
use hyperslab_engine::store::{RawFile, Store, StoreOptions};
use hyperslab_engine::{Error, ErrorKind, Result};
use hyperslab_vfd::Core;

#[derive(Debug)]
struct Letters;

impl OpenRaw for Letters {
    fn open_raw(&self, name: &[u8]) -> Result<RawFile> {
        match name {
            b"upper" => RawFile::new(Arc::new(Core::image("upper", b"ABCDEFGH".to_vec()))),
            b"lower" => RawFile::new(Arc::new(Core::image("lower", b"abcd".to_vec()))),
            _ => Err(Error::NotFound { subject: "file", name: "digits".into() }),
        }
    }
}

/// Returns a source with bytes 0–2 from `upper`, no bytes from an empty piece, bytes 3–9 from
/// `lower` (which has only 3 of them), and the rest from a missing file.
fn source(dims: &[u64]) -> ExternalSource {
    let pieces: [(&[u8], u64, Option<u64>); 4] =
        [(b"upper", 2, Some(3)), (b"digits", 0, Some(0)), (b"lower", 1, Some(7)), (b"digits", 0, None)];
    ExternalSource {
        dims: Dims::from_slice(dims),
        pieces: ExternalFilePart::row(pieces.into_iter()),
        files: Box::new(Letters),
    }
}

/// Reads into a buffer that is not zero.
fn read(source: &ExternalSource, selection: &Selection, out: &mut [u8]) -> Result<()> {
    let (store, resources) = (store(), Resources::new(0));
    out.fill(b'?');
    let context = ReadContext { store: &store, resources: &resources };
    source.read(context, selection, &mut ReadTarget::stored(out, 1))
}

fn store() -> Store {
    let image = std::fs::read(hyperslab_testkit::fixtures::path("weather_station.h5")).unwrap();
    Store::open(Arc::new(Core::image("image", image)), StoreOptions::default()).unwrap()
}

#[test]
fn parts_are_contiguous_and_short_files_end_in_zeros() {
    let mut out = [0; 10];
    read(&source(&[10]), &Selection::All, &mut out).unwrap();
    assert_eq!(&out, b"CDEbcd\0\0\0\0");
    let strided = RegularHyperslab::strided(&[0, 1], &[1, 2], &[2, 2]);
    let mut out = [0; 4];
    let selection = Selection::Hyperslab(Hyperslab::Regular(strided));
    read(&source(&[2, 5]), &selection, &mut out).unwrap();
    assert_eq!(&out, b"Db\0\0");
    let mut out = [0; 3];
    let points = Selection::Points(Points { rank: 1, coordinates: vec![5, 0, 3] });
    read(&source(&[10]), &points, &mut out).unwrap();
    assert_eq!(&out, b"dCb");
}

#[test]
fn a_missing_file_is_an_error_when_its_elements_are_read() {
    let mut out = [0; 11];
    let error = read(&source(&[11]), &Selection::All, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with("external file `digits`: "), "{error}");
    let mut short = source(&[11]);
    short.pieces.pop();
    let error = read(&short, &Selection::All, &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}
