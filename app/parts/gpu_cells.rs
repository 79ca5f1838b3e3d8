use api::cluster::GpuView;
use leptos::prelude::*;
use protocol::cluster::NodeCondition;

use crate::address;
use crate::i18n::Reader;

/// Each GPU of a node as a cell: free, held, unhealthy. A held one leads to its job.
#[component]
pub(crate) fn GpuCells(gpus: Vec<GpuView>, condition: NodeCondition) -> impl IntoView {
    let modifier = match condition {
        NodeCondition::Ready => "",
        NodeCondition::Draining => " gpus--draining",
        NodeCondition::Unreachable => " gpus--offline",
    };
    let cells = gpus.into_iter().map(|gpu| view! { <li><Cell gpu=gpu/></li> }).collect_view();
    view! { <ul class=format!("gpus{modifier}")>{cells}</ul> }
}

#[component]
fn Cell(gpu: GpuView) -> impl IntoView {
    let reader = Reader::get();
    let GpuView { gpu, job } = gpu;
    let holder = job.clone();
    let label = move || {
        let texts = &reader.texts().cluster;
        let state = match (&holder, gpu.healthy) {
            (_, false) => texts.gpu_unhealthy.to_owned(),
            (Some(job), true) => job.to_string(),
            (None, true) => texts.gpu_free.to_owned(),
        };
        (texts.gpu_label)(gpu.index, gpu.gpu_type.as_str(), &state)
    };
    let unhealthy = if gpu.healthy { "" } else { " gpu--unhealthy" };
    match job {
        Some(key) => {
            let class = format!("gpu gpu--held gpu--hue-{}{unhealthy}", hue(&key.to_string()));
            let title = label.clone();
            view! { <a class=class href=address::job(&key) aria-label=label title=title></a> }
                .into_any()
        }
        None => {
            let title = label.clone();
            let class = format!("gpu gpu--free{unhealthy}");
            view! { <span class=class role="img" aria-label=label title=title></span> }.into_any()
        }
    }
}

/// One of the eight series colours, the same for all GPUs of a job.
fn hue(name: &str) -> u32 {
    name.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte)) % 8 + 1
}

#[cfg(test)]
mod tests {
    use super::hue;

    #[test]
    fn a_job_keeps_its_colour() {
        assert_eq!(hue("ada~first"), hue("ada~first"));
        assert!((1..=8).contains(&hue("")));
    }
}
