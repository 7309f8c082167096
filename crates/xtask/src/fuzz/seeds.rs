//! First inputs for the fuzz targets: pieces of the fixtures, cut out at the signatures of structures.

use std::path::Path;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

/// Bytes before the structure that choose widths and the like; zeros are the usual ones.
const CONTROL: [u8; 8] = [0; 8];
/// Bytes of the largest fixture that is a seed of its own, and of the longest piece.
const MOST_BYTES: usize = 48 << 10;
const PIECE: usize = 2048;
/// Pieces of one kind from one fixture.
const MOST_PIECES: usize = 6;

/// How the seeds of a target are cut.
struct Cut {
    target: &'static str,
    /// Signatures that an input may begin with.
    heads: &'static [&'static [u8]],
    /// Bytes of a head, and signatures of the blocks of which one is put behind it.
    behind: Option<(usize, &'static [&'static [u8]])>,
}

const CUTS: &[Cut] = &[
    Cut { target: "object_header", heads: &[b"OHDR", b"OCHK"], behind: None },
    Cut { target: "btree_v1", heads: &[b"TREE", b"SNOD"], behind: None },
    Cut { target: "btree_v2", heads: &[b"BTHD"], behind: Some((38, &[b"BTLF", b"BTIN"])) },
    Cut { target: "btree_v2", heads: &[b"SMTB", b"SMLI"], behind: None },
    Cut { target: "fractal_heap", heads: &[b"FRHP"], behind: Some((146, &[b"FHDB", b"FHIB"])) },
    Cut { target: "fixed_array", heads: &[b"FAHD"], behind: Some((28, &[b"FADB"])) },
    Cut { target: "extensible_array", heads: &[b"EAHD"], behind: Some((72, &[b"EAIB", b"EASB", b"EADB"])) },
    Cut { target: "local_heap", heads: &[b"HEAP"], behind: None },
    Cut { target: "global_heap", heads: &[b"GCOL"], behind: None },
    Cut { target: "free_space", heads: &[b"FSHD"], behind: Some((82, &[b"FSSE"])) },
];

/// Writes the seeds of a target into its corpus; gives their number.
pub(super) fn harvest(target: &str, corpus: &Path) -> Result<usize> {
    let fixtures = workspace::root().join("fixtures");
    let mut count = 0_usize;
    for entry in std::fs::read_dir(&fixtures).context("fixtures")? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "h5") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = std::fs::read(&path).with_context(|| path.display().to_string())?;
        for (number, seed) in of_file(target, &file).into_iter().enumerate() {
            std::fs::write(corpus.join(format!("seed-{name}-{number}")), seed)?;
            count = count.saturating_add(1);
        }
    }
    Ok(count)
}

fn of_file(target: &str, file: &[u8]) -> Vec<Vec<u8>> {
    match target {
        "whole_file" | "whole_change" => {
            [file.to_vec()].into_iter().filter(|file| file.len() <= MOST_BYTES).collect()
        }
        "superblock" => vec![file.iter().take(256).copied().collect()],
        // Bodies of messages: the target tries each decoder on them.
        "datatype" | "selection" => bodies(file),
        _ => CUTS.iter().filter(|cut| cut.target == target).flat_map(|cut| cut.pieces(file)).collect(),
    }
}

impl Cut {
    fn pieces(&self, file: &[u8]) -> Vec<Vec<u8>> {
        let heads = self.heads.iter().flat_map(|signature| starts(file, signature));
        let Some((head_size, nodes)) = self.behind else {
            return heads.map(|start| piece(file, start, PIECE, &[])).collect();
        };
        let nodes: Vec<usize> = nodes.iter().flat_map(|signature| starts(file, signature)).collect();
        heads.flat_map(|head| nodes.iter().map(move |node| pair(file, head, head_size, *node))).collect()
    }
}

/// A head with the node behind it.
fn pair(file: &[u8], head: usize, head_size: usize, node: usize) -> Vec<u8> {
    let node: Vec<u8> = file.iter().skip(node).take(PIECE).copied().collect();
    piece(file, head, head_size, &node)
}

/// Control bytes, `length` bytes from `start`, and what comes behind.
fn piece(file: &[u8], start: usize, length: usize, behind: &[u8]) -> Vec<u8> {
    let bytes = file.iter().skip(start).take(length);
    CONTROL.iter().chain(bytes).chain(behind).copied().collect()
}

fn starts(file: &[u8], signature: &[u8]) -> Vec<usize> {
    let found = file.windows(signature.len()).enumerate().filter(|(_, window)| *window == signature);
    found.map(|(start, _)| start).take(MOST_PIECES).collect()
}

/// What stands behind the envelopes of version 2 headers, and the blocks of global heaps.
fn bodies(file: &[u8]) -> Vec<Vec<u8>> {
    let headers = starts(file, b"OHDR").into_iter().flat_map(|start| [start + 11, start + 27]);
    let blocks = starts(file, b"GCOL").into_iter().map(|start| start + 32);
    headers.chain(blocks).map(|start| piece(file, start, 256, &[])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gets_each_node_behind_it() {
        let file = [&b"..FAHD"[..], &[7; 24], b"FADBxFADBy"].concat();
        let seeds = of_file("fixed_array", &file);
        assert_eq!(seeds.len(), 2);
        for (seed, tail) in seeds.iter().zip([&b"FADBxFADBy"[..], b"FADBy"]) {
            assert!(seed.starts_with(b"\0\0\0\0\0\0\0\0FAHD\x07"));
            assert!(seed.ends_with(tail), "{}", seed.escape_ascii());
        }
    }

    #[test]
    fn every_target_but_the_generated_ones_has_seeds() {
        let file = std::fs::read(workspace::root().join("fixtures/weather_station.h5")).unwrap();
        assert!(!of_file("superblock", &file).is_empty());
        assert!(of_file("filters", &file).is_empty());
    }
}
