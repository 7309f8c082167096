//! The order of submodules: the table for `cargo xtask submodules`, `cargo xtask tidy` and the
//! picture of the crates.

/// A folder with an order of its submodules.
#[derive(Debug)]
pub(crate) struct Order {
    /// The folder, from the root of the checkout.
    pub(crate) folder: &'static str,
    /// The submodules from the bottom to the top. Submodules of one level do not use each other.
    pub(crate) levels: &'static [&'static [&'static str]],
}

/// The submodules of the engine.
pub(crate) const ENGINE: &Order = &Order {
    folder: "crates/engine/src",
    levels: &[
        &["error"],
        &["memory", "serialized", "versions"],
        &["store"],
        &["index"],
        &["object", "data"],
        &["ops"],
    ],
};

/// The submodules of the store: the values that all submodules share, then the space and the
/// journal, the groups of the store's fields, and the operations.
const STORE: &Order = &Order {
    folder: "crates/engine/src/store",
    levels: &[
        &["bytes", "new_members", "other_formats", "page", "parallel", "ranges", "sharded_cache"],
        &[
            "callbacks",
            "decoded",
            "dirty_blocks",
            "locking",
            "open_objects",
            "raw_file",
            "salvage",
            "space",
            "superblock",
            "threads",
        ],
        &["options", "swmr_reader"],
        &["journal"],
        &["left_journal", "page_source", "repair", "write_state"],
        &["backing", "direct", "edit", "pages"],
        &["caches", "commit", "create", "members", "publish", "read", "swmr_writer", "user_block", "write"],
        &["sharing"],
        &["open"],
    ],
};

/// The submodules of the raw data path: the submodules for all layouts, then one submodule for each
/// layout.
const DATA: &Order = &Order {
    folder: "crates/engine/src/data",
    levels: &[
        &["chunk_index", "variable"],
        &["transfer"],
        &["linear"],
        &["chunked", "structured"],
        &["virtual_"],
    ],
};

/// The submodules of the chunked layout.
const CHUNKED: &Order =
    &Order { folder: "crates/engine/src/data/chunked", levels: &[&["source"], &["read", "write"]] };

/// The submodules of the structured chunk layout.
const STRUCTURED: &Order = &Order {
    folder: "crates/engine/src/data/structured",
    levels: &[&["variable"], &["form"], &["chunk"], &["kept"], &["encode"], &["read", "write"]],
};

/// The submodules of the operations: the writers of datasets below the open file, the operations
/// above.
const OPS: &Order = &Order {
    folder: "crates/engine/src/ops",
    levels: &[
        &["names", "settings", "dataset_access", "chunk_forms"],
        &["metadata_bytes"],
        &["raw_files"],
        &["members", "dataset_writer"],
        &["extension", "writer_table"],
        &["open"],
        &["create", "editors", "flush", "heap", "reference_write", "swmr", "write", "writers"],
        &["dataset"],
        &["dataset_create", "variable_write", "virtual_write"],
        &["concurrent", "copy", "delete"],
    ],
};

/// The submodules of the copy of objects.
const COPY: &Order = &Order {
    folder: "crates/engine/src/ops/copy",
    levels: &[
        &["elements", "paths", "salvage"],
        &["chunks", "relocate", "storage"],
        &["streamed"],
        &["sparse"],
        &["attributes", "committed", "defined_share", "links", "lost", "objects", "raw"],
    ],
};

/// Every folder with an order of its submodules.
pub(crate) const ORDERS: &[&Order] = &[ENGINE, STORE, DATA, CHUNKED, STRUCTURED, OPS, COPY];

impl Order {
    /// Returns the level of a submodule, counted from the bottom.
    pub(crate) fn level(&self, submodule: &str) -> Option<usize> {
        self.levels.iter().position(|level| level.contains(&submodule))
    }

    /// Returns the order as text, such as `store < {object, data} < ops`.
    pub(crate) fn text(&self) -> String {
        let levels = self.levels.iter().map(|level| match level {
            [submodule] => (*submodule).to_owned(),
            submodules => format!("{{{}}}", submodules.join(", ")),
        });
        levels.collect::<Vec<_>>().join(" < ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_printed_from_the_bottom() {
        let order = Order { folder: "a", levels: &[&["store"], &["object", "data"], &["ops"]] };
        assert_eq!(order.text(), "store < {object, data} < ops");
        assert_eq!((order.level("data"), order.level("ops"), order.level("x")), (Some(1), Some(2), None));
    }
}
