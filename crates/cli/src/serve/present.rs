//! The commands in a build with the web server.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hyperslab::Limits;
use hyperslab_serve::grove::AnswerLimits;
use hyperslab_serve::{Disk, Server, ServerOptions, Token};

use super::{ServeArguments, ServerArguments, ViewArguments};
use crate::output::{complain, stdout};

pub(super) fn serve(arguments: &ServeArguments) -> Result<()> {
    run(&arguments.paths, &arguments.options, arguments.open)
}

pub(super) fn view(arguments: &ViewArguments) -> Result<()> {
    if !arguments.file.is_file() {
        bail!("`{}` is no file; `hyperslab serve` shows folders", arguments.file.display());
    }
    run(std::slice::from_ref(&arguments.file), &arguments.options, !arguments.no_open)
}

fn run(paths: &[PathBuf], options: &ServerArguments, open: bool) -> Result<()> {
    if let Some(url) = paths.iter().find(|path| crate::urls::url(path).is_some()) {
        let shown = crate::urls::shown(url);
        bail!("unsupported: `{shown}` is a URL; the server shows files and folders of this machine");
    }
    for path in paths {
        path.metadata().with_context(|| format!("cannot open `{}`", path.display()))?;
    }
    let limits = Limits { result_bytes: options.max_response.max(1 << 26) * 4, ..Limits::cautious() };
    let limits = Limits { chunk_bytes: Limits::default().chunk_bytes, ..limits };
    let disk = Disk::new(paths, limits, options.cache, options.follow).context("cannot open the paths")?;
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
