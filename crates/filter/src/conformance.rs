//! Tests of the filter contract, which every filter must pass:
#![expect(clippy::unwrap_used, reason = "this is a test suite: a failure is meant to panic")]

use crate::{Filter, FilterContext, FilterError, Produced, Result, Workspace};

/// Checks that a filter fulfils the contract of the trait `Filter`. The filter must be lossless and
/// accept chunks of any length.
///
/// # Panics
/// If the filter violates the contract.
pub fn run(filter: &dyn Filter, client_data: &[u32]) {
    for length in [0, 1, 2, 3, 5, 8, 15, 16, 17, 63, 100, 255, 1000, 4096, 8191, 70_001] {
        run_with(filter, client_data, length);
    }
}

/// Checks that a filter fulfils the contract of the trait `Filter`, with chunks of `length` bytes.
/// Tests use this for filters whose client data contain the chunk length.
///
/// # Panics
/// If the filter violates the contract.
pub fn run_with(filter: &dyn Filter, client_data: &[u32], length: usize) {
    for chunk in chunks(length) {
        let encoded = encode(filter, client_data, &chunk).unwrap();
        let context = FilterContext::new(client_data, usize::MAX);
        if let Some(expected) = filter.encoded_length(&context, length) {
            assert_eq!(encoded.len(), expected, "`encoded_length` predicts the length of an encoded chunk");
        }
        round_trip(filter, client_data, &chunk, &encoded);
        bounds(filter, client_data, &chunk, &encoded);
        damage(filter, client_data, &encoded);
    }
    noise(filter, client_data, length);
}

/// Encodes one chunk with a filter and returns the encoded bytes.
///
/// # Errors
/// The errors of the filter.
///
/// # Panics
/// If the filter returns a range outside its input.
pub fn encode(filter: &dyn Filter, client_data: &[u32], chunk: &[u8]) -> Result<Vec<u8>> {
    let mut output = vec![0xee; 7];
    let context = FilterContext::new(client_data, usize::MAX);
    let produced = filter.encode(&context, chunk, &mut output)?;
    Ok(taken(produced, chunk, output))
}

/// Decodes one chunk with a filter to at most `max_output` bytes. `expected_output` is the decoded
/// length that the filter may expect.
///
/// # Errors
/// The errors of the filter.
///
/// # Panics
/// If the filter returns a range outside its input.
pub fn decode(
    filter: &dyn Filter,
    client_data: &[u32],
    bytes: &[u8],
    expected_output: Option<usize>,
    max_output: usize,
) -> Result<Vec<u8>> {
    let mut output = vec![0xee; 11];
    let context = FilterContext { expected_output, ..FilterContext::new(client_data, max_output) };
    let produced = filter.decode(&context, bytes, &mut output)?;
    Ok(taken(produced, bytes, output))
}

/// Checks that a filter that decodes into a slice of fixed length gives the same bytes or the same
/// error as a filter that decodes into a growing buffer, even if the slice is too long or too
/// short. Repeats the check with a workspace that was used before.
fn into_slices(filter: &dyn Filter, context: &FilterContext<'_>, bytes: &[u8]) {
    let mut output = Vec::new();
    let decoded = filter.decode(context, bytes, &mut output).map(|produced| taken(produced, bytes, output));
    let mut workspace = Workspace::default();
    let length = decoded.as_ref().map_or(context.expected_output.unwrap_or(40).min(1 << 20), Vec::len);
    for size in [length, length + 9, length / 2] {
        let mut output = vec![0xee; size];
        match (filter.decode_into(context, bytes, &mut output, &mut workspace), &decoded) {
            (Ok(count), Ok(decoded)) => {
                assert_eq!(count, decoded.len(), "into {size} bytes");
                let fits = size.min(count);
                assert_eq!(output.get(..fits), decoded.get(..fits), "into {size} bytes");
            }
            // The description of a corrupt chunk may depend on the length of the output.
            (Err(FilterError::Corrupt { .. }), Err(FilterError::Corrupt { .. })) => {}
            (Err(error), Err(expected)) => assert_eq!(error, *expected, "into {size} bytes"),
            (got, _) => assert_eq!(got.as_ref().err(), decoded.as_ref().err(), "into {size} bytes"),
        }
    }
    let mut output = vec![0xee; 5];
    let again = filter.decode_with(context, bytes, &mut output, &mut workspace);
    assert_eq!(again.map(|produced| taken(produced, bytes, output)), decoded, "with a workspace");
}

fn taken(produced: Produced, input: &[u8], output: Vec<u8>) -> Vec<u8> {
    match produced {
        Produced::Output => output,
        Produced::Input(range) => input.get(range).unwrap().to_vec(),
    }
}

/// Returns chunks of `length` bytes for tests of filters: zeros, a ramp, random bytes.
fn chunks(length: usize) -> [Vec<u8>; 3] {
    let ramp = (0..length).map(|at| (at / 3).to_le_bytes()[0]).collect();
    [vec![0; length], ramp, random(length, 1)]
}

fn random(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

fn round_trip(filter: &dyn Filter, client_data: &[u32], chunk: &[u8], encoded: &[u8]) {
    for expected in [None, Some(chunk.len()), Some(0), Some(chunk.len() / 2), Some(chunk.len() * 2)] {
        let decoded = decode(filter, client_data, encoded, expected, usize::MAX).unwrap();
        assert_eq!(decoded, chunk, "expecting {expected:?}");
    }
    for (expected, limit) in [(Some(chunk.len()), chunk.len()), (None, chunk.len() / 2)] {
        let context = FilterContext { expected_output: expected, ..FilterContext::new(client_data, limit) };
        into_slices(filter, &context, encoded);
    }
}

/// Checks that a filter's decoder respects the limit of decoded bytes. A limit equal to the chunk
/// length must be sufficient.
fn bounds(filter: &dyn Filter, client_data: &[u32], chunk: &[u8], encoded: &[u8]) {
    let decoded = decode(filter, client_data, encoded, Some(chunk.len()), chunk.len()).unwrap();
    assert_eq!(decoded, chunk);
    for limit in [chunk.len().max(1) - 1, chunk.len() / 2] {
        if limit < chunk.len() {
            let error = decode(filter, client_data, encoded, Some(chunk.len()), limit).unwrap_err();
            assert_eq!(error, FilterError::Limit { id: filter.id(), limit });
        }
    }
}

/// Checks that a filter decodes damaged chunks without panics. Each result must be an error or stay
/// within the limit of bytes.
fn damage(filter: &dyn Filter, client_data: &[u32], encoded: &[u8]) {
    let check = |bytes: &[u8]| {
        let limit = encoded.len() * 3 + 100;
        if let Ok(decoded) = decode(filter, client_data, bytes, None, limit) {
            assert!(decoded.len() <= limit);
        }
        if bytes.len() < 1000 {
            into_slices(filter, &FilterContext::new(client_data, limit), bytes);
        }
    };
    let samples = (100_000 / (encoded.len() + 1)).clamp(3, 40);
    for at in (0..encoded.len()).step_by(encoded.len() / samples + 1) {
        check(encoded.get(..at).unwrap());
        for flip in [1, 0x80, 0xff] {
            let mut damaged = encoded.to_vec();
            *damaged.get_mut(at).unwrap() ^= flip;
            check(&damaged);
        }
    }
}

/// Checks that a filter decodes random bytes, with arbitrary parameters, without panics.
fn noise(filter: &dyn Filter, client_data: &[u32], length: usize) {
    let parameters = [client_data, &[], &[0], &[u32::MAX; 20], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]];
    for seed in 2..10 {
        for parameters in parameters {
            let limit = 2 * length + 10;
            if let Ok(decoded) = decode(filter, parameters, &random(length, seed), Some(length), limit) {
                assert!(decoded.len() <= limit);
            }
            drop(encode(filter, parameters, &random(length, seed)));
        }
    }
}
