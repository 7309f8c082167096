//! `cargo xtask submodules`: the uses of a higher submodule by a lower one, and the cycles of
//! submodules. A submodule is a module directly in a folder, with all modules inside it.

pub(crate) mod graph;
pub(crate) mod order;
pub(crate) mod paths;

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use crate::tidy::source::Tree;
use graph::{Arrow, Modules, Use, arrows, cycles, folders};
use order::{ORDERS, Order};

/// The crates whose submodules the task prints.
const CRATES: &[&str] = &["engine", "cli"];

/// Largest number of lines that are printed for an arrow.
const MAX_SHOWN_LINES: usize = 8;

/// Prints each arrow that goes up and each cycle, with the lines that cause it, and their counts.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let tree = Tree::read(&workspace::root())?;
    let (mut upward, mut circular) = (0, 0);
    for name in CRATES {
        let uses = Modules::read(&tree, name).uses();
        for order in ORDERS.iter().filter(|order| crate_of(order) == *name) {
            let up = upward_arrows(&uses, order);
            println!("{}: {} upward arrows in the order {}", order.folder, up.len(), order.text());
            up.iter().for_each(print);
            upward += up.len();
        }
        for folder in folders(&uses) {
            let arrows = arrows(&uses, &folder);
            for group in cycles(&arrows) {
                println!("crates/{name}/src/{}: a cycle of {}", folder.join("/"), group.join(", "));
                let inside = |arrow: &&Arrow| group.contains(&arrow.from) && group.contains(&arrow.to);
                arrows.iter().filter(inside).for_each(print);
                circular += 1;
            }
        }
    }
    println!("submodules: {upward} upward arrows, {circular} cycles");
    match upward {
        0 => Ok(()),
        _ => bail!("{upward} upward arrows"),
    }
}

/// Returns the arrows that lead to a submodule of the same level or of a higher one.
pub(crate) fn upward_arrows(uses: &[Use], order: &Order) -> Vec<Arrow> {
    let goes_up = |arrow: &Arrow| match (order.level(&arrow.from), order.level(&arrow.to)) {
        (Some(from), Some(to)) => to >= from,
        _ => false,
    };
    arrows(uses, &module_of(order)).into_iter().filter(goes_up).collect()
}

/// Returns the folder name of the crate of an order.
pub(crate) fn crate_of(order: &Order) -> &'static str {
    order.folder.split('/').nth(1).unwrap_or_default()
}

/// Returns the module path of an order's folder.
pub(crate) fn module_of(order: &Order) -> Vec<String> {
    order.folder.split('/').skip(3).map(String::from).collect()
}

fn print(arrow: &Arrow) {
    println!("  {} -> {}", arrow.from, arrow.to);
    for (file, line) in arrow.places.iter().take(MAX_SHOWN_LINES) {
        println!("    {file}:{line}");
    }
    if arrow.places.len() > MAX_SHOWN_LINES {
        println!("    and {} more", arrow.places.len() - MAX_SHOWN_LINES);
    }
}
