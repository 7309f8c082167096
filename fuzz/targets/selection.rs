//! Selections, virtual mappings and references.
#![no_main]

use hyperslab_dataspace::Selection;
use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::reference::{ReferenceBlock, ReferenceTargetKind, RegionBlock, StoredReference};
use hyperslab_format::selection::{SelectionFormat, decode_selection, encode_selection};
use hyperslab_format::virtual_mapping::VirtualMappings;
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::seal;
use libfuzzer_sys::fuzz_target;

const ENCODINGS: [SelectionFormat; 2] = [SelectionFormat::Compatible, SelectionFormat::Compact];

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    if let Ok(selection) = decode_selection(bytes) {
        for encoding in ENCODINGS {
            if let Ok(encoded) = encode_selection(&selection, encoding) {
                same_elements(&decode_selection(&encoded).expect("what was encoded"), &selection);
            }
        }
    }
    mappings(bytes, params);
    references(bytes, params);
});

/// The same elements may be said in several forms: a small model decides.
fn same_elements(one: &Selection, other: &Selection) {
    if one == other {
        return;
    }
    let rank = hyperslab_format::selection::rank(other).unwrap_or(1);
    let dims = vec![if rank < 5 { 4000 } else { 3 }; rank];
    if let (Ok(one), Ok(other)) = (one.linear_runs(&dims), other.linear_runs(&dims)) {
        assert!(one.take(5000).eq(other.take(5000)), "{dims:?}");
    }
}

fn mappings(bytes: &[u8], params: FileParams) {
    let mut sealed = bytes.to_vec();
    seal::seal(&mut sealed);
    for block in [bytes, &sealed] {
        let Ok(mappings) = VirtualMappings::decode(block, params) else { continue };
        for encoding in ENCODINGS {
            if let Ok(encoded) = mappings.encode(params, encoding) {
                let again = VirtualMappings::decode(&encoded, params).expect("what was encoded");
                assert_eq!(again.mappings.len(), mappings.mappings.len());
                for (one, other) in again.mappings.iter().zip(&mappings.mappings) {
                    assert_eq!(one.source_file, other.source_file);
                    assert_eq!(one.source_dataset, other.source_dataset);
                    same_elements(&one.source_selection, &other.source_selection);
                    same_elements(&one.virtual_selection, &other.virtual_selection);
                }
            }
        }
    }
}

fn references(bytes: &[u8], params: FileParams) {
    if let Ok(block) = RegionBlock::decode(bytes, params)
        && let Ok(encoded) = block.encode(params, SelectionFormat::Compact)
    {
        let again = RegionBlock::decode(&encoded, params).expect("what was encoded");
        assert_eq!(again.object, block.object);
        same_elements(&again.selection, &block.selection);
    }
    if let Ok(reference) = StoredReference::decode(bytes, params) {
        if let StoredReference::Object(token) = &reference {
            let _: Result<Address, _> = token.address(params);
        }
        if let Ok(encoded) = reference.encode(params) {
            assert_eq!(StoredReference::decode(&encoded, params).as_ref(), Ok(&reference));
        }
    }
    for kind in [ReferenceTargetKind::Object, ReferenceTargetKind::Region, ReferenceTargetKind::Attribute] {
        for external in [false, true] {
            if let Ok(block) = ReferenceBlock::decode(bytes, kind, external)
                && let Ok(encoded) = block.encode(SelectionFormat::Compact)
            {
                let again = ReferenceBlock::decode(&encoded, kind, external).expect("what was encoded");
                assert_eq!((again.token, again.file), (block.token, block.file));
            }
        }
    }
}
