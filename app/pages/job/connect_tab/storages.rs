use api::storages::MountView;
use leptos::prelude::*;

use crate::i18n::{told, tr};
use crate::parts::copy::Copy;
use crate::parts::table::DataTable;

/// The storages that a job's tasks have; nothing, where they have none.
#[component]
pub(crate) fn Storages(mounts: Vec<MountView>) -> impl IntoView {
    if mounts.is_empty() {
        return ().into_any();
    }
    let rows = mounts.into_iter().map(|MountView { name, target, read_only, variable }| {
        let rights = told(move |t| match read_only {
            true => t.storages.read_only,
            false => t.storages.writable,
        });
        view! {
            <tr>
                <th scope="row"><span class="table__name">{name.to_string()}</span></th>
                <td><Copy text=target/></td>
                <td><code>{variable}</code></td>
                <td>{rights}</td>
            </tr>
        }
    });
    view! {
        <section class="card stack" aria-labelledby="connect-storages">
            <div>
                <h2 id="connect-storages">{tr(|t| t.storages.title)}</h2>
                <p class="hint">{tr(|t| t.storages.of_job_hint)}</p>
            </div>
            <DataTable
                label=|t| t.storages.title
                heads=&[
                    (|t| t.admin.name, None),
                    (|t| t.storages.mount, None),
                    (|t| t.storages.variable, None),
                    (|t| t.storages.rights, None),
                ]
            >
                {rows.collect_view()}
            </DataTable>
        </section>
    }
    .into_any()
}
