use api::audit::{AuditAction, AuditEntry};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::address::encode;
use crate::i18n::{Texts, text, told, tr};
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::search_form::{SearchField, SearchForm};
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::audit::list_audit;

/// Who did what, newest first, as far as it says the words that are searched; older entries by a link.
#[component]
pub(crate) fn AuditLog() -> impl IntoView {
    let query = use_query_map();
    let before = Memo::new(move |_| query.read().get("before")?.parse::<i64>().ok());
    let words = Memo::new(move |_| query.read().get("q").unwrap_or_default().trim().to_owned());
    let entries =
        reading(move || (words.get(), before.get()), |(words, before)| list_audit(words, before));
    let clear = move || {
        (!words.read().is_empty()).then(|| {
            view! {
                <a class="button button--quiet" href="/admin/audit">{tr(|t| t.jobs.clear)}</a>
            }
        })
    };
    view! {
        <div class="stack">
            <div class="table-bar">
                <SearchForm action="/admin/audit">
                    <SearchField words=words label=|t| t.audit.find hint=|t| t.audit.find_hint/>
                    <button class="button" type="submit">{tr(|t| t.jobs.apply)}</button>
                    {move || clear()}
                </SearchForm>
            </div>
            <Loaded
                resource=entries
                lines=8
                content=move |entries| {
                    view! { <Table entries=entries words=words.get_untracked()/> }
                }
            />
        </div>
    }
    .into_any()
}

fn word(action: AuditAction) -> fn(&'static Texts) -> &'static str {
    match action {
        AuditAction::TerminalOpened => |t| t.admin.terminal_opened,
        AuditAction::TerminalResumed => |t| t.admin.terminal_resumed,
        AuditAction::TerminalEnded => |t| t.admin.terminal_ended,
        AuditAction::PageOpened => |t| t.admin.page_opened,
        AuditAction::FileRead => |t| t.admin.file_read,
        AuditAction::FileWritten => |t| t.admin.file_written,
        AuditAction::JobHeld => |t| t.queue.was_held,
        AuditAction::JobReleased => |t| t.queue.was_released,
        AuditAction::JobPriority => |t| t.queue.was_prioritised,
        AuditAction::JobTimeLimit => |t| t.queue.was_limited,
        AuditAction::JobMoved => |t| t.queue.was_moved,
        AuditAction::NodeDrained => |t| t.queue.was_drained,
        AuditAction::NodeSaved => |t| t.queue.node_was_saved,
        AuditAction::NodeRemoved => |t| t.queue.node_was_removed,
        AuditAction::NodeTried => |t| t.queue.node_was_tried,
        AuditAction::ContainerStopped => |t| t.quarantine.was_stopped,
        AuditAction::ContainerRemoved => |t| t.quarantine.was_removed,
        AuditAction::VirtualClusterSaved => |t| t.queue.cluster_was_saved,
        AuditAction::VirtualClusterRemoved => |t| t.queue.cluster_was_removed,
        AuditAction::StorageSaved => |t| t.storages.was_saved,
        AuditAction::StorageRemoved => |t| t.storages.was_removed,
        AuditAction::TemplateSaved => |t| t.audit.template_saved,
        AuditAction::TemplateRemoved => |t| t.audit.template_removed,
        AuditAction::ImageSaved => |t| t.admin.image_saved,
        AuditAction::ImageRemoved => |t| t.admin.image_removed,
        AuditAction::UserAdded => |t| t.audit.user_added,
        AuditAction::UserRemoved => |t| t.audit.user_removed,
        AuditAction::UserPromoted => |t| t.audit.user_promoted,
        AuditAction::UserDemoted => |t| t.audit.user_demoted,
        AuditAction::PasswordChanged => |t| t.audit.password_changed,
        AuditAction::PasswordReset => |t| t.audit.password_reset,
        AuditAction::AccessEnded => |t| t.audit.access_ended,
        AuditAction::TokenMade => |t| t.audit.token_made,
        AuditAction::TokenRevoked => |t| t.audit.token_revoked,
        AuditAction::PublicKeyAdded => |t| t.audit.public_key_added,
        AuditAction::PublicKeyRemoved => |t| t.audit.public_key_removed,
        AuditAction::SignedIn => |t| t.audit.signed_in,
        AuditAction::SignedOut => |t| t.audit.signed_out,
        AuditAction::SignInFailed => |t| t.audit.sign_in_failed,
        AuditAction::KeyRead => |t| t.audit.key_read,
        AuditAction::LogRead => |t| t.audit.log_read,
        AuditAction::FilesRead => |t| t.audit.files_read,
        AuditAction::FilesChanged => |t| t.audit.files_changed,
        AuditAction::JobStopped => |t| t.audit.job_stopped,
        AuditAction::JobDeleted => |t| t.audit.job_deleted,
        AuditAction::Refused => |t| t.audit.refused,
        AuditAction::UserGroups => |t| t.accounts.put_into_groups,
        AuditAction::UserProvided => |t| t.accounts.provided,
        AuditAction::GroupSaved => |t| t.accounts.group_was_saved,
        AuditAction::GroupRemoved => |t| t.accounts.group_was_removed,
        AuditAction::UserVirtualClusters => |t| t.accounts.was_given_clusters,
    }
}

#[component]
fn Table(entries: Vec<AuditEntry>, words: String) -> impl IntoView {
    let Some(last) = entries.last().map(|entry| entry.id) else {
        let none: fn(&'static Texts) -> &'static str =
            if words.is_empty() { |t| t.admin.no_audit } else { |t| t.audit.find_nothing };
        return view! { <EmptyState title=text(none) hint=text(|_| "")/> }.into_any();
    };
    let older = older(&words, last);
    let rows = entries.into_iter().map(|entry| view! { <Row entry=entry/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.admin.audit
            heads=&[
                (|t| t.job.when, None),
                (|t| t.audit.who, None),
                (|t| t.job.what, None),
                (|t| t.audit.subject, None),
                (|t| t.cluster.address, None),
            ]
        >
            {rows}
        </DataTable>
        <p><a href=older>{tr(|t| t.admin.older)}</a></p>
    }
    .into_any()
}

/// The address of what is before an entry.
fn older(words: &str, last: i64) -> String {
    match words {
        "" => format!("?before={last}"),
        words => format!("?q={}&before={last}", encode(words)),
    }
}

/// What more is known of it: of a terminal its id, and how it was opened or ended; of tokens and groups
/// what people call them; of settings which of them became others.
fn detail(texts: &'static Texts, entry: &AuditEntry) -> String {
    let AuditEntry { action, detail, .. } = entry;
    let of_terminal = matches!(action, AuditAction::TerminalOpened | AuditAction::TerminalEnded);
    let of_people = matches!(
        action,
        AuditAction::TokenMade
            | AuditAction::UserGroups
            | AuditAction::UserVirtualClusters
            | AuditAction::ContainerStopped
            | AuditAction::ContainerRemoved
    );
    let of_settings = matches!(
        action,
        AuditAction::NodeSaved
            | AuditAction::VirtualClusterSaved
            | AuditAction::StorageSaved
            | AuditAction::GroupSaved
    );
    if let Some(settings) = of_settings.then(|| settings(texts, detail)).flatten() {
        return settings;
    }
    match detail.split_once(' ') {
        Some((id, how)) if of_terminal => format!("{id} {}", (texts.said)(how)),
        Some(_) | None if of_people => detail.clone(),
        Some(_) | None => (texts.said)(detail),
    }
}

/// The names of settings in words; none where it is not these that it says.
fn settings(texts: &'static Texts, detail: &str) -> Option<String> {
    let named = detail.split(", ").map(|key| (texts.audit.setting)(key));
    let named: Vec<_> = named.collect::<Option<_>>()?;
    Some(named.join(texts.common.comma))
}

#[component]
fn Row(entry: AuditEntry) -> impl IntoView {
    let described = entry.clone();
    view! {
        <tr>
            <td><RelativeTime at=entry.at/></td>
            <td><span class="table__name">{entry.actor.to_string()}</span></td>
            <td>
                {tr(word(entry.action))}
                <span class="table__sub">{told(move |t| detail(t, &described))}</span>
            </td>
            <td><span class="table__name">{entry.object}</span></td>
            <td>{entry.address}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use protocol::cluster::{NodeSettings, VirtualClusterSettings};
    use protocol::person::GroupSettings;
    use protocol::storages::{StorageSettings, StorageSource};
    use serde_json::{Value, json};

    use super::*;
    use crate::i18n::Language;

    #[test]
    fn every_setting_that_can_be_saved_has_words_in_every_language() {
        let node = json!({"name": "n", "address": "10.0.0.1", "endpoint": "sim://n", "metrics": "http://n"});
        let node: NodeSettings = serde_json::from_value(node).unwrap();
        let cluster = json!({"name": "lab", "limits": {"user": {"running_jobs": 1}}, "within": {"rack": ["3"]}});
        let cluster: VirtualClusterSettings = serde_json::from_value(cluster).unwrap();
        let source = StorageSource::Path("/mnt".to_owned());
        let storage = StorageSettings::new("data".parse().unwrap(), source);
        let group = GroupSettings::new("lab".parse().unwrap());
        let all = [
            serde_json::to_value(node),
            serde_json::to_value(cluster),
            serde_json::to_value(storage),
            serde_json::to_value(group),
        ];
        for settings in all {
            let Value::Object(fields) = settings.unwrap() else { panic!("settings are an object") };
            for key in fields.keys() {
                for language in [Language::English, Language::Chinese] {
                    assert!(settings_in(language, key).is_some(), "{key} in {language:?}");
                }
            }
        }
        let said = settings_in(Language::Chinese, "share, borrows");
        assert_eq!(said.as_deref(), Some("配额、借用"));
        assert_eq!(settings_in(Language::English, "takes no new jobs"), None);
    }

    fn settings_in(language: Language, detail: &str) -> Option<String> {
        settings(language.texts(), detail)
    }

    #[test]
    fn what_is_older_is_searched_for_the_same() {
        assert_eq!(older("", 7), "?before=7");
        assert_eq!(older("ada job.stopped", 7), "?q=ada+job.stopped&before=7");
    }
}
