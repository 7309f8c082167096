//! The rules of h5repack that the options `-f`, `-l` and `--exclude-value` state for datasets.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use hyperslab::filter::{FilterId, FilterSpec, SzipCoding};
use hyperslab::{Repack, RepackLayout};

use crate::repack::Number;

/// The pattern of h5repack rules that matches all datasets.
const ALL_DATASETS: &str = "**";

/// The rules of h5repack for filters and layouts. Each rule is for all datasets or for the dataset
/// at a path.
#[derive(Debug, Default)]
pub(super) struct Rules {
    filters: Vec<(Option<String>, Vec<FilterSpec>)>,
    layouts: Vec<(Option<String>, RepackLayout)>,
    excluded: Vec<(Option<String>, Number)>,
}

impl Rules {
    /// Adds the filter that an option `-f` of h5repack states. The filters of a dataset apply in
    /// the order of the arguments.
    pub(super) fn filter(&mut self, text: &str) -> Result<()> {
        let (objects, filter) = split(text)?;
        let filter = filter_of(filter).with_context(|| format!("invalid filter type in <{text}>"))?;
        for object in objects {
            let index = self.filters.iter().position(|(known, _)| *known == object);
            let list = match index.and_then(|index| self.filters.get_mut(index)) {
                Some((_, list)) => list,
                None => &mut self.filters.push_mut((object, Vec::new())).1,
            };
            match &filter {
                Some(filter) => list.push(filter.clone()),
                None => list.clear(),
            }
        }
        Ok(())
    }

    /// Adds the layout that an option `-l` of h5repack states.
    pub(super) fn layout(&mut self, text: &str) -> Result<()> {
        let (objects, layout) = split(text)?;
        let layout = layout_of(layout).with_context(|| format!("invalid layout type in <{text}>"))?;
        self.layouts.extend(objects.into_iter().map(|object| (object, layout.clone())));
        Ok(())
    }

    /// Adds the undefined value that an option `--exclude-value` of h5repack states.
    pub(super) fn exclude(&mut self, text: &str) -> Result<()> {
        let (objects, value) = split(text)?;
        let number: Number = value.parse().map_err(|why: String| anyhow!(why))?;
        self.excluded.extend(objects.into_iter().map(|object| (object, number)));
        Ok(())
    }

    /// Adds the `-f` and `-l` options of an options file of h5repack.
    pub(super) fn file(&mut self, text: &str) -> Result<()> {
        let mut words = text.split_whitespace();
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(|| anyhow!("the last `{option}` has no value"));
            match option {
                "-f" | "--filter" => self.filter(value()?)?,
                "-l" | "--layout" => self.layout(value()?)?,
                _ => bail!(
                    "`{option}` is neither `-f` nor `-l`: a file of options may contain no other options"
                ),
            }
        }
        Ok(())
    }

    /// Returns the datasets that the rules of h5repack name. Each dataset comes with the number of
    /// dimensions that it must have.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, Option<usize>)> {
        let filtered = self.filters.iter().map(|(object, _)| (object, None));
        let laid_out = self.layouts.iter().map(|(object, layout)| match layout {
            RepackLayout::Chunked(shape) | RepackLayout::Sparse(shape) => (object, Some(shape.len())),
            _ => (object, None),
        });
        let excluded = self.excluded.iter().map(|(object, _)| (object, None));
        let all = filtered.chain(laid_out).chain(excluded);
        all.filter_map(|(object, rank)| Some((object.as_deref()?, rank)))
    }

    /// Passes the rules to a repack. Rules for one dataset take precedence over rules for all
    /// datasets.
    pub(super) fn apply<'a>(&self, mut work: Repack<'a>) -> Result<Repack<'a>> {
        for named in [false, true] {
            let is_turn = |object: &Option<String>| object.is_some() == named;
            for (object, filters) in self.filters.iter().filter(|(object, _)| is_turn(object)) {
                work = work.filters(&pattern(object.as_deref()), filters.clone())?;
            }
            for (object, layout) in self.layouts.iter().filter(|(object, _)| is_turn(object)) {
                work = work.layout(&pattern(object.as_deref()), layout.clone())?;
            }
            for (object, number) in self.excluded.iter().filter(|(object, _)| is_turn(object)) {
                work = number.undefined(work, &pattern(object.as_deref()))?;
            }
        }
        Ok(work)
    }
}

/// Splits an option of h5repack at its last colon into dataset paths and a value. An option without
/// a colon is for all datasets.
fn split(text: &str) -> Result<(Vec<Option<String>>, &str)> {
    let Some((objects, rest)) = text.rsplit_once(':') else { return Ok((vec![None], text)) };
    let object = |name: &str| {
        let name = name.trim_matches('/');
        ensure!(!name.is_empty(), "the list of objects in <{text}> has an empty name");
        Ok(Some(format!("/{name}")))
    };
    Ok((objects.split(',').map(object).collect::<Result<_>>()?, rest))
}

/// Returns a path pattern that matches only the given path.
fn pattern(object: Option<&str>) -> String {
    let Some(path) = object else { return ALL_DATASETS.to_owned() };
    let mut pattern = String::with_capacity(path.len());
    for letter in path.chars() {
        if matches!(letter, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Parses a filter name with its parameters for h5repack. Returns `None` for the name `NONE`.
fn filter_of(text: &str) -> Result<Option<FilterSpec>> {
    let (name, values) = text.split_once('=').unwrap_or((text, ""));
    let numbers = || -> Result<Vec<i64>> {
        let number = |text: &str| text.parse().with_context(|| format!("`{text}` is not a number"));
        values.split(',').map(number).collect()
    };
    let plain = |filter: FilterSpec| {
        ensure!(values.is_empty(), "the filter {name} has no parameters");
        Ok(Some(filter))
    };
    match name {
        "NONE" => Ok(None),
        "SHUF" => plain(FilterSpec::shuffle()),
        "FLET" => plain(FilterSpec::fletcher32()),
        "NBIT" => plain(FilterSpec::nbit()),
        "GZIP" => match numbers()?.as_slice() {
            [level @ 0..=9] => Ok(Some(FilterSpec::deflate(u32::try_from(*level)?))),
            _ => bail!("GZIP needs a level from 0 to 9"),
        },
        "SZIP" => {
            let coding = match values.split_once(',') {
                Some((_, "EC")) => SzipCoding::Entropy,
                Some((_, "NN")) => SzipCoding::NearestNeighbour,
                _ => bail!("SZIP needs pixels per block, and EC or NN"),
            };
            let pixels = values.split_once(',').and_then(|(pixels, _)| pixels.parse().ok());
            let pixels = pixels.filter(|pixels: &u32| (2..=32).contains(pixels) && pixels.is_multiple_of(2));
            let pixels =
                pixels.context("the number of szip pixels per block must be an even number from 2 to 32")?;
            Ok(Some(FilterSpec::szip(coding, pixels)))
        }
        "SOFF" => match values.split_once(',') {
            Some((bits, "IN")) => Ok(Some(FilterSpec::scale_offset_int(bits.parse()?))),
            Some((digits, "DS")) => Ok(Some(FilterSpec::scale_offset_float(digits.parse()?))),
            _ => bail!("SOFF needs a factor, and IN or DS"),
        },
        "UD" => user_defined(&numbers()?).map(Some),
        _ => bail!("`{name}` is not one of GZIP, SZIP, SHUF, FLET, NBIT, SOFF, UD and NONE"),
    }
}

fn user_defined(numbers: &[i64]) -> Result<FilterSpec> {
    let [number, flag @ 0..=1, count, values @ ..] = numbers else {
        bail!("UD needs a filter number, a flag 0 or 1, the number of values, and the values");
    };
    let count =
        usize::try_from(*count).context("the number of client data values of the filter is negative")?;
    ensure!(values.len() == count, "UD states {count} values, but {} follow", values.len());
    let id = FilterId(u16::try_from(*number).context("filter numbers range from 0 to 65535")?);
    let values: Vec<u32> = values.iter().map(|value| u32::try_from(*value)).collect::<Result<_, _>>()?;
    Ok(FilterSpec::custom(id, u16::try_from(*flag)?, values, id.name().map(str::to_owned)))
}

fn layout_of(text: &str) -> Result<RepackLayout> {
    let shape = |text: &str| crate::change::shape(text).map_err(|why| anyhow!(why));
    Ok(match text.split_once('=') {
        None if text == "COMPA" => RepackLayout::Compact,
        None if text == "CONTI" => RepackLayout::Contiguous,
        Some(("CHUNK", dims)) => RepackLayout::Chunked(shape(dims)?),
        Some(("SPARSECHUNK", dims)) => RepackLayout::Sparse(shape(dims)?),
        _ => bail!("`{text}` is not one of CHUNK=AxB, COMPA, CONTI and SPARSECHUNK=AxB"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_keep_their_order() {
        let mut rules = Rules::default();
        for text in ["SHUF", "a,b/c:GZIP=3", "a:FLET", "GZIP=1", "/b/c:NONE"] {
            rules.filter(text).unwrap();
        }
        let named = |object: &str| Some(object.to_owned());
        let expected = [
            (None, vec![FilterSpec::shuffle(), FilterSpec::deflate(1)]),
            (named("/a"), vec![FilterSpec::deflate(3), FilterSpec::fletcher32()]),
            (named("/b/c"), vec![]),
        ];
        assert_eq!(rules.filters, expected);
        assert_eq!(rules.named().collect::<Vec<_>>(), [("/a", None), ("/b/c", None)]);
    }

    #[test]
    fn parameters_are_checked() {
        for text in ["SZIP=8,NN", "SOFF=2,IN", "SOFF=-3,DS", "UD=307,1,1,9", "UD=32000,0,0", "NBIT"] {
            assert!(filter_of(text).unwrap().is_some(), "{text}");
        }
        for text in [
            "",
            "GZIP",
            "GZIP=10",
            "GZIP=x",
            "SHUF=1",
            "SZIP=7,NN",
            "SZIP=8",
            "SZIP=8,XX",
            "SOFF=2",
            "UD=307",
            "UD=307,2,1,9",
            "UD=307,0,2,9",
            "UD=70000,0,0",
            "UD=307,0,1,-9",
            "LZMA",
        ] {
            assert!(filter_of(text).is_err(), "{text}");
        }
        for text in ["CHUNK", "CHUNK=", "CHUNK=2xA", "COMPA=1", "ROUND"] {
            assert!(layout_of(text).is_err(), "{text}");
        }
        assert_eq!(layout_of("CHUNK=2x3").unwrap(), RepackLayout::Chunked(vec![2, 3]));
        assert_eq!(pattern(Some("/a*b")), "/a\\*b");
        assert!(split(":GZIP=1").is_err() && split("a,:GZIP=1").is_err());
    }

    #[test]
    fn files_of_options_are_parsed() {
        let mut rules = Rules::default();
        rules.file("-f a:GZIP=1\n-l a:CHUNK=10\n").unwrap();
        assert_eq!(rules.named().collect::<Vec<_>>(), [("/a", None), ("/a", Some(1))]);
        for text in ["-f", "-x 1", "GZIP=1"] {
            assert!(Rules::default().file(text).is_err(), "{text}");
        }
    }
}
