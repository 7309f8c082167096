//! Files with nested groups, which the test writes byte by byte: superblock version 0, object
//! headers version 1 (neither has a checksum), links in the headers.

/// The target of the link in the last group.
pub(crate) enum End {
    /// The last group has no link.
    Empty,
    /// The root group.
    BackToRoot,
    /// An address after the end of the file.
    Nowhere,
}

const SUPERBLOCK: u64 = 96;
const UNDEFINED: u64 = u64::MAX;

/// Returns a link message, padded to a multiple of eight bytes: version 1, hard link, name length
/// in one byte.
fn link(name: &[u8], target: u64) -> Vec<u8> {
    let mut message = vec![1, 0, u8::try_from(name.len()).unwrap()];
    message.extend(name);
    message.extend(target.to_le_bytes());
    message.resize(message.len().next_multiple_of(8), 0);
    message
}

/// Returns a link info message without a heap and an index, because all links are in the header.
fn link_info() -> Vec<u8> {
    let mut message = vec![0, 0];
    message.extend(UNDEFINED.to_le_bytes());
    message.extend(UNDEFINED.to_le_bytes());
    message.resize(24, 0);
    message
}

/// Returns an object header with these messages.
fn header(messages: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let size: usize = messages.iter().map(|(_, body)| 8 + body.len()).sum();
    let mut header = vec![1, 0];
    header.extend(u16::try_from(messages.len()).unwrap().to_le_bytes());
    header.extend(1_u32.to_le_bytes());
    header.extend(u32::try_from(size).unwrap().to_le_bytes());
    header.extend([0; 4]);
    for (kind, body) in messages {
        header.extend(kind.to_le_bytes());
        header.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
        header.extend([0; 4]);
        header.extend(body);
    }
    header
}

fn group(link: Option<Vec<u8>>) -> Vec<u8> {
    let links = link.map(|link| (6, link));
    header(&std::iter::once((2, link_info())).chain(links).collect::<Vec<_>>())
}

/// Returns a file with `levels` nested groups below the root group.
pub(crate) fn chain(levels: u64, name: &[u8], end: End) -> Vec<u8> {
    let size = group(Some(link(name, 0))).len() as u64;
    let mut groups = Vec::new();
    for level in 1..=levels {
        groups.extend(group(Some(link(name, SUPERBLOCK + level * size))));
    }
    let file_end = SUPERBLOCK + (levels + 1) * size;
    groups.extend(group(match end {
        End::Empty => None,
        End::BackToRoot => Some(link(name, SUPERBLOCK)),
        End::Nowhere => Some(link(name, file_end + 4096)),
    }));
    let mut file = b"\x89HDF\r\n\x1a\n".to_vec();
    // Versions 0, offsets and lengths of eight bytes, K of groups.
    file.extend([0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0]);
    for address in [0, UNDEFINED, SUPERBLOCK + groups.len() as u64, UNDEFINED] {
        file.extend(address.to_le_bytes());
    }
    // The root group's symbol table entry: no name, the header, nothing cached.
    file.extend([0; 8]);
    file.extend(SUPERBLOCK.to_le_bytes());
    file.extend([0; 24]);
    file.extend(groups);
    file
}
