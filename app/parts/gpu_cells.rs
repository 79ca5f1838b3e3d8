use api::cluster::{GpuHolder, GpuView};
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::NodeName;

use crate::address;
use crate::i18n::{Reader, Texts};

/// Each GPU of a node as a cell: free, held, shared, unhealthy. A held one leads to its job, one
/// that several share to the node.
#[component]
pub(crate) fn GpuCells(
    node: NodeName,
    gpus: Vec<GpuView>,
    condition: NodeCondition,
) -> impl IntoView {
    let modifier = match condition {
        NodeCondition::Ready => "",
        NodeCondition::Draining => " gpus--draining",
        NodeCondition::Unreachable => " gpus--offline",
    };
    let cell = |gpu| view! { <li><Cell node=node.clone() gpu=gpu/></li> };
    let cells = gpus.into_iter().map(cell).collect_view();
    view! { <ul class=format!("gpus{modifier}")>{cells}</ul> }
}

#[component]
fn Cell(node: NodeName, gpu: GpuView) -> impl IntoView {
    let reader = Reader::get();
    let unhealthy = if gpu.gpu.healthy { "" } else { " gpu--unhealthy" };
    let href = match gpu.holders.as_slice() {
        [] => None,
        [only] => Some(address::job(&only.job)),
        [_, _, ..] => Some(address::node(&node)),
    };
    let whole = match gpu.holders.as_slice() {
        [only] if !only.part.is_part() => Some(hue(&only.job.to_string())),
        [_, ..] | [] => None,
    };
    let parts = if whole.is_none() { gpu.holders.clone() } else { Vec::new() };
    let parts = parts.into_iter().map(|holder| view! { <Part holder=holder/> }).collect_view();
    let label = move || label(reader.texts(), &gpu);
    let title = label.clone();
    match href {
        Some(href) => {
            let held =
                whole.map_or("gpu--shared".to_owned(), |hue| format!("gpu--held gpu--hue-{hue}"));
            let class = format!("gpu {held}{unhealthy}");
            view! { <a class=class href=href aria-label=label title=title>{parts}</a> }.into_any()
        }
        None => {
            let class = format!("gpu gpu--free{unhealthy}");
            view! { <span class=class role="img" aria-label=label title=title></span> }.into_any()
        }
    }
}

/// What one task has of a GPU.
#[component]
fn Part(holder: GpuHolder) -> impl IntoView {
    let class = format!("gpu__part gpu--held gpu--hue-{}", hue(&holder.job.to_string()));
    let width = format!("width:{}%", holder.part.min(Amount::whole(1)).times(100));
    view! { <span class=class style=width></span> }
}

/// The GPU and who holds it, in words.
fn label(texts: &Texts, view: &GpuView) -> String {
    let (texts, gpu) = (&texts.cluster, &view.gpu);
    let holder = |holder: &GpuHolder| match holder.part.is_part() {
        true => (texts.gpu_part)(&holder.job.to_string(), holder.part),
        false => holder.job.to_string(),
    };
    let state = match (view.holders.as_slice(), gpu.healthy) {
        (_, false) => texts.gpu_unhealthy.to_owned(),
        ([], true) => texts.gpu_free.to_owned(),
        (holders, true) => holders.iter().map(holder).collect::<Vec<_>>().join(", "),
    };
    (texts.gpu_label)(gpu.index, gpu.gpu_type.as_str(), &state)
}

/// One of the eight series colours, the same for all GPUs of a job.
fn hue(name: &str) -> u32 {
    name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte)) % 8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_gpu_names_all_who_hold_it() {
        let part = |name: &str, milli| GpuHolder {
            job: name.parse().unwrap(),
            task: "worker-0".to_owned(),
            part: Amount::from_milli(milli),
        };
        let view = |holders: Vec<GpuHolder>| GpuView {
            gpu: protocol::resources::Gpu {
                index: 3,
                gpu_type: "A100".parse().unwrap(),
                uuid: None,
                healthy: true,
            },
            job: holders.first().map(|holder| holder.job.clone()),
            used: holders.iter().map(|holder| holder.part).sum(),
            holders,
        };
        let said = |holders| label(crate::i18n::Language::English.texts(), &view(holders));
        assert_eq!(said(vec![]), "GPU 3, A100: Free");
        assert_eq!(said(vec![part("ada~x", 1000)]), "GPU 3, A100: ada~x");
        let shared = vec![part("ada~x", 500), part("bo~y", 250)];
        assert_eq!(said(shared), "GPU 3, A100: ada~x (0.5), bo~y (0.25)");
    }

    #[test]
    fn a_job_keeps_its_colour() {
        assert_eq!(hue("ada~first"), hue("ada~first"));
        assert!((1..=8).contains(&hue("")));
    }
}
