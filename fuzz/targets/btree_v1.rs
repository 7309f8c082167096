//! Version 1 B-trees and symbol table nodes.
#![no_main]

use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Kind, BTreeV1Node};
use hyperslab_format::symbol_table_entry::SymbolTableEntry;
use hyperslab_format::symbol_table_node::{SymbolTableNode, SymbolTableNodeContext};
use hyperslab_fuzz::control::Control;
use hyperslab_fuzz::law;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((control, bytes)) = Control::split(bytes) else { return };
    let params = control.params();
    let k = control.count(0, 16);
    for kind in [BTreeV1Kind::Group, BTreeV1Kind::Chunks { rank: usize::from(control.count(1, 2)) }] {
        law::structure::<BTreeV1Node>(bytes, &BTreeV1Context { params, kind, k });
    }
    law::structure::<SymbolTableNode>(bytes, &SymbolTableNodeContext { params, leaf_k: control.count(2, 4) });
    law::structure::<SymbolTableEntry>(bytes, &params);
});
