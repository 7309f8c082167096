//! The search for the members of a file, by the contents of the file or by the names of files
//! beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_engine::ops::{MemberRange, Members};
use hyperslab_engine::{Error, Result};
use hyperslab_vfd::{Access, Driver, DriverError, Family, FamilyPattern, Multi, MultiMember, Sec2};

/// The guessed members of an HDF5 file: files in the same folder that have the names of members.
/// The file itself does not state the names of its members.
pub(super) enum GuessedMembers {
    Family(Family),
    Multi(Multi),
    Invalid(Error),
}

/// Returns the guessed members of the HDF5 file at `path`: files in the same folder that have the
/// names of members. The contents of the files are not compared.
pub(super) fn guessed_members(path: &Path, access: Access) -> Option<GuessedMembers> {
    if FamilyPattern::of_first_member(path).any(|pattern| pattern.member(1).is_file()) {
        return Some(
            family_beside(path, None, access).map_or_else(GuessedMembers::Invalid, GuessedMembers::Family),
        );
    }
    let base = path_without_end(path, "-s.h5")?;
    let members = MultiMember::multi(&base);
    if !members.iter().skip(1).any(|member| member.path.is_file()) {
        return None;
    }
    let beside = members.iter().try_for_each(|member| check_beside(path, &member.path));
    let opened = beside.and_then(|()| Multi::open(members, access).map_err(cannot_open));
    opened.ok().map(GuessedMembers::Multi)
}

/// Returns a driver for all members of the HDF5 file at `path`. Returns `None` if the file has no
/// other members.
pub(crate) fn members_of(path: &Path, access: Access) -> Result<Option<Arc<dyn Driver>>> {
    match stated_members(path) {
        Ok(Members::Family { member_size }) => {
            Ok(Some(Arc::new(family_beside(path, Some(member_size), access)?)))
        }
        Ok(Members::Multi(multi)) => Ok(Some(Arc::new(multi_beside(path, &multi.ranges, access)?))),
        Ok(Members::Incomplete) => match guessed_members(path, access) {
            None => Ok(None),
            Some(GuessedMembers::Invalid(error)) => Err(error),
            Some(GuessedMembers::Family(family)) => Ok(Some(Arc::new(family))),
            Some(GuessedMembers::Multi(multi)) => Ok(Some(Arc::new(multi))),
        },
        _ => Ok(None),
    }
}

/// Opens a family of member files that the caller did not choose explicitly. All members must be in
/// the folder of the first member.
pub(super) fn family_beside(path: &Path, member_size: Option<u64>, access: Access) -> Result<Family> {
    let pattern = family_pattern(path)?;
    for number in 0.. {
        let member = pattern.member(number);
        if !member.is_file() {
            break;
        }
        check_beside(path, &member)?;
    }
    family(path, member_size, access)
}

pub(super) fn multi_beside(path: &Path, ranges: &[MemberRange], access: Access) -> Result<Multi> {
    let members = multi_members(path, ranges, MemberNames::FormedFromFile)?;
    members.iter().try_for_each(|member| check_beside(path, &member.path))?;
    Multi::open(members, access).map_err(cannot_open)
}

pub(super) fn family(path: &Path, member_size: Option<u64>, access: Access) -> Result<Family> {
    let pattern = family_pattern(path)?;
    let size = member_size.or_else(|| match stated_members(&pattern.member(0)) {
        Ok(Members::Family { member_size }) => Some(member_size),
        _ => None,
    });
    Family::open(pattern, access, size).map_err(cannot_open)
}

pub(super) fn cannot_open(source: DriverError) -> Error {
    Error::Io { action: "cannot open the file".into(), source }
}

/// Returns an error if a member file exists outside the folder of the first member and its
/// subfolders. Symbolic links are resolved first.
pub(super) fn check_beside(first: &Path, member: &Path) -> Result<()> {
    let (Ok(first), Ok(member_there)) = (first.canonicalize(), member.canonicalize()) else { return Ok(()) };
    if first.parent().is_some_and(|folder| member_there.starts_with(folder)) {
        return Ok(());
    }
    Err(Error::Misuse(format!(
        "the member file `{}` is outside the folder of the first member; name the driver to open such files",
        member.display()
    )))
}

/// Returns the members that the superblock in the first member of a file names.
pub(super) fn stated_members(first: &Path) -> Result<Members> {
    Members::of(Arc::new(Sec2::open(first, Access::ReadOnly).map_err(cannot_open)?))
}

/// Returns the file name pattern of a family of member files. `path` is the pattern, or the first
/// member, whose number is 0. If its name contains several zeros, the number is the last zero for
/// which a second member exists.
fn family_pattern(path: &Path) -> Result<FamilyPattern> {
    if !path.is_file()
        && let Some(text) = path.to_str().filter(|text| text.contains('%'))
    {
        return FamilyPattern::parse(text).map_err(cannot_open);
    }
    let mut last = None;
    for pattern in FamilyPattern::of_first_member(path) {
        if pattern.member(1).is_file() {
            return Ok(pattern);
        }
        last.get_or_insert(pattern);
    }
    last.ok_or_else(|| {
        Error::Misuse(format!(
            "the name of the first family member `{}` contains no number 0; open the pattern of the names, such as \
             `name%05d.h5`",
            path.display()
        ))
    })
}

/// Returns a file path without the suffix `end` of its file name. Returns `None` if the file name
/// has another suffix.
pub(super) fn path_without_end(path: &Path, end: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    Some(path.with_file_name(name.strip_suffix(end).filter(|base| !base.is_empty())?))
}

/// A restriction on the names of the member files that are opened: any names in the same folder, or
/// only names that contain the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberNames {
    /// Only names that contain the name of the file. If the caller did not open the file as a multi
    /// file, the file can then only lead to files that are named after it.
    FormedFromFile,
    /// The names of any files in the same folder.
    Any,
}

/// Returns the members of a file of the multi driver. The first member is at `path`.
pub(super) fn multi_members(
    path: &Path,
    ranges: &[MemberRange],
    names: MemberNames,
) -> Result<Vec<MultiMember>> {
    let first = ranges.iter().find(|range| range.start == 0);
    let first = first.ok_or_else(|| Error::unsupported("a multi file that has no member at offset 0"))?;
    let own = MemberName::parse(&first.name)?;
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        Error::unsupported(format!("the name of the multi file `{}`, which is not UTF-8", path.display()))
    })?;
    let base = own.base(name).ok_or_else(|| {
        Error::Misuse(format!(
            "the first member of a multi file is `{name}`, but its superblock names it `{}`; rename the file, \
             or open it with the split driver and the suffixes of the member names",
            String::from_utf8_lossy(&first.name)
        ))
    })?;
    ranges
        .iter()
        .map(|range| {
            let name = MemberName::parse(&range.name)?;
            if names == MemberNames::FormedFromFile && (!name.has_base || base.is_empty()) {
                let name = range.name.escape_ascii();
                return Err(Error::Misuse(format!(
                    "the member file name `{name}` is not formed from the name of the file; name the multi driver to \
                     open such files"
                )));
            }
            let name = name.with(base);
            Ok(MultiMember { path: path.with_file_name(name), start: range.start, expected: range.length })
        })
        .collect()
}

/// The name pattern of a member of a multi file: the text before and after the name of the whole
/// file. The name of the whole file may be missing.
struct MemberName {
    before: String,
    has_base: bool,
    after: String,
}

impl MemberName {
    /// Parses the name pattern of a member file with `%s` and `%%` as in C's `printf`. Returns an
    /// error for a name that leads into another folder, because the name comes from the file.
    fn parse(name: &[u8]) -> Result<Self> {
        let refused =
            |why| Error::unsupported(format!("the member file name `{}`, {why},", name.escape_ascii()));
        let text = std::str::from_utf8(name).map_err(|_| refused("which is not UTF-8"))?;
        let mut parts = [String::new(), String::new()];
        let mut has_base = false;
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('%') {
            let part = if has_base { &mut parts[1] } else { &mut parts[0] };
            part.push_str(plain);
            rest = match (after.strip_prefix('%'), after.strip_prefix('s')) {
                (Some(after), _) => {
                    part.push('%');
                    after
                }
                (_, Some(after)) if !has_base => {
                    has_base = true;
                    after
                }
                _ => return Err(refused("which has a `%` other than `%s` and `%%`")),
            };
        }
        let [mut before, mut after] = parts;
        if has_base { &mut after } else { &mut before }.push_str(rest);
        if text.contains(['/', '\\']) || (!has_base && matches!(before.as_str(), "" | "." | "..")) {
            return Err(refused("which leads out of the folder of the file"));
        }
        Ok(Self { before, has_base, after })
    }

    /// Returns the base of the member file name `name`: the name of the whole file, which is a part
    /// of it. Returns `None` if `name` does not match the pattern of this member.
    fn base<'a>(&self, name: &'a str) -> Option<&'a str> {
        if !self.has_base {
            return (name == self.before).then_some("");
        }
        name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())
    }

    fn with(&self, base: &str) -> String {
        if self.has_base { format!("{}{base}{}", self.before, self.after) } else { self.before.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_after_the_first() {
        let range = |start, name: &str| MemberRange { start, length: 7, name: name.into() };
        let members = |path: &str, names: [&str; 2]| {
            let ranges = [range(0, names[0]), range(9, names[1])];
            multi_members(path.as_ref(), &ranges, MemberNames::Any).map(|members| {
                members.iter().map(|member| member.path.display().to_string()).collect::<Vec<_>>()
            })
        };
        assert_eq!(members("d/x-s.h5", ["%s-s.h5", "%s-r.h5"]).unwrap(), ["d/x-s.h5", "d/x-r.h5"]);
        assert_eq!(members("x%", ["%s%%", "raw.%s"]).unwrap(), ["x%", "raw.x"]);
        assert_eq!(members("d/meta", ["meta", "raw"]).unwrap(), ["d/meta", "d/raw"]);
        for names in
            [["%s-s", "../%s"], ["%s-s", "%s/../../x"], ["%s-s", "%d"], ["%s-s", "%s%s"], ["%s-s", ".."]]
        {
            let error = members("x-s", names).unwrap_err().to_string();
            assert!(error.contains(names[1]), "{error}");
        }
        for (path, names) in [("meta", ["meta", "%s-r"]), ("x-s", ["%s-s", "raw"]), ("-s", ["%s-s", "%s-r"])]
        {
            let ranges = [range(0, names[0]), range(9, names[1])];
            assert!(multi_members(path.as_ref(), &ranges, MemberNames::FormedFromFile).is_err(), "{path}");
            assert!(multi_members(path.as_ref(), &ranges, MemberNames::Any).is_ok(), "{path}");
        }
        let renamed = members("y", ["%s-s.h5", "%s-r.h5"]).unwrap_err().to_string();
        assert!(renamed.contains("`y`") && renamed.contains("`%s-s.h5`"), "{renamed}");
    }
}
