//! A job of two roles on three engines prints its environment.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::berth::Berth;
use crate::dockerd::Dockerd;
use crate::image;

const ENGINES: usize = 3;

type Environment = BTreeMap<String, String>;

/// The job of the documents, with images and commands that are here.
fn job() -> String {
    let role = |name: &str, tasks: u32, memory: u32, gpus: u32| {
        serde_json::json!({
            "name": name, "taskNumber": tasks, "cpuNumber": 2, "memoryMB": memory,
            "gpuNumber": gpus, "command": "env",
            "portList": [{ "label": "data", "beginAt": 0, "portNumber": 2 }],
            "minFailedTaskCount": 1,
        })
    };
    serde_json::json!({
        "jobName": "environment",
        "image": image::PLAIN,
        "dataDir": "$PAI_DEFAULT_FS_URI/data",
        "taskRoles": [role("ps_server", 2, 200, 0), role("worker", 2, 300, 4)],
        "jobEnvs": { "FLAVOUR": "sweet", "PAI_JOB_NAME": "forged" },
        "gpuType": "TITANX",
        "retryCount": 0,
    })
    .to_string()
}

#[test]
fn every_variable_of_the_documents_is_there_and_tasks_agree() {
    let engines: Vec<Dockerd> = (0..ENGINES).map(|_| Dockerd::start()).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut config = String::new();
    for (index, dockerd) in engines.iter().enumerate() {
        image::load(dockerd);
        let _infallible = write!(
            config,
            "[[nodes]]\nname = \"node-{index}\"\naddress = \"127.0.0.{}\"\nendpoint = \"{}\"\n\
             cpus = 4\nmemory_mb = 4096\ngpus = [{{ type = \"TITANX\", count = 4 }}]\n\
             gpu_runtime = \"none\"\nports = \"2{index}000-2{index}999\"\n",
            index + 1,
            dockerd.endpoint()
        );
    }
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    std::fs::create_dir_all(folder.path().join("data/storage/data")).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    client.submit(&job());
    let detail = client.ended("environment");
    assert_eq!(detail["jobStatus"]["state"], "SUCCEEDED", "{detail:#}");
    let mut printed = BTreeMap::new();
    for task in [("ps_server", 0), ("ps_server", 1), ("worker", 0), ("worker", 1)] {
        let (role, index) = task;
        let path = format!("/api/v2/jobs/admin~environment/logs?role={role}&index={index}");
        printed.insert(task, variables(&client.get(&path)));
    }
    let nodes: std::collections::BTreeSet<&String> =
        printed.values().map(|task| &task["PAI_CONTAINER_HOST_IP"]).collect();
    assert!(nodes.len() > 1, "four GPUs a task and four a node: two workers on two nodes");
    for (task, environment) in &printed {
        same_under_both_prefixes(environment);
        own(*task, environment);
        agreed(environment, &printed);
    }
}

fn variables(log: &str) -> Environment {
    let pairs = log.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn same_under_both_prefixes(environment: &Environment) {
    for (name, value) in environment {
        if let Some(rest) = name.strip_prefix("PAI_") {
            assert_eq!(environment.get(&format!("QIZHI_{rest}")), Some(value), "{name}");
        }
    }
}

/// What the documents say of the job and of the task itself.
fn own((role, index): (&str, usize), environment: &Environment) {
    let worker = role == "worker";
    let (memory, gpus) = if worker { ("300", "4") } else { ("200", "0") };
    let index = index.to_string();
    let number = if worker { "1" } else { "0" };
    let expected = [
        ("JOB_NAME", "environment"),
        ("USER_NAME", "admin"),
        ("JOB_VC_NAME", "default"),
        ("WORK_DIR", "/start/here"),
        ("CURRENT_TASK_ROLE_NAME", role),
        ("TASK_ROLE_NAME", role),
        ("TASK_ROLE_NO", number),
        ("CURRENT_TASK_ROLE_TASK_COUNT", "2"),
        ("TASK_ROLE_NUM", "2"),
        ("CURRENT_TASK_ROLE_CPU_COUNT", "2"),
        ("TASK_CPU_NUM", "2"),
        ("CURRENT_TASK_ROLE_MEM_MB", memory),
        ("TASK_MEM_MB", memory),
        ("CURRENT_TASK_ROLE_GPU_COUNT", gpus),
        ("TASK_GPU_NUM", gpus),
        ("CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", index.as_str()),
        ("TASK_ROLE_INDEX", index.as_str()),
        ("JOB_TASK_COUNT", "4"),
        ("TASKS_NUM", "4"),
        ("JOB_TASK_ROLE_COUNT", "2"),
        ("TASK_ROLES_NUM", "2"),
        ("TASK_ROLE_COUNT", "2"),
        ("JOB_TASK_ROLE_LIST", "ps_server,worker"),
        ("TASK_ROLE_LIST", "ps_server,worker"),
        ("TASK_ROLE_TASK_COUNT_worker", "2"),
        ("RESOURCE_worker", "4,2,300,64"),
        ("RESOURCE_ps_server", "0,2,200,64"),
        ("MIN_FAILED_TASK_COUNT_worker", "1"),
        ("MIN_SUCCEEDED_TASK_COUNT_worker", ""),
        ("KILL_ALL_ON_COMPLETED_TASK_NUM", "0"),
    ];
    for (name, value) in expected {
        let found = environment.get(&format!("PAI_{name}")).map(String::as_str);
        assert_eq!(found, Some(value), "PAI_{name} of {role}-{index}");
    }
    assert_eq!(environment["FLAVOUR"], "sweet");
    let root = &environment["PAI_DEFAULT_FS_URI"];
    assert_eq!(environment["PAI_DATA_DIR"], format!("{root}/data"));
    assert_eq!(environment["PAI_OUTPUT_DIR"], format!("{root}/Output/environment"));
    assert_eq!(environment["PAI_CODE_DIR"], "");
}

/// What a task is told of another is what the other is told of itself.
fn agreed(environment: &Environment, all: &BTreeMap<(&str, usize), Environment>) {
    for role in ["ps_server", "worker"] {
        let mut hosts = Vec::new();
        for index in 0..2 {
            let other = &all[&(role, index)];
            let ip = &other["PAI_CONTAINER_HOST_IP"];
            assert_eq!(&environment[&format!("PAI_HOST_IP_{role}_{index}")], ip);
            for label in ["http", "ssh", "data"] {
                let told = &environment[&format!("PAI_PORT_LIST_{role}_{index}_{label}")];
                let own = &other[&format!("PAI_CONTAINER_HOST_{label}_PORT_LIST")];
                assert_eq!(told, own, "{role}-{index} {label}");
                let list = &other["PAI_CONTAINER_HOST_PORT_LIST"];
                assert!(list.contains(&format!("{label}:{own};")), "{list}");
            }
            hosts.push(format!("{ip}:{}", other["PAI_CONTAINER_HOST_http_PORT_LIST"]));
        }
        let list = hosts.join(",");
        let number = u32::from(role == "worker");
        assert_eq!(environment[&format!("PAI_TASK_ROLE_{role}_HOST_LIST")], list);
        assert_eq!(environment[&format!("PAI_TASK_ROLE_{number}_HOST_LIST")], list);
    }
}
