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
    /// Tells rows apart.
    number: usize,
    of_group: bool,
    name: String,
    /// In the order of the fields.
    limit: [String; 4],
}

/// Users and groups that have limits of their own, and an empty row: where no script runs, no other comes.
#[component]
pub(super) fn NamedLimits(limits: Limits) -> impl IntoView {
    let rows = RwSignal::new(rows(limits));
    let add = move |_| {
        rows.update(|rows| {
            let number = rows.iter().map(|row| row.number + 1).max().unwrap_or(0);
            rows.push(Row { number, ..Row::default() });
        });
    };
    view! {
        <fieldset class="form__group stack">
            <legend class="field__label">{tr(|t| t.admin.limits_by_name)}</legend>
            <p class="hint">{tr(|t| t.admin.limits_by_name_hint)}</p>
            <For each=move || rows.get() key=|row| row.number let:row>
                <NamedLimit row=row rows=rows/>
            </For>
            <div class="buttons">
                <button
                    type="button"
                    class="button button--small"
                    data-adds="cluster[named]"
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
    let Row { number, of_group, name, limit } = row;
    let of_user = !of_group;
    let key = move |field: &str| format!("cluster[named][n{number}][{field}]");
    let most = FIELDS.into_iter().zip(limit).map(|((field, words), most)| {
        view! {
            <label class="field">
                <span class="field__label">{tr(words)}</span>
                <input class="input" type="number" name=key(field) value=most autocomplete="off"/>
            </label>
        }
    });
    let most = most.collect_view();
    let remove = move |_| rows.update(|rows| rows.retain(|row| row.number != number));
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
    let all = users.chain(groups).chain([Row::default()]);
    all.enumerate().map(|(number, row)| Row { number, ..row }).collect()
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
            .map(|row| (row.number, row.of_group, row.name.as_str(), row.limit.join("/")))
            .collect();
        let expected = [
            (0, false, "ada", "16//5/"),
            (1, false, "bob", "///"),
            (2, true, "vision", "///60"),
            (3, false, "", "///"),
        ];
        let expected = expected.map(|(at, group, name, limit)| (at, group, name, limit.to_owned()));
        assert_eq!(said, expected);
    }
}
