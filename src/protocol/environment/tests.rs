//! The worked example of the documents: user alice, job tf1, two ps_server and two worker tasks;
//! worker 1 looks around.

use super::*;
use crate::ids::{NodeName, RoleName};
use crate::resources::Resources;
use crate::spec::{Completion, RetryLimit};

fn role(name: &str, resources: Resources, completion: Completion) -> TaskRole {
    TaskRole {
        name: RoleName::new(name).unwrap(),
        count: 2,
        resources,
        gpu_types: Vec::new(),
        shm_mb: 64,
        image: "tensorflow".to_owned(),
        registry: None,
        ports: Vec::new(),
        command: "true".to_owned(),
        completion,
        task_retries: RetryLimit::Times(0),
        infiniband: false,
    }
}

fn spec(dialect: Dialect) -> JobSpec {
    let small = Resources { cpus: 2, memory_mb: 8192, gpus: 0.into(), disk_gb: 0 };
    let large = Resources { cpus: 2, memory_mb: 16_384, gpus: 4.into(), disk_gb: 0 };
    let first_failure = Completion { min_failed: Some(1), min_succeeded: None };
    let both = Completion { min_failed: Some(1), min_succeeded: Some(2) };
    let roles = vec![role("ps_server", small, first_failure), role("worker", large, both)];
    JobSpec {
        virtual_cluster: "vision".parse().unwrap(),
        kill_all_on_completed: Some(2),
        data_dir: Some("$PAI_DEFAULT_FS_URI/path/$QIZHI_JOB_NAME/data".to_owned()),
        code_dir: Some("${QIZHI_DEFAULT_FS_URI}/users/$PAI_USER_NAME/code".to_owned()),
        ..JobSpec::plain("tf1".parse().unwrap(), dialect, roles)
    }
}

fn place(role: u32, index: u32, address: &str, ports: &[(&str, &[u16])]) -> TaskPlacement {
    TaskPlacement {
        role,
        index,
        node: NodeName::new("n").unwrap(),
        address: address.to_owned(),
        gpus: if role == 1 { vec![0, 1, 4, 5] } else { Vec::new() },
        ports: ports.iter().map(|(l, p)| (l.parse().unwrap(), p.to_vec())).collect(),
    }
}

fn places() -> Vec<TaskPlacement> {
    vec![
        place(1, 1, "10.0.0.8", &[("http", &[34236]), ("ssh", &[34235]), ("board", &[8000, 8001])]),
        place(1, 0, "10.0.0.6", &[("http", &[31000]), ("ssh", &[31001]), ("board", &[8000, 8001])]),
        place(0, 0, "10.0.0.7", &[("http", &[34001]), ("ssh", &[34002])]),
        place(0, 1, "10.0.0.9", &[("http", &[34777]), ("ssh", &[34778])]),
    ]
}

/// The whole environment of the task `(role, index)`.
fn environment(
    facts: &JobFacts,
    tasks: &[TaskPlacement],
    task: (u32, u32),
) -> Vec<(String, String)> {
    let shared = of_job(facts, tasks);
    let place = tasks.iter().find(|place| (place.role, place.index) == task);
    let own = of_task(facts, &shared, place, task);
    merged(&shared, &own).cloned().collect()
}

fn look(spec: &JobSpec, task: (u32, u32)) -> BTreeMap<String, String> {
    let key = "alice~tf1".parse().unwrap();
    let file_system_uri = "hdfs://10.0.0.1:9000";
    let facts = JobFacts { key: &key, spec, job_id: JobId(7), attempt: 0, file_system_uri };
    let list = environment(&facts, &places(), task);
    let map: BTreeMap<_, _> = list.iter().cloned().collect();
    assert_eq!(map.len(), list.len(), "no name twice");
    map
}

/// Every `(name without prefix, value)` must be there under both prefixes.
fn check(document: &str, found: &BTreeMap<String, String>, table: &[(&str, &str)]) {
    for (name, value) in table {
        for prefix in ["PAI_", "QIZHI_"] {
            let full = format!("{prefix}{name}");
            let seen = found.get(&full).map(String::as_str);
            assert_eq!(seen, Some(*value), "{full} of {document}");
        }
    }
}

const PS: &str = "10.0.0.7:34001,10.0.0.9:34777";
const WORKERS: &str = "10.0.0.6:31000,10.0.0.8:34236";

#[test]
fn the_tables_of_qizhi_and_pai() {
    let found = look(&spec(Dialect::Pai), (1, 1));
    check(
        "the QIZHI and PAI tutorials",
        &found,
        &[
            ("DEFAULT_FS_URI", "hdfs://10.0.0.1:9000"),
            ("JOB_NAME", "tf1"),
            ("JOB_VC_NAME", "vision"),
            ("USER_NAME", "alice"),
            ("DATA_DIR", "hdfs://10.0.0.1:9000/path/tf1/data"),
            ("OUTPUT_DIR", "hdfs://10.0.0.1:9000/Output/tf1"),
            ("CODE_DIR", "hdfs://10.0.0.1:9000/users/alice/code"),
            ("CURRENT_TASK_ROLE_NAME", "worker"),
            ("CURRENT_TASK_ROLE_TASK_COUNT", "2"),
            ("CURRENT_TASK_ROLE_CPU_COUNT", "2"),
            ("CURRENT_TASK_ROLE_MEM_MB", "16384"),
            ("CURRENT_TASK_ROLE_GPU_COUNT", "4"),
            ("CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "1"),
            ("JOB_TASK_COUNT", "4"),
            ("JOB_TASK_ROLE_COUNT", "2"),
            ("JOB_TASK_ROLE_LIST", "ps_server,worker"),
            ("KILL_ALL_ON_COMPLETED_TASK_NUM", "2"),
            ("CONTAINER_HOST_IP", "10.0.0.8"),
            ("CONTAINER_HOST_PORT_LIST", "http:34236;ssh:34235;board:8000,8001;"),
            ("CONTAINER_HOST_http_PORT_LIST", "34236"),
            ("CONTAINER_HOST_ssh_PORT_LIST", "34235"),
            ("CONTAINER_HOST_board_PORT_LIST", "8000,8001"),
            ("CONTAINER_HOST__board_PORT_LIST", "8000,8001"),
            ("TASK_ROLE_ps_server_HOST_LIST", PS),
            ("TASK_ROLE_worker_HOST_LIST", WORKERS),
        ],
    );
    assert!(!found.contains_key("PAI_WORK_DIR"), "the image knows it");
}

#[test]
fn the_table_of_scm() {
    let found = look(&spec(Dialect::Scm), (1, 1));
    check(
        "the SCM manual",
        &found,
        &[
            ("JOB_NAME", "tf1"),
            ("USER_NAME", "alice"),
            ("DEFAULT_FS_URI", "hdfs://10.0.0.1:9000"),
            ("TASK_ROLE_COUNT", "2"),
            ("TASK_ROLE_LIST", "ps_server,worker"),
            ("TASK_ROLE_TASK_COUNT_ps_server", "2"),
            ("TASK_ROLE_TASK_COUNT_worker", "2"),
            ("HOST_IP_ps_server_0", "10.0.0.7"),
            ("HOST_IP_ps_server_1", "10.0.0.9"),
            ("HOST_IP_worker_0", "10.0.0.6"),
            ("HOST_IP_worker_1", "10.0.0.8"),
            ("PORT_LIST_ps_server_0_http", "34001"),
            ("PORT_LIST_ps_server_1_ssh", "34778"),
            ("PORT_LIST_worker_1_board", "8000,8001"),
            ("RESOURCE_ps_server", "0,2,8192,64"),
            ("RESOURCE_worker", "4,2,16384,64"),
            ("MIN_FAILED_TASK_COUNT_ps_server", "1"),
            ("MIN_SUCCEEDED_TASK_COUNT_ps_server", ""),
            ("MIN_SUCCEEDED_TASK_COUNT_worker", "2"),
            ("CURRENT_TASK_ROLE_NAME", "worker"),
            ("CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", "1"),
        ],
    );
}

#[test]
fn the_table_of_the_earliest_pai() {
    let found = look(&spec(Dialect::Earliest), (1, 1));
    check(
        "the earliest tutorial",
        &found,
        &[
            ("JOB_NAME", "tf1"),
            ("DATA_DIR", "hdfs://10.0.0.1:9000/path/tf1/data"),
            ("OUTPUT_DIR", "hdfs://10.0.0.1:9000/Output/tf1"),
            ("CODE_DIR", "hdfs://10.0.0.1:9000/users/alice/code"),
            ("TASK_ROLE_NAME", "worker"),
            ("TASK_ROLE_NUM", "2"),
            ("TASK_CPU_NUM", "2"),
            ("TASK_MEM_MB", "16384"),
            ("TASK_GPU_NUM", "4"),
            ("TASK_ROLE_INDEX", "1"),
            ("TASK_ROLE_NO", "1"),
            ("TASKS_NUM", "4"),
            ("TASK_ROLES_NUM", "2"),
            ("KILL_ALL_ON_COMPLETED_TASK_NUM", "2"),
            ("CURRENT_CONTAINER_IP", "10.0.0.8"),
            ("CURRENT_CONTAINER_PORT", "34236"),
            ("TASK_ROLE_0_HOST_LIST", PS),
            ("TASK_ROLE_1_HOST_LIST", WORKERS),
        ],
    );
}

#[test]
fn what_the_version_2_system_set() {
    let found = look(&spec(Dialect::V2), (1, 1));
    check(
        "PAI 0.6 to 1.8",
        &found,
        &[
            ("JOB_NAME", "alice~tf1"),
            ("FRAMEWORK_NAME", "alice~tf1"),
            ("USERNAME", "alice"),
            ("VIRTUAL_CLUSTER", "vision"),
            ("TASK_INDEX", "1"),
            ("CURRENT_TASK_ROLE_SHM_MB", "64"),
            ("CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT", "1"),
            ("CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT", "2"),
            ("RESOURCE", "4,2,16384,64"),
            ("CONTAINER_HOST_PORT", "34236"),
            ("CONTAINER_SSH_PORT", "34235"),
            ("worker_0_board_PORT", "8000,8001"),
            ("ps_server_1_http_PORT", "34777"),
            ("TASK_ROLE_INSTANCES", "psserver:0,psserver:1,worker:0,worker:1"),
            ("TASK_ROLE_ps_server_HOST_LIST", PS),
            ("TASK_ROLE_psserver_HOST_LIST", PS),
            ("HOST_IP_psserver_1", "10.0.0.9"),
            ("PORT_LIST_psserver_0_http", "34001"),
            ("psserver_0_ssh_PORT", "34002"),
            ("RESOURCE_psserver", "0,2,8192,64"),
            ("TASK_ROLE_TASK_COUNT_psserver", "2"),
            ("CONTAINER_ID", "container_7_0001_01_000005"),
        ],
    );
    let plain = [
        ("APP_ID", "application_7_0001"),
        ("FRAMEWORK_NAME", "alice~tf1"),
        ("HADOOP_USER_NAME", "alice"),
        ("FC_FRAMEWORK_NAME", "alice~tf1"),
        ("FC_TASKROLE_NAME", "worker"),
        ("FC_TASK_INDEX", "1"),
        ("BERTH_ATTEMPT", "0"),
        ("FC_POD_UID", "container_7_0001_01_000005"),
        ("NVIDIA_VISIBLE_DEVICES", "0,1,4,5"),
    ];
    for (name, value) in plain {
        assert_eq!(found[name], value, "{name}");
    }
    assert_eq!(look(&spec(Dialect::V2), (0, 0))["NVIDIA_VISIBLE_DEVICES"], "void");
}

#[test]
fn the_users_variables_replace_none_of_ours() {
    let mut spec = spec(Dialect::Scm);
    let theirs = [
        ("LEARNING_RATE", "$(rm -rf /) `x` \"y\" 0.1"),
        ("PATH", "/opt/bin:/bin"),
        ("PAI_JOB_NAME", "other"),
        ("QIZHI_TASK_ROLE_1_HOST_LIST", "other"),
        ("PAI_WORK_DIR", "/"),
        ("NVIDIA_VISIBLE_DEVICES", "all"),
        ("NVIDIA_VISIBLE_DEVICES=all", "x"),
        ("", "nothing"),
        ("NUL", "a\0b"),
        ("PAI_MINE", "kept"),
    ];
    spec.env = theirs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let found = look(&spec, (1, 1));
    assert_eq!(found["LEARNING_RATE"], "$(rm -rf /) `x` \"y\" 0.1");
    assert_eq!(found["PATH"], "/opt/bin:/bin");
    assert_eq!(found["PAI_JOB_NAME"], "tf1");
    assert_eq!(found["QIZHI_TASK_ROLE_1_HOST_LIST"], WORKERS);
    assert_eq!(found["NVIDIA_VISIBLE_DEVICES"], "0,1,4,5");
    assert_eq!(found["NUL"], "ab");
    assert_eq!(found["PAI_MINE"], "kept");
    for absent in ["PAI_WORK_DIR", "NVIDIA_VISIBLE_DEVICES=all", ""] {
        assert!(!found.contains_key(absent), "{absent:?}");
    }
}

#[test]
fn a_part_of_a_gpu_is_told_and_what_the_user_says_of_it_stays() {
    let mut spec = spec(Dialect::V2);
    assert!(!look(&spec, (1, 1)).contains_key("BERTH_GPU_SHARE"), "the GPUs are its own");
    let shares = ["BERTH_GPU_SHARE", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "PAI_TASK_GPU_NUM"];
    for (milli, share, percent) in [(250, "0.25", "25"), (125, "0.125", "13"), (1, "0.001", "1")] {
        spec.roles[1].resources.gpus = Amount::from_milli(milli);
        let found = look(&spec, (1, 1));
        assert_eq!(shares.map(|name| found[name].as_str()), [share, percent, "1"]);
        assert_eq!(found["PAI_RESOURCE_worker"], "1,2,16384,64");
        assert!(!look(&spec, (0, 0)).contains_key("BERTH_GPU_SHARE"), "another role's");
    }
    for name in [shares[0], shares[1]] {
        spec.env.insert(name.to_owned(), "50".to_owned());
    }
    let found = look(&spec, (1, 1));
    assert_eq!(shares.map(|name| found[name].as_str()), ["50", "50", "1"]);
}

#[test]
fn a_role_named_like_a_position() {
    let mut by_name = spec(Dialect::Pai);
    by_name.roles[0].name = RoleName::new("1").unwrap();
    assert_eq!(look(&by_name, (0, 0))["PAI_TASK_ROLE_1_HOST_LIST"], PS);
    by_name.dialect = Dialect::Earliest;
    assert_eq!(look(&by_name, (0, 0))["PAI_TASK_ROLE_1_HOST_LIST"], WORKERS);
}

#[test]
fn a_role_is_called_once_by_a_name_that_is_the_same_in_both_spellings() {
    let roles = spec(Dialect::Pai).roles;
    let names: Vec<_> = roles.iter().map(names_of).collect();
    assert_eq!(names, [vec!["ps_server", "psserver"], vec!["worker"]]);
}

#[test]
fn names_keep_their_characters() {
    let mut odd = spec(Dialect::Pai);
    odd.roles[0].name = RoleName::new("p.s~1").unwrap();
    let found = look(&odd, (0, 1));
    assert_eq!(found["PAI_TASK_ROLE_p.s~1_HOST_LIST"], PS);
    assert_eq!(found["PAI_TASK_ROLE_ps1_HOST_LIST"], PS);
}

#[test]
fn variables_in_paths_are_replaced_once_and_whole() {
    let spec = spec(Dialect::Pai);
    let key = "a.$PAI_JOB_NAME~tf1".parse::<JobKey>();
    assert!(key.is_err(), "a name cannot hold a variable");
    let key = "alice~tf1".parse().unwrap();
    let facts =
        JobFacts { key: &key, spec: &spec, job_id: JobId(7), attempt: 1, file_system_uri: "f:" };
    let cases = [
        ("$PAI_JOB_NAME", "tf1"),
        ("${PAI_USERNAME}x", "alicex"),
        ("$QIZHI_USERNAME/$PAI_USER_NAME", "alice/alice"),
        ("$PAI_JOB_NAMES", "$PAI_JOB_NAMES"),
        ("$$PAI_JOB_NAME$", "$tf1$"),
        ("${PAI_JOB_NAME", "${PAI_JOB_NAME"),
        ("$PAI_DEFAULT_FS_URI/é/$HOME", "f:/é/$HOME"),
        ("$PAI_TASK_INDEX", "$PAI_TASK_INDEX"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(substitute(text, &facts), expected, "{text}");
    }
    assert_eq!(facts.application_id(), "application_7_0002");
}
