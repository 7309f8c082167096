//! Stored free space: the free-space managers that the file space info message leads to.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::free_space::{
    FreeSpaceClient, FreeSpaceHeader, FreeSpaceSection, FreeSpaceSectionKind, FreeSpaceSections,
    FreeSpaceSectionsContext,
};
use hyperslab_format::message::{FileSpaceInfo, FreeSpaceManagers};

use super::rules::{Class, SpaceKind};
use super::{Rules, Space};
use crate::error::{Error, Result};
use crate::store::{Store, at};

/// The file space info message of a file, and the location of this message.
#[derive(Debug)]
pub(crate) struct SpaceRecord {
    /// The message in its present form in the file.
    pub(crate) info: FileSpaceInfo,
    pub(crate) location: MessageLocation,
    /// The blocks of the managers in the file.
    pub(crate) blocks: Vec<(SpaceKind, Address, u64)>,
}

/// The location in the file of a message whose length does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageLocation {
    /// The address of the chunk of the object header, with its signature and checksum if it has
    /// them.
    pub(crate) chunk: Address,
    /// The length of the chunk in bytes.
    pub(crate) length: u64,
    /// The number of bytes of the chunk before the message's body.
    pub(crate) skip: u64,
    /// True if the chunk ends with a checksum.
    pub(crate) sealed: bool,
}

/// The free space that a file stores in its free-space managers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredSpace {
    sections: Vec<(Class, u64, u64)>,
    /// The blocks of the managers.
    pub(crate) blocks: Vec<(SpaceKind, Address, u64)>,
}

/// Returns the class and the address of each free-space manager in the file space info message. The
/// message has two lists. The index of a manager in its list determines the manager's class of
/// space.
fn managers(managers: &FreeSpaceManagers, paged: bool) -> impl Iterator<Item = (Class, Address)> {
    let small = |number: usize| if matches!(number, 2 | 3) { Class::Raw } else { Class::Metadata };
    let large = move |number: usize| if paged { Class::Large } else { small(number) };
    let small = managers.small.into_iter().enumerate().map(move |(number, address)| (small(number), address));
    let large = managers.large.into_iter().enumerate().map(move |(number, address)| (large(number), address));
    small.chain(large).filter(|(_, address)| address.is_defined())
}

/// Sets the address of the free-space manager of a class of file space (for example metadata or raw
/// data) in the file space info message.
pub(crate) fn set_manager(managers: &mut FreeSpaceManagers, class: Class, address: Address) {
    match class {
        Class::Metadata => managers.small[0] = address,
        Class::Raw => managers.small[2] = address,
        Class::Large => managers.large[0] = address,
    }
}

impl StoredSpace {
    /// Reads the free space of a file from the free-space managers that the file space info message
    /// names.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the managers are damaged, or if their sections overlap or lie
    /// outside the file, and I/O errors.
    pub(crate) fn load(store: &Store, info: &FileSpaceInfo, rules: &Rules, end: u64) -> Result<Self> {
        let mut stored = Self::default();
        let Some(listed) = &info.managers else { return Ok(stored) };
        for (class, address) in managers(listed, rules.page.is_some()) {
            stored.load_manager(store, class, address)?;
        }
        stored.check(end)?;
        Ok(stored)
    }

    /// Converts the free sections of a file space to the form that free-space managers store.
    #[cfg(test)]
    pub(super) fn of(space: &Space) -> Self {
        let sections = |class: Class| {
            space.pool_of(class).sections().into_iter().map(move |(start, length)| (class, start, length))
        };
        Self { sections: Class::ALL.into_iter().flat_map(sections).collect(), blocks: Vec::new() }
    }

    fn load_manager(&mut self, store: &Store, class: Class, address: Address) -> Result<()> {
        let params = store.params();
        let header: FreeSpaceHeader = store.get(address, &params)?;
        if header.client != FreeSpaceClient::FILE {
            let got = header.client.0;
            return Err(Error::corrupt(FreeSpaceHeader::NAME, "client ID", "1 (file)", got).at(address));
        }
        self.blocks.push((SpaceKind::ObjectHeader, address, to_u64(FreeSpaceHeader::size(&params))));
        if !header.list.is_defined() {
            return Ok(());
        }
        self.blocks.push((SpaceKind::LocalHeap, header.list, header.list_allocated));
        let context = at(FreeSpaceSectionsContext::new(&header, address, 0, params), address)?;
        // The list is read as raw data, because a list of millions of sections exceeds the limit of
        // metadata blocks.
        let bytes = store.read_raw_vec(header.list, header.list_used)?;
        let list = at(FreeSpaceSections::decode(&bytes, &context), header.list)?;
        self.sections.extend(list.sections.iter().map(|section| (class, section.offset, section.size)));
        Ok(())
    }

    /// Checks that stored free sections and free-space managers lie in the file and do not overlap.
    fn check(&mut self, end: u64) -> Result<()> {
        self.sections.sort_unstable_by_key(|(_, start, _)| *start);
        let sections = self.sections.iter().map(|(_, start, length)| (*start, *length));
        let blocks = self.blocks.iter().map(|(_, address, length)| (address.raw(), *length));
        let mut all: Vec<(u64, u64)> = sections.chain(blocks).collect();
        all.sort_unstable();
        // The superblock lies at 0.
        let mut taken = 1_u64;
        for (start, length) in all {
            let section_end = start.checked_add(length).filter(|to| start >= taken && *to <= end);
            taken = section_end.ok_or_else(|| {
                let expected = format!("sections that do not overlap, up to {end}");
                let got = format!("{length} bytes at {start}");
                Error::corrupt(FreeSpaceSections::NAME, "section", expected, got)
            })?;
        }
        Ok(())
    }
}

impl Space {
    /// Adds the free space that the file stores in its free-space managers to the file space in
    /// memory.
    pub(crate) fn adopt(&mut self, stored: &StoredSpace) {
        let end = self.end;
        for &(class, start, length) in &stored.sections {
            self.put(class, start, start + length);
        }
        // Free space at the end was truncated, so the managers in the file are out of date.
        self.changed |= self.end != end;
    }

    /// Returns whether file space was allocated or freed after the free-space managers in the file
    /// were last up to date.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed || self.others().any(Self::has_changed)
    }

    /// Records that the free-space managers in the file are up to date.
    pub(crate) fn mark_stored(&mut self) {
        self.changed = false;
        self.others_mut().for_each(Self::mark_stored);
    }

    /// Records that the free-space managers in the file are out of date.
    pub(crate) fn mark_not_stored(&mut self) {
        self.changed = true;
    }

    /// Returns whether a class of file space, for example metadata or raw data, has free sections.
    pub(crate) fn has_sections(&self, class: Class) -> bool {
        self.pool_of(class).len() > 0
    }

    /// Returns the header and the free sections of the free-space manager of a class of file space.
    /// The header has the address `address` and the length of the section list, but not the address
    /// of the section list.
    pub(crate) fn manager(
        &self,
        class: Class,
        address: Address,
        params: FileParams,
    ) -> Result<(FreeSpaceHeader, FreeSpaceSections, FreeSpaceSectionsContext)> {
        let kind = match (self.rules.page, class) {
            (None, _) => FreeSpaceSectionKind::FILE,
            (Some(_), Class::Large) => FreeSpaceSectionKind::Plain(2),
            (Some(_), _) => FreeSpaceSectionKind::Plain(1),
        };
        let section = |(offset, size)| FreeSpaceSection { offset, size, kind };
        let sections = self.pool_of(class).sections().into_iter().map(section).collect();
        let mut list = FreeSpaceSections { sections };
        // No file is longer than the signed offsets of the system can express.
        let largest_length = match params.size_of_lengths {
            bytes @ 1..8 => (1 << (u32::from(bytes) * 8)) - 1,
            _ => u64::MAX,
        };
        let highest = self.rules.limit.min(i64::MAX.unsigned_abs()).min(largest_length);
        let invariant = "an address has at most 64 bits";
        let bits = u16::try_from(u64::BITS - (highest | 1).leading_zeros())
            .map_err(|_| Error::Internal { structure: FreeSpaceHeader::NAME, invariant })?;
        let count = to_u64(list.sections.len());
        let mut header = FreeSpaceHeader {
            client: FreeSpaceClient::FILE,
            total_space: list.sections.iter().map(|section| section.size).sum(),
            sections: count,
            serialized_sections: count,
            unserialized_sections: 0,
            section_classes: 3,
            shrink_percent: 80,
            expand_percent: 120,
            address_bits: bits,
            max_section_size: highest,
            list: Address::UNDEFINED,
            list_used: 0,
            list_allocated: 0,
        };
        let context = list.arrange(&mut header, address, 0, params)?;
        Ok((header, list, context))
    }
}
