use leptos::prelude::*;
use protocol::limits::{Limit, Limits};

use crate::i18n::{text, tr};
use crate::pages::admin::named_limits::NamedLimits;
use crate::parts::field::Field;

/// Names of the fields: GPUs and jobs that run, jobs that wait, submissions a minute.
type Names = [&'static str; 4];

const OF_USER: Names = [
    "cluster[user_gpus]",
    "cluster[user_jobs]",
    "cluster[user_waiting]",
    "cluster[user_submissions]",
];
const OF_GROUP: Names = [
    "cluster[group_gpus]",
    "cluster[group_jobs]",
    "cluster[group_waiting]",
    "cluster[group_submissions]",
];

/// What each user, and the members of each group together, may have of a virtual cluster at once.
#[component]
pub(super) fn LimitFields(limits: Limits) -> impl IntoView {
    let Limits { user, group, users, groups } = limits;
    let open = !user.is_none() || !group.is_none() || !users.is_empty() || !groups.is_empty();
    let named = Limits { users, groups, ..Limits::default() };
    view! {
        <details class="fold" open=open>
            <summary>{tr(|t| t.admin.limits)}</summary>
            <p class="hint">{tr(|t| t.admin.limits_hint)}</p>
            <fieldset class="form__group">
                <legend class="field__label">{tr(|t| t.admin.limits_user)}</legend>
                <Four names=OF_USER limit=user/>
            </fieldset>
            <fieldset class="form__group">
                <legend class="field__label">{tr(|t| t.admin.limits_group)}</legend>
                <Four names=OF_GROUP limit=group/>
            </fieldset>
            <NamedLimits limits=named/>
        </details>
    }
    .into_any()
}

#[component]
fn Four(names: Names, limit: Limit) -> impl IntoView {
    let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
    let [gpus, jobs, waiting, submissions] = names;
    view! {
        <div class="form__row">
            <Field
                name=gpus
                kind="number"
                label=text(|t| t.admin.limit_gpus)
                value=number(limit.running_gpus)
            />
            <Field
                name=jobs
                kind="number"
                label=text(|t| t.admin.limit_jobs)
                value=number(limit.running_jobs)
            />
        </div>
        <div class="form__row">
            <Field
                name=waiting
                kind="number"
                label=text(|t| t.admin.limit_waiting)
                value=number(limit.waiting_jobs)
            />
            <Field
                name=submissions
                kind="number"
                label=text(|t| t.admin.limit_submissions)
                value=number(limit.submissions_per_minute)
            />
        </div>
    }
    .into_any()
}
