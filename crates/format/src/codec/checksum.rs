//! Metadata checksum of the format: Jenkins' lookup3 (`hashlittle`, initial value 0).

/// Size of a metadata checksum in bytes.
pub const CHECKSUM_SIZE: usize = 4;

/// Computes the lookup3 hash of `bytes`, which is the checksum of metadata structures such as
/// version 2 object headers and B-trees.
///
/// ```
/// assert_eq!(hyperslab_format::codec::checksum(b""), 0xdead_beef);
/// ```
pub fn checksum(bytes: &[u8]) -> u32 {
    checksum_from(0, bytes)
}

/// Computes the lookup3 hash of `bytes` with the initial value `initial`. The hash of a shared
/// message uses the number of the message type as the initial value.
pub fn checksum_from(initial: u32, bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the hash takes the length modulo 2^32")]
    let length = bytes.len() as u32;
    let mut state = [0xdead_beef_u32.wrapping_add(length).wrapping_add(initial); 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        let Some((block, tail)) = rest.split_first_chunk::<12>() else { break };
        add_block(&mut state, block);
        mix(&mut state);
        rest = tail;
    }
    if rest.is_empty() {
        return state[2];
    }
    let mut last = [0_u8; 12];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    add_block(&mut state, &last);
    finish(&mut state);
    state[2]
}

fn add_block(state: &mut [u32; 3], block: &[u8; 12]) {
    for (word, four) in state.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*four));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    *a = a.wrapping_sub(*c) ^ c.rotate_left(4);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(6);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(8);
    *b = b.wrapping_add(*a);
    *a = a.wrapping_sub(*c) ^ c.rotate_left(16);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(19);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(4);
    *b = b.wrapping_add(*a);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn known_answers() {
        // Published with the hash: "Four score and seven years ago", initial value 0.
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
        assert_eq!(checksum(b""), 0xdead_beef);
    }

    #[test]
    fn block_edges_differ() {
        let bytes = [7_u8; 40];
        let mut seen: Vec<u32> = (0..=40).map(|n| checksum(&bytes[..n])).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 41);
    }
}
