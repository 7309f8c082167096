//! Free-space managers of the file and of fractal heaps.

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::free_space::{
    FreeSpaceClient, FreeSpaceHeader, FreeSpaceSection, FreeSpaceSections, FreeSpaceSectionsContext,
};
use hyperslab_format::message::FileSpaceInfo;

use crate::extents::BlockKind;
use crate::file::Checker;
use crate::totals::end_of;

const NAME: &str = FreeSpaceHeader::NAME;

/// Walks the free-space manager at `address`. Returns its header, and its free-space sections if
/// they can be read.
pub(crate) fn walk(
    checker: &mut Checker,
    address: Address,
    client: FreeSpaceClient,
    heap_offset_width: usize,
) -> Option<(FreeSpaceHeader, Option<Vec<FreeSpaceSection>>)> {
    let params = checker.params;
    let header: FreeSpaceHeader = checker.block(address, &params, BlockKind::FreeSpaceManager)?;
    if header.client != client {
        let text = format!("client {}, expected {}", header.client.0, client.0);
        checker.fault(NAME, address, text);
        return None;
    }
    let counted = end_of(header.serialized_sections, header.unserialized_sections);
    checker.same(NAME, address, "number of sections", header.sections, counted);
    if !header.list.is_defined() {
        if header.serialized_sections > 0 {
            checker.fault(
                NAME,
                address,
                format!(
                    "the free-space manager has {} serialized sections, but no section list",
                    header.serialized_sections
                ),
            );
        }
        return Some((header, Some(Vec::new())));
    }
    let sections = list(checker, address, &header, heap_offset_width);
    if let Some(sections) = &sections {
        statistics(checker, address, &header, sections);
    }
    Some((header, sections))
}

fn list(
    checker: &mut Checker,
    address: Address,
    header: &FreeSpaceHeader,
    heap_offset_width: usize,
) -> Option<Vec<FreeSpaceSection>> {
    let context = FreeSpaceSectionsContext::new(header, address, heap_offset_width, checker.params);
    let context = checker.decoded(NAME, address, context)?;
    let name = FreeSpaceSections::NAME;
    let bytes = checker.block_bytes(name, header.list, header.list_allocated, BlockKind::FreeSpaceManager)?;
    let sections = FreeSpaceSections::decode(&bytes, &context);
    checker.decoded(name, header.list, sections).map(|sections| sections.sections)
}

/// Compares the statistics in the header of a free-space manager with its free-space sections.
fn statistics(
    checker: &mut Checker,
    address: Address,
    header: &FreeSpaceHeader,
    sections: &[FreeSpaceSection],
) {
    let name = FreeSpaceSections::NAME;
    if header.unserialized_sections == 0 {
        let space = sections.iter().fold(0, |sum, section| end_of(sum, section.size));
        checker.same(NAME, address, "bytes in all sections", header.total_space, space);
    }
    if let Some(empty) = sections.iter().find(|section| section.size == 0) {
        checker.fault(name, header.list, format!("the free-space section at {:#x} is empty", empty.offset));
    }
    if let Some(large) = sections.iter().find(|section| section.size > header.max_section_size) {
        let text = format!(
            "a free-space section has {} bytes, expected at most {}",
            large.size, header.max_section_size
        );
        checker.fault(name, header.list, text);
    }
    if !sections.is_sorted_by_key(|section| (section.size, section.offset)) {
        checker.remark(name, header.list, "the free-space sections are not sorted by size and offset");
    }
}

/// Walks the free-space managers of the file, and records the bytes of their free-space sections as
/// free space.
pub(crate) fn of_file(checker: &mut Checker, info: &FileSpaceInfo) {
    let Some(managers) = info.managers else { return };
    let mut seen = Vec::new();
    for address in managers.small.into_iter().chain(managers.large) {
        if !address.is_defined() || seen.contains(&address) {
            continue;
        }
        seen.push(address);
        let Some((header, sections)) = walk(checker, address, FreeSpaceClient::FILE, 0) else { continue };
        for section in sections.unwrap_or_default() {
            let at = Address::new(section.offset);
            let count = checker.report.free_sections.entry(section.size).or_default();
            *count += 1;
            checker.claim("free-space section", at, section.size, BlockKind::Free);
            if section.size < info.threshold {
                let text = format!("{} bytes, below the threshold of {}", section.size, info.threshold);
                checker.remark("free-space section", at, format!("{text} (list at {})", header.list));
            }
        }
    }
}
