use api::quarantine::{Doing, Quarantined};
use leptos::prelude::*;
use protocol::ids::NodeName;

use crate::address;
use crate::edge;
use crate::i18n::{Texts, Told, text, text_of, told, tr};
use crate::live::Live;
use crate::number;
use crate::part::opened;
use crate::parts::about::{About, AskAbout};
use crate::parts::form_errors::FormAnswer;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::sending::Sending;
use crate::server_fns::quarantine::{RemoveQuarantined, StopQuarantined, list_quarantine};

/// Containers that are not touched, on a node or on all, for administrators. Where there are none,
/// nothing is said.
#[component]
pub(crate) fn Quarantine(#[prop(optional)] node: Option<NodeName>) -> impl IntoView {
    let stop = Sending::to::<StopQuarantined>();
    let remove = Sending::to::<RemoveQuarantined>();
    let changes = Live::get().nodes();
    let held = reading(
        move || (stop.version().get(), remove.version().get(), changes.get()),
        move |_| list_quarantine(node.clone()),
    );
    let asks = Asks { stop: About::new(), remove: About::new() };
    view! {
        {question(asks.stop, What::Stop, stop)}
        {question(asks.remove, What::Remove, remove)}
        <Loaded resource=held lines=0 content=move |held| held_if_any(held, asks)/>
    }
    .into_any()
}

/// What an administrator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Stop,
    Remove,
}

/// What asks before a container is stopped, or removed.
#[derive(Debug, Clone, Copy)]
struct Asks {
    stop: About<Quarantined>,
    remove: About<Quarantined>,
}

impl What {
    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Self::Stop => |t| t.quarantine.stop,
            Self::Remove => |t| t.common.remove,
        }
    }
}

/// The question, and that it is done. It stands beside the containers, which are shown anew when a node
/// changes.
fn question(about: About<Quarantined>, what: What, to: Sending) -> AnyView {
    let container = move || about.what().map(|one| one.container).unwrap_or_default();
    let title = text_of(move |t| match what {
        What::Stop => (t.quarantine.stop_title)(&container()),
        What::Remove => (t.quarantine.remove_title)(&container()),
    });
    let words = text(match what {
        What::Stop => |t| t.quarantine.stop_text,
        What::Remove => |t| t.quarantine.remove_text,
    });
    let node = move || about.what().map(|one| one.node.to_string());
    view! {
        <FormAnswer answer=to.done() done=text(|t| t.quarantine.done)/>
        <AskAbout
            opener=about.opener
            asked=about.is_asked()
            to=to
            title=title
            words=words
            act=text(what.word())
        >
            <input type="hidden" name="node" value=node/>
            <input type="hidden" name="container" value=container/>
        </AskAbout>
    }
    .into_any()
}

/// Makes the view of containers.
type MakeHeld = fn(Vec<Quarantined>, Asks) -> AnyView;

/// Most clusters have none: the code for it is fetched where there are some.
fn held_if_any(held: Vec<Quarantined>, asks: Asks) -> AnyView {
    if held.is_empty() {
        return ().into_any();
    }
    let made = opened(Signal::derive(|| Some(())), |()| quarantine());
    view! { {move || made.get().map(|made: MakeHeld| made(held.clone(), asks))} }.into_any()
}

#[lazy]
fn quarantine() -> MakeHeld {
    |held, asks| view! { <Held held=held asks=asks/> }.into_any()
}

/// Fetches that code where the page that the server sent shows some.
pub(crate) async fn fetch_quarantine() {
    if edge::shows("#quarantine") {
        quarantine().await;
    }
}

#[component]
fn Held(held: Vec<Quarantined>, asks: Asks) -> impl IntoView {
    let rows = held.into_iter().map(|one| view! { <Row one=one asks=asks/> });
    let rows = rows.collect_view();
    view! {
        <section class="stack" aria-labelledby="quarantine">
            <div class="notice notice--warn">
                <h2 id="quarantine" class="notice__title">{tr(|t| t.quarantine.title)}</h2>
                <p>{tr(|t| t.quarantine.what)}</p>
            </div>
            <DataTable
                label=|t| t.quarantine.title
                heads=&[
                    (|t| t.quarantine.container, None),
                    (|t| t.cluster.node, None),
                    (|t| t.quarantine.says, None),
                    (|t| t.jobs.state, None),
                    (|t| t.quarantine.holds, None),
                    (|t| t.admin.actions, None),
                ]
            >
                {rows}
            </DataTable>
        </section>
    }
    .into_any()
}

#[component]
fn Row(one: Quarantined, asks: Asks) -> impl IntoView {
    let (what, about) = match one.doing {
        Doing::Running { .. } => (What::Stop, asks.stop),
        Doing::Created | Doing::Ended => (What::Remove, asks.remove),
    };
    let (ours, asked) = (one.cluster.is_none(), one.clone());
    let button = ours.then(|| {
        let ask = move |_| about.ask(asked.clone());
        view! {
            <button type="button" class="button button--small" on:click=ask>{tr(what.word())}</button>
        }
    });
    let since = match one.doing {
        Doing::Running { since: Some(at) } => Some(view! { <RelativeTime at=at/> }),
        Doing::Running { since: None } | Doing::Created | Doing::Ended => None,
    };
    let (doing, described) = (one.doing, one.clone());
    view! {
        <tr>
            <th scope="row"><code>{one.container.clone()}</code></th>
            <td><a href=address::node(&one.node)>{one.node.to_string()}</a></td>
            <td>
                {origin(&one)}
                <span class="table__sub">{one.epoch.clone()}</span>
            </td>
            <td>{tr(word(doing))} <span class="table__sub">{since}</span></td>
            <td>{told(move |t| holds(t, &described))}</td>
            <td>{button}</td>
        </tr>
    }
    .into_any()
}

/// Whose it says that it is.
fn origin(one: &Quarantined) -> Told {
    let task = format!("{}~{}/{}", one.user, one.job, one.task);
    let cluster = one.cluster.clone();
    told(move |t| match &cluster {
        Some(cluster) => (t.quarantine.of_cluster)(cluster),
        None => task.clone(),
    })
}

fn word(doing: Doing) -> fn(&'static Texts) -> &'static str {
    match doing {
        Doing::Created => |t| t.quarantine.created,
        Doing::Running { .. } => |t| t.quarantine.runs,
        Doing::Ended => |t| t.quarantine.ended,
    }
}

/// What nobody else gets while it runs.
fn holds(texts: &'static Texts, one: &Quarantined) -> String {
    let words = &texts.quarantine;
    if one.cluster.is_some() {
        return words.not_ours.to_owned();
    }
    if !one.doing.is_running() {
        return String::new();
    }
    let amounts = (words.amounts)(one.cpus, &number::memory(one.memory_mb));
    match one.gpus.is_empty() {
        true => amounts,
        false => {
            let gpus = (words.gpus)(&number::held_gpus(&one.gpus, None));
            [gpus, amounts].join(texts.common.comma)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::i18n::Language;

    use super::*;

    fn one(doing: Doing, cluster: Option<&str>) -> Quarantined {
        Quarantined {
            node: "a".parse().unwrap(),
            container: "berth-c-7-a0-r0-t0-n0".to_owned(),
            cluster: cluster.map(str::to_owned),
            doing,
            epoch: "3-0000000f".to_owned(),
            user: "ada".to_owned(),
            job: "x".to_owned(),
            task: "main-0".to_owned(),
            gpus: vec![0, 3],
            cpus: 4,
            memory_mb: 8192,
        }
    }

    #[test]
    fn only_what_runs_here_holds_anything() {
        let said = |doing, cluster| holds(Language::English.texts(), &one(doing, cluster));
        let runs = Doing::Running { since: None };
        assert_eq!(said(runs, None), "GPU 0, 3, CPU 4, 8\u{202f}GiB");
        assert_eq!(said(Doing::Ended, None), "");
        assert_eq!(said(runs, Some("theirs")), "Not of this cluster");
    }
}
