//! Object headers: prefixes, envelopes, continuations, and the bodies of all messages.
#![no_main]

use hyperslab_format::codec::{FileParams, Writer};
use hyperslab_format::message::{
    AttributeMessage, AttributeInfo, BTreeK, Bogus, Comment, Continuation, DataLayout, DataspaceMessage, DriverInfo,
    ExternalFilesMessage, FileSpaceInfo, FillValueMessage, FillValueOldMessage, FilterPipeline, GroupInfo, LinkMessage, LinkInfo,
    Message as _, MetadataCacheImage, ModificationTime, ModificationTimeOld, Nil, ReferenceCount,
    SharedMessageTableMessage, SharedReference, SymbolTable,
};
use hyperslab_format::object_header::{
    ContinuationBlock, EnvelopeLayout, Envelopes, HeaderFlags, PrefixV1, PrefixV2, write_envelope,
};
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::{message_law, seal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    bodies(bytes, params);
    envelopes(bytes, EnvelopeLayout::V1, params);
    envelopes(bytes, EnvelopeLayout::V2 { creation_order: false }, params);
    version_1(bytes, params);
    version_2(bytes, params);
    continuation(bytes, params);
});

fn version_1(bytes: &[u8], params: FileParams) {
    let Ok(prefix) = PrefixV1::decode(bytes) else { return };
    let mut writer = Writer::new("prefix");
    prefix.encode(&mut writer);
    assert_eq!(PrefixV1::decode(&writer.finish().expect("a prefix")).as_ref(), Ok(&prefix));
    envelopes(bytes.get(PrefixV1::SIZE..).unwrap_or_default(), EnvelopeLayout::V1, params);
}

fn version_2(bytes: &[u8], params: FileParams) {
    let Ok(prefix) = PrefixV2::decode(bytes) else { return };
    let mut writer = Writer::new("prefix");
    prefix.encode(&mut writer);
    assert_eq!(PrefixV2::decode(&writer.finish().expect("a prefix")).as_ref(), Ok(&prefix));
    let total = prefix.chunk0_total().and_then(|total| usize::try_from(total).ok());
    let Some(chunk) = total.and_then(|total| bytes.get(..total)) else { return };
    let mut chunk = chunk.to_vec();
    seal::seal(&mut chunk);
    let messages = prefix.messages(&chunk).expect("a right checksum");
    let creation_order = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
    envelopes(messages, EnvelopeLayout::V2 { creation_order }, params);
}

fn continuation(bytes: &[u8], params: FileParams) {
    let mut block = bytes.to_vec();
    seal::seal(&mut block);
    if let Ok(messages) = ContinuationBlock::messages(&block) {
        envelopes(messages, EnvelopeLayout::V2 { creation_order: false }, params);
    }
}

fn envelopes(messages: &[u8], layout: EnvelopeLayout, params: FileParams) {
    let all: Vec<_> = Envelopes::new(messages, layout).map_while(Result::ok).collect();
    let mut writer = Writer::new("messages");
    for envelope in &all {
        let body = &messages[envelope.body.clone()];
        bodies(body, params);
        write_envelope(&mut writer, layout, envelope.kind, envelope.flags, envelope.creation_order, body);
    }
    let Ok(written) = writer.finish() else {
        // A body of almost 64 KiB grows beyond its size field when it is padded.
        assert!(layout == EnvelopeLayout::V1 && all.iter().any(|envelope| envelope.body.len() > 0xfff8));
        return;
    };
    let again: Vec<_> = Envelopes::new(&written, layout).collect::<Result<_, _>>().expect("what was written");
    assert_eq!(all.len(), again.len());
    for (one, other) in all.iter().zip(&again) {
        assert_eq!(
            (one.kind, one.flags, one.creation_order),
            (other.kind, other.flags, other.creation_order)
        );
        assert!(written[other.body.clone()].starts_with(&messages[one.body.clone()]));
    }
}

fn bodies(bytes: &[u8], params: FileParams) {
    message_law!(
        bytes,
        params,
        [
            AttributeMessage,
            AttributeInfo,
            BTreeK,
            Bogus,
            Comment,
            Continuation,
            DataLayout,
            DataspaceMessage,
            DriverInfo,
            ExternalFilesMessage,
            FileSpaceInfo,
            FillValueMessage,
            FillValueOldMessage,
            FilterPipeline,
            GroupInfo,
            LinkMessage,
            LinkInfo,
            MetadataCacheImage,
            ModificationTime,
            ModificationTimeOld,
            Nil,
            ReferenceCount,
            SharedMessageTableMessage,
            SharedReference,
            SymbolTable,
        ]
    );
}
