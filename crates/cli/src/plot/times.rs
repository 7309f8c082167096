//! Times as numbers with a unit, in the notation of the climate and forecast (CF) conventions:
//! `days since 1970-01-01`.

use super::casts::nearest;
use crate::dates::utc;

/// A CF unit of time values: the length of a step, and the time that the value zero represents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    /// The length of the unit, in seconds.
    seconds: f64,
    /// The start, in seconds since 1970-01-01.
    start: f64,
}

/// The number of seconds in a day.
const DAY_SECONDS: f64 = 86_400.0;

/// The names of CF time units, with their lengths in seconds.
const UNITS: [(&[&str], f64); 7] = [
    (&["days", "day", "d"], DAY_SECONDS),
    (&["hours", "hour", "hr", "h"], 3600.0),
    (&["minutes", "minute", "min"], 60.0),
    (&["seconds", "second", "sec", "s"], 1.0),
    (&["milliseconds", "millisecond", "msec", "ms"], 1e-3),
    (&["microseconds", "microsecond", "us"], 1e-6),
    (&["nanoseconds", "nanosecond", "ns"], 1e-9),
];

impl Unit {
    /// Parses a time unit such as `hours since 2000-01-01 06:00`. Returns `None` for other units,
    /// and for calendars other than the Gregorian one.
    pub(super) fn parse(units: &str, calendar: Option<&str>) -> Option<Self> {
        if !matches!(calendar, None | Some("standard" | "gregorian" | "proleptic_gregorian")) {
            return None;
        }
        let (name, start) = units.split_once(" since ")?;
        let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&name.trim()))?;
        Some(Self { seconds: *seconds, start: moment(start.trim())? })
    }

    /// Formats a time value as a date. Adds the time of day if ticks at the distance `step` need
    /// it.
    pub(super) fn text(&self, value: f64, step: f64) -> String {
        let seconds = value.mul_add(self.seconds, self.start);
        let whole = utc(nearest(seconds));
        let length = match step * self.seconds {
            step if step >= DAY_SECONDS => "2000-01-01".len(),
            step if step >= 60.0 => "2000-01-01 00:00".len(),
            _ => "2000-01-01 00:00:00".len(),
        };
        whole.get(..length).unwrap_or(&whole).to_owned()
    }
}

/// Parses a date, with or without a time of day, as the number of seconds since 1970-01-01.
fn moment(text: &str) -> Option<f64> {
    let text = text.trim_end_matches(" UTC").trim_end_matches('Z');
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(-100_000..=100_000).contains(&year) {
        return None;
    }
    let mut seconds = 0.0;
    for (part, length) in time.split(':').zip([3600.0, 60.0, 1.0]) {
        if !part.is_empty() {
            seconds += part.parse::<f64>().ok()? * length;
        }
    }
    // Years begin with March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + day - 719_468;
    Some(super::casts::signed(days) * DAY_SECONDS + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_units() {
        for (units, value, step, expected) in [
            ("days since 1970-01-01", 1.0, 1.0, "1970-01-02"),
            ("hours since 2000-02-28 06:00", 24.0, 6.0, "2000-02-29 06:00"),
            ("seconds since 1969-12-31T23:59:00Z", 90.0, 10.0, "1970-01-01 00:00:30"),
            ("days since 1-1-1", 719_162.0, 1.0, "1970-01-01"),
        ] {
            assert_eq!(Unit::parse(units, None).unwrap().text(value, step), expected, "{units}");
        }
        for units in ["K", "days", "months since 2000-01-01", "days since today"] {
            assert_eq!(Unit::parse(units, None), None, "{units}");
        }
        assert_eq!(Unit::parse("days since 2000-01-01", Some("noleap")), None);
    }
}
