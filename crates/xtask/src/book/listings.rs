//! Commands in the book. A block of the language `console` holds commands after `$ `, each with its
//! output.
//!
//! The commands of a page run one after the other in a folder of that page, which holds `run42.h5`.
//! A block of the language `python` is a program that must pass.
//!
//! Words after the language change the check: `ignore` (the block does not run), `fails` (the last
//! command must fail), `varies` (numbers may differ).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{referee, workspace};

/// Runs the listings of a page. Returns the differences; with `update`, writes the new output into
/// the page instead.
pub(super) fn check(page: &Path, run_file: &Path, update: bool) -> Result<Vec<String>> {
    let text = fs::read_to_string(page)?;
    if !text.contains("```console") && !text.contains("```python") {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    fs::copy(run_file, folder.path().join("run42.h5"))?;
    let (written, mut differences) = run(&text, folder.path()).with_context(|| page.display().to_string())?;
    if update {
        differences.clear();
        if written != text {
            fs::write(page, &written)?;
        }
    }
    differences.extend(pictures(page, &written, folder.path(), update)?);
    let name = page.strip_prefix(workspace::root()).unwrap_or(page).display();
    Ok(differences.into_iter().map(|difference| format!("{name}: {difference}")).collect())
}

/// Returns the text with the current output, and the lines at which the text differs.
fn run(text: &str, folder: &Path) -> Result<(String, Vec<String>)> {
    let mut written = String::new();
    let mut differences = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        written.push_str(line);
        written.push('\n');
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else { continue };
        let mut body = String::new();
        for (line, _) in lines.by_ref().take_while(|(line, _)| *line != "```") {
            body.push_str(line);
            body.push('\n');
        }
        let mut words = fence.split(',');
        let language = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        if language == "python" && !words.contains(&"ignore") {
            python(&body, folder).with_context(|| format!("the listing at line {number}"))?;
        }
        if language == "console" && !words.contains(&"ignore") {
            let now =
                console(&body, &words, folder).with_context(|| format!("the listing at line {number}"))?;
            let same = if words.contains(&"varies") { steady(&now) == steady(&body) } else { now == body };
            if !same {
                differences.push(format!("the listing at line {number} has other output:\n{now}"));
                body = now;
            }
        }
        written.push_str(&body);
        written.push_str("```\n");
    }
    Ok((written, differences))
}

/// Runs a block of commands and returns the block with the current output.
fn console(body: &str, words: &[&str], folder: &Path) -> Result<String> {
    let mut now = String::new();
    let commands = commands(body);
    for (index, command) in commands.iter().enumerate() {
        let fails = words.contains(&"fails") && index + 1 == commands.len();
        let tools = workspace::root().join("target/release");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)))?;
        let shown: Vec<&str> = command.lines().map(|line| line.trim_end_matches('\\').trim()).collect();
        let output = Command::new("bash")
            .args(["-c", &format!("{{ {}\n}} 2>&1", shown.join(" "))])
            .current_dir(folder)
            .env("PATH", path)
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .env_remove("CLICOLOR_FORCE")
            .output()
            .context("bash")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success() != fails, "`{command}`: {}\n{text}", output.status);
        now.push_str("$ ");
        now.push_str(command);
        now.push('\n');
        for line in text.lines() {
            now.push_str(line.trim_end());
            now.push('\n');
        }
    }
    Ok(now)
}

/// Returns the commands of a block: lines after `$ `, and their continuations after a backslash.
fn commands(body: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("$ ") else { continue };
        let mut command = first.to_owned();
        while command.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            command.push('\n');
            command.push_str(next);
        }
        commands.push(command);
    }
    commands
}

/// Returns the text without the parts that differ from run to run: numbers, units, the name of the
/// faster of two programs, and the distances of columns.
fn steady(text: &str) -> String {
    let word = |word: &str| {
        let is_measure =
            word.starts_with(|first: char| first.is_ascii_digit() || "~█▏▎▍▌▋▊▉".contains(first));
        let is_unit = matches!(
            word,
            "B" | "KiB" | "MiB" | "GiB" | "B/s" | "KiB/s" | "MiB/s" | "GiB/s" | "ns" | "µs" | "ms" | "s"
        );
        (!is_measure && !is_unit).then(|| word.replace("slower", "faster"))
    };
    text.lines()
        .map(|line| line.split_whitespace().filter_map(word).collect::<Vec<_>>().join(" ") + "\n")
        .collect()
}

fn python(body: &str, folder: &Path) -> Result<()> {
    let Some(referee) = referee::python() else { return Ok(()) };
    let output = Command::new(referee.python()).args(["-c", body]).current_dir(folder).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Compares pictures that the page's commands drew with the committed ones. With `update`, writes
/// the committed ones.
fn pictures(page: &Path, text: &str, folder: &Path, update: bool) -> Result<Vec<String>> {
    let mut differences = Vec::new();
    for target in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target) {
        let shown = page.parent().unwrap_or(page).join(target);
        let Some(drawn) = shown.file_name().map(|name| folder.join(name)).filter(|drawn| drawn.is_file())
        else {
            continue;
        };
        let drawn = fs::read(drawn)?;
        if update {
            let Some(parent) = shown.parent() else { bail!("{target} has no folder") };
            fs::create_dir_all(parent)?;
            fs::write(&shown, drawn)?;
        } else if fs::read(&shown).ok().as_deref() != Some(drawn.as_slice()) {
            differences.push(format!("the picture {target} differs from the committed one"));
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_run_and_their_output_takes_the_place_of_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a\n```console\n$ echo one > f\n$ cat \\\n  f\nold\n```\n```console,ignore\n$ no\n```\n";
        let (written, differences) = run(text, folder.path()).unwrap();
        assert_eq!(written, text.replace("old", "one"));
        assert_eq!(differences.len(), 1);
        assert_eq!(run(&written, folder.path()).unwrap().1, Vec::<String>::new());
    }

    #[test]
    fn a_command_that_fails_is_an_error_unless_it_is_to() {
        let folder = tempfile::tempdir().unwrap();
        assert!(run("```console\n$ false\n```\n", folder.path()).is_err());
        assert!(run("```console,fails\n$ false\n```\n", folder.path()).is_ok());
        assert!(run("```console,fails\n$ true\n```\n", folder.path()).is_err());
    }

    #[test]
    fn numbers_may_vary_where_the_page_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let text = "```console,varies\n$ echo 'read  12.5 ms'\nread 9 ms\n```\n";
        assert_eq!(run(text, folder.path()).unwrap(), (text.to_owned(), Vec::new()));
        assert_eq!(run(&text.replace("read 9", "wrote 9"), folder.path()).unwrap().1.len(), 1);
    }
}
