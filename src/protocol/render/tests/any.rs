//! Any spec survives both notations.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use crate::amount::Amount;
use crate::ids::{GpuType, JobName, NodeName, PortLabel, RoleName, VirtualClusterName};
use crate::resources::Resources;
use crate::spec::{
    Completion, Deadline, Dialect, Grace, GraceSignal, JobSpec, NodeSelector, PortRequest,
    Priority, RegistryAuth, RetryLimit, TaskRole, Topology, TopologyLevel,
};

/// Words and marks that the notations might take for something else.
fn text() -> impl Strategy<Value = String> {
    let odd = [
        "a",
        "Z",
        "0",
        "1.0",
        "1e3",
        "true",
        "null",
        "~",
        "yes",
        "- ",
        ": ",
        " #",
        "#",
        "'",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        "&x",
        "*x",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "---",
        "...",
        "$PAI_X",
        "<%",
        "%>",
        "<% $secrets.token %>",
        "<% $parameters.x %>",
        "<% $data.uri[0] %>",
        "secrets.a",
        " ",
        "\n",
        "\t",
        "\r",
        "  \n",
        "\n\n",
        "é",
        "作业",
        "😀",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{1}",
        "\u{7f}",
    ];
    vec(prop::sample::select(odd.to_vec()), 1..12).prop_map(|parts| parts.concat())
}

fn line() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.replace(|c: char| c.is_control(), "_"))
}

fn command() -> impl Strategy<Value = String> {
    text().prop_map(|text| {
        let text = text.trim();
        if text.is_empty() { "x".to_owned() } else { text.to_owned() }
    })
}

fn image() -> impl Strategy<Value = String> {
    "[a-z0-9./:@_#{}*&%][a-z0-9./:@_#{}*&%-]{0,20}"
}

fn gpu_types() -> impl Strategy<Value = Vec<GpuType>> {
    btree_set("[A-Z0-9#:'\"-]{1,8}", 0..3)
        .prop_map(|names| names.into_iter().map(|name| GpuType::new(name).unwrap()).collect())
}

fn retries() -> impl Strategy<Value = RetryLimit> {
    prop_oneof![
        (0..1000_u32).prop_map(RetryLimit::Times),
        Just(RetryLimit::EveryFailure),
        Just(RetryLimit::Always),
    ]
}

fn ports() -> impl Strategy<Value = Vec<PortRequest>> {
    let port = (prop_oneof![Just(0_u16), 1024..60000_u16], 1..21_u32);
    btree_map("[a-zA-Z0-9._~]{1,6}|http|ssh", port, 0..4).prop_map(|ports| {
        let port = |(label, (begin_at, count)): (String, (u16, u32))| PortRequest {
            label: PortLabel::new(label).unwrap(),
            begin_at,
            count,
        };
        crate::parse::without_implicit(ports.into_iter().map(port).collect())
    })
}

fn registry() -> impl Strategy<Value = RegistryAuth> {
    (line(), line(), line()).prop_map(|(registry, user, password)| RegistryAuth {
        registry,
        user,
        password,
    })
}

fn role(name: String) -> impl Strategy<Value = TaskRole> {
    let gpus =
        prop_oneof![(0..9_u64).prop_map(Amount::whole), (1..1000_u64).prop_map(Amount::from_milli)];
    let numbers = (1..50_u32, 1..64_u32, 100..1_000_000_u64, gpus, 0..100_u64);
    let limits = (option::of(1..50_u32), option::of(1..50_u32), 1..1_000_000_u64);
    let texts = (image(), option::of(registry()), command());
    let rest = (gpu_types(), ports(), retries(), any::<bool>());
    (numbers, limits, texts, rest).prop_map(move |(numbers, limits, texts, rest)| {
        let (count, cpus, memory_mb, gpus, disk_gb) = numbers;
        let limit = |limit: Option<u32>| limit.map(|limit| limit.min(count));
        TaskRole {
            name: RoleName::new(name.as_str()).unwrap(),
            count,
            resources: Resources { cpus, memory_mb, gpus, disk_gb },
            gpu_types: rest.0,
            shm_mb: limits.2.min(memory_mb),
            image: texts.0,
            registry: texts.1.map(Box::new),
            ports: rest.1,
            command: texts.2,
            completion: Completion { min_failed: limit(limits.0), min_succeeded: limit(limits.1) },
            task_retries: rest.2,
            infiniband: rest.3,
        }
    })
}

fn roles() -> impl Strategy<Value = Vec<TaskRole>> {
    btree_set("[a-zA-Z0-9._~-]{1,5}|a[._~-]b", 1..4)
        .prop_flat_map(|names| names.into_iter().map(role).collect::<Vec<_>>())
}

fn env() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map("[A-Za-z_][A-Za-z0-9_]{0,5}", text(), 0..3)
}

fn extras() -> impl Strategy<Value = serde_json::Map<String, serde_json::Value>> {
    use serde_json::Value as Json;
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(Json::from),
        text().prop_map(Json::from),
        Just(Json::from("")),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Json::from),
            btree_map(text(), inner, 0..3).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    });
    let others = btree_map(text(), value, 0..3);
    let gang = Just(Json::from(true));
    let known =
        (option::of(plugins()), option::of(gang), option::of(scheduler()), option::of(storages()));
    (others, known).prop_map(|(others, (plugins, gang, scheduler, storages))| {
        let known = [
            ("com.microsoft.pai.runtimeplugin", plugins),
            ("gangAllocation", gang),
            ("hivedScheduler", scheduler),
            ("storages", storages),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        others.into_iter().chain(known).collect()
    })
}

/// What of the scheduler's part changes nothing here.
fn scheduler() -> impl Strategy<Value = serde_json::Value> {
    let keys = ["lazyPreemptionEnable", "gangReleaseEnable", "ignoreK8sSuggestedNodes", "unheard"];
    let values = btree_map(prop::sample::select(keys.to_vec()), any::<bool>(), 1..4);
    values.prop_map(|values| json!(values))
}

/// The storages that tasks are to have.
fn storages() -> impl Strategy<Value = serde_json::Value> {
    let storages = btree_map("[A-Za-z0-9._-]{1,6}", option::of("/[a-z0-9]{1,6}"), 0..4);
    storages.prop_map(|storages| {
        let one = |(name, target): (String, Option<String>)| match target {
            Some(target) if ["/berth", "/proc", "/sys", "/dev"].contains(&target.as_str()) => {
                json!({ "name": name })
            }
            Some(target) => json!({ "name": name, "mountPath": target }),
            None => json!({ "name": name }),
        };
        storages.into_iter().map(one).collect()
    })
}

/// The plugins that stay in `extras`.
fn plugins() -> impl Strategy<Value = serde_json::Value> {
    let ssh = (text(), any::<bool>()).prop_map(|(value, jobssh)| {
        let parameters =
            json!({ "jobssh": jobssh, "userssh": { "type": "custom", "value": value } });
        json!({ "plugin": "ssh", "parameters": parameters })
    });
    vec(ssh, 1..3).prop_map(serde_json::Value::from)
}

fn nodes() -> impl Strategy<Value = NodeSelector> {
    let names = btree_set("[A-Za-z0-9._-]{1,6}", 0..3);
    let level = || option::of(prop::sample::select(TopologyLevel::ALL.to_vec()));
    let labels = btree_map("[a-z=, ]{1,4}", text(), 0..3);
    (names, labels, level(), level()).prop_map(|(names, labels, required, preferred)| {
        let names = names.into_iter().map(|name| NodeName::new(name).unwrap()).collect();
        NodeSelector { names, labels, topology: Topology { required, preferred } }
    })
}

fn places() -> impl Strategy<Value = [Option<String>; 4]> {
    [option::of(line()), option::of(line()), option::of(line()), option::of(line())]
}

fn spec() -> impl Strategy<Value = JobSpec> {
    let names = ("[A-Za-z0-9._~-]{1,20}", "[A-Za-z0-9_-]{1,10}", option::of(text()));
    let priority = prop_oneof![Just(-1), Just(10), Just(100), Just(120), -1..127];
    let limit = option::of(1..31_536_001_u32);
    let index = any::<prop::sample::Index>();
    let limit = (limit, option::of((0..6_usize, 1..3_601_u32)));
    let deadline = option::of(deadline());
    let rules = (priority, gpu_types(), retries(), index, any::<bool>(), limit, nodes(), deadline);
    let secrets = btree_set("token|[a-z0-9_.-]{1,6}", 0..3);
    let parts = (roles(), places(), env(), any::<bool>(), secrets, extras());
    (names, rules, parts).prop_map(|(names, rules, parts)| {
        let (roles, [auth_file, data_dir, output_dir, code_dir], env, debug, secrets, extras) =
            parts;
        let tasks: u32 = roles.iter().map(|role| role.count).sum();
        let kill_all = u32::try_from(rules.3.index(tasks as usize)).unwrap() + 1;
        JobSpec {
            name: JobName::new(names.0).unwrap(),
            dialect: Dialect::Pai,
            description: names.2,
            virtual_cluster: VirtualClusterName::new(names.1).unwrap(),
            priority: Priority(rules.0),
            gpu_types: rules.1,
            retries: rules.2,
            nodes: rules.6,
            time_limit: rules.5.0.map(|seconds| seconds.to_string().parse().unwrap()),
            grace: grace(rules.5),
            deadline: rules.7,
            kill_all_on_completed: rules.4.then_some(kill_all),
            auth_file,
            data_dir,
            output_dir,
            code_dir,
            roles,
            env: env.into_iter().filter(|(name, _)| name != "isDebug").collect(),
            debug,
            secrets: secrets.into_iter().collect(),
            extras,
        }
    })
}

/// Of any year that has four digits.
fn deadline() -> impl Strategy<Value = Deadline> {
    let millis = 0..253_402_300_799_999_i64;
    millis.prop_map(|millis| serde_json::from_value(millis.into()).unwrap())
}

/// As long as it is shorter than the limit.
fn grace((limit, grace): (Option<u32>, Option<(usize, u32)>)) -> Option<Grace> {
    let (signal, seconds) = grace.filter(|(_, seconds)| limit.is_none_or(|all| *seconds < all))?;
    Some(Grace { signal: GraceSignal::ALL[signal], seconds })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_spec_survives_both_notations(spec in spec()) {
        super::check(&spec);
    }
}
