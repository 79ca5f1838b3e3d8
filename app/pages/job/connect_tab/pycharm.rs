use api::ssh::SshTask;
use leptos::prelude::*;

use crate::connect::Ways;
use crate::i18n::{Reader, tr};
use crate::parts::copy::Copy;

/// Every field that PyCharm's dialogs ask for.
#[component]
pub(crate) fn PyCharm(ways: Ways, task: SshTask) -> impl IntoView {
    let reader = Reader::get();
    let values = [
        "SFTP".to_owned(),
        task.address.clone(),
        task.port.to_string(),
        ways.user.clone(),
        String::new(),
        ways.key_path(),
        "/".to_owned(),
        format!("/root/{}", ways.job.name),
        "/usr/bin/python3".to_owned(),
    ];
    let rows = values.into_iter().enumerate().map(|(at, value)| {
        let value = match value.is_empty() {
            true => view! { {tr(|t| t.connect.authentication)} }.into_any(),
            false => view! { <Copy text=value/> }.into_any(),
        };
        view! {
            <tr>
                <th scope="row">{move || reader.texts().connect.fields[at]}</th>
                <td>{value}</td>
            </tr>
        }
    });
    view! {
        <section class="card stack" aria-labelledby="connect-pycharm">
            <div>
                <h2 id="connect-pycharm">{tr(|t| t.connect.pycharm)}</h2>
                <p class="hint">{tr(|t| t.connect.pycharm_hint)}</p>
            </div>
            <div class="table-scroll" tabindex="0" role="group" aria-labelledby="connect-pycharm">
                <table class="table connect__fields">
                    <thead>
                        <tr>
                            <th scope="col">{tr(|t| t.connect.field)}</th>
                            <th scope="col">{tr(|t| t.connect.value)}</th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .into_any()
}
