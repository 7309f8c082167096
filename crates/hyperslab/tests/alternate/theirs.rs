//! The side of libhdf5: a Python process that serves requests.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use hyperslab_testkit::referee::Referee;
use serde_json::Value as Json;

use crate::content::Content;

/// The error of a request without an answer.
pub(crate) const HUNG: &str = "the process of libhdf5 died or hung";

/// The largest duration of a request. A longer request counts as hung.
const PATIENCE: Duration = Duration::from_secs(90);

/// The process. If the process ends, the next request starts it again.
pub(crate) struct Theirs {
    referee: Referee,
    running: Option<Running>,
}

struct Running {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

impl Theirs {
    pub(crate) fn new(referee: &Referee) -> Self {
        Self { referee: referee.clone(), running: None }
    }

    /// Returns the content of the file after the requested operations.
    pub(crate) fn ask(&mut self, request: &Json) -> Result<Content, String> {
        let running = self.running.get_or_insert_with(|| Running::start(&self.referee));
        let sent = writeln!(running.requests, "{request}").and_then(|()| running.requests.flush());
        let answer = sent.ok().and_then(|()| running.answers.recv_timeout(PATIENCE).ok());
        let Some(answer) = answer else {
            let mut running = self.running.take().unwrap();
            running.child.kill().ok();
            return Err(format!("{HUNG}: {:?}", running.child.wait()));
        };
        let mut answer: Json = serde_json::from_str(&answer).unwrap();
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(serde_json::from_value(answer["content"].take()).unwrap()),
        }
    }
}

impl Running {
    fn start(referee: &Referee) -> Self {
        let mut child = Command::new(referee.python())
            .args(["-c", include_str!("referee.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (requests, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, requests, answers }
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let Some(Running { mut child, requests, .. }) = self.running.take() else { return };
        // The process ends when its input ends.
        drop(requests);
        child.wait().ok();
    }
}
