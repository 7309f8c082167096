//! File space info message of the superblock extension (section IV.A.2.x).
//!
//! ```text
//! version 0 (HDF5 1.10.0)                    version 1
//! size  field                                size  field
//! 1     version = 0                          1     version = 1
//! 1     strategy, 1 to 4                     1     strategy, 0 to 3
//! L     threshold                            1     persisting free space
//! 6 x O free-space managers (strategy 1)     L     free-space section threshold
//!                                            L     file space page size
//!                                            2     page-end metadata threshold
//!                                            O     EOA before the managers were allocated
//!                                            6 x O small-sized managers (if persisting)
//!                                            6 x O large-sized managers (if persisting)
//! ```
//!
//! The managers are for superblock, B-tree, raw data, global heap, local heap and object header, in
//! this order. Strategies of version 0 are mapped to strategies of version 1, as in libhdf5.

use super::{Message, MessageType};
use crate::codec::{Address, FileParams, Reader, Result, Writer};

/// The file space info message: the strategy and the settings for the management of free space in a
/// file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileSpaceInfo {
    /// Version of the message: 0 or 1.
    pub version: u8,
    /// Strategy that allocates file space.
    pub strategy: FileSpaceStrategy,
    /// Size in bytes of the smallest free section that managers track.
    pub threshold: u64,
    /// Page size in bytes under [`FileSpaceStrategy::Page`]; the default in version 0.
    pub page_size: u64,
    /// Size in bytes of the smallest free section at the end of a page that managers track; 0 in
    /// version 0.
    pub page_end_threshold: u16,
    /// End of allocation before the managers themselves were stored; undefined in version 0.
    pub end_before_managers: Address,
    /// Addresses of the stored managers; `Some` if free space persists when the file is closed.
    pub managers: Option<FreeSpaceManagers>,
}

/// The strategy by which a file allocates space for new blocks. Each strategy states which
/// allocators are tried, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileSpaceStrategy {
    /// Free-space managers, then aggregators, then the driver. The default.
    FreeSpaceAndAggregators,
    /// Free-space managers with pages, then the driver.
    Page,
    /// Aggregators, then the driver.
    Aggregators,
    /// Only the driver.
    None,
}

/// The addresses of free-space manager headers, one per type of space: superblock, B-tree, raw
/// data, global heap, local heap, object header. An address is undefined if the file has no manager
/// of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FreeSpaceManagers {
    /// Managers of sections smaller than a page, or of all sections in a file without pages.
    pub small: [Address; 6],
    /// Managers of larger sections in a file with pages; undefined in version 0.
    pub large: [Address; 6],
}

impl FreeSpaceManagers {
    /// The list of free-space manager addresses for a file that stores no managers.
    pub const NONE: Self = Self { small: [Address::UNDEFINED; 6], large: [Address::UNDEFINED; 6] };
}

impl FileSpaceInfo {
    /// Page size in bytes of a file whose file space info message states no page size.
    pub const DEFAULT_PAGE_SIZE: u64 = 4096;
    /// Largest page size in bytes of a file with paged allocation.
    pub const MAX_PAGE_SIZE: u64 = 1 << 30;

    /// The file space settings of a file without a file space info message.
    pub const DEFAULT: Self = Self {
        version: 1,
        strategy: FileSpaceStrategy::FreeSpaceAndAggregators,
        threshold: 1,
        page_size: Self::DEFAULT_PAGE_SIZE,
        page_end_threshold: 0,
        end_before_managers: Address::UNDEFINED,
        managers: None,
    };

    fn decode_version_0(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let strategy = r.u8("strategy")?;
        let threshold = r.length(params, "threshold")?;
        let (strategy, managers) = match strategy {
            1 => {
                let small = decode_addresses(r, params)?;
                let managers = FreeSpaceManagers { small, ..FreeSpaceManagers::NONE };
                (FileSpaceStrategy::FreeSpaceAndAggregators, Some(managers))
            }
            2 => (FileSpaceStrategy::FreeSpaceAndAggregators, None),
            3 => (FileSpaceStrategy::Aggregators, None),
            4 => (FileSpaceStrategy::None, None),
            other => return Err(r.corrupt("strategy", "1 to 4", other)),
        };
        // For strategies that do not track free sections, libhdf5 ignores the stored threshold and
        // uses the default.
        let tracks_sections = strategy == FileSpaceStrategy::FreeSpaceAndAggregators;
        let threshold = if tracks_sections { threshold } else { Self::DEFAULT.threshold };
        Ok(Self { version: 0, strategy, threshold, managers, ..Self::DEFAULT })
    }

    fn decode_version_1(r: &mut Reader<'_>, params: FileParams) -> Result<Self> {
        let strategy = match r.u8("strategy")? {
            0 => FileSpaceStrategy::FreeSpaceAndAggregators,
            1 => FileSpaceStrategy::Page,
            2 => FileSpaceStrategy::Aggregators,
            3 => FileSpaceStrategy::None,
            other => return Err(r.corrupt("strategy", "0 to 3", other)),
        };
        let persist = r.u8("persisting free-space")? != 0;
        let threshold = r.length(params, "free-space section threshold")?;
        let page_size = r.length(params, "file space page size")?;
        if !(1..=Self::MAX_PAGE_SIZE).contains(&page_size) {
            let expected = format!("1 to {}", Self::MAX_PAGE_SIZE);
            return Err(r.corrupt("file space page size", expected, page_size));
        }
        let page_end_threshold = r.u16("page-end metadata threshold")?;
        let end_before_managers = r.offset(params, "end of allocation")?;
        let managers = if persist {
            Some(FreeSpaceManagers {
                small: decode_addresses(r, params)?,
                large: decode_addresses(r, params)?,
            })
        } else {
            None
        };
        let version = 1;
        Ok(Self {
            version,
            strategy,
            threshold,
            page_size,
            page_end_threshold,
            end_before_managers,
            managers,
        })
    }

    fn encode_version_0(&self, params: FileParams, w: &mut Writer) {
        let strategy = match (self.strategy, self.managers) {
            (FileSpaceStrategy::FreeSpaceAndAggregators, Some(_)) => 1,
            (FileSpaceStrategy::FreeSpaceAndAggregators, None) => 2,
            (FileSpaceStrategy::Aggregators, None) => 3,
            (FileSpaceStrategy::None, None) => 4,
            (strategy, managers) => {
                w.fail("strategy", format_args!("{strategy:?}, persisting {}", managers.is_some()));
                0
            }
        };
        w.u8(strategy);
        w.length(params, self.threshold, "threshold");
        if let Some(managers) = self.managers {
            encode_addresses(&managers.small, params, w);
        }
    }

    fn encode_version_1(&self, params: FileParams, w: &mut Writer) {
        w.u8(match self.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => 0,
            FileSpaceStrategy::Page => 1,
            FileSpaceStrategy::Aggregators => 2,
            FileSpaceStrategy::None => 3,
        });
        w.u8(u8::from(self.managers.is_some()));
        w.length(params, self.threshold, "free-space section threshold");
        if !(1..=Self::MAX_PAGE_SIZE).contains(&self.page_size) {
            w.fail("file space page size", self.page_size);
        }
        w.length(params, self.page_size, "file space page size");
        w.u16(self.page_end_threshold);
        w.offset(params, self.end_before_managers, "end of allocation");
        if let Some(managers) = self.managers {
            encode_addresses(&managers.small, params, w);
            encode_addresses(&managers.large, params, w);
        }
    }
}

fn decode_addresses(r: &mut Reader<'_>, params: FileParams) -> Result<[Address; 6]> {
    let mut addresses = [Address::UNDEFINED; 6];
    for address in &mut addresses {
        *address = r.offset(params, "free-space manager address")?;
    }
    Ok(addresses)
}

fn encode_addresses(addresses: &[Address; 6], params: FileParams, w: &mut Writer) {
    for address in addresses {
        w.offset(params, *address, "free-space manager address");
    }
}

impl Message<'_> for FileSpaceInfo {
    const TYPE: MessageType = MessageType::FILE_SPACE_INFO;

    fn decode(bytes: &[u8], params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        match r.version(&[0, 1])? {
            0 => Self::decode_version_0(&mut r, params),
            _ => Self::decode_version_1(&mut r, params),
        }
    }

    fn encode(&self, params: FileParams, w: &mut Writer) {
        w.u8(self.version);
        match self.version {
            0 => self.encode_version_0(params, w),
            1 => self.encode_version_1(params, w),
            version => w.fail("version", version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{addresses, assert_laws, assert_survives, bodies, lengths, params};
    use proptest::prelude::*;

    const SMALL: FileParams = FileParams { size_of_offsets: 2, size_of_lengths: 4 };

    #[test]
    fn version_1() {
        let info = FileSpaceInfo { strategy: FileSpaceStrategy::Page, ..FileSpaceInfo::DEFAULT };
        let mut bytes = vec![1, 1, 0, 1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0xff, 0xff];
        assert_eq!(assert_laws!(FileSpaceInfo, info, SMALL), bytes);
        let mut managers = FreeSpaceManagers::NONE;
        managers.small[2] = Address::new(0x320);
        managers.large[5] = Address::new(0x77);
        let persisting = FileSpaceInfo { managers: Some(managers), ..info };
        bytes[2] = 1;
        bytes.extend([0xff; 24]);
        bytes[15 + 4..15 + 6].copy_from_slice(&[0x20, 3]);
        bytes[15 + 22..15 + 24].copy_from_slice(&[0x77, 0]);
        assert_eq!(assert_laws!(FileSpaceInfo, persisting, SMALL), bytes);
    }

    #[test]
    fn version_0() {
        let all = FileSpaceInfo { version: 0, threshold: 7, ..FileSpaceInfo::DEFAULT };
        assert_eq!(assert_laws!(FileSpaceInfo, all, SMALL), [0, 2, 7, 0, 0, 0]);
        let persisting = FileSpaceInfo { managers: Some(FreeSpaceManagers::NONE), ..all };
        let mut bytes = vec![0, 1, 7, 0, 0, 0];
        bytes.extend([0xff; 12]);
        assert_eq!(assert_laws!(FileSpaceInfo, persisting, SMALL), bytes);
        // Strategies without managers: the stored threshold is ignored.
        for strategy in [3, 4] {
            let info = FileSpaceInfo::decode(&[0, strategy, 7, 0, 0, 0], SMALL).unwrap();
            assert_eq!((info.threshold, info.managers), (1, None));
        }
        let paged = FileSpaceInfo { strategy: FileSpaceStrategy::Page, ..all };
        assert!(paged.to_bytes(SMALL).is_err());
    }

    #[test]
    fn refuses_contradictions() {
        let decode = |bytes: &[u8]| FileSpaceInfo::decode(bytes, SMALL);
        assert!(decode(&[0, 0, 7, 0, 0, 0]).is_err(), "strategy of version 0");
        assert!(decode(&[0, 5, 7, 0, 0, 0]).is_err(), "strategy of version 0");
        assert!(decode(&[1, 4, 0, 1, 0, 0, 0, 0, 16, 0, 0, 0, 0, 255, 255]).is_err(), "strategy");
        assert!(decode(&[1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]).is_err(), "page size");
        assert!(decode(&[1, 1, 1, 1, 0, 0, 0, 0, 16, 0, 0, 0, 0, 255, 255]).is_err(), "cut off");
        assert!(decode(&[2, 1, 0, 1, 0, 0, 0, 0, 16, 0, 0, 0, 0, 255, 255]).is_err(), "version");
    }

    proptest! {
        #[test]
        fn laws(
            params in params(),
            strategy in prop::sample::select(vec![
                FileSpaceStrategy::FreeSpaceAndAggregators,
                FileSpaceStrategy::Page,
                FileSpaceStrategy::Aggregators,
                FileSpaceStrategy::None,
            ]),
            threshold in lengths(),
            page_size in 1_u64..0xffff,
            page_end_threshold in any::<u16>(),
            end_before_managers in addresses(),
            managers in prop::option::of((prop::array::uniform6(addresses()), prop::array::uniform6(addresses()))),
            bytes in bodies(),
        ) {
            let managers = managers.map(|(small, large)| FreeSpaceManagers { small, large });
            let version = 1;
            assert_laws!(FileSpaceInfo, FileSpaceInfo {
                version, strategy, threshold, page_size, page_end_threshold, end_before_managers, managers,
            }, params);
            assert_survives!(FileSpaceInfo, &bytes, params);
        }
    }
}
