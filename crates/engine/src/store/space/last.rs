//! Space for the free-space managers of a file with paged allocation, on separate pages. The lists
//! have exactly the length that the free space requires, with the remainders of these pages.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::free_space::FreeSpaceHeader;

use super::pool::align_up;
use super::rules::{Class, SpaceKind};
use super::{Result, Space};

/// Largest number of attempts to place the section lists of free-space managers. Each attempt uses
/// the list lengths that the previous attempt has found.
const MAX_ROUNDS: usize = 4;

/// Number of gap lengths that are tried for the placement of free-space managers. A gap is free
/// space that is left before a header or a section list. It changes the free space, and therefore
/// the lengths of the section lists.
const GAP_LENGTHS: u64 = 16;

/// Number of additional pages that are tried for the placement of free-space managers. They are
/// added to the smallest number of pages that seems to suffice.
const MAX_EXTRA_PAGES: u64 = 3;

/// The reserved file space for one free-space manager: its header and its section list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReservedManager {
    pub(crate) class: Class,
    pub(crate) header: Address,
    pub(crate) list: Address,
    /// The reserved size of the list in bytes.
    pub(crate) allocated: u64,
}

/// The need for a free-space manager: the class of its free sections, and the size of its section
/// list in bytes.
type Need = (Class, u64);

/// The gaps in a placement of free-space managers on pages: free space of `length` bytes before
/// each of the first `count` headers and section lists.
#[derive(Debug, Clone, Copy)]
struct Gaps {
    count: u64,
    length: u64,
}

impl Gaps {
    const NONE: Self = Self { count: 0, length: 0 };

    /// Returns all combinations of gap length and number of gaps for a placement of free-space
    /// managers. A gap is free space that is left before a header or a section list.
    fn all(pieces: u64) -> impl Iterator<Item = Self> {
        let some = move |length: u64| (1..=pieces).map(move |count| Self { count, length: length * 8 });
        std::iter::once(Self::NONE).chain((1..=GAP_LENGTHS).flat_map(some))
    }
}

/// A plan for the placement of free-space managers on pages of the file.
struct ManagerPlan {
    managers: Vec<ReservedManager>,
    /// Ranges of the pages that no manager uses.
    remainders: Vec<(Class, u64, u64)>,
    end: u64,
}

impl ManagerPlan {
    /// Plans the addresses of free-space managers from `start` on, which is the start of a page.
    /// First come the section lists of at least a page. Then come the short pieces (headers and
    /// short lists), each within a page, the first ones after gaps of free space. If the first
    /// section list has at least a page, unused pages before `end` stay free after it.
    fn new(needs: &[Need], (start, end): (u64, u64), gaps: Gaps, page: u64, header: u64) -> Option<Self> {
        let plan = Self::with_spare(needs, start, gaps, 0, (page, header))?;
        match end.checked_sub(plan.end) {
            Some(spare) if spare > 0 && needs.iter().any(|(_, length)| *length >= page) => {
                Self::with_spare(needs, start, gaps, spare, (page, header))
            }
            _ => Some(plan),
        }
    }

    fn with_spare(
        needs: &[Need],
        start: u64,
        gaps: Gaps,
        mut spare: u64,
        (page, header): (u64, u64),
    ) -> Option<Self> {
        let mut remainders = Vec::new();
        let mut at = start;
        let mut lists = Vec::new();
        for (class, length) in needs.iter().filter(|(_, length)| *length >= page) {
            let end = at.checked_add(*length)?;
            lists.push((*class, at, *length));
            at = align_up(end, page)?.checked_add(std::mem::take(&mut spare))?;
            remainders.push((Class::Large, end, at));
        }
        let mut gaps_left = gaps.count;
        let mut short = |length: u64| {
            let mut gap = 0;
            if let Some(remaining) = gaps_left.checked_sub(1) {
                (gaps_left, gap) = (remaining, gaps.length);
            }
            let remaining = align_up(at, page)?.checked_sub(at)?;
            let remaining = if remaining == 0 { page } else { remaining };
            let skipped = match gap.checked_add(length)? {
                fits if fits <= remaining => gap,
                _ if remaining == page => return None,
                _ => remaining,
            };
            remainders.push((Class::Metadata, at, at.checked_add(skipped)?));
            at = at.checked_add(skipped)?;
            let start = at;
            at = at.checked_add(length)?;
            Some(start)
        };
        let mut managers = Vec::new();
        for (class, length) in needs {
            let known = lists.iter().find(|(other, ..)| other == class).map(|(_, start, _)| *start);
            let header = Address::new(short(header)?);
            let list = match known {
                Some(list) => list,
                None => short(*length)?,
            };
            managers.push(ReservedManager {
                class: *class,
                header,
                list: Address::new(list),
                allocated: *length,
            });
        }
        let end = align_up(at, page)?;
        remainders.push((Class::Metadata, at, end));
        remainders.retain(|(_, start, end)| start < end);
        Some(Self { managers, remainders, end })
    }
}

impl Space {
    /// Places the free-space managers of all free space on new pages of the file. Returns no
    /// managers if the file has no free space. Also returns none if, in each placement, the section
    /// lists need another size than was reserved.
    pub(crate) fn place_managers(&mut self, page: u64, params: FileParams) -> Result<Vec<ReservedManager>> {
        let header = to_u64(FreeSpaceHeader::size(&params));
        let first = self.needs(params)?;
        if first.is_empty() || header >= page {
            return Ok(Vec::new());
        }
        let pages = |plan: &ManagerPlan| plan.end.checked_div(page).unwrap_or(0).max(1);
        let Some(seems) = ManagerPlan::new(&first, (0, 0), Gaps::NONE, page, header).as_ref().map(pages)
        else {
            return Ok(Vec::new());
        };
        for pages in seems..=seems + MAX_EXTRA_PAGES {
            let length = pages * page;
            let start = self.allocate(SpaceKind::ObjectHeader, length)?;
            let before = self.needs(params)?;
            for gaps in Gaps::all(to_u64(before.len()) * 2) {
                let end = start.raw() + length;
                let fitted = self.fit_managers(&before, (start.raw(), end), gaps, page, params)?;
                if let Some(managers) = fitted {
                    return Ok(managers);
                }
            }
            self.free(SpaceKind::ObjectHeader, start, length);
        }
        Ok(Vec::new())
    }

    /// Places the free-space managers on the pages between `start` and `end`. The remainders of the
    /// pages become free. Does this only if the section lists can record the free space with these
    /// remainders.
    fn fit_managers(
        &mut self,
        before: &[Need],
        (start, end): (u64, u64),
        gaps: Gaps,
        page: u64,
        params: FileParams,
    ) -> Result<Option<Vec<ReservedManager>>> {
        let header = to_u64(FreeSpaceHeader::size(&params));
        let mut needs = before.to_vec();
        for _ in 0..MAX_ROUNDS {
            let plan =
                ManagerPlan::new(&needs, (start, end), gaps, page, header).filter(|plan| plan.end <= end);
            let Some(plan) = plan else { return Ok(None) };
            for (class, start, end) in &plan.remainders {
                self.put(*class, *start, *end);
            }
            let now = self.needs(params)?;
            if now == needs && plan.end == end {
                return Ok(Some(plan.managers));
            }
            for (class, start, end) in &plan.remainders {
                self.pool(*class).take_at(*start, end - *start);
            }
            needs = now;
        }
        Ok(None)
    }

    /// Returns the class and the section list size of each free-space manager that is needed to
    /// store the present free space of the file.
    fn needs(&self, params: FileParams) -> Result<Vec<Need>> {
        let classes = Class::ALL.into_iter().filter(|class| self.has_sections(*class));
        let need = |class| {
            let (header, ..) = self.manager(class, Address::new(0), params)?;
            Ok((class, header.list_used))
        };
        classes.map(need).collect()
    }
}
