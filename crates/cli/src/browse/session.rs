//! The session of the browser: the terminal, its events, and signals.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};

use super::app::App;
use crate::open::OpenArguments;
use crate::output::escape;

/// The interval in which the browser checks for signals.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Shows the browser until the user ends it, or until a signal. After a signal, returns the sum of
/// 128 and the signal's number.
pub(super) fn run(open: &OpenArguments, path: &Path) -> Result<ExitCode> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!("the browser needs a terminal; `hyperslab tree` prints the objects of a file");
    }
    let file = open.open(path)?;
    let mut app = App::new(file, escape(path.display().to_string().as_bytes()));
    let stopped = stop_on_signals()?;
    // This also installs a hook that restores the terminal before the message of a panic.
    let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
    let outcome = show(&mut terminal, &mut app, &stopped);
    let restored = ratatui::try_restore();
    outcome?;
    restored.context("the terminal cannot be restored")?;
    open.report();
    Ok(match u8::try_from(stopped.load(Ordering::Relaxed)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(signal) => ExitCode::from(128 | signal),
        Err(_) => ExitCode::FAILURE,
    })
}

/// Draws the screen and handles keys until the user ends the browser or a signal arrives.
fn show(terminal: &mut DefaultTerminal, app: &mut App, stopped: &AtomicUsize) -> Result<()> {
    loop {
        terminal.draw(|frame| app.draw(frame)).context("the terminal cannot be written")?;
        loop {
            if stopped.load(Ordering::Relaxed) != 0 {
                return Ok(());
            }
            if event::poll(POLL_INTERVAL).context("the terminal cannot be read")? {
                break;
            }
        }
        match event::read().context("the terminal cannot be read")? {
            Event::Key(key) if key.is_press() && app.key(key) => return Ok(()),
            _ => {}
        }
    }
}

/// Installs signal handlers for the browser. When a signal arrives, its handler stores the signal's
/// number in the returned variable. The browser can then restore the terminal before it ends.
fn stop_on_signals() -> Result<Arc<AtomicUsize>> {
    let stopped = Arc::new(AtomicUsize::new(0));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        let number = usize::try_from(signal)?;
        signal_hook::flag::register_usize(signal, Arc::clone(&stopped), number)
            .context("signals cannot be handled")?;
    }
    Ok(stopped)
}
