use crate::document::Syntax;
use crate::edit::Step;
use crate::parse::{Parsed, parse};
use crate::spec::{
    Completion, Deadline, Dialect, Grace, GraceSignal, RetryLimit, Topology, TopologyLevel,
};

const QIZHI: &str = include_str!("../../fixtures/qizhi.json");
const PAI: &str = include_str!("../../fixtures/pai.json");
const EARLIEST: &str = include_str!("../../fixtures/earliest.json");
const SCM: &str = include_str!("../../fixtures/scm.json");
const V2: &str = include_str!("../../fixtures/v2.yaml");

fn read(text: &str) -> Parsed {
    match parse(text) {
        Ok(parsed) => parsed,
        Err(problems) => {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn the_examples_of_qizhi_and_pai_are_read() {
    for text in [QIZHI, PAI] {
        let Parsed { spec, syntax, masked_text, .. } = read(text);
        assert_eq!((spec.dialect, syntax), (Dialect::Pai, Syntax::Json));
        assert_eq!(masked_text, text);
        assert_eq!(spec.virtual_cluster.as_str(), "your_virtual_cluster");
        assert_eq!(spec.kill_all_on_completed, Some(2));
        assert_eq!((spec.task_count(), spec.gpu_count()), (4, 8.into()));
        let [ps, worker] = &spec.roles[..] else { panic!("two roles") };
        assert_eq!((ps.name.as_str(), ps.count, ps.resources.gpus), ("ps_server", 2, 0.into()));
        assert_eq!((worker.resources.cpus, worker.resources.memory_mb), (2, 16384));
        assert_eq!(worker.shm_mb, 64);
        assert!(worker.ports.is_empty(), "http and ssh are there anyway");
        let default = Completion { min_failed: Some(1), min_succeeded: None };
        assert_eq!(ps.completion, default);
        assert!(worker.command.starts_with("pip --quiet"));
    }
}

#[test]
fn the_earliest_dialect_is_told_by_its_keys() {
    let spec = read(EARLIEST).spec;
    assert_eq!(spec.dialect, Dialect::Earliest);
    assert_eq!(spec.code_dir.as_deref(), Some("hdfs://path/to/code"));
    assert_eq!(spec.roles[1].resources.gpus, 4.into());
    let later = EARLIEST.replace("\"retryCount\": 0", "\"gpuType\": \"K80\"");
    assert_eq!(read(&later).spec.dialect, Dialect::Pai);
    let without_code = EARLIEST.replace("\"codeDir\": \"hdfs://path/to/code\",", "");
    assert_eq!(read(&without_code).spec.dialect, Dialect::Pai);
}

#[test]
fn roles_of_the_earliest_dialect_may_have_hyphens() {
    let text = EARLIEST.replace("\"name\": \"worker\"", "\"name\": \"g2p-train\"");
    let spec = read(&text).spec;
    assert_eq!((spec.dialect, spec.roles[1].name.as_str()), (Dialect::Earliest, "g2p-train"));
    for text in [crate::render::to_json(&spec), crate::render::to_yaml(&spec)] {
        assert!(text.contains("g2p_train"), "{text}");
        assert_eq!(read(&text).spec.roles, spec.roles, "{text}");
    }
}

#[test]
fn a_task_may_ask_for_part_of_a_gpu() {
    let v1 = |word: &str| SCM.replace("\"gpuNumber\": 1", &format!("\"gpuNumber\": {word}"));
    let v2 = |word: &str| V2.replacen("gpu: 4", &format!("gpu: {word}"), 1);
    for (word, milli) in [
        ("0.25", 250),
        ("0.001", 1),
        ("0.999", 999),
        ("\"0.5\"", 500),
        ("5e-1", 500),
        ("1.0", 1000),
    ] {
        for text in [v1(word), v2(word)] {
            let resources = read(&text).spec.roles[0].resources;
            assert_eq!((resources.gpus.milli(), resources.gpu_devices()), (milli, 1), "{word}");
            assert_eq!(resources.gpu_part().is_some(), milli < 1000);
        }
    }
    assert_eq!(read(&v2(".5")).spec.gpu_count().to_string(), "0.5");
    for wrong in
        ["1.5", "-1", "-0.5", "0.0004", "0.1234", "0.9999", "1e-9", "1e400", "65537", "[1]"]
    {
        for text in [v1(wrong), v2(wrong)] {
            let problems = parse(&text).map(|parsed| parsed.spec).expect_err(wrong);
            assert!(problems[0].path.contains("gpu"), "{}", problems[0]);
            assert!(problems[0].allowed.contains("or a part of one GPU"), "{}", problems[0]);
        }
    }
}

#[test]
fn specs_of_before_gpus_had_parts_are_read() {
    let mut stored = serde_json::to_value(read(SCM).spec).unwrap();
    let gpus = |stored: &serde_json::Value| stored["roles"][0]["resources"]["gpus"].clone();
    assert_eq!(gpus(&stored), serde_json::json!(1), "whole GPUs are written as ever");
    stored["roles"][0]["resources"]["gpus"] = serde_json::json!(0.25);
    let spec: crate::spec::JobSpec = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(spec.roles[0].resources.gpus.milli(), 250);
    assert_eq!(serde_json::to_value(spec).unwrap(), stored);
}

#[test]
fn the_example_of_scm_is_read_with_its_scratch() {
    let spec = read(SCM).spec;
    assert_eq!(spec.dialect, Dialect::Scm);
    assert_eq!(spec.auth_file, None);
    assert_eq!(spec.gpu_types[0].as_str(), "TITANX");
    let role = &spec.roles[0];
    assert_eq!((role.shm_mb, role.resources.disk_gb), (64, 5));
    assert_eq!(role.completion, Completion { min_failed: None, min_succeeded: None });
    assert!(spec.extras.is_empty() && spec.env.is_empty());
}

#[test]
fn the_example_of_version_2_is_read() {
    let Parsed { spec, syntax, secrets, masked_text, warnings } = read(V2);
    assert_eq!((spec.dialect, syntax), (Dialect::V2, Syntax::Yaml));
    assert_eq!(spec.retries, RetryLimit::Times(1));
    assert_eq!(spec.secrets, ["docker_password", "github_token"]);
    assert_eq!(secrets.get("github_token"), Some("cGFzc3dvcmQ="));
    assert!(!format!("{secrets:?}").contains("cGFzc"));
    let [worker, ps] = &spec.roles[..] else { panic!("two roles") };
    assert_eq!(worker.name.as_str(), "worker");
    assert_eq!(worker.image, "openpai/pai.example.tensorflow");
    let registry = worker.registry.as_ref().unwrap();
    assert_eq!(registry.password, "<% $secrets.docker_password %>");
    assert_eq!(registry.registry, "openpai.azurecr.io");
    assert_eq!(ps.completion, Completion { min_failed: Some(1), min_succeeded: None });
    let lines: Vec<&str> = worker.command.lines().collect();
    assert_eq!(
        lines[0],
        "wget https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz -P data_cifar10"
    );
    assert!(lines[1].starts_with(
        "git clone https://MaggieQi:<% $secrets.github_token %>@github.com/MaggieQi/benchmarks \
         script_tensorflow_cnnbenchmarks && cd"
    ));
    assert_eq!(lines[2], "cd script_tensorflow_cnnbenchmarks/scripts/tf_cnn_benchmarks");
    assert!(lines[3].ends_with("--model=resnet20 --batch_size=32"));
    assert_eq!(lines.len(), 4);
    assert!(ps.command.ends_with(
        "hdfs dfs -cp output_tensorflow_cifar10_model \
         hdfs://10.151.40.179:9000/core/cifar10_model"
    ));
    assert!(warnings.is_empty(), "{warnings:?}");
    let expected = V2
        .replace("docker_password: password", "docker_password: \"******\"")
        .replace("github_token: cGFzc3dvcmQ=", "github_token: \"******\"");
    assert_eq!(masked_text, expected);
}

#[test]
fn what_upstream_took_is_taken() {
    let text = SCM
        .replace("\"taskNumber\": 1", "\"taskNumber\": \"2\"")
        .replace("\"gpuNumber\": 1", "\"gpuNumber\": 1.0")
        .replace("\"shmMB\": 64,", "")
        .replace("\"gpuType\": \"TITANX\"", "\"gpuType\": \"TITANX, P100\"")
        .replace("\"retryCount\": 0", "\"retryCount\": -2, \"virtualCluster\": \"\"")
        .replace(
            "\"jobEnvs\": {}",
            "\"jobEnvs\": {\"LR\": 1.0, \"ON\": true, \"PAI_X\": \"$HOME\", \"isDebug\": true}",
        );
    let Parsed { spec, warnings, .. } = read(&text);
    assert_eq!(spec.roles[0].count, 2);
    assert_eq!(spec.roles[0].resources.gpus, 1.into());
    assert_eq!(spec.roles[0].shm_mb, 64);
    assert_eq!(spec.gpu_types.len(), 2);
    assert_eq!(spec.retries, RetryLimit::Always);
    assert_eq!(spec.virtual_cluster.as_str(), "default");
    let env: Vec<(&str, &str)> =
        spec.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("LR", "1.0"), ("ON", "true"), ("PAI_X", "$HOME")]);
    assert!(spec.debug);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn either_version_works_in_either_notation() {
    let json = serde_json::to_string(&crate::edit::value(V2).unwrap()).unwrap();
    assert_eq!(crate::edit::keys(V2, &[Step::Key("taskRoles".into())]), ["worker", "ps_server"]);
    let mut parsed = read(&json);
    // Plain JSON keeps its keys in alphabetical order.
    parsed.spec.roles.reverse();
    assert_eq!((parsed.spec.dialect, parsed.syntax), (Dialect::V2, Syntax::Json));
    assert_eq!(parsed.spec, read(V2).spec);
    assert!(!parsed.masked_text.contains("cGFz"));
    let yaml = "jobName: a\nimage: b\ntaskRoles:\n- name: t\n  taskNumber: 1\n  cpuNumber: 1\n  \
                memoryMB: 100\n  gpuNumber: 0\n  command: |\n    echo a\n    echo b\n";
    let parsed = read(yaml);
    assert_eq!((parsed.spec.dialect, parsed.syntax), (Dialect::Pai, Syntax::Yaml));
    assert_eq!(parsed.spec.roles[0].command, "echo a\necho b");
    assert_eq!(parsed.spec.roles[0].shm_mb, 64);
    let directive = format!("\u{feff}%YAML 1.2\n{V2}");
    assert_eq!(read(&directive).spec, read(V2).spec);
    assert!(read(&directive).masked_text.starts_with("\u{feff}%YAML 1.2\n---\n"));
}

/// A small job of version 2 with something in the place of `HERE`.
fn small(here: &str) -> String {
    format!(
        "protocolVersion: \"2\"\nname: a\ntype: job\nprerequisites:\n- {{name: i, type: dockerimage, \
         uri: u/i}}\n{here}\ntaskRoles:\n  t:\n    dockerImage: i\n    resourcePerInstance: {{cpu: 1, \
         memoryMB: 256, gpu: 1, ports: {{tb: 2, http: 1}}}}\n    commands: [run]\n"
    )
}

#[test]
fn version_2_has_its_own_defaults() {
    let spec = read(&small("")).spec;
    let role = &spec.roles[0];
    assert_eq!((role.count, role.shm_mb), (1, 256), "512 would be more than the memory");
    assert_eq!(role.completion, Completion { min_failed: Some(1), min_succeeded: Some(1) });
    assert_eq!(role.ports.len(), 1);
    assert_eq!(spec.priority, crate::spec::Priority::TEST);
}

#[test]
fn the_schedulers_part_of_extras_is_understood() {
    let hived = |role: &str| {
        small(&format!(
            "extras:\n  hivedScheduler:\n    jobPriorityClass: prod\n    taskRoles:\n      t: {role}\n  \
             gangAllocation: true"
        ))
    };
    let spec = read(&hived("{skuType: A100}")).spec;
    assert_eq!(spec.priority, crate::spec::Priority::PRODUCTION);
    assert_eq!(spec.roles[0].gpu_types[0].as_str(), "A100");
    assert_eq!(spec.extras.keys().collect::<Vec<_>>(), ["gangAllocation"]);
    let pinned = read(&hived("{pinnedCellId: P1, affinityGroupName: g}")).spec;
    assert_eq!(pinned.extras["hivedScheduler"]["taskRoles"]["t"]["pinnedCellId"], "P1");
    for text in [crate::render::to_json(&pinned), crate::render::to_yaml(&pinned)] {
        let back = read(&text).spec;
        assert_eq!((back.priority, &back.extras), (pinned.priority, &pinned.extras));
    }
}

#[test]
fn what_upstream_leaves_open_is_taken_kept_and_named() {
    let text = small(
        "extras:\n  hivedScheduler:\n    lazyPreemptionEnable: true\n    taskRoles:\n      t: {skuType: \
         A100, skuNum: 2, gangReleaseEnable: false, ignoreK8sSuggestedNodes: true, other: [1]}\n\
         defaults: {tier: gold}",
    );
    let Parsed { spec, warnings, .. } = read(&text);
    let role = "extras.hivedScheduler.taskRoles.t";
    let expected = format!(
        "not used here: defaults.tier, extras.hivedScheduler.lazyPreemptionEnable, {role}.skuNum, \
         {role}.gangReleaseEnable, {role}.ignoreK8sSuggestedNodes, {role}.other"
    );
    assert_eq!(warnings, [expected]);
    assert_eq!(spec.roles[0].gpu_types[0].as_str(), "A100");
    assert_eq!(spec.extras["hivedScheduler"]["taskRoles"]["t"]["skuNum"], 2);
    for text in [crate::render::to_json(&spec), crate::render::to_yaml(&spec)] {
        let back = read(&text).spec;
        assert_eq!((&back.roles, &back.extras), (&spec.roles, &spec.extras), "{text}");
    }
    let misspelt = parse(&text.replace("skuType", "skuTyp")).map(|parsed| parsed.spec);
    let problems = misspelt.expect_err("a known key with a letter missing");
    assert!(problems[0].message.ends_with("did you mean \"skuType\"?"), "{}", problems[0]);
    let many: String = (0..30).map(|i| format!("  strange{i}x: 1\n")).collect();
    let warnings = read(&small(&format!("defaults:\n{many}"))).warnings;
    assert!(warnings[0].ends_with("defaults.strange19x (and 10 more)"), "{warnings:?}");
}

#[test]
fn data_may_say_more_than_the_table_and_need_not_say_where_it_is() {
    let text =
        small("").replace("uri: u/i}\n", "uri: u/i}\n- {name: d, type: data, path: /mnt/d}\n");
    let text = text.replace("dockerImage: i", "dockerImage: i\n    data: d");
    let text = text.replace("[run]", "[\"ls <% $data.path %>\"]");
    assert_eq!(read(&text).spec.roles[0].command, "ls /mnt/d");
}

#[test]
fn secrets_in_every_style_are_covered() {
    let text = small(
        "secrets:\n  plain: s3cret-1 # a comment\n  quoted: 's3cret-2'\n  block: |\n    s3cret-3\n    \
         s3cret-4\n\n  number: 12345\nparameters:\n  x: 1",
    );
    let parsed = read(&text);
    assert_eq!(parsed.secrets.get("block"), Some("s3cret-3\ns3cret-4\n"));
    assert_eq!(parsed.secrets.get("number"), Some("12345"));
    let masked = &parsed.masked_text;
    assert!(!masked.contains("s3cret") && !masked.contains("12345"), "{masked}");
    assert!(masked.contains("plain: \"******\" # a comment\n"), "{masked}");
    assert!(masked.contains("block: \"******\"\n\n  number: \"******\"\nparameters:"), "{masked}");
    assert!(!format!("{parsed:?}").contains("s3cret"));
    let again = read(masked);
    assert_eq!(again.spec, parsed.spec);
    assert!(again.secrets.iter().all(|(_, value)| value == "******"));
}

#[test]
fn secrets_may_be_nested_and_each_is_covered_where_it_stands() {
    let text = small(
        "secrets:\n  registry:\n    username: s3cret-1\n    password: 's3cret-2' # of the registry\n  \
         keys: [s3cret-3, {one: s3cret-4}]\n  none: {}\n  plain: s3cret-5",
    );
    let text = text.replace(
        "[run]",
        "[\"<% $secrets.registry.username %> <% $secrets.keys[0] %> <% $secrets.keys[1].one %>\"]",
    );
    let parsed = read(&text);
    let names = ["keys.0", "keys.1.one", "plain", "registry.password", "registry.username"];
    assert_eq!(parsed.spec.secrets, names);
    let command = &parsed.spec.roles[0].command;
    let filled = crate::secrets::fill(command, &parsed.secrets);
    assert_eq!(filled, "s3cret-1 s3cret-3 s3cret-4");
    assert!(!parsed.masked_text.contains("s3cret"), "{}", parsed.masked_text);
    let again = read(&parsed.masked_text);
    assert_eq!(again.spec, parsed.spec, "a clone knows its secrets by the same names");
    for text in [crate::render::to_json(&parsed.spec), crate::render::to_yaml(&parsed.spec)] {
        assert_eq!(read(&text).spec.roles[0].command, *command, "{text}");
    }
    let twice = text.replace("plain:", "registry.username:");
    let problems = parse(&twice).map(|parsed| parsed.spec).expect_err("one name of two secrets");
    assert_eq!(problems[0].message, "there are two secrets \"registry.username\"");
    let shared = small("parameters: {p: &p {a: s3cret}}\nsecrets: {copied: *p}");
    assert!(parse(&shared).is_err(), "what stands elsewhere as well cannot be covered");
}

#[test]
fn references_reach_into_nested_parameters_and_lists() {
    let text = small("parameters:\n  a: {b: [x, y], n: 1.0}\nsecrets: {k: v}").replace(
        "[run]",
        "[\"<% $parameters.a.b[1] %> <%$parameters.a.n%> <% $secrets.k %> <% x %>\"]",
    );
    let parsed = read(&text);
    let command = &parsed.spec.roles[0].command;
    assert_eq!(command, "y 1.0 <% $secrets.k %> <% x %>");
    assert_eq!(crate::secrets::fill(command, &parsed.secrets), "y 1.0 v <% x %>");
}

#[test]
fn a_time_limit_is_seconds_or_a_text_in_both_versions() {
    for (written, read) in [("9000", "2h 30m"), ("\"2h 30m\"", "2h 30m"), ("\"45s\"", "45s")] {
        let v1 = format!(
            r#"{{"jobName": "a", "image": "i", "extras": {{"berth": {{"timeLimit": {written}}}}},
                "taskRoles": [{{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                    "gpuNumber": 0, "command": "true"}}]}}"#
        );
        let spec = crate::parse::parse(&v1).unwrap().spec;
        assert_eq!(spec.time_limit.unwrap().to_string(), read);
        let v2 = crate::render::to_yaml(&spec);
        assert_eq!(crate::parse::parse(&v2).unwrap().spec.time_limit, spec.time_limit, "{v2}");
        let bad = crate::parse::parse(&v1.replace(written, "\"soon\"")).unwrap_err();
        assert_eq!(bad[0].path, "extras.berth.timeLimit");
        assert_eq!(bad[0].message, "\"soon\" is not a time limit");
    }
}

#[test]
fn a_grace_is_a_signal_and_seconds_in_both_versions() {
    let v1 = |berth: &str| {
        format!(
            r#"{{"jobName": "a", "image": "i", "extras": {{"berth": {{{berth}}}}},
                "taskRoles": [{{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                    "gpuNumber": 0, "command": "true"}}]}}"#
        )
    };
    for (written, signal, seconds) in [
        (r#"{"signal": "SIGUSR1", "seconds": 120}"#, GraceSignal::Usr1, 120),
        (r#"{"signal": "USR2"}"#, GraceSignal::Usr2, Grace::DEFAULT),
        (r#"{"seconds": "5"}"#, GraceSignal::Term, 5),
    ] {
        let spec = crate::parse::parse(&v1(&format!(r#""grace": {written}"#))).unwrap().spec;
        assert_eq!(spec.grace, Some(Grace { signal, seconds }));
        let v2 = crate::render::to_yaml(&spec);
        assert_eq!(crate::parse::parse(&v2).unwrap().spec.grace, spec.grace, "{v2}");
    }
    let none = crate::parse::parse(&v1(r#""grace": {}"#)).unwrap().spec;
    assert_eq!(none.grace, None);
    let limited = |limit: u32| v1(&format!(r#""timeLimit": {limit}, "grace": {{"seconds": 60}}"#));
    let spec = crate::parse::parse(&limited(61)).unwrap().spec;
    assert_eq!(spec.told_after(), Some(1_000));
    for (bad, path, message) in [
        (limited(60), "extras.berth.grace", "the grace takes all of the time limit"),
        (
            v1(r#""grace": {"signal": "SIGKILL"}"#),
            "extras.berth.grace.signal",
            "\"SIGKILL\" is not a signal that tasks are sent",
        ),
    ] {
        let problems = crate::parse::parse(&bad).unwrap_err();
        assert_eq!((problems[0].path.as_str(), problems[0].message.as_str()), (path, message));
    }
}

#[test]
fn a_deadline_is_a_moment_in_both_versions() {
    let v1 = |written: &str| {
        format!(
            r#"{{"jobName": "a", "image": "i", "extras": {{"berth": {{"deadline": {written}}}}},
                "taskRoles": [{{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                    "gpuNumber": 0, "command": "true"}}]}}"#
        )
    };
    let written = r#""2026-12-01T16:00:00+08:00""#;
    let spec = crate::parse::parse(&v1(written)).unwrap().spec;
    assert_eq!(spec.deadline.map(|deadline| deadline.at().0), Some(1_796_112_000_000));
    let v2 = crate::render::to_yaml(&spec);
    assert_eq!(crate::parse::parse(&v2).unwrap().spec.deadline, spec.deadline, "{v2}");
    let bare = v2.replace("\"2026-12-01T08:00:00Z\"", "2026-12-01T08:00:00Z");
    assert!(bare.contains("deadline: 2026-12-01T08:00:00Z"), "{bare}");
    assert_eq!(crate::parse::parse(&bare).unwrap().spec.deadline, spec.deadline, "{bare}");
    for nothing in ["null", "\"\""] {
        assert_eq!(crate::parse::parse(&v1(nothing)).unwrap().spec.deadline, None);
    }
    for (bad, message) in [
        ("\"tomorrow\"", "\"tomorrow\" is not a moment"),
        ("\"2026-12-01\"", "\"2026-12-01\" is not a moment"),
        ("1796112000", "\"1796112000\" is not a moment"),
    ] {
        let problems = crate::parse::parse(&v1(bad)).unwrap_err();
        assert_eq!(problems[0].path, "extras.berth.deadline");
        assert_eq!(problems[0].message, message);
        assert_eq!(problems[0].allowed, Deadline::ALLOWED);
    }
}

#[test]
fn levels_of_topology_are_required_or_preferred_in_both_versions() {
    let v1 = |topology: &str| {
        format!(
            r#"{{"jobName": "a", "image": "i", "extras": {{"berth": {{"topology": {topology}}}}},
                "taskRoles": [{{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                    "gpuNumber": 0, "command": "true"}}]}}"#
        )
    };
    let (row, rack) = (Some(TopologyLevel::Row), Some(TopologyLevel::Rack));
    for (written, required, preferred) in [
        (r#"{"required": "rack"}"#, rack, None),
        (r#"{"required": "row", "preferred": "rack"}"#, row, rack),
        (r#"{"required": null, "preferred": "row"}"#, None, row),
        ("{}", None, None),
    ] {
        let spec = crate::parse::parse(&v1(written)).unwrap().spec;
        assert_eq!(spec.nodes.topology, Topology { required, preferred });
        let v2 = crate::render::to_yaml(&spec);
        assert_eq!(crate::parse::parse(&v2).unwrap().spec.nodes, spec.nodes, "{v2}");
    }
    let problems = crate::parse::parse(&v1(r#"{"required": "aisle"}"#)).unwrap_err();
    assert_eq!(problems[0].path, "extras.berth.topology.required");
    assert_eq!(problems[0].message, "\"aisle\" is not a level of topology");
}

#[test]
fn nodes_are_asked_for_by_name_and_label_in_both_versions() {
    let texts = [
        (r#""n1, n-2.x""#, r#""rack=3, disk = fast""#),
        (r#"["n1", "n-2.x", "n1"]"#, r#"{"rack": 3, "disk": "fast"}"#),
    ];
    for (nodes, labels) in texts {
        let v1 = format!(
            r#"{{"jobName": "a", "image": "i",
                "extras": {{"berth": {{"nodes": {nodes}, "nodeLabels": {labels}}}}},
                "taskRoles": [{{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                    "gpuNumber": 0, "command": "true"}}]}}"#
        );
        let spec = crate::parse::parse(&v1).unwrap().spec;
        assert_eq!(
            spec.nodes.to_string(),
            "named n1 or n-2.x and labelled disk=fast and rack=3",
            "{v1}"
        );
        let v2 = crate::render::to_yaml(&spec);
        assert_eq!(crate::parse::parse(&v2).unwrap().spec.nodes, spec.nodes, "{v2}");
    }
}
