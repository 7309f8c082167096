//! The state of a check: the store, the findings so far, and the objects still to check.

use std::collections::{HashMap, HashSet};

use hyperslab_engine::error::{Error, ErrorKind};
use hyperslab_engine::store::{Bytes, Store};
use hyperslab_filter::FilterError;
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure};
use hyperslab_format::message::{BTreeK, MessageType};

use crate::extents::{BlockKind, Extents};
use crate::global_heap::GlobalHeap;
use crate::metadata::{MetadataBytes, Purpose};
use crate::report::{Finding, ObjectBytes, Report, Severity};
use crate::shared::SharedIndexes;
use crate::totals::{add, end_of};

/// The largest number of names that a finding of the check shows in the path of an object.
const MAX_SHOWN_NAMES: usize = 32;

/// The state of the check of a file: its reader, findings and totals.
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
    /// Addresses of object headers that were found but not yet checked.
    pub(crate) to_check: Vec<Address>,
    /// Targets of object and region references.
    pub(crate) references: HashSet<Address>,
    /// Message bodies of committed datatypes.
    pub(crate) committed: HashMap<Address, Option<Bytes>>,
    /// The first link to each object: the index of the group's entry in this list, and the name of
    /// the link.
    links: Vec<(u32, Box<[u8]>)>,
    /// Index in `links` of the object under check.
    current_link: Option<u32>,
    /// Header address of the object under check.
    current_header: Option<Address>,
    /// True while a shared message is checked again. Uses of shared messages inside it were counted
    /// the first time.
    pub(crate) counted_before: bool,
    /// The end of file that the superblock states, or `u64::MAX` if it states none.
    pub(crate) end: u64,
    /// Bytes of a page, in a file with paged allocation.
    pub(crate) page: Option<u64>,
    /// Number of bytes that may still be decoded. The limit protects against damaged files with
    /// many blocks whose few stored bytes decode to many bytes.
    pub(crate) decode_budget: u64,
    /// True if all chunks are to be decoded.
    pub(crate) decode_chunks: bool,
    /// True if elements that refer to other parts of the file are to be checked.
    pub(crate) look_into_elements: bool,
    /// The purpose of the blocks under check, and whether the blocks belong to a heap.
    pub(crate) purpose: (Purpose, bool),
    /// Metadata bytes that are not yet added to their owner.
    pub(crate) metadata: MetadataBytes,
    /// Addresses of the metadata blocks visited so far.
    visited: HashSet<Address>,
    max_findings: usize,
}

/// The uses of an object that the check found, the object's stated reference count, and its bytes
/// in the file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObjectUse {
    /// Number of hard links, and of uses as a committed datatype.
    pub(crate) uses: u32,
    /// Index of the object in `links`.
    link: u32,
    /// The reference count that the object header states.
    pub(crate) stated: Option<u32>,
    /// The bytes of the file that belong to the object.
    pub(crate) bytes: ObjectBytes,
}

/// The fixed part of the limit on decoded bytes in the check of a file. The limit is the sum of
/// this number and of `DECODED_BYTES_PER_BYTE` bytes for each byte of the file.
const MIN_DECODED_BYTES: u64 = 1 << 30;
const DECODED_BYTES_PER_BYTE: u64 = 4096;

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
            to_check: Vec::new(),
            references: HashSet::new(),
            committed: HashMap::new(),
            links: vec![(0, Box::default())],
            current_link: None,
            current_header: None,
            counted_before: false,
            end: u64::MAX,
            page: None,
            decode_budget: store
                .file_length()
                .saturating_mul(DECODED_BYTES_PER_BYTE)
                .saturating_add(MIN_DECODED_BYTES),
            decode_chunks: false,
            look_into_elements: true,
            purpose: (Purpose::File, false),
            metadata: MetadataBytes::default(),
            visited: HashSet::new(),
            max_findings,
            store,
        }
    }

    /// Records a fault in the report: a contradiction between the file and the format.
    pub(crate) fn fault(&mut self, structure: &'static str, address: Address, text: impl Into<String>) {
        self.note(Severity::Fault, structure, address, text.into());
    }

    /// Records a remark in the report: a fact about the file that is not a fault.
    pub(crate) fn remark(&mut self, structure: &'static str, address: Address, text: impl Into<String>) {
        self.note(Severity::Remark, structure, address, text.into());
    }

    /// Records that a structure of the file could not be checked, with the reason.
    pub(crate) fn not_checked(&mut self, structure: &'static str, address: Address, why: &str) {
        self.report.unchecked += 1;
        self.remark(structure, address, format!("not checked: {why}"));
    }

    fn note(&mut self, severity: Severity, structure: &'static str, address: Address, text: String) {
        if self.report.findings.len() >= self.max_findings {
            self.report.count(severity);
            return;
        }
        let object = self.current_link.map(|current_link| self.path(current_link));
        let finding = Finding { severity, structure, address: address.get(), object, text };
        // Two structures that lead to the same block can give the same finding twice.
        if !self.report.findings.contains(&finding) {
            self.report.count(severity);
            self.report.findings.push(finding);
        }
    }

    /// Returns true if a number that the file states and the number that the check found are equal.
    /// Otherwise records a fault.
    pub(crate) fn same(
        &mut self,
        structure: &'static str,
        address: Address,
        subject: &str,
        stated: u64,
        found: u64,
    ) -> bool {
        if stated != found {
            self.fault(structure, address, format!("{subject}: {stated} stated, {found} found"));
        }
        stated == found
    }

    /// Records that a block of the file could not be read, with the reason. The finding is a remark
    /// if the checker lacks a filter or reaches a limit of its own. Otherwise it is a fault.
    pub(crate) fn failed(&mut self, structure: &'static str, address: Address, error: &Error) {
        let text = error.to_string();
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

    /// Returns the structure that a decoder has decoded. If the decoder failed, records its error
    /// as a finding and returns `None`.
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

    /// Returns the value that was read from the file. If the read failed, notes the error as a
    /// finding and returns `None`.
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

    /// Claims bytes of the file for a block of raw data or metadata: records that the block uses
    /// these bytes. Must be called once for each block. Returns true if all bytes lie in the file.
    pub(crate) fn claim(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: BlockKind,
    ) -> bool {
        if let Err(error) = self.store.check_inside(address, length, structure) {
            self.failed(structure, address, &error);
            return false;
        }
        self.report.usage.entry(kind).or_default().add(length);
        self.extents.claim(address.raw(), length, kind);
        self.count_metadata(structure, length, kind);
        self.of_object(|bytes| match kind {
            BlockKind::Chunk | BlockKind::Contiguous => add(&mut bytes.raw, length),
            BlockKind::GlobalHeap => {}
            _ => add(&mut bytes.metadata, length),
        });
        if end_of(address.raw(), length) > self.end {
            let text = format!("a block of {length} bytes ends past the end of the file at {:#x}", self.end);
            self.fault(structure, address, text);
        }
        self.in_pages(structure, address, length, kind);
        true
    }

    /// Checks the alignment of a file block in a file with paged allocation: the block lies in one
    /// page or begins at a page boundary.
    fn in_pages(&mut self, structure: &'static str, address: Address, length: u64, kind: BlockKind) {
        let Some(page) = self.page.filter(|page| *page > 0 && length > 0 && kind != BlockKind::Free) else {
            return;
        };
        let (start, last) = (address.raw(), address.raw().saturating_add(length.saturating_sub(1)));
        let fits = if length >= page { start.is_multiple_of(page) } else { start / page == last / page };
        if !fits {
            self.fault(
                structure,
                address,
                format!("a block of {length} bytes crosses the boundary of a page of {page} bytes"),
            );
        }
    }

    /// Claims the bytes of a metadata block: records that the block uses these bytes of the file.
    /// Only one structure may refer to the block. Returns true at the first visit of the block, if
    /// the bytes lie in the file.
    pub(crate) fn enter(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: BlockKind,
    ) -> bool {
        if !self.visited.insert(address) {
            self.fault(structure, address, "more than one reference leads to this block");
            return false;
        }
        self.claim(structure, address, length, kind)
    }

    /// Returns the bytes of a metadata block of the file, and records that the block uses them.
    pub(crate) fn block_bytes(
        &mut self,
        structure: &'static str,
        address: Address,
        length: u64,
        kind: BlockKind,
    ) -> Option<Bytes> {
        if !self.enter(structure, address, length, kind) {
            return None;
        }
        let bytes = self.store.read(address, length, structure);
        self.read_or_note(structure, address, bytes)
    }

    /// Returns a decoded metadata block of the file, and records that the block uses its bytes.
    pub(crate) fn block<T: Structure>(
        &mut self,
        address: Address,
        context: &T::Context,
        kind: BlockKind,
    ) -> Option<T> {
        let bytes = self.block_bytes(T::NAME, address, T::size(context) as u64, kind)?;
        self.decoded(T::NAME, address, T::decode(&bytes, context))
    }

    /// Records a hard link from the object under check to another object.
    pub(crate) fn linked(&mut self, address: Address, name: &[u8]) {
        if !address.is_defined() {
            self.fault(
                "link message",
                address,
                format!("the hard link `{}` has an undefined address", shown(name)),
            );
            return;
        }
        self.used(address, name);
    }

    /// Records one more use of the object at `address`: a hard link, or a use as a committed
    /// datatype.
    pub(crate) fn used(&mut self, address: Address, name: &[u8]) {
        if let Some(known) = self.objects.get_mut(&address) {
            known.uses = known.uses.saturating_add((!self.counted_before).into());
            return;
        }
        // Number 0 is the root group. In a file with more than 2^32 links, later objects have no
        // path.
        let link = u32::try_from(self.links.len()).unwrap_or(0);
        self.links.push((self.current_link.unwrap_or(0), name.into()));
        self.objects.insert(address, ObjectUse { uses: 1, link, ..ObjectUse::default() });
        self.to_check.push(address);
    }

    /// Calls a function that changes the byte counts of the object under check. Does nothing if no
    /// object is under check.
    pub(crate) fn of_object(&mut self, change: impl FnOnce(&mut ObjectBytes)) {
        if let Some(known) = self.current_header.and_then(|at| self.objects.get_mut(&at)) {
            change(&mut known.bytes);
        }
    }

    /// Makes the object at an address the object under check, to which later findings refer.
    pub(crate) fn go_to(&mut self, address: Option<Address>) {
        self.current_header = address;
        self.current_link = address.and_then(|address| self.objects.get(&address)).map(|known| known.link);
    }

    /// Returns the path that ends with the recorded link number `link`. The path consists of the
    /// names of the links from the root group to this link.
    fn path(&self, link: u32) -> String {
        let mut names = Vec::new();
        let mut at = link;
        while at != 0 && names.len() <= MAX_SHOWN_NAMES {
            let Some((parent, name)) = usize::try_from(at).ok().and_then(|at| self.links.get(at)) else {
                break;
            };
            names.push(shown(name));
            at = *parent;
        }
        if names.len() > MAX_SHOWN_NAMES {
            names.truncate(MAX_SHOWN_NAMES);
            names.push("…".to_owned());
        }
        names.pop_if(|root| root == "/");
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// Returns the body of an object header message of another object, such as a committed
    /// datatype. The message is the first one of the type `kind`.
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
            self.fault("shared message", address, format!("no {} in the object header", kind.name()));
        }
        if kind == MessageType::DATATYPE {
            self.committed.insert(address, body.clone());
        }
        body
    }
}

/// Returns a name from the file as text for findings.
pub(crate) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Converts a number in the file to a length in memory. If the number is too large, returns
/// `usize::MAX`, which is never a valid length, because no slice has so many bytes.
pub(crate) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
