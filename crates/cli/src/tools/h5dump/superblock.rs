//! The superblock of a file in the output of h5dump (`-B`).

use anyhow::Result;
use hyperslab::FileSpaceStrategy;

use super::Dump;
use crate::tools::ddl::LEVEL;

impl Dump<'_> {
    pub(super) fn superblock(&mut self) -> Result<()> {
        let info = self.file.info();
        let space = &info.file_space;
        let strategy = match space.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => "H5F_FSPACE_STRATEGY_FSM_AGGR",
            FileSpaceStrategy::Page => "H5F_FSPACE_STRATEGY_PAGE",
            FileSpaceStrategy::Aggregators => "H5F_FSPACE_STRATEGY_AGGR",
            FileSpaceStrategy::None => "H5F_FSPACE_STRATEGY_NONE",
        };
        let persist = if space.persist { "TRUE" } else { "FALSE" };
        let lines: [(&str, String); 13] = [
            ("SUPERBLOCK_VERSION", info.superblock_version.to_string()),
            ("FREELIST_VERSION", "0".into()),
            ("SYMBOLTABLE_VERSION", "0".into()),
            ("OBJECTHEADER_VERSION", "0".into()),
            ("OFFSET_SIZE", info.size_of_offsets.to_string()),
            ("LENGTH_SIZE", info.size_of_lengths.to_string()),
            ("BTREE_RANK", info.group_internal_k.to_string()),
            ("BTREE_LEAF", info.group_leaf_k.to_string()),
            ("ISTORE_K", info.indexed_storage_k.to_string()),
            ("FILE_SPACE_STRATEGY", strategy.into()),
            ("FREE_SPACE_PERSIST", persist.into()),
            ("FREE_SPACE_SECTION_THRESHOLD", space.threshold.to_string()),
            ("FILE_SPACE_PAGE_SIZE", space.page_size.to_string()),
        ];
        self.line(0, "SUPER_BLOCK {")?;
        for (subject, value) in lines {
            self.line(LEVEL, &format!("{subject} {value}"))?;
        }
        self.line(LEVEL, "USER_BLOCK {")?;
        self.line(2 * LEVEL, &format!("USERBLOCK_SIZE {}", info.user_block))?;
        self.line(LEVEL, "}")?;
        self.line(0, "}")?;
        Ok(())
    }
}
