//! The commands in a build with the web server.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hyperslab::{Limits, OpenOptions};
use hyperslab_serve::grove::AnswerLimits;
use hyperslab_serve::{Disk, Server, ServerOptions, Token};

use super::{ServeArguments, ServerArguments, ViewArguments};
use crate::output::{complain, stdout};

pub(super) fn serve(arguments: &ServeArguments) -> Result<()> {
    if let Some(folder) = &arguments.export_page {
        return hyperslab_serve::export_page(folder)
            .with_context(|| format!("cannot write the page to `{}`", folder.display()));
    }
    run(&arguments.paths, &arguments.options, arguments.open)
}

pub(super) fn view(arguments: &ViewArguments) -> Result<()> {
    if crate::urls::url(&arguments.file).is_none() && !arguments.file.is_file() {
        bail!("`{}` is no file; `hyperslab serve` shows folders", arguments.file.display());
    }
    run(std::slice::from_ref(&arguments.file), &arguments.options, !arguments.no_open)
}

fn run(paths: &[PathBuf], options: &ServerArguments, open: bool) -> Result<()> {
    let (urls, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.iter().cloned().partition(|path| crate::urls::url(path).is_some());
    for path in &paths {
        path.metadata().with_context(|| format!("cannot open `{}`", path.display()))?;
    }
    let limits = Limits { result_bytes: options.max_response.max(1 << 26) * 4, ..Limits::cautious() };
    let limits = Limits { chunk_bytes: Limits::default().chunk_bytes, ..limits };
    let disk = Disk::new(&paths, limits, options.cache, options.follow).context("cannot open the paths")?;
    let disk = urls.iter().try_fold(disk, |disk, url| with_url(disk, url, limits))?;
    let address = options.bind;
    let server = Server::bind(server_options(options)?, disk);
    let server = server.with_context(|| format!("cannot bind the server to {address}"))?;
    let mut output = stdout();
    writeln!(output, "{}", server.url()?)?;
    output.flush()?;
    if open {
        let opened = open_browser(&server.opening_url()?);
        if let Err(error) = opened {
            complain(format_args!("hyperslab: the browser cannot be started: {error}"));
        }
    }
    Ok(server.run()?)
}

/// Returns a library with the file at a URL, whose name is the last component of the URL's path.
fn with_url(disk: Disk, url: &Path, limits: Limits) -> Result<Disk> {
    let shown = crate::urls::shown(url);
    let options = OpenOptions::new().limits(limits);
    let file = crate::remote::open(options, url).with_context(|| format!("cannot open `{shown}`"))?;
    let name = shown.trim_end_matches('/').rsplit('/').next().unwrap_or(&shown).to_owned();
    Ok(disk.with_file(name, file))
}

fn server_options(options: &ServerArguments) -> Result<ServerOptions> {
    let token = match &options.token {
        Some(text) => Some(Token::chosen(text).map_err(anyhow::Error::msg)?),
        None if options.no_token => None,
        None => Some(Token::random()?),
    };
    let limits = AnswerLimits { response_bytes: options.max_response, ..AnswerLimits::default() };
    Ok(ServerOptions {
        address: options.bind,
        port: options.port,
        token,
        hosts: options.host.clone(),
        origins: options.allow_origin.clone(),
        frame_ancestors: options.frame_ancestor.clone(),
        limits,
        requests: options.requests.into(),
        timeout: Duration::from_secs(options.timeout),
    })
}

/// Starts the browser of the user.
fn open_browser(url: &str) -> std::io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let null = || Stdio::null();
    let mut child = command.arg(url).stdin(null()).stdout(null()).stderr(null()).spawn()?;
    // The launcher ends when the browser runs.
    std::thread::spawn(move || child.wait());
    Ok(())
}
