//! The state of the browser, its keys and its screen.

use hyperslab::{File, ObjectKind};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::details::Details;
use super::elements::{Elements, Form};
use super::tree::{Node, Tree};
use super::{plot, table};
use crate::values::paths::Paths;

/// The largest number of lines that the browser uses for properties and attributes, above the
/// elements.
const MAX_DETAIL_LINES: u16 = 12;
/// The smallest screen width, in columns, on which the browser draws.
const MIN_COLUMNS: u16 = 40;
const MIN_LINES: u16 = 8;

const TREE_KEYS: &str = " ↑↓ move  → open  ← close  Enter elements  p plot  PgUp PgDn page  q quit";
const TABLE_KEYS: &str =
    " ↑↓←→ PgUp PgDn Home End move  d dimensions  [ next other  < > change it  p plot  Esc tree  q quit";
const PLOT_KEYS: &str =
    " ↑↓←→ PgUp PgDn move  + - zoom  d dimensions  [ next other  < > change it  p table  Esc tree  q quit";

/// The part of the browser's screen that receives key presses: the tree or the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Tree,
    Elements,
}

/// The state of the file browser: the file, the object tree and the selected object.
#[derive(Debug)]
pub(super) struct App {
    file: File,
    name: String,
    tree: Tree,
    focus: Focus,
    details: Details,
    elements: Option<Elements>,
    paths: Paths,
    /// The number of lines of the tree on the last screen.
    tree_lines: usize,
    rows: u64,
}

impl App {
    /// Returns the initial state of the browser. `name` is the name of the file.
    pub(super) fn new(file: File, name: String) -> Self {
        let (tree, paths) = (Tree::new(&file), Paths::new(&file));
        let (details, focus) = (Details::default(), Focus::Tree);
        let mut app =
            Self { file, name, tree, focus, details, elements: None, paths, tree_lines: 1, rows: 1 };
        app.describe();
        app
    }

    /// Reads the description of the object that is selected in the browser, for the right side of
    /// the screen.
    fn describe(&mut self) {
        let object = self.tree.object();
        self.details =
            object.as_ref().map_or_else(Details::default, |object| Details::of(&self.file, object));
        let dataset = object.filter(|object| object.kind() == Some(ObjectKind::Dataset));
        // A dataset that cannot be opened has an error among its details.
        self.elements = dataset.and_then(|object| object.into_dataset().ok()).map(Elements::new);
    }

    /// Handles a key press. Returns true if the key ends the browser.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return true,
            KeyCode::Char('q') => return true,
            KeyCode::Char('p') => self.toggle_plot(),
            _ if self.focus == Focus::Tree => self.tree_key(key.code),
            _ => self.elements_key(key.code),
        }
        false
    }

    fn toggle_plot(&mut self) {
        if let Some(elements) = &mut self.elements {
            elements.form = if elements.form == Form::Table { Form::Plot } else { Form::Table };
        }
    }

    fn tree_key(&mut self, code: KeyCode) {
        let page = isize::try_from(self.tree_lines).map_or(isize::MAX, |lines| lines);
        match code {
            KeyCode::Up | KeyCode::Char('k') => self.tree.move_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.tree.move_by(1),
            KeyCode::PageUp => self.tree.move_by(-page),
            KeyCode::PageDown => self.tree.move_by(page),
            KeyCode::Home => self.tree.move_by(isize::MIN),
            KeyCode::End => self.tree.move_by(isize::MAX),
            KeyCode::Left | KeyCode::Char('h') => self.tree.close(),
            KeyCode::Right | KeyCode::Char('l') | KeyCode::Enter | KeyCode::Tab => {
                if self.elements.is_some() {
                    self.focus = Focus::Elements;
                } else if !self.tree.open() && code == KeyCode::Enter {
                    self.tree.close();
                }
                return;
            }
            _ => return,
        }
        self.describe();
    }

    fn elements_key(&mut self, code: KeyCode) {
        let Some(elements) = &mut self.elements else { return };
        let window = &mut elements.window;
        let is_plot = elements.form == Form::Plot;
        let step = if is_plot { i64::try_from(window.step).map_or(i64::MAX, |step| step) } else { 1 };
        // The window stays within the dataset, so that larger distances have the same effect.
        let rows = i64::try_from(self.rows).map_or(i64::MAX, |rows| rows);
        let page = rows.saturating_mul(step);
        match code {
            KeyCode::Up | KeyCode::Char('k') => window.move_by(-step, 0),
            KeyCode::Down | KeyCode::Char('j') => window.move_by(step, 0),
            KeyCode::Left | KeyCode::Char('h') => window.move_by(0, -step),
            KeyCode::Right | KeyCode::Char('l') => window.move_by(0, step),
            KeyCode::PageUp => window.move_by(-page, 0),
            KeyCode::PageDown => window.move_by(page, 0),
            KeyCode::Home => window.go_to_end(false, self.rows),
            KeyCode::End => window.go_to_end(true, self.rows),
            KeyCode::Char('d') => window.next_dimensions(),
            KeyCode::Char('[' | ']') => window.next_other(),
            KeyCode::Char('<' | ',') => window.shift_other(-1),
            KeyCode::Char('>' | '.') => window.shift_other(1),
            KeyCode::Char('-') if is_plot => window.zoom(true),
            KeyCode::Char('+' | '=') if is_plot => window.zoom(false),
            KeyCode::Esc | KeyCode::Tab => self.focus = Focus::Tree,
            _ => {}
        }
    }

    /// Draws the screen of the browser.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < MIN_COLUMNS || area.height < MIN_LINES {
            let text = format!("too small: the window needs {MIN_COLUMNS} × {MIN_LINES}");
            frame.render_widget(Paragraph::new(text), area);
            return;
        }
        let [main, footer] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(area);
        let [left, right] = Layout::horizontal([Constraint::Percentage(35), Constraint::Fill(1)]).areas(main);
        self.draw_tree(frame, left);
        self.draw_object(frame, right);
        let keys = match (self.focus, self.elements.as_ref().map(|elements| elements.form)) {
            (Focus::Tree, _) => TREE_KEYS,
            (Focus::Elements, Some(Form::Plot)) => PLOT_KEYS,
            (Focus::Elements, _) => TABLE_KEYS,
        };
        frame.render_widget(Paragraph::new(keys).reversed(), footer);
    }

    fn block(&self, title: String, focus: Focus) -> Block<'static> {
        let style = if self.focus == focus { Style::new().fg(Color::Cyan) } else { Style::new().dim() };
        Block::bordered().title(title).border_style(style)
    }

    fn draw_tree(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let block = self.block(format!(" {} ", self.name), Focus::Tree);
        let inner = block.inner(area);
        self.tree_lines = usize::from(inner.height);
        let lines: Vec<Line<'_>> = self.tree.visible(self.tree_lines).into_iter().map(tree_line).collect();
        frame.render_widget(Paragraph::new(lines).block(block), area);
    }

    fn draw_object(&mut self, frame: &mut Frame<'_>, area: Rect) {
        let block = self.block(format!(" {} ", self.tree.path()), Focus::Elements);
        let inner = block.inner(area);
        frame.render_widget(block, area);
        let mut lines = self.detail_lines();
        let Some(elements) = &mut self.elements else {
            frame.render_widget(Paragraph::new(lines), inner);
            return;
        };
        let most = MAX_DETAIL_LINES.min(inner.height / 2);
        let wanted = u16::try_from(lines.len()).map_or(most, |count| count.min(most));
        if lines.len() > usize::from(most) {
            lines.truncate(usize::from(most).max(1) - 1);
            lines.push(Line::from("…").dim());
        }
        let rows = [Constraint::Length(wanted), Constraint::Length(1), Constraint::Fill(1)];
        let [above, title, below] = Layout::vertical(rows).areas(inner);
        frame.render_widget(Paragraph::new(lines), above);
        let mut text = elements.window.text();
        if elements.form == Form::Plot && elements.window.step > 1 {
            text.push_str(&format!("  each {}th element", elements.window.step));
        }
        frame.render_widget(Paragraph::new(text).fg(Color::Yellow), title);
        self.rows = match elements.form {
            Form::Table => table::draw(frame, below, elements, &self.paths),
            Form::Plot => plot::draw(frame, below, elements, &self.paths),
        };
    }

    fn detail_lines(&self) -> Vec<Line<'static>> {
        let widest = self.details.properties.iter().chain(&self.details.attributes);
        let widest = widest.map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(20) + 2;
        let line = |(name, text): &(String, String), style: Style| {
            Line::from(vec![
                Span::styled(format!("{name:widest$}"), Style::new().dim()),
                Span::styled(text.clone(), style),
            ])
        };
        let mut lines: Vec<Line<'static>> =
            self.details.errors.iter().map(|error| Line::from(format!("error: {error}")).red()).collect();
        if let Some(node) = self.tree.node().filter(|node| !node.note.is_empty()) {
            lines.push(Line::from(node.note.clone()));
        }
        lines.extend(self.details.properties.iter().map(|pair| line(pair, Style::new())));
        lines.extend(
            self.details
                .attributes
                .iter()
                .map(|(name, text)| line(&(format!("@{name}"), text.clone()), Style::new().fg(Color::Green))),
        );
        lines
    }
}

/// Returns the screen line for a node of the browser's object tree.
fn tree_line((node, kind, is_selected): (&Node, Option<ObjectKind>, bool)) -> Line<'static> {
    let mark = match (kind, node.is_open) {
        (Some(ObjectKind::Group), true) => "▾ ",
        (Some(ObjectKind::Group), false) => "▸ ",
        _ => "  ",
    };
    let style = match kind {
        Some(ObjectKind::Group) => Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD),
        Some(ObjectKind::Dataset) => Style::new().add_modifier(Modifier::BOLD),
        Some(_) => Style::new().fg(Color::Magenta),
        None => Style::new().fg(Color::Cyan),
    };
    let indent = "  ".repeat(node.depth.min(32));
    let line = Line::from(vec![
        Span::raw(format!("{indent}{mark}")),
        Span::styled(node.name.clone(), style),
        Span::raw(if node.note.is_empty() { String::new() } else { format!(" {}", node.note) }).dim(),
    ]);
    if is_selected { line.reversed() } else { line }
}

#[cfg(test)]
mod tests;
