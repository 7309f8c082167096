//! The file while it is being checked: its bytes, what was found so far, and what is still to be looked at.

use std::collections::{HashMap, HashSet};

use hyperslab_engine::error::{Error, ErrorKind};
use hyperslab_engine::store::{Bytes, Store};
use hyperslab_filter::FilterError;
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure};
use hyperslab_format::message::{BTreeK, MessageType};

use crate::extents::{Extents, Kind};
use crate::global_heap::GlobalHeap;
use crate::metadata::{MetadataBytes, Purpose};
use crate::report::{Finding, ObjectBytes, Report, Severity};
use crate::shared::SharedIndexes;

/// Names on the way to an object that are shown at most.
const SHOWN_NAMES: usize = 32;

/// A file that is being checked.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) store: Store,
    pub(crate) params: FileParams,
    pub(crate) k: BTreeK,
    pub(crate) report: Report,
    pub(crate) extents: Extents,
    pub(crate) heap: GlobalHeap,
    pub(crate) shared: SharedIndexes,
    /// Object headers by their addresses.
    pub(crate) objects: HashMap<Address, ObjectUse>,
    /// Object headers that were heard of, and not yet looked at.
    pub(crate) pending: Vec<Address>,
    /// What object and region references lead to.
    pub(crate) references: HashSet<Address>,
    /// Bodies of committed datatypes.
    pub(crate) committed: HashMap<Address, Option<Bytes>>,
    /// Where objects were first heard of, as links: the place of the group, and the name in it.
    places: Vec<(u32, Box<[u8]>)>,
    /// The object that is being looked at.
    here: Option<u32>,
    /// The address of its header.
    at: Option<Address>,
    /// Whether uses of what is shared are not counted: they were, with the message that has them.
    pub(crate) counted_before: bool,
    /// Where the file ends by its own account; without end where it does not say so.
    pub(crate) end: u64,
    /// Bytes of a page, in a file that is laid out in pages.
    pub(crate) page: Option<u64>,
    /// Bytes that may still be decoded: damaged files may lead to little that becomes much again and again.
    pub(crate) decode_budget: u64,
    /// Whether all chunks are to be decoded.
    pub(crate) decode_chunks: bool,
    /// Whether elements are looked at that lead into the file.
    pub(crate) look_into_elements: bool,
    /// What the blocks are for that are being walked, and whether they belong to a heap.
    pub(crate) purpose: (Purpose, bool),
    /// What was counted since it was last given to its owner.
    pub(crate) metadata: MetadataBytes,
    /// Metadata blocks that were visited.
    visited: HashSet<Address>,
    max_findings: usize,
}

/// What is known of an object before and after it is looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObjectUse {
    /// Hard links, and uses as a committed datatype.
    pub(crate) uses: u32,
    /// Its place among the places.
    place: u32,
    /// What its header says of the number of uses.
    pub(crate) stated: Option<u32>,
    /// What it has of the file.
    pub(crate) bytes: ObjectBytes,
}

/// Bytes that are decoded in any file; more for each byte of it.
const DECODED_AT_LEAST: u64 = 1 << 30;
const DECODED_PER_BYTE: u64 = 4096;

impl Checker {
    pub(crate) fn new(store: Store, max_findings: usize) -> Self {
        Self {
            params: store.params(),
            k: BTreeK::DEFAULT,
            report: Report::default(),
            extents: Extents::new(),
            heap: GlobalHeap::default(),
            shared: SharedIndexes::default(),
            objects: HashMap::new(),
            pending: Vec::new(),
            references: HashSet::new(),
            committed: HashMap::new(),
            places: vec![(0, Box::default())],
            here: None,
            at: None,
            counted_before: false,
            end: u64::MAX,
            page: None,
            decode_budget: store
                .file_length()
                .saturating_mul(DECODED_PER_BYTE)
                .saturating_add(DECODED_AT_LEAST),
            decode_chunks: false,
            look_into_elements: true,
            purpose: (Purpose::File, false),
            metadata: MetadataBytes::default(),
            visited: HashSet::new(),
            max_findings,
            store,
        }
    }

    /// Notes something that contradicts the format.
    pub(crate) fn fault(&mut self, structure: &'static str, address: Address, text: impl Into<String>) {
        self.note(Severity::Fault, structure, address, text.into());
    }

    /// Notes something worth knowing.
    pub(crate) fn remark(&mut self, structure: &'static str, address: Address, text: impl Into<String>) {
        self.note(Severity::Remark, structure, address, text.into());
    }

    /// Notes that something could not be checked.
    pub(crate) fn not_checked(&mut self, structure: &'static str, address: Address, why: &str) {
        self.report.unchecked += 1;
        self.remark(structure, address, format!("not checked: {why}"));
    }

    fn note(&mut self, severity: Severity, structure: &'static str, address: Address, text: String) {
        if self.report.findings.len() >= self.max_findings {
            self.report.count(severity);
            return;
        }
        let object = self.here.map(|here| self.path(here));
        let finding = Finding { severity, structure, address: address.get(), object, text };
        // What two structures lead to may be found twice.
        if !self.report.findings.contains(&finding) {
            self.report.count(severity);
            self.report.findings.push(finding);
        }
    }

    /// Notes a fault unless two numbers are equal.
    pub(crate) fn same(
        &mut self,
        structure: &'static str,
        address: Address,
        what: &str,
        stated: u64,
        found: u64,
    ) -> bool {
        if stated != found {
            self.fault(structure, address, format!("{what}: {stated} stated, {found} found"));
        }
        stated == found
    }

    /// Notes why a block could not be read: a fault of the file, or a remark where the fault is on this side (a filter
    /// that is not there, a limit). Versions and kinds of metadata that no specification has are faults.
    pub(crate) fn failed(&mut self, structure: &'static str, address: Address, error: &Error) {
        let text = chain(error);
        let unknown_filter = matches!(error, Error::Filter { source: FilterError::Unsupported { .. }, .. });
        match error.kind() {
            ErrorKind::Limit => self.not_checked(structure, address, &text),
            ErrorKind::Unsupported if matches!(error, Error::Filter { .. }) => {
                self.not_checked(structure, address, &text);
            }
            _ if unknown_filter => self.not_checked(structure, address, &text),
            _ => self.fault(structure, address, text),
        }
    }

    /// The value, or nothing after noting the error.
    pub(crate) fn decoded<T>(
        &mut self,
        structure: &'static str,
        address: Address,
        result: Result<T, FormatError>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed(structure, address, &error.into());
                None
            }
        }
    }

    /// As [`decoded`](Self::decoded), for errors of the engine.
    pub(crate) fn read_or_note<T>(
        &mut self,
        structure: &'static str,
        address: Address,
        result: Result<T, Error>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed(structure, address, &error);
                None
            }
        }
    }

    /// Gives bytes to a block of raw data, or to one that was entered. Whether they all lie in the file.
    pub(crate) fn claim(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: Kind,
    ) -> bool {
        if let Err(error) = self.store.check_inside(address, length, structure) {
            self.failed(structure, address, &error);
            return false;
        }
        self.report.usage.entry(kind).or_default().add(length);
        self.extents.claim(address.raw(), length, kind);
        self.count_metadata(structure, length, kind);
        self.of_object(|bytes| match kind {
            Kind::Chunk | Kind::Contiguous => bytes.raw = bytes.raw.saturating_add(length),
            Kind::GlobalHeap => {}
            _ => bytes.metadata = bytes.metadata.saturating_add(length),
        });
        if address.raw().saturating_add(length) > self.end {
            let text = format!("{length} bytes that end behind the end of the file at {:#x}", self.end);
            self.fault(structure, address, text);
        }
        self.in_pages(structure, address, length, kind);
        true
    }

    /// In a file of pages, a block lies in one page or begins with one.
    fn in_pages(&mut self, structure: &'static str, address: Address, length: u64, kind: Kind) {
        let Some(page) = self.page.filter(|page| *page > 0 && length > 0 && kind != Kind::Free) else {
            return;
        };
        let (start, last) = (address.raw(), address.raw().saturating_add(length.saturating_sub(1)));
        let fits = if length >= page { start.is_multiple_of(page) } else { start / page == last / page };
        if !fits {
            self.fault(structure, address, format!("{length} bytes across pages of {page}"));
        }
    }

    /// Gives bytes to a metadata block of which there is only one way to it. Whether this is the first.
    pub(crate) fn enter(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: Kind,
    ) -> bool {
        if !self.visited.insert(address) {
            self.fault(structure, address, "a block that another structure, or this one, has already");
            return false;
        }
        self.claim(structure, address, length, kind)
    }

    /// The bytes of a metadata block that is entered.
    pub(crate) fn block_bytes(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: Kind,
    ) -> Option<Bytes> {
        if !self.enter(structure, address, length, kind) {
            return None;
        }
        let bytes = self.store.read(address, length, structure);
        self.read_or_note(structure, address, bytes)
    }

    /// A metadata block that is entered and decoded.
    pub(crate) fn block<T: Structure>(
        &mut self,
        address: Address,
        context: &T::Context,
        kind: Kind,
    ) -> Option<T> {
        let bytes = self.block_bytes(T::NAME, address, T::size(context) as u64, kind)?;
        self.decoded(T::NAME, address, T::decode(&bytes, context))
    }

    /// Notes a hard link of the object that is being looked at.
    pub(crate) fn linked(&mut self, address: Address, name: &[u8]) {
        if !address.is_defined() {
            self.fault("link message", address, format!("the link `{}` leads nowhere", shown(name)));
            return;
        }
        self.used(address, name);
    }

    /// Notes one more use of an object: a hard link, or a use as a committed datatype.
    pub(crate) fn used(&mut self, address: Address, name: &[u8]) {
        if let Some(known) = self.objects.get_mut(&address) {
            known.uses = known.uses.saturating_add((!self.counted_before).into());
            return;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(0);
        self.places.push((self.here.unwrap_or(0), name.into()));
        self.objects.insert(address, ObjectUse { uses: 1, place, ..ObjectUse::default() });
        self.pending.push(address);
    }

    /// Changes what is said of the bytes of the object that is being looked at.
    pub(crate) fn of_object(&mut self, change: impl FnOnce(&mut ObjectBytes)) {
        if let Some(known) = self.at.and_then(|at| self.objects.get_mut(&at)) {
            change(&mut known.bytes);
        }
    }

    /// Goes to an object, which findings are then about.
    pub(crate) fn go_to(&mut self, address: Option<Address>) {
        self.at = address;
        self.here = address.and_then(|address| self.objects.get(&address)).map(|known| known.place);
    }

    /// The path under which an object was heard of first.
    fn path(&self, place: u32) -> String {
        let mut names = Vec::new();
        let mut at = place;
        while at != 0 && names.len() <= SHOWN_NAMES {
            let Some((parent, name)) = usize::try_from(at).ok().and_then(|at| self.places.get(at)) else {
                break;
            };
            names.push(shown(name));
            at = *parent;
        }
        if names.len() > SHOWN_NAMES {
            names.truncate(SHOWN_NAMES);
            names.push("…".to_owned());
        }
        names.pop_if(|root| root == "/");
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// The body of the first message of that kind in another object header.
    pub(crate) fn committed_body(&mut self, address: Address, kind: MessageType) -> Option<Bytes> {
        if kind == MessageType::DATATYPE
            && let Some(body) = self.committed.get(&address)
        {
            return body.clone();
        }
        let header = hyperslab_engine::object::header::ObjectHeader::load(&self.store, address);
        let body = match header {
            Err(error) => {
                self.failed("shared message", address, &error);
                None
            }
            Ok(header) => header.find(kind).map(|message| header.body_bytes(message)),
        };
        if body.is_none() {
            self.fault("shared message", address, format!("no {} in the object there", kind.name()));
        }
        if kind == MessageType::DATATYPE {
            self.committed.insert(address, body.clone());
        }
        body
    }
}

/// Bytes of a name as text that can be shown.
pub(crate) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// An error and its causes.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = cause.source();
    }
    text
}

/// Converts a number of the file to a length in memory. Saturates: no bytes are as long.
pub(crate) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
