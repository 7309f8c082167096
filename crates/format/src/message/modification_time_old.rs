//! Object modification time (old) message (section IV.A.2.o).
//!
//! ```text
//! size  field
//! 4     year, as ASCII digits
//! 2     month, 01 to 12
//! 2     day of the month, 01 to 31
//! 2     hour, 00 to 23
//! 2     minute
//! 2     second
//! 2     reserved (zero)
//! ```

use super::{Message, MessageType};
use crate::codec::{FileParams, Reader, Result, Writer};

/// The old modification time message: the time of an object's last modification in UTC, as
/// libraries before HDF5 1.6 wrote it. The fields hold the stored numbers;
/// [`unix_seconds`](Self::unix_seconds) checks that the numbers are a valid date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModificationTimeOld {
    /// Year, 0 to 9999.
    pub year: u16,
    /// Month, 1 to 12.
    pub month: u8,
    /// Day of the month, 1 to 31.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
}

const SECONDS_PER_DAY: i64 = 86_400;

impl ModificationTimeOld {
    /// Returns the modification time as seconds since 1970-01-01T00:00:00Z (proleptic Gregorian
    /// calendar), or `None` if the stored numbers are not a valid date and time. A second of 60 (a
    /// leap second) counts as the first second of the next minute.
    pub fn unix_seconds(self) -> Option<i64> {
        let in_range = (1..=12).contains(&self.month)
            && (1..=days_of_month(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60;
        in_range.then(|| {
            let time = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
            days_before_year(self.year) * SECONDS_PER_DAY
                + (days_before_month(self.year, self.month) + i64::from(self.day) - 1) * SECONDS_PER_DAY
                + time
        })
    }

    /// Converts seconds since 1970-01-01T00:00:00Z to the date and time of an old modification time
    /// message. Returns `None` outside the years 0 to 9999.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        let time = seconds.rem_euclid(SECONDS_PER_DAY);
        let day = seconds.div_euclid(SECONDS_PER_DAY);
        // Estimate the year by its mean length (400 years have 146097 days). The error is at most
        // one year.
        let guess = day.checked_mul(400)?.div_euclid(146_097).checked_add(1970)?;
        let year = (guess.checked_sub(1)?..=guess.checked_add(1)?)
            .filter_map(|year| u16::try_from(year).ok().filter(|year| *year <= 9999))
            .rfind(|year| days_before_year(*year) <= day)?;
        let in_year = day.checked_sub(days_before_year(year))?;
        let month = (1..=12_u8).rfind(|month| days_before_month(year, *month) <= in_year)?;
        let day = u8::try_from(in_year.checked_sub(days_before_month(year, month))?.checked_add(1)?).ok()?;
        if day > days_of_month(year, month) {
            return None;
        }
        let part = |unit: i64, limit: i64| u8::try_from((time / unit) % limit).ok();
        Some(Self { year, month, day, hour: part(3600, 24)?, minute: part(60, 60)?, second: part(1, 60)? })
    }
}

fn is_leap(year: u16) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

fn days_of_month(year: u16, month: u8) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_before_month(year: u16, month: u8) -> i64 {
    (1..month).map(|month| i64::from(days_of_month(year, month))).sum()
}

/// Returns the number of days from 1970-01-01 to the first day of the year `year`.
fn days_before_year(year: u16) -> i64 {
    // Number of leap years before `year`, counted from year 0, a leap year.
    let leaps =
        |year: i64| (year + 3).div_euclid(4) - (year + 99).div_euclid(100) + (year + 399).div_euclid(400);
    let year = i64::from(year);
    (year - 1970) * 365 + leaps(year) - leaps(1970)
}

fn digits(r: &mut Reader<'_>, count: usize, field: &'static str) -> Result<u16> {
    let text = r.take(count, field)?;
    text.iter().try_fold(0_u16, |number, digit| {
        if digit.is_ascii_digit() {
            return Ok(number * 10 + u16::from(digit - b'0'));
        }
        Err(r.corrupt(field, "decimal digits", format_args!("\"{}\"", text.escape_ascii())))
    })
}

fn two_digits(r: &mut Reader<'_>, field: &'static str) -> Result<u8> {
    let number = digits(r, 2, field)?;
    u8::try_from(number).map_err(|_| r.corrupt(field, "two digits", number))
}

impl Message<'_> for ModificationTimeOld {
    const TYPE: MessageType = MessageType::MODIFICATION_TIME_OLD;

    fn decode(bytes: &[u8], _params: FileParams) -> Result<Self> {
        let mut r = Reader::new(Self::TYPE.name(), bytes);
        let time = Self {
            year: digits(&mut r, 4, "year")?,
            month: two_digits(&mut r, "month")?,
            day: two_digits(&mut r, "day of month")?,
            hour: two_digits(&mut r, "hour")?,
            minute: two_digits(&mut r, "minute")?,
            second: two_digits(&mut r, "second")?,
        };
        r.skip(2, "reserved")?;
        Ok(time)
    }

    fn encode(&self, _params: FileParams, w: &mut Writer) {
        if self.year > 9999 {
            w.fail("year", self.year);
        }
        let parts =
            [("month", self.month), ("day of month", self.day), ("hour", self.hour), ("minute", self.minute)];
        for (field, value) in parts.into_iter().chain([("second", self.second)]) {
            if value > 99 {
                w.fail(field, value);
            }
        }
        let Self { year, month, day, hour, minute, second } = self;
        w.bytes(format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}").as_bytes());
        w.zeros(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::laws::{assert_laws, assert_survives, bodies};
    use proptest::prelude::*;

    fn decode(text: &[u8; 16]) -> Result<ModificationTimeOld> {
        ModificationTimeOld::decode(text, FileParams::DEFAULT)
    }

    #[test]
    fn known_times() {
        assert_eq!(decode(b"19700101000000\0\0").unwrap().unix_seconds(), Some(0));
        assert_eq!(decode(b"19981113172523\0\0").unwrap().unix_seconds(), Some(910_977_923));
        assert_eq!(decode(b"20000229235959\0\0").unwrap().unix_seconds(), Some(951_868_799));
        assert_eq!(decode(b"21000301000000\0\0").unwrap().unix_seconds(), Some(4_107_542_400));
        assert_eq!(decode(b"00000101000000\0\0").unwrap().unix_seconds(), Some(-62_167_219_200));
        assert_eq!(decode(b"19000229000000\0\0").unwrap().unix_seconds(), None);
        assert_eq!(decode(b"19991301000000\0\0").unwrap().unix_seconds(), None);
        assert!(decode(b"1999 301000000\0\0").is_err());
        assert_eq!(ModificationTimeOld::from_unix_seconds(i64::MAX), None);
        assert_eq!(ModificationTimeOld::from_unix_seconds(253_402_300_800), None);
        assert_eq!(ModificationTimeOld::from_unix_seconds(-62_167_219_201), None);
    }

    proptest! {
        #[test]
        fn seconds_and_back(seconds in -62_167_219_200_i64..253_402_300_800) {
            let time = ModificationTimeOld::from_unix_seconds(seconds).unwrap();
            prop_assert_eq!(time.unix_seconds(), Some(seconds));
            assert_laws!(ModificationTimeOld, time, FileParams::DEFAULT);
        }

        #[test]
        fn survives(bytes in bodies(), digits in "[0-9]{16}") {
            assert_survives!(ModificationTimeOld, &bytes, FileParams::DEFAULT);
            assert_survives!(ModificationTimeOld, digits.as_bytes(), FileParams::DEFAULT);
        }
    }
}
