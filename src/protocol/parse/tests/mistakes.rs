//! Files that are wrong, each by one mistake: what must be told of it. Read by these tests and by
//! those of the server, which sends every one of them.

const QIZHI: &str = include_str!("../../fixtures/qizhi.json");
const PAI: &str = include_str!("../../fixtures/pai.json");
const EARLIEST: &str = include_str!("../../fixtures/earliest.json");
pub(crate) const SCM: &str = include_str!("../../fixtures/scm.json");
const V2: &str = include_str!("../../fixtures/v2.yaml");

/// An example with one mistake put in.
pub(crate) struct Bad {
    /// What is replaced (its first occurrence) …
    right: &'static str,
    /// … by what; `‸` marks the place that must be named.
    wrong: &'static str,
    pub(crate) path: &'static str,
    pub(crate) message: &'static str,
    pub(crate) allowed: &'static str,
}

const fn bad(
    right: &'static str,
    wrong: &'static str,
    path: &'static str,
    message: &'static str,
    allowed: &'static str,
) -> Bad {
    Bad { right, wrong, path, message, allowed }
}

impl Bad {
    /// The text with the mistake in it, and its line and column.
    pub(crate) fn put_into(&self, example: &str) -> (String, u32, u32) {
        let Self { right, wrong, .. } = self;
        assert!(example.contains(right), "{right} is not in the example");
        let marked = example.replacen(right, wrong, 1);
        let (before, _) = marked.split_once('‸').expect("a mark in the wrong text");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(1, |line| line.chars().count() + 1);
        let number = |count: usize| u32::try_from(count).expect("examples are short");
        (marked.replacen('‸', "", 1), number(line), number(column))
    }
}

/// The five dialects: name, an example of it, mistakes in that.
pub(crate) fn dialects() -> [(&'static str, &'static str, Vec<Bad>); 5] {
    let jobguid = "\"tensor flow-distributed-jobguid\" is not a valid job name";
    let example = "\"tensor flow-distributed-example\" is not a valid job name";
    let with_ports = || every_v1(jobguid).into_iter().chain(PORTS).collect();
    // The earliest document alone had hyphens in the names of roles.
    let of_earliest = every_v1(example).into_iter().filter(|bad| !bad.wrong.contains("ps-server"));
    [
        ("earliest", EARLIEST, of_earliest.collect()),
        ("OpenPAI", PAI, with_ports()),
        ("QIZHI", QIZHI, with_ports()),
        ("SCM", SCM, OF_SCM.into()),
        ("version 2", V2, OF_V2.into()),
    ]
}

const NAME: &str = "1 to 255 of A-Z a-z 0-9 - . _ ~";
const ROLE: &str = "1 to 64 of A-Z a-z 0-9 . _ ~";
const GPUS: &str =
    "a whole number from 0 to 65536, or a part of one GPU such as 0.25, in thousandths";
const ROLE_KEYS: &str = "name, taskNumber, cpuNumber, memoryMB, shmMB, gpuNumber, storageGB, \
                         portList, command, minFailedTaskCount, minSucceededTaskCount";

/// Mistakes that every dialect of version 1 refuses; the examples have the parts in common but for
/// the end of their names, on which the message of the first depends.
const fn every_v1(name: &'static str) -> [Bad; 17] {
    [
        bad("\"jobName\": \"tensorflow", "\"jobName\": ‸\"tensor flow", "jobName", name, NAME),
        bad(
            "\"taskNumber\": 2",
            "\"taskNumber\": ‸0",
            "taskRoles[0].taskNumber",
            "taskNumber is 0, less than 1",
            "a whole number from 1 to 10000",
        ),
        bad(
            "\"taskNumber\": 2",
            "\"taskNumber\": ‸2.5",
            "taskRoles[0].taskNumber",
            "taskNumber is \"2.5\", not a whole number",
            "a whole number from 1 to 10000",
        ),
        bad(
            "\"taskNumber\": 2",
            "\"taskNumber\": ‸[2]",
            "taskRoles[0].taskNumber",
            "taskNumber is a list, not a whole number from 1 to 10000",
            "a whole number from 1 to 10000",
        ),
        bad(
            "\"cpuNumber\": 2",
            "\"cpuNumber\": ‸0",
            "taskRoles[0].cpuNumber",
            "cpuNumber is 0, less than 1",
            "a whole number from 1 to 65536",
        ),
        bad(
            "\"memoryMB\": 8192",
            "\"memoryMB\": ‸99",
            "taskRoles[0].memoryMB",
            "memoryMB is 99, less than 100",
            "a whole number from 100 to 1099511627776",
        ),
        bad(
            "\"gpuNumber\": 0",
            "\"gpuNumber\": ‸-1",
            "taskRoles[0].gpuNumber",
            "gpuNumber is -1, less than 0",
            GPUS,
        ),
        bad(
            "\"gpuNumber\": 0",
            "\"gpuNumber\": ‸1.5",
            "taskRoles[0].gpuNumber",
            "gpuNumber is 1.5, more than one GPU but not whole",
            GPUS,
        ),
        bad(
            "\"name\": \"ps_server\"",
            "\"name\": ‸\"ps-server\"",
            "taskRoles[0].name",
            "\"ps-server\" is not a valid task role name",
            ROLE,
        ),
        bad(
            "\"name\": \"worker\"",
            "\"name\": ‸\"ps_server\"",
            "taskRoles[1].name",
            "taskRoles[0] is called ps_server as well",
            "a name that no other task role has",
        ),
        bad(
            "\"gpuNumber\": 0",
            "\"gpuNumber\": 0, ‸\"cpuNum\": 3",
            "taskRoles[0].cpuNum",
            "the key \"cpuNum\" is not known here; did you mean \"cpuNumber\"?",
            ROLE_KEYS,
        ),
        bad(
            "\"killAllOnCompletedTaskNumber\": 2",
            "\"killAllOnCompletedTaskNumber\": ‸5",
            "killAllOnCompletedTaskNumber",
            "killAllOnCompletedTaskNumber is 5, but the job has 4 tasks",
            "a whole number from 0 to 4",
        ),
        bad(
            "\"retryCount\": 0",
            "\"retryCount\": ‸-3",
            "retryCount",
            "retryCount is -3, less than -2",
            "a whole number from -2 to 1000000",
        ),
        bad(
            "\"image\": \"your",
            "\"image\": ‸\"your own",
            "image",
            "this is not an image reference",
            "[registry/]name[:tag], no white space, not beginning with -",
        ),
        bad(
            "\"retryCount\": 0",
            "\"retryCount\": 0, ‸\"retryCount\": 1",
            "retryCount",
            "the key \"retryCount\" is given twice",
            "each key once",
        ),
        bad(
            "\"dataDir\": \"",
            "\"dataDir\": ‸\"\\n",
            "dataDir",
            "dataDir has a line break or control character in it",
            "one line of text",
        ),
        bad(
            "\"retryCount\": 0",
            "\"retryCount\": 0‸ \"x\": 1",
            "",
            "this is not JSON: Expected comma",
            "JSON; comments and trailing commas may be used",
        ),
    ]
}

const PORTS: [Bad; 8] = [
    bad(
        "\"label\": \"ssh\"",
        "\"label\": ‸\"http\"",
        "taskRoles[0].portList[1].label",
        "the label http is given twice",
        "each label once",
    ),
    bad(
        "\"label\": \"ssh\"",
        "\"label\": ‸\"my-port\"",
        "taskRoles[0].portList[1].label",
        "\"my-port\" is not a valid port label",
        ROLE,
    ),
    bad(
        "\"beginAt\": 0",
        "\"beginAt\": ‸80",
        "taskRoles[0].portList[0].beginAt",
        "beginAt is 80, a port of the system",
        "0 for any ports, or 1024 to 65535",
    ),
    bad(
        "\"beginAt\": 0,\n          \"portNumber\": 1",
        "\"beginAt\": 65500,\n          \"portNumber\": ‸60",
        "taskRoles[0].portList[0].portNumber",
        "60 ports from 65500 on go beyond the last port",
        "beginAt + portNumber at most 65536",
    ),
    bad(
        "\"portNumber\": 1",
        "\"portNumber\": ‸0",
        "taskRoles[0].portList[0].portNumber",
        "portNumber is 0, less than 1",
        "a whole number from 1 to 64",
    ),
    bad(
        "{\n          \"label\": \"http\",",
        "‸{",
        "taskRoles[0].portList[0].label",
        "label is missing",
        ROLE,
    ),
    bad(
        "\"virtualCluster\": \"your",
        "\"virtualCluster\": ‸\"your/",
        "virtualCluster",
        "\"your/_virtual_cluster\" is not a valid virtual cluster name",
        "1 to 64 of A-Z a-z 0-9 _ -",
    ),
    bad(
        "\"retryCount\": 0",
        "\"gpuType\": ‸\"K 80\"",
        "gpuType",
        "\"K 80\" is not a valid GPU type",
        "one type, or several separated by commas",
    ),
];

const OF_SCM: [Bad; 16] = [
    bad(
        "\"shmMB\": 64",
        "\"shmMB\": ‸9000",
        "taskRoles[0].shmMB",
        "shmMB is 9000, more than memoryMB, which is 8192",
        "at most 8192",
    ),
    bad(
        "\"minFailedTaskCount\": null",
        "\"minFailedTaskCount\": ‸2",
        "taskRoles[0].minFailedTaskCount",
        "minFailedTaskCount is 2, but the role has 1 task",
        "null, or a whole number from 1 to 1",
    ),
    bad(
        "\"minSucceededTaskCount\": null",
        "\"minSucceededTaskCount\": ‸0",
        "taskRoles[0].minSucceededTaskCount",
        "minSucceededTaskCount is 0, less than 1",
        "a whole number from 1 to 4294967295",
    ),
    bad(
        "\"storageGB\": 5",
        "\"storageGB\": ‸-5",
        "taskRoles[0].storageGB",
        "storageGB is -5, less than 0",
        "a whole number from 0 to 1099511627776",
    ),
    bad(
        "\"jobEnvs\": {}",
        "\"jobEnvs\": {‸\"a-b\": 1}",
        "jobEnvs.a-b",
        "this is not a usable name of an environment variable",
        "a letter or _, then letters, digits and _",
    ),
    bad(
        "\"jobEnvs\": {}",
        "\"jobEnvs\": {\"a\": ‸[1]}",
        "jobEnvs.a",
        "a is a list, not a text, a number, true or false",
        "a text, a number, true or false",
    ),
    bad(
        "\"jobEnvs\": {}",
        "\"jobEnvs\": {\"isDebug\": ‸\"maybe\"}",
        "jobEnvs.isDebug",
        "isDebug is a text, not true or false",
        "true or false",
    ),
    bad(
        "\"extras\": {}",
        "\"extras\": ‸[]",
        "extras",
        "extras is a list, not an object",
        "an object",
    ),
    bad(
        "\"extras\": {}",
        "\"extras\": {\"berth\": {‸\"prio\": 1}}",
        "extras.berth.prio",
        "the key \"prio\" is not known here; did you mean \"priority\"?",
        "name, description, priority, timeLimit, grace, deadline, gpuType, nodes, nodeLabels, \
     topology, killAllOnCompletedTaskNumber, authFile, dataDir, outputDir, codeDir, jobEnvs, secrets, taskRoles",
    ),
    bad(
        "\"extras\": {}",
        "\"extras\": {\"berth\": {\"deadline\": ‸\"tomorrow\"}}",
        "extras.berth.deadline",
        "\"tomorrow\" is not a moment",
        "a moment such as 2026-12-01T08:00:00Z or 2026-12-01T16:00:00+08:00",
    ),
    bad(
        "\"extras\": {}",
        "\"extras\": {\"berth\": {\"nodes\": ‸\"n1, n 2\"}}",
        "extras.berth.nodes",
        "\"n 2\" is not a node name",
        "one node, or several separated by commas; each 1 to 253 of A-Z a-z 0-9 - . _",
    ),
    bad(
        "\"extras\": {}",
        "\"extras\": {\"berth\": {\"nodeLabels\": ‸\"rack\"}}",
        "extras.berth.nodeLabels",
        "\"rack\" is not a label with its value",
        "an object, or a text such as rack=3, disk=fast",
    ),
    bad(
        "\"command\": \"nvidia-smi\"",
        "\"command\": ‸\"  \"",
        "taskRoles[0].command",
        "the command is empty",
        "1 to 100000 bytes of shell text",
    ),
    bad(
        "\"command\": \"nvidia-smi\"",
        "\"command\": ‸\"\"",
        "taskRoles[0].command",
        "command is empty",
        "a shell command",
    ),
    bad("{\n      \"name\": \"task_1\",", "‸{", "taskRoles[0].name", "name is missing", ROLE),
    bad(
        "\"tmp\": {",
        "‸\"temp\": {",
        "temp",
        "the key \"temp\" is not known here; did you mean \"tmp\"?",
        "jobName, image, authFile, dataDir, outputDir, codeDir, virtualCluster, taskRoles, \
     gpuType, killAllOnCompletedTaskNumber, retryCount, jobEnvs, extras, tmp",
    ),
];

const KNOWN_REFERENCES: &str = "$secrets.docker_password, $secrets.github_token, \
    $parameters.model, $parameters.batchsize, $script.protocolVersion, $script.name, \
    $script.type, $script.version, $script.contributor, $script.description, $script.uri, \
    $output.protocolVersion, $output.name, $output.type, $output.version, $output.contributor, \
    $output.description, $output.uri, $data.protocolVersion, $data.name";

const OF_V2: [Bad; 29] = [
    bad(
        "name: tensorflow_cifar10\n",
        "name: ‸tensor.flow\n",
        "name",
        "\"tensor.flow\" is not a valid job name",
        "1 to 255 of A-Z a-z 0-9 _ -",
    ),
    bad(
        "protocolVersion: 2",
        "protocolVersion: ‸3",
        "protocolVersion",
        "this version of the protocol is not known",
        "2",
    ),
    bad("type: job", "type: ‸work", "type", "this is not a job", "job"),
    bad(
        "cpu: 2",
        "cpu: ‸0",
        "taskRoles.worker.resourcePerInstance.cpu",
        "cpu is 0, less than 1",
        "a whole number from 1 to 65536",
    ),
    bad(
        "gpu: 4",
        "gpu: ‸0.0004",
        "taskRoles.worker.resourcePerInstance.gpu",
        "gpu is 0.0004, finer than thousandths of a GPU",
        GPUS,
    ),
    bad(
        "gpu: 4",
        "gpu: ‸some",
        "taskRoles.worker.resourcePerInstance.gpu",
        "gpu is some, not a number",
        GPUS,
    ),
    bad(
        "      cpu: 2\n      memoryMB: 16384",
        "      ‸memoryMB: 16384",
        "taskRoles.worker.resourcePerInstance.cpu",
        "cpu is missing",
        "a whole number, at least 1",
    ),
    bad(
        "shmMB: 64",
        "shmMB: ‸20000",
        "taskRoles.worker.extraContainerOptions.shmMB",
        "shmMB is 20000, more than memoryMB, which is 16384",
        "at most 16384",
    ),
    bad(
        "minFailedInstances: 1",
        "minFailedInstances: ‸2",
        "taskRoles.worker.completion.minFailedInstances",
        "minFailedInstances is 2, but the role has 1 instance",
        "-1 to disable it, or a whole number from 1 to 1",
    ),
    bad(
        "minFailedInstances: 1",
        "minFailedInstances: ‸0",
        "taskRoles.worker.completion.minFailedInstances",
        "0 tells nothing here",
        "-1 to disable it, or a whole number from 1 to 1",
    ),
    bad(
        "dockerImage: tf_example",
        "dockerImage: ‸tf_exampel",
        "taskRoles.worker.dockerImage",
        "the dockerimage prerequisite \"tf_exampel\" does not exist; did you mean \"tf_example\"?",
        "tf_example",
    ),
    bad(
        "<% $parameters.model %>",
        "‸<% $parameters.mode %>",
        "taskRoles.worker.commands[1]",
        "the reference $parameters.mode is not known; did you mean $parameters.model?",
        KNOWN_REFERENCES,
    ),
    bad(
        "<% $secrets.docker_password %>",
        "‸<% $secrets.password %>",
        "prerequisites[0].auth.password",
        "the reference $secrets.password is not known",
        "$secrets.docker_password, $secrets.github_token, $parameters.model, $parameters.batchsize",
    ),
    bad(
        "deployment: prod",
        "deployment: ‸test",
        "defaults.deployment",
        "the deployment \"test\" does not exist",
        "prod",
    ),
    bad(
        "parameters:\n",
        "  - {name: ‸cifar10, type: data, uri: x}\nparameters:\n",
        "prerequisites[4].name",
        "there are two data prerequisites \"cifar10\"",
        "each name once for a type",
    ),
    bad(
        "      worker:\n        pre",
        "      ‸workers:\n        pre",
        "deployments[0].taskRoles.workers",
        "the task role \"workers\" does not exist; did you mean \"worker\"?",
        "worker, ps_server",
    ),
    bad(
        "        ssh: 1",
        "        ‸my-ssh: 1",
        "taskRoles.worker.resourcePerInstance.ports.my-ssh",
        "\"my-ssh\" is not a valid name",
        "a letter or _, then letters, digits and _, at most 64",
    ),
    bad(
        "    output: tensorflow",
        "    output: ‸none_tensorflow",
        "taskRoles.worker.output",
        "the output prerequisite \"none_tensorflow_cifar10_model\" does not exist; did you mean \
         \"tensorflow_cifar10_model\"?",
        "tensorflow_cifar10_model",
    ),
    bad(
        "        ssh: 1",
        "        ssh: ‸0",
        "taskRoles.worker.resourcePerInstance.ports.ssh",
        "ssh is 0, less than 1",
        "a whole number from 1 to 64",
    ),
    bad(
        "jobRetryCount: 1",
        "‸jobRetry: 1",
        "jobRetry",
        "the key \"jobRetry\" is not known here; did you mean \"jobRetryCount\"?",
        "protocolVersion, name, type, version, contributor, description, prerequisites, \
         parameters, secrets, jobRetryCount, taskRoles, deployments, defaults, extras",
    ),
    bad(
        "parameters:\n",
        "  - {name: q, type: ‸dataset, uri: x}\nparameters:\n",
        "prerequisites[4].type",
        "\"dataset\" is not a type of prerequisite",
        "data, script, output, dockerimage",
    ),
    bad(
        "defaults:",
        "extras:\n  hivedscheduler:\n    jobPriorityClass: ‸high\ndefaults:",
        "extras.hivedscheduler.jobPriorityClass",
        "\"high\" is not a priority class",
        "crit, prod, test, oppo",
    ),
    bad(
        "defaults:",
        "extras:\n  hivedScheduler:\n    taskRoles:\n      worker:\n        skuType: A\n        \
         pinnedCellId: ‸B\ndefaults:",
        "extras.hivedScheduler.taskRoles.worker.pinnedCellId",
        "a GPU type and a reservation are given for the same role",
        "only one of gpuType, skuType, reservationId, pinnedCellId",
    ),
    bad(
        "defaults:",
        "extras:\n  com.microsoft.pai.runtimeplugin:\n  - plugin: ‸nfs\ndefaults:",
        "extras[\"com.microsoft.pai.runtimeplugin\"][0].plugin",
        "the plugin \"nfs\" is not available here",
        "cmd, git, ssh, teamwise_storage or tensorboard, or failurePolicy: ignore to go on without it",
    ),
    bad(
        "defaults:",
        "extras:\n  com.microsoft.pai.runtimeplugin:\n  - plugin: cmd\n    failurePolicy: \
         ‸never\ndefaults:",
        "extras[\"com.microsoft.pai.runtimeplugin\"][0].failurePolicy",
        "\"never\" is not a failure policy",
        "fail, ignore",
    ),
    bad(
        "defaults:",
        "extras:\n  com.microsoft.pai.runtimeplugin:\n  - plugin: cmd\n    parameters: \
         {‸preCommand: [ls]}\ndefaults:",
        "extras[\"com.microsoft.pai.runtimeplugin\"][0].parameters.preCommand",
        "the key \"preCommand\" is not known here; did you mean \"preCommands\"?",
        "preCommands, postCommands, callbacks",
    ),
    bad(
        "defaults:",
        "extras:\n  gangAllocation: ‸false\ndefaults:",
        "extras.gangAllocation",
        "gangAllocation is false, but all tasks of a job start together here",
        "true, or a job for each task",
    ),
    bad(
        "jobRetryCount: 1\n",
        "jobRetryCount: 1\n‸---\n",
        "",
        "a second document begins here",
        "one document a file",
    ),
    bad(
        "  batchsize: 32\nsecrets:",
        "  batchsize: [1, 2\nsecrets‸:",
        "",
        "this is not YAML: illegal placement of ':' indicator",
        "YAML 1.2",
    ),
];
