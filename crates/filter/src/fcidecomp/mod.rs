//! The FCIDECOMP filter (number 32018): a JPEG-LS image (ITU-T T.87) for each chunk.
//!
//! ```text
//! client data  | meaning
//! -------------+--------------------------------------------------------------------------------
//! 0            | bytes of an element: 1 or 2
//! 1, 2, 3      | components, lines, samples of a line: the dimensions of the chunk; 1 component if
//!              | there are two
//! 4, 5         | bits of a sample; components again
//! 6            | interleave mode: 0 none, 1 by line, 2 by sample
//! 7            | maximum error of a sample; 0: lossless
//! 8 to 12      | maximum sample value, three thresholds, reset interval; 0 for the default of each
//! ```
//! The image repeats all values except the element size. The decoder uses only the image. Samples
//! of more than 8 bits have two bytes, little-endian. Only three or four components can be
//! interleaved; the samples of one position are then adjacent in the chunk, too.

mod bits;
mod image;
mod model;
mod scan;

use crate::codec::resize;
use crate::{Filter, FilterContext, FilterError, FilterId, Produced, Result};

use image::{Frame, Image, ImageSettings};
use model::StoredPreset;

/// The FCIDECOMP filter, which encodes chunks as JPEG-LS images.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fcidecomp;

const ID: FilterId = FilterId::FCIDECOMP;

fn corrupt(problem: &str) -> FilterError {
    FilterError::corrupt(ID, problem)
}

fn unsupported(subject: &str) -> FilterError {
    FilterError::Unsupported { id: ID, subject: subject.to_owned() }
}

impl Filter for Fcidecomp {
    fn id(&self) -> FilterId {
        ID
    }

    fn decode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let image = Image::open(input)?;
        let length = image.frame.length();
        if length > context.max_output {
            return Err(FilterError::Limit { id: ID, limit: context.max_output });
        }
        // Each line takes at least one bit.
        if image.frame.height / 8 > input.len() {
            return Err(corrupt("the image has too few bytes for the number of lines"));
        }
        output.clear();
        resize(ID, output, length)?;
        image.decode(output)?;
        Ok(Produced::Output)
    }

    fn encode(&self, context: &FilterContext<'_>, input: &[u8], output: &mut Vec<u8>) -> Result<Produced> {
        let failed = |reason: &str| FilterError::failed(ID, reason);
        let settings =
            settings(context.client_data).ok_or_else(|| failed("the client data are missing or invalid"))?;
        if settings.frame.length() != input.len() {
            return Err(failed("the chunk length differs from the image size in the client data"));
        }
        output.clear();
        image::encode(&settings, input, output)?;
        Ok(Produced::Output)
    }

    fn encoded_length(&self, _context: &FilterContext<'_>, _input: usize) -> Option<usize> {
        None
    }

    fn compresses(&self) -> bool {
        true
    }
}

fn settings(client_data: &[u32]) -> Option<ImageSettings> {
    let [_, components, height, width, bits, _, interleave, near, largest, t1, t2, t3, reset] = *client_data
    else {
        return None;
    };
    let size = |size: u32| usize::try_from(size).ok().filter(|size| *size > 0);
    let frame = Frame {
        bits: Some(bits).filter(|bits| (2..=16).contains(bits))?,
        height: size(height)?,
        width: size(width)?,
        components: size(components)?,
    };
    let interleave = u8::try_from(interleave).ok().filter(|interleave| *interleave <= 2)?;
    let number = |number: u32| u16::try_from(number).ok();
    let stored = StoredPreset {
        largest: number(largest)?,
        thresholds: [number(t1)?, number(t2)?, number(t3)?],
        reset: number(reset)?,
    };
    // Only images with three or four components can be interleaved.
    let interleave = if matches!(frame.components, 3 | 4) { interleave } else { 0 };
    Some(ImageSettings { frame, near: u8::try_from(near).ok()?, interleave, stored })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use proptest::prelude::*;

    /// Returns client data for images of `[components, height, width]` samples.
    fn client_data(shape: [u32; 3], bits: u32, interleave: u32, near: u32) -> Vec<u32> {
        let [components, height, width] = shape;
        let bytes = bits.div_ceil(8);
        vec![bytes, components, height, width, bits, components, interleave, near, 0, 0, 0, 0, 0]
    }

    #[test]
    fn keeps_the_contract() {
        for (shape, interleave) in [
            ([1, 1, 1], 0),
            ([1, 40, 60], 0),
            ([4, 7, 5], 0),
            ([3, 6, 20], 1),
            ([3, 20, 6], 2),
            ([2, 1, 30], 2),
        ] {
            for bits in [8, 16] {
                let length = shape.iter().product::<u32>() * bits / 8;
                let client_data = client_data(shape, bits, interleave, 0);
                conformance::run_with(&Fcidecomp, &client_data, usize::try_from(length).unwrap());
            }
        }
    }

    /// Decodes the example of T.87, H.3: 4 lines of 4 samples.
    #[test]
    fn the_example_of_the_standard() {
        let raw = [0, 0, 90, 74, 68, 50, 43, 205, 64, 145, 145, 145, 100, 145, 145, 145];
        let image = [
            0xff, 0xd8, 0xff, 0xf7, 0x00, 0x0b, 0x08, 0x00, 0x04, 0x00, 0x04, 0x01, 0x01, 0x11, 0x00, 0xff,
            0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x6c, 0x80, 0x20, 0x8e,
            0x01, 0xc0, 0x00, 0x00, 0x57, 0x40, 0x00, 0x00, 0x6e, 0xe6, 0x00, 0x00, 0x01, 0xbc, 0x18, 0x00,
            0x00, 0x05, 0xd8, 0x00, 0x00, 0x91, 0x60, 0xff, 0xd9,
        ];
        let client_data = client_data([1, 4, 4], 8, 0, 0);
        assert_eq!(conformance::encode(&Fcidecomp, &client_data, &raw).unwrap(), image);
        assert_eq!(conformance::decode(&Fcidecomp, &[], &image, None, 16).unwrap(), raw);
    }

    #[test]
    fn what_cannot_be_decoded_is_said() {
        let data = client_data([1, 4, 4], 8, 0, 0);
        let image = conformance::encode(&Fcidecomp, &data, &[9; 16]).unwrap();
        let with = |at: usize, bytes: &[u8]| {
            let mut image = image.clone();
            image.splice(at..at + bytes.len(), bytes.iter().copied());
            conformance::decode(&Fcidecomp, &[], &image, None, 1000)
        };
        assert!(with(0, &[0xff]).is_ok());
        // Another JPEG process, no height, other sampling factors, a mapping table.
        for (at, bytes) in [(3, &[0xc0][..]), (7, &[0, 0]), (13, &[0x22]), (21, &[1])] {
            assert!(matches!(with(at, bytes), Err(FilterError::Unsupported { .. })), "{at}");
        }
        // Not an image, samples of one bit, no width, no component, an unknown component, an error
        // limit that is too large.
        for (at, bytes) in [(0, &[0][..]), (6, &[1]), (9, &[0, 0]), (11, &[0]), (20, &[7]), (22, &[200])] {
            assert!(matches!(with(at, bytes), Err(FilterError::Corrupt { .. })), "{at}");
        }
        let insert = |segment: &[u8]| {
            let image = [&image[..2], segment, &image[2..]].concat();
            conformance::decode(&Fcidecomp, &[], &image, None, 1000)
        };
        assert_eq!(insert(&[0xff, 0xff, 0xff, 0xe5, 0, 4, 1, 2, 0xff, 0xfe, 0, 2]).unwrap(), [9; 16]);
        let colours = [0xff, 0xe8, 0, 7, b'm', b'r', b'f', b'x', 1];
        assert!(matches!(insert(&colours), Err(FilterError::Unsupported { .. })));
        assert!(matches!(insert(&[0xff, 0xdd, 0, 4, 0, 1]), Err(FilterError::Unsupported { .. })));
        assert!(insert(&[0xff; 5000]).is_ok());
        assert!(insert(&[0xff, 0xf8, 0, 13, 1, 1, 0]).is_err());
    }

    #[test]
    fn what_cannot_be_encoded_is_said() {
        let encode = |data: &[u32], chunk: &[u8]| conformance::encode(&Fcidecomp, data, chunk);
        let data = client_data([1, 4, 4], 7, 0, 0);
        assert!(encode(&data, &[127; 16]).is_ok());
        assert!(encode(&data, &[128; 16]).is_err(), "too large a sample");
        assert!(encode(&data, &[1; 15]).is_err(), "too few samples");
        assert!(encode(&data[..12], &[1; 16]).is_err(), "too few client data");
        assert!(encode(&client_data([1, 4, 4], 8, 3, 0), &[1; 16]).is_err());
        assert!(encode(&client_data([1, 4, 4], 8, 0, 128), &[1; 16]).is_err());
        assert!(encode(&client_data([1, 1, 70_000], 8, 0, 0), &[1; 70_000]).is_err());
        assert!(encode(&client_data([256, 1, 1], 8, 0, 0), &[1; 256]).is_err());
    }

    #[test]
    fn own_parameters_are_stored() {
        let mut data = client_data([1, 30, 30], 12, 0, 0);
        data.splice(8.., [4095, 5, 50, 500, 30]);
        let raw: Vec<u8> = (0..900_u16).flat_map(|at| (at * 71 % 3001).to_le_bytes()).collect();
        let image = conformance::encode(&Fcidecomp, &data, &raw).unwrap();
        assert_eq!(conformance::decode(&Fcidecomp, &[], &image, None, 1800).unwrap(), raw);
        data.splice(8..9, [3001]);
        assert!(conformance::encode(&Fcidecomp, &data, &raw).is_err());
        let at = image.windows(2).position(|pair| pair == [0x0f, 0xff]).unwrap();
        let other = [&image[..at], &[0x0b, 0xb9], &image[at + 2..]].concat();
        let error = conformance::decode(&Fcidecomp, &[], &other, None, 1800).unwrap_err();
        assert!(matches!(error, FilterError::Unsupported { .. }));
    }

    proptest! {
        #[test]
        fn samples_come_back(
            (components, height, width) in (1..5_u32, 1..20_u32, 1..40_u32),
            bits in 2..17_u32,
            interleave in 0..3_u32,
            near in 0..4_u32,
            (seed, step) in (any::<u16>(), prop_oneof![0..3_u16, any::<u16>()]),
        ) {
            let near = if bits > 4 { near } else { 0 };
            let client_data = client_data([components, height, width], bits, interleave, near);
            let largest = u16::MAX >> (16 - bits);
            let count = usize::try_from(components * height * width).unwrap();
            let mut state = seed;
            let samples: Vec<u16> = (0..count).map(|at| {
                state = state.wrapping_mul(25173).wrapping_add(13849);
                // Constant parts with noise between them.
                if at / 37 % 2 == 0 { seed & largest } else { (seed.wrapping_add(state % (step.max(1)))) & largest }
            }).collect();
            let bytes = |sample: &u16| {
                let [low, high] = sample.to_le_bytes();
                if bits > 8 { vec![low, high] } else { vec![low] }
            };
            let raw: Vec<u8> = samples.iter().flat_map(bytes).collect();
            let image = conformance::encode(&Fcidecomp, &client_data, &raw).unwrap();
            let decoded = conformance::decode(&Fcidecomp, &[], &image, None, raw.len()).unwrap();
            prop_assert_eq!(decoded.len(), raw.len());
            let width = if bits > 8 { 2 } else { 1 };
            for (sample, bytes) in samples.iter().zip(decoded.chunks(width)) {
                let decoded = bytes.iter().rev().fold(0_u16, |value, byte| value << 8 | u16::from(*byte));
                prop_assert!(u32::from(sample.abs_diff(decoded)) <= near);
            }
        }

        #[test]
        fn damaged_images_do_not_panic(
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
            interleave in 0..3_u32,
            bits in prop_oneof![Just(8_u32), Just(16)],
        ) {
            let client_data = client_data([3, 12, 20], bits, interleave, 0);
            let raw: Vec<u8> = (0..720 * bits / 8).map(|at| (at * at / 90).to_le_bytes()[0]).collect();
            let mut image = conformance::encode(&Fcidecomp, &client_data, &raw).unwrap();
            for (at, byte) in flips {
                *at.get_mut(&mut image) = byte;
            }
            if let Ok(decoded) = conformance::decode(&Fcidecomp, &[], &image, None, 100_000) {
                prop_assert!(decoded.len() <= 100_000);
            }
        }
    }
}
