//! Conversions against naive models, against the machine, and as libhdf5 was seen to do them.

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

/// Converts into a buffer that held bytes of that value.
fn convert_over(source: &Datatype, destination: &Datatype, bytes: &[u8], before: u8) -> Vec<u8> {
    let conversion = Conversion::new(source, destination).unwrap();
    let count = bytes.len() / conversion.source_size();
    let mut out = vec![before; count * conversion.destination_size()];
    conversion.convert(bytes, &mut out, count).unwrap();
    out
}

/// Converts numbers by the general rule, even where there is a faster one.
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
