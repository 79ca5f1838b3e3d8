use leptos::prelude::*;
use protocol::health::Episode;

use crate::i18n::{said, tr};
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;

/// What was wrong with it before, the last first.
#[component]
pub(super) fn Past(episodes: Vec<Episode>) -> impl IntoView {
    let rows = episodes.into_iter().rev().map(|episode| {
        let Episode { ailment, until, ended_by } = episode;
        let ended_by = ended_by.map(|user| user.to_string());
        view! {
            <tr>
                <td>{said(ailment.to_string())}</td>
                <td><RelativeTime at=ailment.since/></td>
                <td><RelativeTime at=until/></td>
                <td>{ended_by}</td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <section class="card card--flush" aria-labelledby="ailments">
            <h2 id="ailments" class="card__title">{tr(|t| t.cluster.was_wrong)}</h2>
            <DataTable
                label=|t| t.cluster.was_wrong
                heads=&[
                    (|t| t.cluster.ailment, None),
                    (|t| t.cluster.ailed_from, None),
                    (|t| t.cluster.ailed_until, None),
                    (|t| t.cluster.ended_by, None),
                ]
            >
                {rows}
            </DataTable>
        </section>
    }
    .into_any()
}
