use leptos::prelude::*;
use protocol::limits::{Limit, Limits};

use crate::i18n::{Texts, tr};

/// What a field is called in a language.
type Label = fn(&'static Texts) -> &'static str;

/// The fields of a row, and what people read.
const FIELDS: [(&str, Label); 4] = [
    ("gpus", |t| t.admin.limit_gpus),
    ("jobs", |t| t.admin.limit_jobs),
    ("waiting", |t| t.admin.limit_waiting),
    ("submissions", |t| t.admin.limit_submissions),
];

/// What a row begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    /// Tells rows apart that are new.
    number: usize,
    of_group: bool,
    name: String,
    /// In the order of the fields.
    limit: [String; 4],
}

impl Row {
    /// What its fields are called after. What was typed of somebody is found again by it, whichever rows others
    /// add or remove meanwhile. New rows come last in the order of the keys: of two rows of one name the last counts.
    fn key(&self) -> String {
        if self.is_new() {
            return format!("n{}", self.number);
        }
        let of = if self.of_group { "for-group-" } else { "for-user-" };
        self.name.chars().fold(of.to_owned(), |key, letter| match letter {
            // Groups may be called what has a meaning in the names of fields.
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' | '-' => format!("{key}{letter}"),
            other => format!("{key}~{:x}~", u32::from(other)),
        })
    }

    fn is_new(&self) -> bool {
        self.name.is_empty()
    }
}

/// Users and groups that have limits of their own, and an empty row: where no script runs, no other comes.
#[component]
pub(super) fn NamedLimits(limits: Limits) -> impl IntoView {
    let rows = RwSignal::new(rows(limits));
    let add = move |_| {
        rows.update(|rows| {
            let new = rows.iter().filter(|row| row.is_new());
            let number = new.map(|row| row.number + 1).max().unwrap_or(0);
            rows.push(Row { number, ..Row::default() });
        });
    };
    view! {
        <fieldset class="form__group stack">
            <legend class="field__label">{tr(|t| t.admin.limits_by_name)}</legend>
            <p class="hint">{tr(|t| t.admin.limits_by_name_hint)}</p>
            <For each=move || rows.get() key=Row::key let:row>
                <NamedLimit row=row rows=rows/>
            </For>
            <div class="buttons">
                <button
                    type="button"
                    class="button button--small"
                    data-adds="cluster[named][n"
                    on:click=add
                >
                    {tr(|t| t.admin.add_limit)}
                </button>
            </div>
        </fieldset>
    }
    .into_any()
}

#[component]
fn NamedLimit(row: Row, rows: RwSignal<Vec<Row>>) -> impl IntoView {
    let own = row.key();
    let Row { of_group, name, limit, .. } = row;
    let of_user = !of_group;
    let key = |field: &str| format!("cluster[named][{own}][{field}]");
    let most = FIELDS.into_iter().zip(limit).map(|((field, words), most)| {
        view! {
            <label class="field">
                <span class="field__label">{tr(words)}</span>
                <input class="input" type="number" name=key(field) value=most autocomplete="off"/>
            </label>
        }
    });
    let most = most.collect_view();
    let removed = own.clone();
    let remove = move |_| rows.update(|rows| rows.retain(|row| row.key() != removed));
    view! {
        <div class="form__row">
            <label class="field">
                <span class="field__label">{tr(|t| t.admin.limit_of)}</span>
                <select class="select" name=key("of_group")>
                    <option value="false" selected=of_user>{tr(|t| t.admin.limit_of_user)}</option>
                    <option value="true" selected=of_group>{tr(|t| t.admin.limit_of_group)}</option>
                </select>
            </label>
            <label class="field">
                <span class="field__label">{tr(|t| t.admin.limit_name)}</span>
                <input class="input" name=key("name") value=name autocomplete="off"/>
            </label>
            {most}
            <div class="buttons">
                <button type="button" class="button button--small" on:click=remove>
                    {tr(|t| t.admin.remove_limit)}
                </button>
            </div>
        </div>
    }
    .into_any()
}

fn rows(limits: Limits) -> Vec<Row> {
    let row = |of_group: bool, name: String, limit: Limit| {
        let Limit { running_gpus, running_jobs, waiting_jobs, submissions_per_minute } = limit;
        let all = [running_gpus, running_jobs, waiting_jobs, submissions_per_minute];
        let limit = all.map(|most| most.map(|most| most.to_string()).unwrap_or_default());
        Row { number: 0, of_group, name, limit }
    };
    let Limits { users, groups, .. } = limits;
    let users = users.into_iter().map(|(user, limit)| row(false, user.to_string(), limit));
    let groups = groups.into_iter().map(|(group, limit)| row(true, group.to_string(), limit));
    users.chain(groups).chain([Row::default()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_row_and_one_is_empty() {
        let limits = r#"{"users": {"ada": {"running_gpus": 16, "waiting_jobs": 5}, "bob": {}},
            "groups": {"vision": {"submissions_per_minute": 60}}}"#;
        let rows = rows(serde_json::from_str(limits).unwrap());
        let said: Vec<_> = rows
            .iter()
            .map(|row| (row.key(), row.of_group, row.name.as_str(), row.limit.join("/")))
            .collect();
        let expected = [
            ("for-user-ada", false, "ada", "16//5/"),
            ("for-user-bob", false, "bob", "///"),
            ("for-group-vision", true, "vision", "///60"),
            ("n0", false, "", "///"),
        ];
        let expected = expected
            .map(|(key, group, name, limit)| (key.to_owned(), group, name, limit.to_owned()));
        assert_eq!(said, expected);
    }

    #[test]
    fn a_row_is_called_the_same_whoever_gets_limits_meanwhile() {
        let keys = |limits: &str| -> Vec<String> {
            rows(serde_json::from_str(limits).unwrap()).iter().map(Row::key).collect()
        };
        let before = keys(
            r#"{"users": {"alice": {"running_gpus": 8}, "vision": {}}, "groups": {"vision[1]": {}}}"#,
        );
        assert_eq!(
            before,
            ["for-user-alice", "for-user-vision", "for-group-vision~5b~1~5d~", "n0"]
        );
        let after = keys(
            r#"{"users": {"aaron": {}, "alice": {}, "vision": {}}, "groups": {"vision[1]": {}}}"#,
        );
        assert!(before.iter().all(|key| after.contains(key)), "{after:?}");
    }
}
