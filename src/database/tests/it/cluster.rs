use std::sync::Arc;

use database::nodes::{self, NodeObserved};
use database::storages::{self, Storage};
use database::virtual_clusters;
use protocol::architecture::Architecture;
use protocol::cluster::{
    Closed, ClosedCause, NodeSettings, Share, StartFailure, VirtualClusterSettings,
};
use protocol::gpus::{FoundGpu, GpuFault, GpuProblem, GpuReport, PartOf};
use protocol::health::{GpuSigns, Health};
use protocol::resources::{Capacity, Gpu, Taken};
use protocol::storages::{StorageSettings, StorageSource};

use crate::stage::{at, node, on_both, user, vc, write};

fn settings(name: &str, address: &str) -> NodeSettings {
    serde_json::from_value(serde_json::json!({
        "name": name,
        "address": address,
        "endpoint": "unix:///var/run/docker.sock",
        "gpus": [{"type": "A100", "count": 8}],
        "labels": {"rack": "7"},
    }))
    .unwrap()
}

fn seen() -> NodeObserved {
    let gpu = Gpu { index: 0, gpu_type: "A100".parse().unwrap(), uuid: None, healthy: true };
    NodeObserved {
        reachable: true,
        problem: None,
        last_seen: Some(at(50)),
        engine: Some("Docker 28.2.2".to_owned()),
        engine_id: Some("7TRN:IPZB".to_owned()),
        tasks_address: Some("172.20.0.1".parse().unwrap()),
        gpus: Some(GpuReport {
            driver: Some("535.104.05".to_owned()),
            gpus: vec![FoundGpu {
                gpu: gpu.clone(),
                model: "NVIDIA A100-SXM4-80GB".to_owned(),
                memory_mb: 81_920,
                fault: Some(GpuFault::Memory),
                part_of: Some(PartOf { uuid: "GPU-a".to_owned(), instance: 7 }),
            }],
            links: vec![vec![0, 1]],
            problem: Some(GpuProblem::Failed("busy".to_owned())),
        }),
        capacity: Some(Capacity {
            cpus: 64,
            memory_mb: 1 << 20,
            disk_gb: 900,
            gpus: vec![gpu],
            architecture: Architecture::new("aarch64"),
        }),
        taken: Taken { cpus: 2, memory_mb: 512, disk_gb: 0, gpus: [0].into() },
    }
}

on_both! {
    async fn nodes_are_saved_listed_and_removed(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n10", "10.0.0.2"), false));
        write!(stage, |tx| nodes::save(&tx, &settings("n9", "10.0.0.1"), true));
        let list = nodes::list(stage.db.read()).await?;
        let names: Vec<_> = list.iter().map(|node| node.settings.name.as_str()).collect();
        assert_eq!(names, ["n9", "n10"], "as people count");
        assert_eq!(list[0].settings, settings("n9", "10.0.0.1"));
        assert_eq!((list[0].from_file, list[1].from_file), (true, false));
        assert_eq!((list[0].draining, &list[0].observed), (false, &None));
        assert_eq!(nodes::get(stage.db.read(), &node("n10")).await?.as_ref(), list.get(1));
        assert!(write!(stage, |tx| nodes::remove(&tx, &node("n9"))));
        assert!(!write!(stage, |tx| nodes::remove(&tx, &node("n9"))));
        assert_eq!(nodes::get(stage.db.read(), &node("n9")).await?, None);
        assert_eq!(nodes::list(stage.db.read()).await?.len(), 1);
    }

    async fn what_is_placed_on_a_node_keeps_it(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.0.0.1"), false));
        let (there, gone) = (node("n1"), node("n2"));
        let kept = write!(stage, |tx| nodes::keep(&tx, &[&there, &gone].into()));
        assert_eq!(kept, [there.clone()].into());
        assert!(write!(stage, |tx| nodes::close(&tx, &there)));
        assert!(!write!(stage, |tx| nodes::close(&tx, &gone)));
    }

    async fn new_settings_keep_what_was_seen_and_whether_it_drains(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.0.0.1"), true));
        write!(stage, |tx| nodes::save(&tx, &settings("n2", "10.0.0.2"), true));
        assert!(write!(stage, |tx| nodes::set_draining(&tx, &node("n1"), true, true)));
        write!(stage, |tx| nodes::set_observed(&tx, &[(node("n1"), seen().into())]));
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.9.9.9"), false));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!((found.settings.address.as_str(), found.from_file), ("10.9.9.9", false));
        assert_eq!((found.draining, found.emptied, found.observed), (true, true, Some(seen().into())));
        let other = nodes::get(stage.db.read(), &node("n2")).await?.unwrap();
        assert_eq!((other.draining, other.observed), (false, None));
    }

    async fn a_node_stays_closed_until_it_is_opened(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.0.0.1"), true));
        let failure = StartFailure {
            at: at(60), job: "ada~train".parse().unwrap(), image: "berth/base".to_owned(),
            message: "no driver".to_owned(),
        };
        let message = "no driver".to_owned();
        let (cause, containers) = (ClosedCause::Unkilled, vec!["berth-c-1".to_owned()]);
        let closed = Closed { since: at(70), cause, message, failures: vec![failure], containers };
        assert!(write!(stage, |tx| nodes::close_for(&tx, &node("n1"), &closed)));
        assert!(!write!(stage, |tx| nodes::close_for(&tx, &node("n2"), &closed)));
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.9.9.9"), false));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!((found.closed, found.draining), (Some(closed), false));
        assert!(write!(stage, |tx| nodes::open(&tx, &node("n1"))));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!(found.closed, None);
        assert!(!write!(stage, |tx| nodes::open(&tx, &node("n1"))), "it is open already");
    }

    async fn how_well_a_node_is_stays_with_it(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.0.0.1"), true));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!(found.health, Health::default());
        let signs = GpuSigns { index: 3, xid: Some(79), ..GpuSigns::default() };
        let sick = Health::default().measured(&[signs], at(60));
        assert!(write!(stage, |tx| nodes::set_health(&tx, &node("n1"), &sick)));
        assert!(!write!(stage, |tx| nodes::set_health(&tx, &node("n2"), &sick)));
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.9.9.9"), false));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!(found.health, sick);
    }

    async fn what_is_seen_of_many_nodes_is_stored_at_once(stage) {
        let names: Vec<_> = (1..=300).map(|number| format!("n{number}")).collect();
        let tx = stage.begin().await?;
        for name in &names {
            nodes::save(&tx, &settings(name, "10.0.0.1"), true).await?;
        }
        let nothing = NodeObserved {
            reachable: false, problem: None, last_seen: None, engine: None,
            engine_id: None, capacity: None,
            tasks_address: None, gpus: None, taken: Taken::default(),
        };
        let of = |(number, name): (usize, &String)| {
            (node(name), Arc::new(if number % 2 == 0 { seen() } else { nothing.clone() }))
        };
        let all: Vec<_> = names.iter().enumerate().map(of).collect();
        nodes::set_observed(&tx, &all).await?;
        let some: Vec<_> = names[..280].iter().map(|name| (node(name), at(99))).collect();
        nodes::set_last_seen(&tx, &some).await?;
        tx.commit().await?;
        let list = nodes::list(stage.db.read()).await?;
        assert_eq!(list.len(), 300);
        for (number, (found, (name, observed))) in list.iter().zip(&all).enumerate() {
            assert_eq!(found.settings.name, *name);
            let last_seen = if number < 280 { Some(at(99)) } else { observed.last_seen };
            assert_eq!(found.observed, Some(Arc::new(NodeObserved { last_seen, ..NodeObserved::clone(observed) })));
        }
    }

    async fn a_node_out_of_contact_says_why(stage) {
        write!(stage, |tx| nodes::save(&tx, &settings("n1", "10.0.0.1"), true));
        write!(stage, |tx| nodes::set_observed(&tx, &[(node("n1"), seen().into())]));
        let problem = Some("connection refused".to_owned());
        let lost = NodeObserved { reachable: false, problem, ..seen() };
        let nobody = (node("n3"), seen().into());
        write!(stage, |tx| nodes::set_observed(&tx, &[nobody, (node("n1"), lost.clone().into())]));
        let found = nodes::get(stage.db.read(), &node("n1")).await?.unwrap();
        assert_eq!(found.observed, Some(lost.into()));
        assert_eq!(nodes::get(stage.db.read(), &node("n3")).await?, None);
        assert!(!write!(stage, |tx| nodes::set_draining(&tx, &node("n3"), true, false)));
    }

    async fn virtual_clusters_are_saved_listed_and_removed(stage) {
        let of = |name: &str, cpus| VirtualClusterSettings {
            share: Share { cpus, ..Share::default() },
            users: vec![user("alice")],
            ..VirtualClusterSettings::new(vc(name))
        };
        write!(stage, |tx| virtual_clusters::save(&tx, &of("night", None)));
        write!(stage, |tx| virtual_clusters::save(&tx, &of("day", Some(4))));
        write!(stage, |tx| virtual_clusters::save(&tx, &of("night", Some(9))));
        let conn = stage.db.read();
        assert_eq!(virtual_clusters::list(conn).await?, [of("day", Some(4)), of("night", Some(9))]);
        assert_eq!(virtual_clusters::get(conn, &vc("day")).await?, Some(of("day", Some(4))));
        assert!(write!(stage, |tx| virtual_clusters::remove(&tx, &vc("day"))));
        assert!(!write!(stage, |tx| virtual_clusters::remove(&tx, &vc("day"))));
        assert_eq!(virtual_clusters::get(stage.db.read(), &vc("day")).await?, None);
    }
    async fn storages_are_saved_listed_and_removed(stage) {
        let of = |name: &str, path: &str, password: Option<&str>| {
            let source = StorageSource::Path(path.to_owned());
            let settings = StorageSettings {
                users: vec![user("alice")],
                ..StorageSettings::new(name.parse().unwrap(), source)
            };
            Storage { settings, password: password.map(|text| text.as_bytes().to_vec()) }
        };
        write!(stage, |tx| storages::save(&tx, &of("team", "/a", Some("sealed"))));
        write!(stage, |tx| storages::save(&tx, &of("data", "/b", None)));
        write!(stage, |tx| storages::save(&tx, &of("team", "/c", None)));
        write!(stage, |tx| storages::save(&tx, &of("data", "/b", Some("other"))));
        let conn = stage.db.read();
        let expected = [of("data", "/b", Some("other")), of("team", "/c", None)];
        assert_eq!(storages::list(conn).await?, expected);
        assert!(write!(stage, |tx| storages::remove(&tx, &"data".parse().unwrap())));
        assert!(!write!(stage, |tx| storages::remove(&tx, &"data".parse().unwrap())));
        assert_eq!(storages::list(stage.db.read()).await?, [of("team", "/c", None)]);
    }
}
