use leptos::prelude::*;
use protocol::fields::JobField;
use protocol::secrets::MASK;

use crate::document::{Edit, Tree};
use crate::i18n::{text_of, told};
use crate::pages::submit::bounded::Bounded;
use crate::pages::submit::declared::row::{NameField, NamedWord, RemoveRow, ValueField};
use crate::pages::submit::declared::{
    self, Held, Named, add_named, named, rename, typed_parameter,
};
use crate::pages::submit::field::Word;
use crate::pages::submit::state::Editing;

/// What is said of values under names, and how they are written.
pub(crate) struct Manner {
    id: &'static str,
    /// Where they stand.
    holder: fn(&Tree) -> String,
    /// What new ones are called, with a number.
    stem: &'static str,
    is_secret: bool,
    title: Word,
    about: Word,
    name: Word,
    value: Word,
    add: Word,
    remove: NamedWord,
    /// The change by which one at a path is what was typed.
    type_in: fn(Editing, &str, &str) -> Edit,
}

/// Secrets: what the server has of them is never shown again.
pub(crate) static SECRETS: Manner = Manner {
    id: "job-secrets",
    holder: |tree| tree.job_path(JobField::Secrets),
    stem: "secret",
    is_secret: true,
    title: |f| f.declared.secrets,
    about: |f| f.declared.secrets_hint,
    name: |f| f.declared.secret_name,
    value: |f| f.declared.secret_value,
    add: |f| f.declared.add_secret,
    remove: |f| f.declared.remove_secret,
    type_in: typed_secret,
};

/// Parameters.
pub(crate) static PARAMETERS: Manner = Manner {
    id: "job-parameters",
    holder: |_| declared::PARAMETERS.to_owned(),
    stem: "parameter",
    is_secret: false,
    title: |f| f.declared.parameters,
    about: |f| f.declared.parameters_hint,
    name: |f| f.declared.parameter_name,
    value: |f| f.declared.parameter_value,
    add: |f| f.declared.add_parameter,
    remove: |f| f.declared.remove_parameter,
    type_in: |_, path, typed| typed_parameter(path, typed),
};

/// Names with their values, one a row.
#[component]
pub(crate) fn Pairs(manner: &'static Manner) -> impl IntoView {
    let editing = Editing::get();
    let all = Memo::new(move |_| editing.read(|tree| named(tree, &(manner.holder)(tree))));
    let paths = Memo::new(move |_| {
        let all = all.read();
        all.iter().map(|one| one.path.clone()).collect::<Vec<_>>()
    });
    let add = move |_| {
        if let Ok(tree) = editing.tree.get_untracked() {
            editing.edit(&[add_named(&tree, &(manner.holder)(&tree), manner.stem)]);
        }
    };
    view! {
        <div class="stack" role="group" aria-labelledby=manner.id>
            <span class="field__label" id=manner.id>
                {told(move |t| (manner.title)(&t.submit.fields))}
            </span>
            <p class="hint">{told(move |t| (manner.about)(&t.submit.fields))}</p>
            <Bounded keys=paths field=move |path| view! { <Pair path=path manner=manner all=all/> }/>
            <div>
                <button type="button" class="button button--small" on:click=add>
                    {told(move |t| (manner.add)(&t.submit.fields))}
                </button>
            </div>
        </div>
    }
}

#[component]
fn Pair(path: String, manner: &'static Manner, all: Memo<Vec<Named>>) -> impl IntoView {
    let editing = Editing::get();
    let at = StoredValue::new(path.clone());
    let this = Memo::new(move |_| {
        let all = all.read();
        at.with_value(|at| all.iter().find(|one| one.path == *at).cloned())
    });
    let name = Signal::derive(move || this.get().map(|one| one.name).unwrap_or_default());
    let has_several = Memo::new(move |_| held(this) == Some(Held::Several));
    let renamed = Callback::new(move |name: String| {
        editing.read(|tree| rename(tree, &(manner.holder)(tree), &at.get_value(), &name))
    });
    let value = Signal::derive(move || shown(held(this), manner.is_secret));
    let hint = text_of(move |t| {
        let words = &t.submit.fields.declared;
        match held(this) {
            Some(Held::Covered) if !manner.is_secret => "",
            Some(Held::Covered) if editing.cloned_from.read().is_some() => words.secret_kept,
            Some(Held::Covered) => words.secret_wanted,
            Some(Held::Value(_) | Held::Several) | None => "",
        }
    });
    let type_in = Callback::new(move |typed: String| {
        editing.edit(&[(manner.type_in)(editing, &at.get_value(), &typed)]);
    });
    let field = move || {
        if has_several.get() {
            let words = told(move |t| (t.submit.fields.declared.several)(&name.read()));
            return view! { <p class="hint">{words}</p> }.into_any();
        }
        let (path, label, is_secret) = (at.get_value(), manner.value, manner.is_secret);
        view! {
            <ValueField path=path label=label is_secret=is_secret value=value type_in=type_in hint=hint/>
        }
        .into_any()
    };
    view! {
        <div class="row">
            <NameField name=name label=manner.name rename=renamed/>
            {move || field()}
            <RemoveRow path=path name=name words=manner.remove/>
        </div>
    }
}

fn held(this: Memo<Option<Named>>) -> Option<Held> {
    this.get().map(|one| one.held)
}

/// What stands in the field: nothing where the value is not to be seen.
fn shown(held: Option<Held>, is_secret: bool) -> String {
    match held {
        Some(Held::Value(value)) => value,
        Some(Held::Covered) if !is_secret => MASK.to_owned(),
        Some(Held::Covered | Held::Several) | None => String::new(),
    }
}

/// What was typed as a secret. Where nothing is left, it is that of the job that this is a clone of.
fn typed_secret(editing: Editing, path: &str, typed: &str) -> Edit {
    let value = if typed.is_empty() && is_of_source(editing, path) { MASK } else { typed };
    Edit::Set(path.to_owned(), value.into())
}

/// Whether the job that the text was cloned from has a secret there.
fn is_of_source(editing: Editing, path: &str) -> bool {
    let source = editing.cloned_from.get_untracked().and_then(|source| source.text);
    let tree = untrack(|| source.and_then(|text| editing.tree_of(&text)));
    tree.is_some_and(|tree| tree.text(path) == MASK)
}
