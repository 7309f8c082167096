//! Objects: the messages of each object header, their agreement, and the number of links to each
//! object.

use hyperslab_format::codec::{Address, FileParams, FormatError};
use hyperslab_format::message::{
    AttributeInfo, AttributeMessage, BTreeK, Comment, DataLayout, DataspaceMessage, DatatypeMessage,
    DriverInfo, ExternalFilesMessage, FileSpaceInfo, FillValueMessage, FillValueOldMessage, FilterPipeline,
    GroupInfo, LinkInfo, LinkMessage, Message, MessageFlags, MessageType, MetadataCacheImage,
    ModificationTime, ModificationTimeOld, ReferenceCount, SharedMessageTableMessage, SymbolTable,
};

use crate::file::Checker;
use crate::header::{self, Header, NAME};
use crate::metadata::{Owner, Purpose};
use crate::{attributes, dataset, group};

/// The message types that an object header may contain only once.
const SINGLE_MESSAGES: &[MessageType] = &[
    MessageType::DATASPACE,
    MessageType::LINK_INFO,
    MessageType::DATATYPE,
    MessageType::FILL_VALUE_OLD,
    MessageType::FILL_VALUE,
    MessageType::EXTERNAL_FILES,
    MessageType::DATA_LAYOUT,
    MessageType::GROUP_INFO,
    MessageType::FILTER_PIPELINE,
    MessageType::SYMBOL_TABLE,
    MessageType::ATTRIBUTE_INFO,
    MessageType::REFERENCE_COUNT,
];

/// Walks the object header at `address`, and replaces references to shared messages by the bodies
/// of these messages.
pub(crate) fn open(checker: &mut Checker, address: Address) -> Option<Header> {
    let mut header = header::walk(checker, address)?;
    let mut bodies: Vec<header::HeaderMessage> = Vec::with_capacity(header.messages.len());
    for mut message in std::mem::take(&mut header.messages) {
        let shareable = MessageFlags::SHARED | MessageFlags::SHAREABLE;
        if message.flags.intersects(shareable) && message.kind.is_known() && !message.kind.is_shareable() {
            let text = format!(
                "a {} with the flag of a shared message, although this kind is never shared",
                message.kind.name()
            );
            checker.fault(NAME, address, text);
        } else if message.flags.contains(MessageFlags::SHARED) {
            let Some(shared) = checker.shared_body(message.kind, &message.body, address) else {
                header.complete = false;
                continue;
            };
            (message.body, message.seen) = (shared.body, !shared.first);
        } else if message.flags.contains(MessageFlags::SHAREABLE) {
            checker.shareable(message.kind, &message.body, address);
        }
        decode(checker, address, message.kind, message.flags, &message.body);
        bodies.push(message);
    }
    header.messages = bodies;
    for kind in SINGLE_MESSAGES {
        let count = header.of(*kind).count();
        if count > 1 {
            checker.fault(
                NAME,
                address,
                format!("the object header has {count} messages of the kind {}, expected one", kind.name()),
            );
        }
    }
    Some(header)
}

/// Checks the object at `address`, and records other objects to which it refers. Returns the kind
/// of the object (group, dataset or committed datatype).
pub(crate) fn check(checker: &mut Checker, address: Address) -> Owner {
    checker.go_to(Some(address));
    checker.report.objects += 1;
    let Some(header) = open(checker, address) else { return Owner::Other };
    let stated = header.reference_count.unwrap_or_else(|| {
        let message = header.of(MessageType::REFERENCE_COUNT).next();
        let count = message.and_then(|message| ReferenceCount::decode(&message.body, checker.params).ok());
        count.map_or(1, |count| count.count)
    });
    if let Some(known) = checker.objects.get_mut(&address) {
        known.stated = Some(stated);
    }
    checker.walking(Purpose::Attributes, |checker| attributes::check(checker, &header));
    checker.walking(Purpose::Links, |checker| group::check(checker, &header));
    let is_group = header.has(MessageType::SYMBOL_TABLE) || header.has(MessageType::LINK_INFO);
    let is_dataset = header.has(MessageType::DATA_LAYOUT);
    if is_dataset {
        dataset::check(checker, &header);
    } else if !is_group && !header.has(MessageType::DATATYPE) && header.complete {
        checker.remark(NAME, address, "the object is neither a group nor a dataset nor a committed datatype");
    }
    if is_group && is_dataset {
        checker.fault(NAME, address, "the object has the messages both of a group and of a dataset");
    }
    match (is_group, is_dataset) {
        (_, true) => Owner::Dataset,
        (true, _) => Owner::Group,
        _ if header.has(MessageType::DATATYPE) => Owner::Datatype,
        _ => Owner::Other,
    }
}

/// Checks that the body of an object header message can be decoded. For a message of unknown type,
/// checks the message's flags.
fn decode(checker: &mut Checker, address: Address, kind: MessageType, flags: MessageFlags, body: &[u8]) {
    fn is<M: for<'a> Message<'a>>(body: &[u8], params: FileParams) -> Result<(), FormatError> {
        M::decode(body, params).map(drop)
    }
    let decode: fn(&[u8], FileParams) -> Result<(), FormatError> = match kind {
        MessageType::DATASPACE => is::<DataspaceMessage>,
        MessageType::LINK_INFO => is::<LinkInfo>,
        MessageType::DATATYPE => |body, params| DatatypeMessage::decode(body, params).map(drop),
        MessageType::FILL_VALUE_OLD => is::<FillValueOldMessage>,
        MessageType::FILL_VALUE => is::<FillValueMessage>,
        MessageType::LINK => |body, params| LinkMessage::decode(body, params).map(drop),
        MessageType::EXTERNAL_FILES => is::<ExternalFilesMessage>,
        MessageType::DATA_LAYOUT => is::<DataLayout>,
        MessageType::GROUP_INFO => is::<GroupInfo>,
        MessageType::FILTER_PIPELINE => is::<FilterPipeline>,
        MessageType::ATTRIBUTE => |body, params| AttributeMessage::decode(body, params).map(drop),
        MessageType::COMMENT => |body, params| Comment::decode(body, params).map(drop),
        MessageType::MODIFICATION_TIME_OLD => is::<ModificationTimeOld>,
        MessageType::SHARED_MESSAGE_TABLE => is::<SharedMessageTableMessage>,
        MessageType::SYMBOL_TABLE => is::<SymbolTable>,
        MessageType::MODIFICATION_TIME => is::<ModificationTime>,
        MessageType::BTREE_K => is::<BTreeK>,
        MessageType::DRIVER_INFO => is::<DriverInfo>,
        MessageType::ATTRIBUTE_INFO => is::<AttributeInfo>,
        MessageType::REFERENCE_COUNT => is::<ReferenceCount>,
        MessageType::FILE_SPACE_INFO => is::<FileSpaceInfo>,
        MessageType::METADATA_CACHE_IMAGE => is::<MetadataCacheImage>,
        MessageType::NIL | MessageType::CONTINUATION => return,
        MessageType(unknown) => {
            let text = format!("a message of the unknown kind {unknown:#x}");
            if flags.contains(MessageFlags::FAIL_IF_UNKNOWN_ALWAYS) {
                checker.fault(
                    NAME,
                    address,
                    format!("{text}; readers must refuse the object unless they know this type"),
                );
            } else {
                checker.remark(NAME, address, text);
            }
            return;
        }
    };
    checker.decoded(kind.name(), address, decode(body, checker.params));
}

impl Checker {
    /// Checks all recorded objects of the file, including objects that are found and recorded
    /// during this call.
    pub(crate) fn check_objects(&mut self) {
        while let Some(address) = self.to_check.pop() {
            let owner = check(self, address);
            self.assign_metadata(owner);
        }
    }

    /// Compares the stored reference counts of all objects with the found links, and checks the
    /// targets of references. All objects must be checked before.
    pub(crate) fn finish_objects(&mut self) {
        let mut wrong: Vec<_> = self
            .objects
            .iter()
            .filter(|(_, known)| known.stated.is_some_and(|stated| stated != known.uses))
            .map(|(address, known)| (*address, *known))
            .collect();
        wrong.sort_unstable_by_key(|(address, _)| *address);
        for (address, known) in wrong {
            self.go_to(Some(address));
            let stated = known.stated.unwrap_or(0).into();
            self.same(NAME, address, "reference count", stated, known.uses.into());
        }
        self.go_to(None);
        let mut unlinked: Vec<_> =
            self.references.iter().filter(|address| !self.objects.contains_key(address)).copied().collect();
        unlinked.sort_unstable();
        for address in unlinked {
            self.remark(
                "reference",
                address,
                "the reference refers to an address at which no linked object was found",
            );
        }
    }
}
