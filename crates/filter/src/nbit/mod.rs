//! The nbit filter (number 5), which stores only the used bits of elements.
//!
//! ```text
//! client data  | meaning
//! -------------+---------------------------------------------------------------
//! 0            | number of client data values
//! 1            | not 0: all bits are used, and chunks are stored unchanged
//! 2            | elements of a chunk
//! 3…           | the type of an element, see `NbitType`
//! ```
//! The used bits of all elements follow one another. The most significant bit of a value comes
//! first, regardless of the byte order. The members of a compound have the order of the client
//! data. An encoded chunk has one byte more than its bits fill completely; this last byte contains
//! the remaining bits, or none. Unused bits are decoded as 0.

mod columns;
mod kind;

use crate::codec::resize;
use crate::filter::{copy_start, decode_and_copy};
use crate::{DatasetFacts, Filter, FilterContext, FilterError, FilterId, Produced, Result, Workspace};

use columns::Columns;
pub use kind::{NbitMember, NbitType};

/// The nbit filter, which stores only the used bits of numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nbit;

/// The parsed client data of the nbit filter.
struct NbitParameters {
    /// True if chunks are stored unchanged.
    is_unchanged: bool,
    elements: usize,
    kind: NbitType,
    /// Bytes of an element, not 0.
    size: usize,
}

impl NbitParameters {
    fn parse(client_data: &[u32]) -> Result<Self, &'static str> {
        let [_, is_unchanged, elements, kind @ ..] = client_data else {
            return Err("the client data are missing");
        };
        let elements = usize::try_from(*elements).map_err(|_| "the chunk has too many elements")?;
        if *is_unchanged != 0 {
            return Ok(Self { is_unchanged: true, elements, kind: NbitType::Opaque { size: 1 }, size: 1 });
        }
        let kind = NbitType::parse(kind)?;
        let size = usize::try_from(kind.size()).map_err(|_| "the elements are too large")?;
        Ok(Self { is_unchanged: false, elements, kind, size })
    }

    /// Returns the size in bytes of a chunk that the nbit filter has decoded.
    fn decoded_length(&self) -> Option<usize> {
        self.elements.checked_mul(self.size)
    }

    fn encoded_length(&self) -> Option<usize> {
        let bits = u64::try_from(self.elements).ok()?.checked_mul(self.kind.bits())?;
        usize::try_from(bits / 8).ok()?.checked_add(1)
    }
}

impl Filter for Nbit {
    fn id(&self) -> FilterId {
        FilterId::NBIT
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let (parameters, length) = checked(context, input)?;
        if parameters.is_unchanged {
            return Ok(Produced::unchanged(input));
        }
        resize(self.id(), output, length)?;
        decode(&parameters, input, output)?;
        Ok(Produced::Output)
    }

    fn decode_into(
        &self,
        context: &FilterContext<'_>,
        input: &[u8],
        output: &mut [u8],
        workspace: &mut Workspace,
    ) -> Result<usize> {
        let (parameters, length) = checked(context, input)?;
        if parameters.is_unchanged {
            copy_start(input, output);
            return Ok(length);
        }
        let Some(elements) = output.get_mut(..length) else {
            return decode_and_copy(self, context, input, output, workspace);
        };
        decode(&parameters, input, elements)?;
        Ok(length)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(self.id(), reason);
        let parameters = NbitParameters::parse(context.client_data).map_err(failed)?;
        if parameters.is_unchanged {
            return Ok(Produced::unchanged(input));
        }
        let length = parameters.decoded_length().filter(|length| *length <= input.len());
        let elements = length.and_then(|length| input.get(..length));
        let elements = elements.ok_or_else(|| failed("the chunk has too few bytes for its elements"))?;
        let encoded =
            parameters.encoded_length().ok_or_else(|| failed("the number of bits of the chunk overflows"))?;
        Columns::new(&parameters.kind)
            .encode(elements, encoded, output)
            .ok_or_else(|| failed("the chunk has too few bytes for its elements"))?;
        Ok(Produced::Output)
    }

    fn encoded_length(&self, context: &FilterContext<'_>, input: usize) -> Option<usize> {
        let parameters = NbitParameters::parse(context.client_data).ok()?;
        if parameters.is_unchanged { Some(input) } else { parameters.encoded_length() }
    }

    fn compresses(&self) -> bool {
        true
    }

    fn prepare(&self, _requested: &[u32], dataset: &DatasetFacts<'_>) -> Result<Vec<u32>> {
        let elements = dataset.elements_for(self.id())?;
        let kind =
            NbitType::of(dataset.datatype).map_err(|reason| FilterError::refused(self.id(), reason))?;
        Ok(match kind {
            // libhdf5 stores no type for elements without numbers.
            NbitType::Opaque { .. } => vec![3, 1, elements],
            kind => kind.client_data(elements),
        })
    }
}

/// Parses the client data of the nbit filter, and returns the parameters and the decoded length of
/// the chunk. Checks that the input has enough bits for all elements.
fn checked(context: &FilterContext<'_>, input: &[u8]) -> Result<(NbitParameters, usize)> {
    let corrupt = |problem: &str| FilterError::corrupt(FilterId::NBIT, problem);
    let limit = || FilterError::Limit { id: FilterId::NBIT, limit: context.max_output };
    let parameters = NbitParameters::parse(context.client_data).map_err(corrupt)?;
    let length = if parameters.is_unchanged { Some(input.len()) } else { parameters.decoded_length() };
    let length = length.filter(|length| *length <= context.max_output).ok_or_else(limit)?;
    // A last byte without bits may be missing.
    let is_short = || parameters.encoded_length().is_none_or(|needed| input.len() < needed - 1);
    if !parameters.is_unchanged && is_short() {
        return Err(corrupt("the chunk has too few bytes for its elements"));
    }
    Ok((parameters, length))
}

fn decode(parameters: &NbitParameters, input: &[u8], elements: &mut [u8]) -> Result<()> {
    let truncated = || FilterError::corrupt(FilterId::NBIT, "the elements are truncated");
    Columns::new(&parameters.kind).decode(input, elements).ok_or_else(truncated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{BitReader, BitWriter};
    use crate::conformance;
    use proptest::prelude::*;

    const fn atomic(size: u32, big_endian: bool, precision: u32, offset: u32) -> NbitType {
        NbitType::Atomic { size, big_endian, precision, offset }
    }

    #[test]
    fn keeps_the_contract() {
        conformance::run(&Nbit, &[8, 1, 10, 1, 4, 0, 32, 0]);
        conformance::run(&Nbit, &[0, 7, 0]);
        // Lossless, because all bits are used, but without the client data value that says so.
        for (kind, size) in [
            (vec![1, 4, 0, 32, 0], 4),
            (vec![1, 8, 1, 64, 0], 8),
            (vec![1, 13, 1, 104, 0], 13),
            (vec![4, 5], 5),
            (vec![2, 6, 1, 2, 0, 16, 0], 6),
            (vec![3, 7, 2, 4, 4, 3, 0, 2, 4, 1, 2, 1, 16, 0], 7),
        ] {
            for elements in [0_u32, 1, 2, 1000] {
                let client_data: Vec<u32> =
                    [0, 0, elements].into_iter().chain(kind.iter().copied()).collect();
                conformance::run_with(&Nbit, &client_data, usize::try_from(elements).unwrap() * size);
            }
        }
    }

    #[test]
    fn chunks_that_libhdf5_wrote() {
        let raw: Vec<u8> = (1..=40).collect();
        // 17 bits from bit 3 of a little-endian integer of 4 bytes.
        let client_data = [8, 0, 10, 1, 4, 0, 17, 3];
        let stored = conformance::encode(&Nbit, &client_data, &raw).unwrap();
        let expected = [
            0x30, 0x20, 0x38, 0x30, 0x2c, 0x28, 0x3e, 0x1c, 0x13, 0x12, 0x13, 0x8b, 0x0a, 0xc6, 0x87, 0xe3,
            0xc3, 0x32, 0x22, 0x39, 0x31, 0x00,
        ];
        assert_eq!(stored, expected);
        let decoded = conformance::decode(&Nbit, &client_data, &stored, Some(40), 40).unwrap();
        let kept: Vec<u8> =
            raw.as_chunks::<4>().0.iter().flat_map(|[a, b, c, _]| [a & 0xf8, *b, c & 0x0f, 0]).collect();
        assert_eq!(decoded, kept);
        assert_eq!(conformance::decode(&Nbit, &client_data, &stored[..22], None, 40).unwrap(), kept);
        assert!(conformance::decode(&Nbit, &client_data, &stored[..20], None, 40).is_err());
        // A compound of 10 bytes: an integer of 16 bits at offset 1, a character at 5, an integer
        // of 2 bytes at 6.
        let kind = NbitType::Compound {
            size: 10,
            members: vec![
                NbitMember { offset: 1, kind: atomic(4, true, 16, 0) },
                NbitMember { offset: 5, kind: NbitType::Opaque { size: 1 } },
                NbitMember { offset: 6, kind: atomic(2, false, 16, 0) },
            ],
        };
        let client_data = kind.client_data(4);
        assert_eq!(client_data, [21, 0, 4, 3, 10, 3, 1, 1, 4, 1, 16, 0, 5, 4, 1, 6, 1, 2, 0, 16, 0]);
        let stored = conformance::encode(&Nbit, &client_data, &raw).unwrap();
        assert_eq!(stored[..6], [4, 5, 6, 8, 7, 0x0e]);
        assert_eq!((stored.len(), stored[20]), (21, 0));
    }

    #[test]
    fn full_types_are_marked() {
        assert_eq!(atomic(4, true, 32, 0).client_data(10), [8, 1, 10, 1, 4, 1, 32, 0]);
        let array = NbitType::Array { size: 2, base: Box::new(NbitType::Opaque { size: 1 }) };
        assert_eq!(array.client_data(5), [7, 1, 5, 2, 2, 4, 1]);
        let array = NbitType::Array { size: 8, base: Box::new(atomic(4, true, 16, 0)) };
        assert_eq!(array.client_data(5), [10, 0, 5, 2, 8, 1, 4, 1, 16, 0]);
    }

    #[test]
    fn broken_parameters_are_found() {
        for kind in [
            &[][..],
            &[1, 4, 0, 33, 0],
            &[1, 4, 0, 30, 3],
            &[1, 4, 0, 0, 3],
            &[1, 4, 2, 8, 0],
            &[1, 0, 0, 0, 0],
            &[1, 4, 0, 8],
            &[4, 0],
            &[5, 1],
            &[2, 0, 4, 1],
            &[3, 4, 0],
            &[3, 4, 1, 2, 4, 3],
            &[3, 4, 2, 0, 4, 3, 1, 4, 3],
            &[3, 4, u32::MAX, 2],
            &[2; 100_000],
        ] {
            let client_data = [&[0, 0, 1], kind].concat();
            let error = conformance::decode(&Nbit, &client_data, &[0; 100], None, 100).unwrap_err();
            assert!(matches!(error, FilterError::Corrupt { .. }), "{kind:?}: {error}");
        }
    }

    fn kinds() -> impl Strategy<Value = NbitType> {
        let leaf = (1..20_u32, any::<bool>(), any::<(u32, u32)>()).prop_map(|(size, big_endian, (a, b))| {
            let precision = 1 + a % (8 * size);
            atomic(size, big_endian, precision, b % (8 * size - precision + 1))
        });
        let leaf = prop_oneof![leaf, (1..9_u32).prop_map(|size| NbitType::Opaque { size })];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                (1..4_u32, inner.clone())
                    .prop_map(|(n, base)| NbitType::Array { size: n * base.size(), base: Box::new(base) }),
                proptest::collection::vec((0..3_u32, inner), 1..4).prop_map(|parts| {
                    let mut size = 0;
                    let mut members = Vec::new();
                    for (gap, kind) in parts {
                        members.push(NbitMember { offset: size + gap, kind: kind.clone() });
                        size += gap + kind.size();
                    }
                    NbitType::Compound { size, members }
                }),
            ]
        })
    }

    /// Encodes a chunk element by element and bit by bit.
    fn slow_encode(kind: &NbitType, chunk: &[u8]) -> Vec<u8> {
        let (mut stored, bits) = (Vec::new(), kind.bits());
        let mut writer = BitWriter::new(&mut stored);
        let elements = chunk.chunks_exact(usize::try_from(kind.size()).unwrap());
        let total = bits * u64::try_from(elements.len()).unwrap();
        elements.for_each(|element| kind.pack(&mut writer, element));
        writer.finish();
        stored.resize(usize::try_from(total / 8 + 1).unwrap(), 0);
        stored
    }

    fn slow_decode(kind: &NbitType, stored: &[u8], length: usize) -> Vec<u8> {
        let (mut reader, mut chunk) = (BitReader::new(stored), vec![0; length]);
        for element in chunk.chunks_exact_mut(usize::try_from(kind.size()).unwrap()) {
            kind.unpack(&mut reader, element).unwrap();
        }
        chunk
    }

    /// Checks that encoding and decoding give the same result as the bit-by-bit functions.
    fn check(kind: &NbitType, elements: u32, seed: u8) {
        let client_data = kind.client_data(elements);
        let client_data = [&[0, 0], &client_data[2..]].concat();
        let length = usize::try_from(elements * kind.size()).unwrap();
        let chunk: Vec<u8> = (0..length).map(|at| (at * at / 7 + at * 37).to_le_bytes()[0] ^ seed).collect();
        let stored = conformance::encode(&Nbit, &client_data, &chunk).unwrap();
        assert_eq!(stored, slow_encode(kind, &chunk), "{kind:?} {elements}");
        let expected = slow_decode(kind, &stored, length);
        // A last byte without bits may be missing.
        let is_whole = (kind.bits() * u64::from(elements)).is_multiple_of(8);
        for end in [stored.len(), stored.len() - usize::from(is_whole)] {
            let decoded = conformance::decode(&Nbit, &client_data, &stored[..end], Some(length), length);
            assert_eq!(decoded.as_ref(), Ok(&expected), "{kind:?} {elements}");
        }
        let mut into = vec![0xee; length + 3];
        let context = FilterContext::new(&client_data, length);
        let count = Nbit.decode_into(&context, &stored, &mut into, &mut Workspace::default()).unwrap();
        assert_eq!((count, &into[..length]), (length, &expected[..]), "{kind:?} {elements}");
    }

    #[test]
    fn every_number_equals_one_taken_bit_by_bit() {
        for size in [1, 2, 3, 4, 5, 8, 11] {
            for precision in 1..=8 * size {
                for offset in (0..=8 * size - precision).step_by(usize::try_from(size).unwrap()) {
                    for big_endian in [false, true] {
                        check(&atomic(size, big_endian, precision, offset), 43, 9);
                    }
                }
            }
        }
    }

    #[test]
    fn many_elements_equal_those_taken_bit_by_bit() {
        let record = NbitType::Compound {
            size: 24,
            members: vec![
                NbitMember { offset: 0, kind: atomic(4, true, 19, 2) },
                NbitMember { offset: 5, kind: NbitType::Opaque { size: 9 } },
                NbitMember {
                    offset: 14,
                    kind: NbitType::Array { size: 6, base: Box::new(atomic(2, false, 11, 5)) },
                },
            ],
        };
        let array = |size, base: &NbitType| NbitType::Array { size, base: Box::new(base.clone()) };
        let number = atomic(4, false, 17, 3);
        for kind in [
            array(12, &number),
            array(48, &array(12, &number)),
            array(13, &number),
            array(72, &record),
            array(4000, &number),
            array(2400, &record),
            array(5001, &NbitType::Opaque { size: 1 }),
            number,
            record,
        ] {
            for elements in [0, 1, 7, 8, 255, 256, 257, 1000] {
                check(&kind, elements, 0x5a);
            }
        }
    }

    proptest! {
        #[test]
        fn any_type_equals_bit_by_bit(kind in kinds(), elements in 0..70_u32, seed in any::<u8>()) {
            check(&kind, elements, seed);
        }

        #[test]
        fn used_bits_come_back(kind in kinds(), elements in 0..20_u32, seed in any::<u8>()) {
            let client_data = kind.client_data(elements);
            prop_assert_eq!(NbitType::parse(&client_data[3..]), Ok(kind.clone()));
            let length = usize::try_from(elements * kind.size()).unwrap();
            let chunk: Vec<u8> = (0..length).map(|at| (at * 37).to_le_bytes()[0] ^ seed).collect();
            let stored = conformance::encode(&Nbit, &client_data, &chunk).unwrap();
            let decoded = conformance::decode(&Nbit, &client_data, &stored, Some(length), length).unwrap();
            prop_assert!(decoded.iter().zip(&chunk).all(|(decoded, byte)| decoded & !byte == 0));
            let again = conformance::encode(&Nbit, &client_data, &decoded).unwrap();
            prop_assert_eq!(again, stored);
        }

        #[test]
        fn arbitrary_parameters_do_not_panic(
            client_data in proptest::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..30),
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            if let Ok(decoded) = conformance::decode(&Nbit, &client_data, &bytes, None, 1000) {
                prop_assert!(decoded.len() <= 1000);
            }
            drop(conformance::encode(&Nbit, &client_data, &bytes));
        }
    }
}
