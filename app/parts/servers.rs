use api::servers::ServerView;
use leptos::prelude::*;

use crate::i18n::{Texts, told, tr};
use crate::live::Live;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::servers::list_servers;

/// Which server leads and which would take over, for administrators. Where there is one only, nothing is
/// said.
#[component]
pub(crate) fn Servers() -> impl IntoView {
    let changes = Live::get().nodes();
    let servers = reading(move || changes.get(), |_| list_servers());
    view! {
        <Loaded
            resource=servers
            lines=0
            content=move |servers| view! { <Several servers=servers/> }
        />
    }
    .into_any()
}

#[component]
fn Several(servers: Vec<ServerView>) -> impl IntoView {
    if servers.len() < 2 {
        return ().into_any();
    }
    let rows = servers.into_iter().map(|server| view! { <Row server=server/> });
    let rows = rows.collect_view();
    view! {
        <section class="stack" aria-labelledby="servers">
            <h2 id="servers">{tr(|t| t.admin.servers)}</h2>
            <p>{tr(|t| t.admin.servers_what)}</p>
            <DataTable
                label=|t| t.admin.servers
                heads=&[
                    (|t| t.admin.name, None),
                    (|t| t.jobs.state, None),
                    (|t| t.admin.server_heard, None),
                    (|t| t.admin.server_address, Some("wide")),
                ]
            >
                {rows}
            </DataTable>
        </section>
    }
    .into_any()
}

#[component]
fn Row(server: ServerView) -> impl IntoView {
    let ServerView { name, address, term, heard, there } = server;
    view! {
        <tr>
            <th scope="row">{name}</th>
            <td>{told(move |t| role(t, term, there))}</td>
            <td><RelativeTime at=heard/></td>
            <td class="wide"><code>{address}</code></td>
        </tr>
    }
    .into_any()
}

fn role(texts: &'static Texts, term: Option<i64>, there: bool) -> String {
    match (term, there) {
        (Some(term), _) => (texts.admin.server_leads)(term),
        (None, true) => texts.admin.server_follows.to_owned(),
        (None, false) => texts.admin.server_silent.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::i18n::Language;

    use super::*;

    #[test]
    fn what_a_server_does_is_told() {
        let said = |term, there| role(Language::English.texts(), term, there);
        assert_eq!(said(Some(7), true), "Leads (term 7)");
        assert_eq!(said(None, true), "Would take over");
        assert_eq!(said(None, false), "Not heard");
    }
}
