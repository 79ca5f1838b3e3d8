use crate::document::Syntax;
use crate::parse::{Parsed, parse};
use crate::spec::{Completion, Dialect, RetryLimit};

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
        assert_eq!((spec.task_count(), spec.gpu_count()), (4, 8));
        let [ps, worker] = &spec.roles[..] else { panic!("two roles") };
        assert_eq!((ps.name.as_str(), ps.count, ps.resources.gpus), ("ps_server", 2, 0));
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
    assert_eq!(spec.roles[1].resources.gpus, 4);
    let later = EARLIEST.replace("\"retryCount\": 0", "\"gpuType\": \"K80\"");
    assert_eq!(read(&later).spec.dialect, Dialect::Pai);
    let without_code = EARLIEST.replace("\"codeDir\": \"hdfs://path/to/code\",", "");
    assert_eq!(read(&without_code).spec.dialect, Dialect::Pai);
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
