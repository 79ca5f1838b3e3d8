use api::node_map::{Colour, Does, MapGpu};
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::ids::{JobKey, NodeName};

use crate::address;
use crate::i18n::{Reader, Texts};

/// How GPUs are coloured: what a colour tells, and who has which of the series' colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Palette {
    colour: Colour,
    names: Vec<String>,
}

impl Palette {
    /// Of those who hold most, each has a colour; all others share the last one.
    pub(crate) fn new(colour: Colour, holders: &[(String, Amount)]) -> Self {
        Self { colour, names: holders.iter().map(|(name, _)| name.clone()).collect() }
    }

    /// The class of a holder's part.
    fn class(&self, name: &str) -> String {
        let place = self.names.iter().position(|known| known == name);
        place.map_or("gpu--others".to_owned(), |place| format!("gpu--hue-{}", place + 1))
    }

    /// The class of a cell that has one colour; none where its parts have several.
    fn whole(&self, gpu: &MapGpu) -> Option<String> {
        match self.colour {
            Colour::Held => Some(held_class(gpu.used()).to_owned()),
            Colour::Load | Colour::Memory | Colour::Temperature => {
                Some(self.measured(gpu).unwrap_or("gpu--others").to_owned())
            }
            Colour::Job | Colour::User => {
                let mut classes = gpu.names(self.colour).map(|(name, _)| self.class(&name));
                let first = classes.next()?;
                let one = gpu.used() >= Amount::whole(1) && classes.all(|other| other == first);
                one.then_some(first)
            }
        }
    }

    /// The step of the ramp for what a GPU does; `None`: that is not measured, or colours tell
    /// something else.
    fn measured(&self, gpu: &MapGpu) -> Option<&'static str> {
        let does = gpu.does?;
        match self.colour {
            Colour::Load => does.load.map(percent_class),
            Colour::Memory => does.memory.map(percent_class),
            Colour::Temperature => does.temperature.map(heat_class),
            Colour::Held | Colour::Job | Colour::User => None,
        }
    }
}

/// The step of the ramp for how much is given away.
fn held_class(used: Amount) -> &'static str {
    match used.milli() {
        0..=333 => "gpu--ramp-1",
        334..=666 => "gpu--ramp-2",
        667..=999 => "gpu--ramp-3",
        1000.. => "gpu--ramp-4",
    }
}

fn percent_class(percent: u32) -> &'static str {
    match percent {
        0 => "gpu--ramp-0",
        1..=20 => "gpu--ramp-1",
        21..=40 => "gpu--ramp-2",
        41..=60 => "gpu--ramp-3",
        61..=80 => "gpu--ramp-4",
        81.. => "gpu--ramp-5",
    }
}

fn heat_class(degrees: u32) -> &'static str {
    match degrees {
        0..50 => "gpu--ramp-1",
        50..65 => "gpu--ramp-2",
        65..80 => "gpu--ramp-3",
        80.. => "gpu--ramp-4",
    }
}

/// Each GPU of a node as a cell: free, held, shared, unhealthy. A held one leads to its job, one
/// that several share to the node. Its title is its name as well: a page has hundreds of them.
#[component]
pub(crate) fn GpuCells(
    node: NodeName,
    gpus: Vec<MapGpu>,
    condition: NodeCondition,
    palette: Palette,
) -> impl IntoView {
    let modifier = match condition {
        NodeCondition::Ready => "",
        NodeCondition::Draining => " gpus--draining",
        NodeCondition::Unreachable => " gpus--offline",
    };
    let cell = |gpu| view! { <Cell node=node.clone() gpu=gpu palette=palette.clone()/> };
    let cells = gpus.into_iter().map(cell).collect_view();
    view! { <div class=format!("gpus{modifier}")>{cells}</div> }.into_any()
}

#[component]
fn Cell(node: NodeName, gpu: MapGpu, palette: Palette) -> impl IntoView {
    let reader = Reader::get();
    let unhealthy = if gpu.healthy { "" } else { " gpu--unhealthy" };
    let idle = if gpu.does.is_some_and(|does| does.idle) { " gpu--idle" } else { "" };
    let free = palette.measured(&gpu).unwrap_or("gpu--free");
    let href = match gpu.holders.as_slice() {
        [] => None,
        [(job, _)] => Some(address::job(job)),
        [_, _, ..] => Some(address::node(&node)),
    };
    let whole = palette.whole(&gpu);
    let parts = if whole.is_none() { gpu.names(palette.colour).collect() } else { Vec::new() };
    let part = |(name, part): (String, Amount)| {
        let width = format!("width:{}%", part.min(Amount::whole(1)).milli() / 10);
        view! { <span class=format!("gpu__part {}", palette.class(&name)) style=width></span> }
    };
    let parts = parts.into_iter().map(part).collect_view();
    let title = move || label(reader.texts(), &gpu);
    match href {
        Some(href) => {
            let whole = whole.unwrap_or("gpu--shared".to_owned());
            let class = format!("gpu {whole}{unhealthy}{idle}");
            view! { <a class=class href=href title=move || title()>{parts}</a> }.into_any()
        }
        None => {
            let class = format!("gpu {free}{unhealthy}");
            view! { <span class=class role="img" title=move || title()></span> }.into_any()
        }
    }
}

/// What a GPU does, in words.
fn doing(texts: &Texts, does: &Does) -> String {
    let Does { load, memory, temperature, idle } = *does;
    let words = &texts.map;
    let said = [
        idle.then(|| words.idle.to_owned()),
        load.map(words.load_of),
        memory.map(words.memory_of),
        temperature.map(words.degrees_of),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(texts.common.comma)
}

/// The GPU, who holds it and what it does, in words.
fn label(texts: &Texts, gpu: &MapGpu) -> String {
    let doing = gpu.does.map(|does| doing(texts, &does)).filter(|words| !words.is_empty());
    let comma = texts.common.comma;
    let texts = &texts.cluster;
    let holder = |(job, part): &(JobKey, Amount)| match part.is_part() {
        true => (texts.gpu_part)(&job.to_string(), *part),
        false => job.to_string(),
    };
    let held = gpu.holders.iter().map(holder).collect::<Vec<_>>().join(comma);
    let state = match (held.is_empty(), gpu.healthy) {
        (true, false) => texts.gpu_unhealthy.to_owned(),
        (false, false) => format!("{} · {held}", texts.gpu_unhealthy),
        (true, true) => texts.gpu_free.to_owned(),
        (false, true) => held,
    };
    let state = doing.map_or_else(|| state.clone(), |doing| format!("{state} · {doing}"));
    (texts.gpu_label)(gpu.index, gpu.gpu_type.as_str(), &state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(holders: &[(&str, u64)]) -> MapGpu {
        let holder =
            |(job, milli): &(&str, u64)| (job.parse().unwrap(), Amount::from_milli(*milli));
        MapGpu {
            index: 3,
            gpu_type: "A100".parse().unwrap(),
            healthy: true,
            holders: holders.iter().map(holder).collect(),
            does: None,
        }
    }

    #[test]
    fn what_a_gpu_does_is_told_and_has_colours() {
        let does = Does { load: Some(3), memory: Some(60), temperature: Some(81), idle: true };
        let idle = MapGpu { does: Some(does), ..gpu(&[("ada~x", 1000)]) };
        let english = crate::i18n::Language::English.texts();
        let said =
            "GPU 3, A100: ada~x · Held but idle, load 3\u{202f}%, memory 60\u{202f}%, 81\u{202f}°C";
        assert_eq!(label(english, &idle), said);
        for (colour, class) in [
            (Colour::Load, "gpu--ramp-1"),
            (Colour::Memory, "gpu--ramp-3"),
            (Colour::Temperature, "gpu--ramp-4"),
        ] {
            assert_eq!(Palette::new(colour, &[]).whole(&idle).unwrap(), class);
        }
        let steps = [0, 1, 20, 21, 40, 41, 60, 61, 80, 81, 100, 101].map(percent_class);
        let expected = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5].map(|step| format!("gpu--ramp-{step}"));
        assert_eq!(steps, expected);
        let by_load = Palette::new(Colour::Load, &[]);
        assert_eq!(by_load.whole(&gpu(&[("ada~x", 1000)])).unwrap(), "gpu--others");
    }

    #[test]
    fn a_shared_gpu_names_all_who_hold_it() {
        let said =
            |holders: &[(&str, u64)]| label(crate::i18n::Language::English.texts(), &gpu(holders));
        assert_eq!(said(&[]), "GPU 3, A100: Free");
        assert_eq!(said(&[("ada~x", 1000)]), "GPU 3, A100: ada~x");
        let shared = [("ada~x", 500), ("bo~y", 250)];
        assert_eq!(said(&shared), "GPU 3, A100: ada~x (0.5), bo~y (0.25)");
    }

    #[test]
    fn a_colour_tells_how_much_is_held_or_by_whom() {
        let held = Palette::new(Colour::Held, &[]);
        assert_eq!(held.whole(&gpu(&[("ada~x", 1000)])).unwrap(), "gpu--ramp-4");
        assert_eq!(held.whole(&gpu(&[("ada~x", 250)])).unwrap(), "gpu--ramp-1");
        let by = Palette::new(Colour::User, &[("ada".into(), Amount::whole(2))]);
        assert_eq!(by.whole(&gpu(&[("ada~x", 1000)])).unwrap(), "gpu--hue-1");
        assert_eq!(by.whole(&gpu(&[("ada~x", 500), ("ada~y", 500)])).unwrap(), "gpu--hue-1");
        assert_eq!(by.whole(&gpu(&[("bo~y", 1000)])).unwrap(), "gpu--others");
        assert_eq!(by.whole(&gpu(&[("ada~x", 500), ("bo~y", 500)])), None);
        assert_eq!(by.whole(&gpu(&[("ada~x", 500)])), None, "the rest of it is free");
    }
}
