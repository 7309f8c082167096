//! The browser on a screen in memory.

use hyperslab::FileOptions;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

/// A browser of a small file on a screen of 100 × 24.
struct Session {
    app: App,
    terminal: Terminal<TestBackend>,
}

impl Session {
    fn new(file: File) -> Self {
        let app = App::new(file, "a.h5".to_owned());
        Self { app, terminal: Terminal::new(TestBackend::new(100, 24)).unwrap() }
    }

    /// Presses keys and returns the screen.
    fn press(&mut self, keys: &[KeyCode]) -> String {
        for key in keys {
            assert!(!self.app.key(KeyEvent::new(*key, KeyModifiers::NONE)), "{key:?} ends the browser");
            self.screen();
        }
        self.screen()
    }

    fn screen(&mut self) -> String {
        self.terminal.draw(|frame| self.app.draw(frame)).unwrap();
        self.terminal.backend().to_string()
    }
}

fn file() -> File {
    let file = FileOptions::new().create_in_memory().unwrap();
    file.create_group("run").unwrap();
    let cube = file.new_dataset("run/cube").of::<i32>().shape(&[3, 40, 50]).create().unwrap();
    cube.write(.., &(0..6000).collect::<Vec<i32>>()).unwrap();
    cube.set_attribute("units", "counts\u{1b}[2J").unwrap();
    file.new_dataset("run/line").write(&[1.5, 2.5, -4.0]).unwrap();
    file.new_dataset("run/texts").write_strings(&["one", "two"]).unwrap();
    file.new_dataset("run/none").of::<u8>().shape(&[0]).create().unwrap();
    file.new_dataset("huge")
        .of::<u8>()
        .shape(&[1 << 50, 1 << 10])
        .chunks(&[1 << 10, 1 << 10])
        .create()
        .unwrap();
    file.link_soft("missing", "/nowhere").unwrap();
    file
}

use KeyCode::{Char, Down, End, Enter, Esc, Home, Left, PageDown, Right, Up};

#[test]
fn the_tree_opens_and_closes() {
    let mut session = Session::new(file());
    let screen = session.screen();
    assert!(screen.contains("▾ /") && screen.contains("▸ run") && screen.contains("huge"), "{screen}");
    assert!(!screen.contains("cube"), "closed groups are not read: {screen}");
    // The links are in the order of their names: huge, missing, run.
    let screen = session.press(&[Down, Down]);
    assert!(screen.contains("→ /nowhere"), "{screen}");
    let screen = session.press(&[Down, Right]);
    assert!(screen.contains("▾ run") && screen.contains("cube"), "{screen}");
    let screen = session.press(&[Down, Left, Left]);
    assert!(screen.contains("▸ run") && !screen.contains("cube"), "{screen}");
}

#[test]
fn properties_attributes_and_elements_are_shown() {
    let mut session = Session::new(file());
    let screen = session.press(&[End, Right, Down]);
    assert!(screen.contains("/run/cube") && screen.contains("3 × 40 × 50"), "{screen}");
    assert!(screen.contains("@units") && !screen.contains('\u{1b}'), "{screen}");
    assert!(screen.contains("[<0>, rows 0…, columns 0…]"), "{screen}");
    // The second plane, one row and one column further: 2000 + 50 + 1.
    let screen = session.press(&[Enter, Char('>'), Down, Right]);
    assert!(screen.contains("[<1>, rows 1…, columns 1…]") && screen.contains(" 2051 "), "{screen}");
    let screen = session.press(&[End]);
    assert!(screen.contains("39 ") && screen.contains(" 3951 "), "{screen}");
    let screen = session.press(&[Home, Char('d')]);
    assert!(screen.contains("[rows 1…, columns 0…, <1>]"), "{screen}");
    let screen = session.press(&[Esc, Down, Down]);
    assert!(screen.contains("/run/none") && screen.contains("has no elements"), "{screen}");
    let screen = session.press(&[Down]);
    assert!(screen.contains("one") && screen.contains("two"), "{screen}");
}

#[test]
fn plots_are_drawn_and_refused() {
    let mut session = Session::new(file());
    let screen = session.press(&[End, Right, Down, Char('p')]);
    assert!(screen.contains('▀') && screen.contains("0 to "), "{screen}");
    let screen = session.press(&[Enter, Char('-'), Char('-')]);
    assert!(screen.contains("each 4th element"), "{screen}");
    let screen = session.press(&[Esc, Down, Char('p')]);
    assert!(screen.contains("-4.0000") && screen.contains("2.5000"), "{screen}");
    let screen = session.press(&[Down, Down, Char('p')]);
    assert!(screen.contains("cannot be plotted"), "{screen}");
}

#[test]
fn huge_datasets_and_small_windows() {
    let mut session = Session::new(file());
    let screen = session.press(&[Down, Enter, PageDown, End, Char('p'), Char('-')]);
    assert!(screen.contains("/huge"), "{screen}");
    session.terminal.backend_mut().resize(20, 5);
    assert!(session.screen().contains("too small"));
    session.terminal.backend_mut().resize(140, 40);
    let screen = session.press(&[Char('p'), Home, Esc, Up]);
    assert!(screen.contains("members"), "{screen}");
    assert!(session.app.key(KeyEvent::new(Char('q'), KeyModifiers::NONE)));
}
