use std::mem;

use api::jobs::{Submitted, Syntax};
use leptos::prelude::*;
use leptos::task::spawn_local;
use protocol::problem::Problem;
use wasm_bindgen::JsCast;

use crate::address::encode;
use crate::document::{Edit, Tree};
use crate::failed::Failed;
use crate::i18n::{Reader, worded};
use crate::number;
use crate::pages::submit::draft::Drafts;
use crate::pages::submit::draft::record::Draft;
use crate::pages::submit::engine::{Engine, submit_engine};
use crate::parts::editor::Jump;
use crate::parts::sign_in_again::SignInAgain;
use crate::sending::Sending;
use crate::server_fns::checked::Checked;
use crate::server_fns::jobs::SubmitJob;
use crate::server_fns::submit::{Offered, Opened, Source};
use crate::server_fns::virtual_clusters::Room;

/// The three ways to write the one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Way {
    /// Fields.
    #[default]
    Form,
    /// The text itself.
    Editor,
    /// A file from the reader's machine.
    File,
}

impl Way {
    pub(crate) const ALL: [Way; 3] = [Way::Form, Way::Editor, Way::File];

    /// The word in the address.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Way::Form => "form",
            Way::Editor => "editor",
            Way::File => "file",
        }
    }

    pub(crate) fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|way| way.as_str() == word).unwrap_or_default()
    }
}

/// What happened to the text without the reader writing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// A draft of last time took the place of the page's text.
    DraftRestored,
    /// Another tab's text took the place of the text kept here.
    DraftTaken {
        /// The text before.
        before: String,
    },
    /// A template took the place of the text kept here.
    TemplateLoaded {
        /// The text before.
        before: String,
    },
    /// A file of this name was read.
    FileRead(String),
    /// A file could not be read.
    FileUnreadable,
}

/// The one text that all of the page shows and changes, and what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct Editing {
    pub(crate) text: RwSignal<String>,
    /// The text as it was when the page was opened.
    pub(crate) opened: StoredValue<String>,
    /// What the form shows of it: first what the server has read. While the form is not shown, it is as
    /// it was then: a large text costs nothing there.
    pub(crate) tree: Memo<Result<Tree, Problem>>,
    engine: RwSignal<Option<&'static Engine>>,
    /// Changes that wait for it, and whether the submission does.
    put_off: RwSignal<Vec<Vec<Edit>>>,
    submit_then: StoredValue<bool>,
    /// Whether somebody has come near the form: what one needs to work on it is fetched.
    pub(crate) near: RwSignal<bool>,
    pub(crate) drafts: Drafts,
    /// What the last check said.
    pub(crate) report: RwSignal<Result<Checked, Failed>>,
    pub(crate) checking: RwSignal<bool>,
    /// Where it could run.
    pub(crate) rooms: RwSignal<Vec<Room>>,
    /// The storages that it may ask for.
    pub(crate) storages: StoredValue<Vec<Offered>>,
    pub(crate) way: Memo<Way>,
    /// Shows another way; it is in the address.
    pub(crate) choose: Callback<Way>,
    pub(crate) jump: RwSignal<Jump>,
    pub(crate) notice: RwSignal<Option<Notice>>,
    /// What it was cloned from; a template that takes its place is nobody's clone.
    pub(crate) cloned_from: RwSignal<Option<Source>>,
    pub(crate) submit: Sending<Submitted>,
    reader: Reader,
}

impl Editing {
    /// Provides the state to everything below.
    pub(crate) fn provide(opened: &Opened, way: Memo<Way>, choose: Callback<Way>) -> Self {
        let text = RwSignal::new(opened.text.clone());
        let engine = RwSignal::new(None::<&'static Engine>);
        let begun = opened.tree.clone();
        let editing = Self {
            text,
            opened: StoredValue::new(opened.text.clone()),
            tree: Memo::new(move |before: Option<&Result<Tree, Problem>>| {
                match (before, engine.get()) {
                    (Some(before), _) if way.get() != Way::Form => before.clone(),
                    (_, Some(engine)) => {
                        way.track();
                        (engine.read)(&text.read())
                    }
                    (before, None) => before.unwrap_or(&begun).clone(),
                }
            }),
            engine,
            put_off: RwSignal::new(Vec::new()),
            submit_then: StoredValue::new(false),
            near: RwSignal::new(false),
            drafts: Drafts::of_page(),
            report: RwSignal::new(opened.report.clone()),
            checking: RwSignal::new(false),
            rooms: RwSignal::new(opened.rooms.clone()),
            storages: StoredValue::new(opened.storages.clone()),
            way,
            choose,
            jump: RwSignal::new(Jump::default()),
            notice: RwSignal::new(None),
            cloned_from: RwSignal::new(opened.cloned_from.clone()),
            submit: Sending::to::<SubmitJob>(),
            reader: Reader::get(),
        };
        let begun = opened.text.clone();
        Effect::new(move |_| {
            if way.get() == Way::Form && *text.read() != begun {
                editing.fetch_engine();
            }
        });
        let again = SignInAgain::get();
        Effect::new(move |_| {
            let is_over =
                |answer: &Result<_, Failed>| answer.as_ref().is_err_and(Failed::is_signed_out);
            if editing.submit.value().read().as_ref().is_some_and(is_over) {
                again.then(move || editing.submit());
            }
        });
        provide_context(editing);
        editing
    }

    /// The state of this page.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// What the tree says; the default while the text cannot be read.
    pub(crate) fn read<T: Default>(self, pick: impl FnOnce(&Tree) -> T) -> T {
        self.tree.read().as_ref().map(pick).unwrap_or_default()
    }

    /// How the text is written.
    pub(crate) fn syntax(self) -> Syntax {
        match protocol::document::Syntax::of(&self.text.read()) {
            protocol::document::Syntax::Json => Syntax::Json,
            protocol::document::Syntax::Yaml => Syntax::Yaml,
        }
    }

    /// Whether the form can show the text.
    pub(crate) fn is_readable(self) -> bool {
        self.tree.read().is_ok()
    }

    /// What another text says; nothing until that can be read.
    pub(crate) fn tree_of(self, text: &str) -> Option<Tree> {
        let Some(engine) = self.engine.get() else {
            self.fetch_engine();
            return None;
        };
        (engine.read)(text).ok()
    }

    /// Changes the text, as soon as that can be done. A change that cannot be made leaves it as it is.
    pub(crate) fn edit(self, edits: &[Edit]) {
        let Some(engine) = self.engine.get_untracked() else {
            self.put_off.update(|put_off| put_off.push(edits.to_vec()));
            let put_off = self.put_off.get_untracked();
            self.text.with_untracked(|text| self.drafts.leave(text, put_off));
            self.fetch_engine();
            return;
        };
        let changed = self.text.with_untracked(|text| (engine.change)(text, edits));
        if let Some(changed) = changed {
            self.text.set(changed);
        }
    }

    /// Whether changes wait to be made.
    pub(crate) fn waits(self) -> bool {
        !self.put_off.read().is_empty()
    }

    /// Whether changes can be made.
    pub(crate) fn can_change(self) -> bool {
        self.engine.read().is_some()
    }

    /// The text with the changes that were left unmade.
    pub(crate) fn made(self, left: &str) -> Option<Draft> {
        self.engine.get_untracked().and_then(|engine| (engine.make)(left))
    }

    /// Fetches what reads and changes the text, and makes the changes that wait for it.
    pub(crate) fn fetch_engine(self) {
        if self.near.try_get_untracked() != Some(false) {
            return;
        }
        self.near.set(true);
        spawn_local(async move {
            let engine = submit_engine().await;
            self.engine.try_set(Some(engine));
            // Whoever has left the page meanwhile finds the changes made when he comes back.
            let Some(put_off) = self.put_off.try_update(mem::take) else { return };
            for edits in put_off {
                self.edit(&edits);
            }
            self.drafts.all_made();
            if self.submit_then.try_update_value(mem::take) == Some(true) {
                self.submit();
            }
        });
    }

    /// What is wrong at a path.
    pub(crate) fn problems_at(self, path: &str) -> Vec<Problem> {
        // What is wrong with the whole text belongs to no field.
        let of_field = |problem: &Problem| !path.is_empty() && problem.path == path;
        self.problems().into_iter().filter(of_field).collect()
    }

    /// Everything that is wrong, as last checked, in the reader's language.
    pub(crate) fn problems(self) -> Vec<Problem> {
        let said = self.reader.texts().said;
        let report = self.report.read();
        let problems = report.iter().flat_map(|report| &report.problems);
        let worded = problems.map(|problem| worded(problem, said));
        let read =
            |problem: Problem| Problem { allowed: number::readable(&problem.allowed), ..problem };
        worded.map(read).collect()
    }

    /// Submits the text as it is.
    pub(crate) fn submit(self) {
        // While a file is to be chosen there is nothing on the page that would be submitted.
        if self.submit.pending().get_untracked() || self.way.get_untracked() == Way::File {
            return;
        }
        // What has been filled in belongs to it.
        if !self.put_off.read_untracked().is_empty() {
            self.submit_then.set_value(true);
            return;
        }
        let source = self.cloned_from.get_untracked();
        let source = source.map(|source| source.key.to_string()).unwrap_or_default();
        let text = self.text.with_untracked(|text| encode(text));
        self.submit.send(format!("text={text}&cloned_from={}", encode(&source)));
    }

    /// Goes to where something is wrong: to its field, or to its line in the editor.
    pub(crate) fn go_to(self, problem: &Problem) {
        // A text that cannot be read has no fields.
        if self.way.get_untracked() == Way::Form
            && self.tree.with_untracked(Result::is_ok)
            && let Some(field) = document().get_element_by_id(&field_id(&problem.path))
            && let Ok(field) = field.dyn_into::<web_sys::HtmlElement>()
        {
            open_sections(&field);
            // An element that cannot take the focus leaves it where it is.
            let _ = field.focus();
            return;
        }
        self.choose.run(Way::Editor);
        self.jump.update(|jump| {
            *jump = Jump { request: jump.request + 1, line: problem.line, column: problem.column };
        });
    }
}

/// Unfolds the sections that an element is in.
fn open_sections(element: &web_sys::Element) {
    let mut section = element.closest("details").ok().flatten();
    while let Some(details) = section {
        // Setting an attribute of a known name cannot fail.
        let _ = details.set_attribute("open", "");
        section =
            details.parent_element().and_then(|above| above.closest("details").ok().flatten());
    }
}

/// The id of the field that shows what stands at a path.
pub(crate) fn field_id(path: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    format!("job-field-{}", path.chars().map(plain).collect::<String>())
}
