//! The sum over the data that were read: for each word of 32 bits, the sum is multiplied by 31 and
//! the word is added.

/// Number of words in one step of the sum. The additions of one step do not depend on each other.
const LANE_WORDS: usize = 8;

/// 31 to the powers of 7 down to 0, and of 8, modulo 2 to the 64.
const POWERS: [u64; LANE_WORDS] = [27_512_614_111, 887_503_681, 28_629_151, 923_521, 29_791, 961, 31, 1];
const WHOLE: u64 = 852_891_037_441;

/// Number of values whose words are computed at a time.
const BLOCK_VALUES: usize = 1024;

/// Returns the sum over the words of some values, which `words` writes one after the other.
pub(crate) fn over<T>(start: u64, values: &[T], words: impl Fn(&[T], &mut Vec<u32>)) -> u64 {
    let mut buffer = Vec::with_capacity(2 * BLOCK_VALUES);
    values.chunks(BLOCK_VALUES).fold(start, |sum, block| {
        buffer.clear();
        words(block, &mut buffer);
        add(sum, &buffer)
    })
}

fn add(sum: u64, words: &[u32]) -> u64 {
    let (blocks, rest) = words.as_chunks::<LANE_WORDS>();
    let sum = blocks.iter().fold(sum, |sum, block| {
        let part = block
            .iter()
            .zip(POWERS)
            .fold(0_u64, |part, (word, power)| part.wrapping_add(u64::from(*word).wrapping_mul(power)));
        sum.wrapping_mul(WHOLE).wrapping_add(part)
    });
    rest.iter().fold(sum, |sum, word| sum.wrapping_mul(31).wrapping_add(u64::from(*word)))
}

#[cfg(test)]
mod tests {
    use super::over;

    #[test]
    fn the_sum_is_that_of_one_word_after_another() {
        let words: Vec<u32> = (0..3_000_u32).map(|at| at.wrapping_mul(2_654_435_761)).collect();
        let plain = words.iter().fold(7_u64, |sum, word| sum.wrapping_mul(31).wrapping_add(u64::from(*word)));
        assert_eq!(over(7, &words, |values, words| words.extend(values)), plain);
    }
}
