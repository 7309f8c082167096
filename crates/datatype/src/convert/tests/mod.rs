//! Tests of conversions against simple models, the machine's arithmetic, and observed results of
//! libhdf5.

mod composite;
mod exception;
mod fixed;
mod float;
mod records;

use super::*;
use crate::convert::number;

fn convert(source: &Datatype, destination: &Datatype, bytes: &[u8]) -> Vec<u8> {
    convert_over(source, destination, bytes, 0)
}

/// Converts into a buffer filled with the byte `before`.
fn convert_over(source: &Datatype, destination: &Datatype, bytes: &[u8], before: u8) -> Vec<u8> {
    let conversion = Conversion::new(source, destination).unwrap();
    let count = bytes.len() / conversion.source_size();
    let mut out = vec![before; count * conversion.destination_size()];
    conversion.convert(bytes, &mut out, count).unwrap();
    out
}

/// Converts numbers with the general rule, even if a faster rule exists.
fn convert_generally(source: &Datatype, destination: &Datatype, bytes: &[u8]) -> Vec<u8> {
    let kernel = number::rule(source, destination, &Conversions::default()).unwrap().unwrap();
    let count = bytes.len() / size_of(source).unwrap();
    let mut out = vec![0; count * size_of(destination).unwrap()];
    kernel.run(bytes, &mut out).unwrap();
    out
}

#[track_caller]
fn unsupported(source: &Datatype, destination: &Datatype) {
    let got = Conversion::new(source, destination);
    assert!(matches!(got, Err(ConvertError::Unsupported { .. })), "{source} to {destination}");
}
