//! Files whose kinds of data lie in several member files (the split and the multi driver). Each
//! member has an end of its own, which the file records beside its superblock.

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::driver_info::{DriverInfoBlock, DriverInformation, MULTI, MultiInformation};
use hyperslab_format::message::{DriverInfo, Message as _};
use hyperslab_format::object_header::replace_body;

use super::backing::write_failed;
use super::edit::Edit;
use super::space::{MemberEnd, MembersLocation, SpaceKind, StatedMembers};
use super::{Store, at};
use crate::error::{Error, Result};

/// The kinds of file space in the order in which the multi driver assigns them to members.
const MULTI_KINDS: [SpaceKind; 6] = SpaceKind::ALL;

impl Store {
    /// Creates a separate file space for each member file of the driver, with its own end. Until
    /// [`assign_members`](Self::assign_members) is called, all new blocks go to the first member.
    pub(super) fn spread_over_members(&self) -> Result<()> {
        let mut writing = self.write_state.writing.write();
        let Some(writing) = writing.as_mut() else { return Ok(()) };
        let ranges = self.backing.driver.member_ranges();
        let ranges = ranges
            .map_err(|source| Error::Io { action: "cannot learn the length of the file".into(), source })?;
        // The first member may begin with a user block, whose offsets are no addresses.
        let address = |offset: u64| offset.max(self.base()) - self.base();
        let member =
            |range: &std::ops::Range<u64>| MemberEnd { start: address(range.start), end: address(range.end) };
        writing.space.spread(&ranges.iter().map(member).collect::<Vec<_>>());
        Ok(())
    }

    /// Assigns new blocks of each kind to the member file that the HDF5 file states for this kind.
    /// From then on, each commit updates the ends of the members in the HDF5 file. Must be called
    /// before any change of the file.
    pub(crate) fn assign_members(&self, information: &MultiInformation, location: MembersLocation) {
        let mut writing = self.write_state.writing.write();
        let Some(writing) = writing.as_mut().filter(|writing| writing.space.has_members()) else { return };
        let types: Vec<u8> = MultiInformation::member_types(information.mapping).collect();
        let start_of = |member: u8| {
            let number = types.iter().position(|kind| *kind == member)?;
            information.members.get(number)?.start.get()
        };
        let own = 1_u8..;
        let mapped = own.zip(information.mapping).map(|(own, mapped)| if mapped == 0 { own } else { mapped });
        let mapped: Vec<u8> = mapped.collect();
        let of = |kind: SpaceKind| {
            MULTI_KINDS.iter().position(|other| *other == kind).and_then(|at| mapped.get(at))
        };
        let kinds = MULTI_KINDS.into_iter().filter_map(|kind| {
            // libhdf5 expects the global heap before the end of the raw data, even if another
            // member is assigned to the global heap.
            let member_kind = if kind == SpaceKind::GlobalHeap { SpaceKind::RawData } else { kind };
            Some((kind, start_of(*of(member_kind)?)?))
        });
        writing.space.assign(&kinds.collect::<Vec<_>>());
        writing.stated_members = Some(StatedMembers { information: information.clone(), location });
    }

    /// Writes dirty pages to the member files and sets the length of each member file to its end.
    /// If a crash interrupts the writes, the file may be damaged, because files with members have
    /// no journal.
    pub(super) fn publish_members(&self, ends: &[MemberEnd]) -> Result<()> {
        let _exclusive = self.write_state.gate.write();
        let (driver, journal) = (&*self.backing.driver, &self.write_state.journal);
        journal.check()?;
        let offset = |address: u64| self.base() + address;
        // The member with the superblock is written last, after a sync.
        for (number, member) in ends.iter().enumerate().rev() {
            let start = if number == 0 { 0 } else { offset(member.start) };
            let written = self.caches.pages.write_from(driver, start, offset(member.end), &(0..0), |_, _| {});
            if written.map_err(write_failed)? {
                journal.note_write();
            }
            if number == 1 {
                driver.flush().map_err(write_failed)?;
                journal.sync(driver)?;
            }
        }
        let stated: Vec<u64> = ends.iter().map(|member| offset(member.end)).collect();
        let present = driver.member_ranges().map_err(write_failed)?;
        if present.iter().map(|range| range.end).ne(stated.iter().copied()) {
            journal.note_write();
            driver.set_member_ends(&stated).map_err(write_failed)?;
        }
        driver.flush().map_err(write_failed)?;
        journal.sync(driver)?;
        self.caches.pages.make_all_clean();
        Ok(())
    }

    /// Spills dirty pages of all members of the file, before the commit.
    pub(super) fn spill_members(&self) -> Result<()> {
        let driver = &*self.backing.driver;
        let ranges = driver.member_ranges().map_err(write_failed)?;
        let next = ranges.iter().skip(1).map(|range| range.start).chain([u64::MAX]);
        for (range, next) in ranges.iter().zip(next) {
            // Pages with bytes of two members stay dirty.
            let from = if range.start == 0 { self.write_state.new_from() } else { range.start };
            let written = self.caches.pages.spill(driver, from, next, |_, _| {}).map_err(write_failed)?;
            if written > 0 {
                self.write_state.journal.note_write();
            }
            self.backing.note_written(written);
        }
        Ok(())
    }
}

impl Edit<'_> {
    /// Writes the ends of the multi driver's members into the HDF5 file, if the ends changed.
    pub(super) fn write_members(&mut self) -> Result<()> {
        let ends = self.writing()?.space.member_ends();
        let params = self.params();
        let Some(stated) = &mut self.writing()?.stated_members else { return Ok(()) };
        let before = stated.information.members.clone();
        for member in &mut stated.information.members {
            if let Some(known) = ends.iter().find(|known| member.start == Address::new(known.start)) {
                // The stated end counts from the start of the member.
                member.end = Address::new(known.end - known.start);
            }
        }
        if stated.information.members == before {
            return Ok(());
        }
        let location = stated.location;
        let information = DriverInformation::Multi(stated.information.clone()).encode()?;
        let invariant = "the information of the multi driver has an encoding";
        let information =
            information.ok_or(Error::Internal { structure: DriverInfoBlock::NAME, invariant })?;
        match location {
            MembersLocation::Block(address) => {
                let length = information.len();
                let block = DriverInfoBlock { identification: MULTI, information };
                self.write(address, &block.encode(&length)?, DriverInfoBlock::NAME)
            }
            MembersLocation::Message(message) => {
                let body = DriverInfo { identification: MULTI, information }.to_bytes(params)?;
                let chunk = self.store().read(message.chunk, message.length, "superblock extension")?;
                let chunk = at(replace_body(&chunk, message.sealed, message.skip, &body), message.chunk)?;
                self.write(message.chunk, &chunk, "superblock extension")
            }
        }
    }
}
