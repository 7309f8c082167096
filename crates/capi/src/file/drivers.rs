//! The drivers of files that a file access list chooses.

use std::sync::Arc;

use hyperslab::vfd::{Access, Core, CoreOptions, Driver, Family, FamilyPattern, Multi, Sec2};

use super::open::Request;
use super::{H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_TRUNC};
use crate::error::{Because, Failure, Outcome, codes};
use crate::plist::driver_choice::DriverChoice;

impl Request<'_> {
    /// Returns true if the requested file exists.
    pub fn exists(&self) -> bool {
        self.path().exists()
    }

    /// Opens the requested file with a driver of the library, without a look at its content.
    ///
    /// # Errors
    /// Returns the errors of the driver.
    pub fn plain_driver(&self) -> Outcome<Arc<dyn Driver>> {
        self.driver(&self.access.driver)
    }

    /// Returns the access mode in which the library's drivers open the requested file: read-only or
    /// read-write.
    fn mode(&self) -> Access {
        match self.create {
            Some(_) if self.flags & H5F_ACC_EXCL != 0 && self.flags & H5F_ACC_TRUNC == 0 => Access::CreateNew,
            Some(_) => Access::Truncate,
            None if self.flags & H5F_ACC_RDWR != 0 => Access::ReadWrite,
            None => Access::ReadOnly,
        }
    }

    /// Opens the requested file with the driver that the file access list chooses.
    pub(super) fn driver(&self, driver: &DriverChoice) -> Outcome<Arc<dyn Driver>> {
        let failed = (codes::VFL, codes::CANTINIT, "cannot open the file");
        Ok(match driver {
            DriverChoice::Core { increment, backing_store, .. } => {
                let options = CoreOptions { increment: (*increment).max(1), backing_store: *backing_store };
                self.core(options)?
            }
            DriverChoice::Family { member_size, .. } => {
                let text = String::from_utf8_lossy(self.name);
                let pattern = FamilyPattern::parse(&text)
                    .map_err(driver_error)
                    .because(failed.0, failed.1, failed.2)?;
                let size = (*member_size != 0).then_some(*member_size);
                self.check_family(&pattern, size)?;
                Arc::new(Family::open(pattern, self.mode(), size).map_err(driver_error)?)
            }
            DriverChoice::Split { multi, .. } | DriverChoice::Multi(multi) => {
                let members = multi.members(self.name)?;
                Arc::new(Multi::open(members, self.mode()).map_err(driver_error)?)
            }
            DriverChoice::Splitter(_) | DriverChoice::Onion(_) => {
                return Err(Failure::unsupported(
                    "the splitter driver and the onion driver are not supported",
                ));
            }
            _ => Arc::new(Sec2::open(self.path(), self.mode()).map_err(driver_error)?),
        })
    }

    /// Checks that the first member of an existing family has the given size, if it is not the last
    /// member.
    fn check_family(&self, pattern: &FamilyPattern, size: Option<u64>) -> Outcome<()> {
        if self.create.is_some() || !pattern.member(1).is_file() {
            return Ok(());
        }
        let first = std::fs::metadata(pattern.member(0)).map_err(|error| io_error(&error))?.len();
        if size.is_none_or(|size| size == first) {
            return Ok(());
        }
        let text = format!("the members of the family have {first} bytes, other than the list states");
        Err(Failure::new(codes::VFL, codes::BADVALUE, text))
    }

    /// Opens the requested file in memory, and reads its bytes from the file system or from the
    /// file image.
    fn core(&self, options: CoreOptions) -> Outcome<Arc<dyn Driver>> {
        let name = String::from_utf8_lossy(self.name).into_owned();
        if let (Some(image), None) = (&self.access.image, &self.create) {
            if options.backing_store {
                std::fs::write(self.path(), image.bytes()).map_err(|error| io_error(&error))?;
                return Ok(Arc::new(Core::open(self.path(), self.mode(), options).map_err(driver_error)?));
            }
            return Ok(Arc::new(Core::with_options(name, image.bytes().to_vec(), options)));
        }
        if self.create.is_some() && !options.backing_store {
            if self.mode() == Access::CreateNew && self.path().exists() {
                let text = "the file exists, errno = 17";
                return Err(Failure::new(codes::FILE, codes::FILEEXISTS, text));
            }
            return Ok(Arc::new(Core::with_options(name, Vec::new(), options)));
        }
        Ok(Arc::new(Core::open(self.path(), self.mode(), options).map_err(driver_error)?))
    }
}

/// Returns the failure for an error of a file driver, with the number of the system error.
fn driver_error(error: hyperslab::vfd::DriverError) -> Failure {
    let number = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .and_then(std::io::Error::raw_os_error);
    let text = match number {
        Some(number) => format!("{error}, errno = {number}"),
        None => error.to_string(),
    };
    Failure::new(codes::VFL, codes::CANTOPENFILE, text)
}

/// Returns the failure for an I/O error, with the number of the system error.
fn io_error(error: &std::io::Error) -> Failure {
    let number = error.raw_os_error().unwrap_or_default();
    Failure::new(codes::VFL, codes::CANTOPENFILE, format!("{error}, errno = {number}"))
}
