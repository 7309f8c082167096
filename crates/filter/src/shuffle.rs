//! The shuffle filter (number 2): all first bytes of the elements, then all second bytes, and so on.
//!
//! ```text
//! client data  | meaning
//! -------------+----------------------
//! 0            | bytes of one element
//! ```
//! Bytes behind the last whole element stay as they are, at the end.

use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

/// The shuffle filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shuffle;

/// Elements that are transposed together: one vector register of bytes per byte of the element.
const LANES: usize = 16;

impl Filter for Shuffle {
    fn id(&self) -> FilterId {
        FilterId::SHUFFLE
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let size = element_size(context)
            .ok_or_else(|| FilterError::corrupt(self.id(), "its element size is missing or 0"))?;
        if input.len() > context.max_output {
            return Err(FilterError::Limit { id: self.id(), limit: context.max_output });
        }
        if is_no_op(size, input.len()) {
            return Ok(Produced::unchanged(input));
        }
        output.resize(input.len(), 0);
        unshuffle(size, input, output);
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let size = element_size(context)
            .ok_or_else(|| FilterError::failed(self.id(), "its element size is missing or 0"))?;
        if is_no_op(size, input.len()) {
            return Ok(Produced::unchanged(input));
        }
        output.resize(input.len(), 0);
        shuffle(size, input, output);
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, input: usize) -> Option<usize> {
        Some(input)
    }

    fn compresses(&self) -> bool {
        false
    }
}

fn element_size(context: &FilterContext<'_>) -> Option<usize> {
    context.client_data.first().and_then(|size| usize::try_from(*size).ok()).filter(|size| *size > 0)
}

/// Elements of one byte, or fewer than two elements, are the same shuffled or not.
fn is_no_op(size: usize, length: usize) -> bool {
    size == 1 || length / size < 2
}

fn shuffle(size: usize, elements: &[u8], planes: &mut [u8]) {
    match size {
        2 => shuffle_fixed::<2>(elements, planes),
        4 => shuffle_fixed::<4>(elements, planes),
        8 => shuffle_fixed::<8>(elements, planes),
        16 => shuffle_fixed::<16>(elements, planes),
        _ => {
            let whole = elements.len() / size * size;
            let (elements, tail) = elements.split_at_checked(whole).unwrap_or((elements, &[]));
            let (planes, tail_out) = split_mut(planes, whole);
            for (at, plane) in planes.chunks_exact_mut(whole / size).enumerate() {
                let bytes = elements.iter().skip(at).step_by(size);
                plane.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            }
            copy(tail_out, tail);
        }
    }
}

fn unshuffle(size: usize, planes: &[u8], elements: &mut [u8]) {
    match size {
        2 => unshuffle_fixed::<2>(planes, elements),
        4 => unshuffle_fixed::<4>(planes, elements),
        8 => unshuffle_fixed::<8>(planes, elements),
        16 => unshuffle_fixed::<16>(planes, elements),
        _ => {
            let whole = elements.len() / size * size;
            let (planes, tail) = planes.split_at_checked(whole).unwrap_or((planes, &[]));
            let (elements, tail_out) = split_mut(elements, whole);
            for (at, plane) in planes.chunks_exact(whole / size).enumerate() {
                let bytes = elements.iter_mut().skip(at).step_by(size);
                bytes.zip(plane).for_each(|(to, from)| *to = *from);
            }
            copy(tail_out, tail);
        }
    }
}

fn shuffle_fixed<const N: usize>(elements: &[u8], planes: &mut [u8]) {
    let (elements, tail) = elements.as_chunks::<N>();
    let (planes, tail_out) = split_mut(planes, elements.len() * N);
    let (blocks, last) = elements.as_chunks::<LANES>();
    let mut planes = planes.chunks_exact_mut(elements.len().max(1));
    let mut planes: [(&mut [[u8; LANES]], &mut [u8]); N] =
        std::array::from_fn(|_| planes.next().unwrap_or_default().as_chunks_mut::<LANES>());
    for (at, block) in blocks.iter().enumerate() {
        for (byte, (lanes, _)) in planes.iter_mut().enumerate() {
            if let Some(to) = lanes.get_mut(at) {
                *to = column(block, byte);
            }
        }
    }
    for (at, element) in last.iter().enumerate() {
        for (byte, (_, rest)) in element.iter().zip(&mut planes) {
            if let Some(to) = rest.get_mut(at) {
                *to = *byte;
            }
        }
    }
    copy(tail_out, tail);
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "callers count up to N; the checks vanish when inlined")]
fn column<const N: usize>(block: &[[u8; N]; LANES], byte: usize) -> [u8; LANES] {
    std::array::from_fn(|lane| block[lane][byte])
}

fn unshuffle_fixed<const N: usize>(planes: &[u8], elements: &mut [u8]) {
    let (elements, tail_out) = elements.as_chunks_mut::<N>();
    let count = elements.len();
    let (planes, tail) = planes.split_at_checked(count * N).unwrap_or((planes, &[]));
    let mut planes = planes.chunks_exact(count.max(1));
    let planes: [(&[[u8; LANES]], &[u8]); N] =
        std::array::from_fn(|_| planes.next().unwrap_or_default().as_chunks::<LANES>());
    let (blocks, last) = elements.as_chunks_mut::<LANES>();
    for (at, block) in blocks.iter_mut().enumerate() {
        let columns: [[u8; LANES]; N] = std::array::from_fn(|byte| {
            planes.get(byte).and_then(|(lanes, _)| lanes.get(at)).copied().unwrap_or_default()
        });
        *block = transpose(&columns);
    }
    for (at, element) in last.iter_mut().enumerate() {
        for (byte, (_, rest)) in element.iter_mut().zip(&planes) {
            *byte = rest.get(at).copied().unwrap_or_default();
        }
    }
    copy(tail_out, tail);
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "both indices come from array lengths; the checks vanish")]
fn transpose<const N: usize>(columns: &[[u8; LANES]; N]) -> [[u8; N]; LANES] {
    std::array::from_fn(|lane| std::array::from_fn(|byte| columns[byte][lane]))
}

fn split_mut(bytes: &mut [u8], at: usize) -> (&mut [u8], &mut [u8]) {
    let at = at.min(bytes.len());
    bytes.split_at_mut(at)
}

fn copy(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    fn encoded(size: u32, input: &[u8]) -> Vec<u8> {
        conformance::encode(&Shuffle, &[size], input).unwrap()
    }

    #[test]
    fn keeps_the_contract() {
        for size in [1, 2, 3, 4, 5, 7, 8, 16, 17, 100, 5000, u32::MAX] {
            conformance::run(&Shuffle, &[size]);
        }
    }

    #[test]
    fn bytes_are_transposed_and_the_rest_stays() {
        assert_eq!(encoded(2, &[1, 2, 3, 4, 5, 6, 7]), [1, 3, 5, 2, 4, 6, 7]);
        assert_eq!(encoded(3, &[1, 2, 3, 4, 5, 6, 7, 8]), [1, 4, 2, 5, 3, 6, 7, 8]);
        assert_eq!(encoded(1, &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(encoded(4, &[1, 2, 3, 4, 5]), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn every_size_equals_the_definition() {
        for size in 1..=20_usize {
            for length in [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 600, 1027] {
                let input: Vec<u8> = (0..length).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect();
                let count = length / size;
                let mut expected = input.clone();
                for at in 0..count * size {
                    expected[at % size * count + at / size] = input[at];
                }
                assert_eq!(encoded(u32::try_from(size).unwrap(), &input), expected, "{size} {length}");
            }
        }
    }

    #[test]
    fn parameters_are_checked() {
        for client_data in [&[][..], &[0]] {
            let context = FilterContext::new(client_data, 100);
            let decoded = Shuffle.decode(&context, &[1, 2], &mut Vec::new());
            assert!(matches!(decoded, Err(FilterError::Corrupt { .. })));
            let encoded = Shuffle.encode(&context, &[1, 2], &mut Vec::new());
            assert!(matches!(encoded, Err(FilterError::Failed { .. })));
        }
    }
}
