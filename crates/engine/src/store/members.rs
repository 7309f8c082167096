//! Files whose kinds of data lie in several member files (the split and the multi driver): each has an end of its own, of
//! which the file keeps account beside its superblock.

use std::sync::atomic::Ordering;

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::driver_info::{DriverInfoBlock, DriverInformation, MULTI, MultiInformation};
use hyperslab_format::message::{DriverInfo, Message as _};
use hyperslab_format::object_header::replace_body;
use hyperslab_vfd::DriverError;

use super::edit::Edit;
use super::space::{MemberEnd, MessagePlace, SpaceKind};
use super::{Store, at};
use crate::error::{Error, Result};

/// What a file says of its members, and where.
#[derive(Debug)]
pub(crate) struct StatedMembers {
    information: MultiInformation,
    place: StatedPlace,
}

/// Where a file says what its members are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatedPlace {
    /// In the driver information block at that address.
    Block(Address),
    /// In a message of the superblock extension.
    Message(MessagePlace),
}

/// The kinds of data in the order in which the multi driver maps them to members.
const KINDS: [SpaceKind; 6] = SpaceKind::ALL;

fn io(source: DriverError) -> Error {
    Error::Io { action: "cannot write the file".into(), source }
}

impl Store {
    /// Gives each member file that the driver knows of an end of its own. New blocks go to the first one until
    /// [`assign_members`](Self::assign_members) says otherwise.
    pub(super) fn spread_over_members(&self) -> Result<()> {
        let mut writing = self.writing.write();
        let Some(writing) = writing.as_mut() else { return Ok(()) };
        let ranges = self.driver.member_ranges();
        let ranges = ranges
            .map_err(|source| Error::Io { action: "cannot learn the length of the file".into(), source })?;
        // The first member may begin with a user block.
        let address = |offset: u64| offset.saturating_sub(self.base);
        let member =
            |range: &std::ops::Range<u64>| MemberEnd { start: address(range.start), end: address(range.end) };
        writing.space.spread(&ranges.iter().map(member).collect::<Vec<_>>());
        Ok(())
    }

    /// Lets new blocks go to the members that the file has for them. What it says of the ends of its members is kept true
    /// from now on. To be called before anything is changed.
    pub(crate) fn assign_members(&self, information: &MultiInformation, place: StatedPlace) {
        let mut writing = self.writing.write();
        let Some(writing) = writing.as_mut().filter(|writing| writing.space.has_members()) else { return };
        let types: Vec<u8> = MultiInformation::member_types(information.mapping).collect();
        let start_of = |member: u8| {
            let number = types.iter().position(|kind| *kind == member)?;
            information.members.get(number)?.start.get()
        };
        let own = 1_u8..;
        let mapped = own.zip(information.mapping).map(|(own, mapped)| if mapped == 0 { own } else { mapped });
        let mapped: Vec<u8> = mapped.collect();
        let of =
            |kind: SpaceKind| KINDS.iter().position(|other| *other == kind).and_then(|at| mapped.get(at));
        let kinds = KINDS.into_iter().filter_map(|kind| {
            // libhdf5 looks for the global heap below the end of the raw data, whatever its own member is.
            let placed = if kind == SpaceKind::GlobalHeap { SpaceKind::RawData } else { kind };
            Some((kind, start_of(*of(placed)?)?))
        });
        writing.space.assign(&kinds.collect::<Vec<_>>());
        writing.stated_members = Some(StatedMembers { information: information.clone(), place });
    }

    /// Lets the member files be what they are in memory, and end there. An end on the way may leave anything: there is no
    /// journal of such files.
    pub(super) fn publish_members(&self, ends: &[MemberEnd]) -> Result<()> {
        let _alone = self.gate.write();
        self.journal.check()?;
        let driver = &*self.driver;
        let offset = |address: u64| self.base + address;
        // The member with the superblock comes last.
        for (number, member) in ends.iter().enumerate().rev() {
            let start = if number == 0 { 0 } else { offset(member.start) };
            if self.pages.write_from(driver, start, offset(member.end), &(0..0), |_, _| {}).map_err(io)? {
                self.journal.note_write();
            }
            if number == 1 {
                driver.flush().map_err(io)?;
                self.journal.sync(driver)?;
            }
        }
        let stated: Vec<u64> = ends.iter().map(|member| offset(member.end)).collect();
        let real = driver.member_ranges().map_err(io)?;
        if real.iter().map(|range| range.end).ne(stated.iter().copied()) {
            self.journal.note_write();
            driver.set_member_ends(&stated).map_err(io)?;
        }
        driver.flush().map_err(io)?;
        self.journal.sync(driver)?;
        self.pages.all_written();
        Ok(())
    }

    /// Writes changed pages of all members early.
    pub(super) fn spill_members(&self) -> Result<()> {
        let ranges = self.driver.member_ranges().map_err(io)?;
        let next = ranges.iter().skip(1).map(|range| range.start).chain([u64::MAX]);
        for (range, next) in ranges.iter().zip(next) {
            // Pages on which two members meet stay.
            let from = if range.start == 0 { self.new_from.load(Ordering::Acquire) } else { range.start };
            let written = self.pages.spill(&*self.driver, from, next, |_, _| {}).map_err(io)?;
            if written > 0 {
                self.journal.note_write();
            }
            self.written.fetch_max(written, Ordering::AcqRel);
        }
        Ok(())
    }
}

impl Edit<'_> {
    /// Lets the file say where its members end.
    pub(super) fn write_members(&mut self) -> Result<()> {
        let ends = self.writing()?.space.member_ends();
        let params = self.params();
        let Some(stated) = &mut self.writing()?.stated_members else { return Ok(()) };
        let before = stated.information.members.clone();
        for member in &mut stated.information.members {
            if let Some(known) = ends.iter().find(|known| member.start == Address::new(known.start)) {
                // Counted from where the member begins.
                member.end = Address::new(known.end - known.start);
            }
        }
        if stated.information.members == before {
            return Ok(());
        }
        let place = stated.place;
        let information = DriverInformation::Multi(stated.information.clone()).encode()?.unwrap_or_default();
        match place {
            StatedPlace::Block(address) => {
                let length = information.len();
                let block = DriverInfoBlock { identification: MULTI, information };
                self.write(address, &block.encode(&length)?, DriverInfoBlock::NAME)
            }
            StatedPlace::Message(place) => {
                let body = DriverInfo { identification: MULTI, information }.to_bytes(params)?;
                let chunk = self.store().read(place.chunk, place.length, "superblock extension")?;
                let chunk = at(replace_body(&chunk, place.sealed, place.skip, &body), place.chunk)?;
                self.write(place.chunk, &chunk, "superblock extension")
            }
        }
    }
}
