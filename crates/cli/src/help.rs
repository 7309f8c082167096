//! The help text, which lists the commands in groups, and the choice of the command if the only
//! argument is a file name.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use clap::Command;

/// The groups of commands in the help text.
const GROUPS: &[(&str, &[&str])] = &[
    ("Look", &["tree", "ls", "browse", "info", "cat", "head", "tail", "find", "digest"]),
    ("Draw", &["plot", "demo"]),
    ("Serve", &["serve", "view"]),
    ("Compare", &["diff"]),
    ("Measure", &["stat", "bench-file"]),
    ("Check and repair", &["check", "recover"]),
    ("Change", &["cp", "mv", "rm", "mkdir", "ln", "attr", "repack"]),
    ("Exchange", &["import", "export"]),
    (
        "Tools of the C library",
        &["h5clear", "h5copy", "h5diff", "h5dump", "h5ls", "h5mkgrp", "h5repack", "h5stat"],
    ),
    ("Programs of the C library", &["adopt"]),
    ("Shell", &["completions", "man"]),
];

/// The command of hyperslab that applies if the command line has only a file name.
const DEFAULT_COMMAND: &str = "tree";

/// The column of the help text in which the descriptions of commands begin.
const ABOUT_COLUMN: usize = 13;

/// The template of the help text. The command list precedes the options.
const TEMPLATE: &str =
    "{about}\n\n{usage-heading} {usage}\n       hyperslab FILE\n{before-help}Options:\n{options}{after-help}";

/// Adds the groups of commands to the help text.
pub(crate) fn grouped(command: Command) -> Command {
    let text = groups(&command).trim_end().to_owned();
    command
        .help_template(TEMPLATE)
        .before_help(text)
        .after_help("`hyperslab help COMMAND` describes a command.")
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (name, commands) in GROUPS {
        // A write to a string does not fail.
        let _ = writeln!(text, "\n{name}:");
        for name in *commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let Some(about) = about else { continue };
            let _ = writeln!(text, "  {name:ABOUT_COLUMN$}{about}");
        }
    }
    text
}

/// Adds the command `tree` if the first word is not a command and names a file.
pub(crate) fn with_default_command(command: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let is_file = |word: &OsString| {
        let text = word.to_string_lossy();
        let is_command = text == "help" || command.find_subcommand(&*text).is_some();
        // A name with a dot or a slash is no misspelled command.
        !text.starts_with('-') && !is_command && (text.contains(['.', '/']) || Path::new(word).is_file())
    };
    if words.get(1).is_some_and(is_file) {
        words.insert(1, DEFAULT_COMMAND.into());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = crate::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn a_file_name_alone_is_drawn_as_a_tree() {
        let command = crate::command();
        let with = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            with_default_command(&command, words).into_iter().map(|word| word.into_string().unwrap())
        };
        assert!(with(&["hyperslab", "a.h5"]).eq(["hyperslab", "tree", "a.h5"]));
        assert!(with(&["hyperslab", "a.h5", "-d", "1"]).eq(["hyperslab", "tree", "a.h5", "-d", "1"]));
        for words in [
            &["hyperslab", "ls", "a.h5"][..],
            &["hyperslab"],
            &["hyperslab", "--help"],
            &["hyperslab", "lss"],
        ] {
            assert!(with(words).eq(words.iter().copied()), "{words:?}");
        }
    }
}
