//! Version 2.

use super::berth::{PLUGINS_HELP, STORAGES_HELP};
use super::{
    JobField, Key, Kind, MAX_AMOUNT, MAX_UNITS, MIN_MEMORY, Object, PLUGINS, RETRIES, RoleField,
    STORAGES, TASKS,
};

pub(super) const JOB: &[Key] = &[
    Key::new("protocolVersion", Kind::Version)
        .required()
        .help("Version of the protocol.", "协议的版本。"),
    Key::new("name", Kind::PlainName)
        .job(JobField::Name)
        .required()
        .examples(r#"["tensorflow_cifar10"]"#)
        .help("Name of the job, unique among your jobs.", "作业名称，在您的作业中唯一。"),
    Key::new("type", Kind::OneOf(&["job"]))
        .required()
        .help("What the file describes: a job.", "文件描述的内容：作业。"),
    Key::new("version", Kind::Word).help("Version of the file.", "文件的版本。"),
    Key::new("contributor", Kind::Word).help("Who wrote it.", "作者。"),
    Key::new("description", Kind::Word).job(JobField::Description).help("Free text.", "任意文本。"),
    Key::new("prerequisites", Kind::List(Object::Prerequisite)).help(
        "Images, data, scripts and outputs that the roles refer to by name.",
        "任务角色按名称引用的镜像、数据、脚本和输出。",
    ),
    Key::new("parameters", Kind::Map).help(
        "Values that commands use as `<% $parameters.name %>`; nested ones as `a.b[0]`.",
        "命令中以 `<% $parameters.name %>` 使用的值；嵌套的值写作 `a.b[0]`。",
    ),
    Key::new("secrets", Kind::Secrets).job(JobField::Secrets).help(
        "Values that commands and auth use as `<% $secrets.name %>`; never shown again.",
        "命令和 auth 中以 `<% $secrets.name %>` 使用的值；不会再次显示。",
    ),
    Key::new("jobRetryCount", RETRIES).job(JobField::Retries).default("0").help(
        "So many more attempts after a failure of the job's own; -1: after every \
         failure; -2: always.",
        "作业自身失败后再尝试的次数；-1：每次失败后都重试；-2：始终重试。",
    ),
    Key::new("taskRoles", Kind::ByWord(Object::V2Role))
        .required()
        .help("The kinds of tasks by name, at least one.", "按名称列出的任务角色，至少一个。"),
    Key::new("deployments", Kind::List(Object::Deployment)).help(
        "Commands around those of the roles, for one place of deployment each.",
        "任务角色的命令前后的命令，每个部署一组。",
    ),
    Key::new("defaults", Kind::One(Object::Defaults))
        .help("Where and how the job is deployed.", "作业部署的位置和方式。"),
    Key::new("extras", Kind::One(Object::V2Extras))
        .help("Anything else, kept with the job.", "其他任意内容，随作业保存。"),
];

pub(super) const PREREQUISITE: &[Key] = &[
    Key::new("protocolVersion", Kind::Word).help("Version of the protocol.", "协议的版本。"),
    Key::new("name", Kind::Word)
        .required()
        .help("Name, unique among those of its type.", "名称，在同一类型中唯一。"),
    Key::new("type", Kind::OneOf(&["data", "script", "output", "dockerimage"]))
        .required()
        .help("What it is.", "类型。"),
    Key::new("version", Kind::Word).help("Its version.", "其版本。"),
    Key::new("contributor", Kind::Word).help("Who made it.", "制作者。"),
    Key::new("description", Kind::Word).help("Free text.", "任意文本。"),
    Key::new("auth", Kind::One(Object::Auth))
        .help("Credentials of an image's registry.", "镜像仓库的登录信息。"),
    Key::new("uri", Kind::Uri).help(
        "Image, address or path; for data a list as well.",
        "镜像、地址或路径；data 也可以是列表。",
    ),
];

pub(super) const ROLE: &[Key] = &[
    Key::new("protocolVersion", Kind::Word).help("Version of the protocol.", "协议的版本。"),
    Key::new("instances", Kind::Whole { min: 1, max: TASKS })
        .role(RoleField::Tasks)
        .default("1")
        .help("Number of tasks.", "任务数。"),
    Key::new("completion", Kind::One(Object::Completion))
        .help("When tasks of this role end the job.", "该任务角色的任务何时使作业结束。"),
    Key::new("taskRetryCount", RETRIES)
        .role(RoleField::Retries)
        .default("0")
        .help("Further starts of a failed task.", "任务失败后再次启动的次数。"),
    Key::new("prerequisites", Kind::Texts).help(
        "Names of prerequisites that this role needs besides.",
        "该任务角色还需要的依赖项的名称。",
    ),
    Key::new("dockerImage", Kind::Word)
        .required()
        .help("Name of a prerequisite of type dockerimage.", "dockerimage 类型的依赖项的名称。"),
    Key::new("data", Kind::Word).help(
        "Name of a prerequisite of type data, here `$data`.",
        "data 类型的依赖项的名称，此处为 `$data`。",
    ),
    Key::new("output", Kind::Word).help(
        "Name of a prerequisite of type output, here `$output`.",
        "output 类型的依赖项的名称，此处为 `$output`。",
    ),
    Key::new("script", Kind::Word).help(
        "Name of a prerequisite of type script, here `$script`.",
        "script 类型的依赖项的名称，此处为 `$script`。",
    ),
    Key::new("extraContainerOptions", Kind::One(Object::Container))
        .help("Shared memory and devices.", "共享内存和设备。"),
    Key::new("resourcePerInstance", Kind::One(Object::Resources))
        .required()
        .help("What each task gets.", "每个任务的资源。"),
    Key::new("commands", Kind::Commands)
        .required()
        .examples(r#"[["python train.py"]]"#)
        .help("Shell commands, one after the other.", "依次执行的 shell 命令。"),
];

pub(super) const COMPLETION: &[Key] = &[
    Key::new("minFailedInstances", Kind::Tasks { min: -1 })
        .role(RoleField::MinFailed)
        .default("1")
        .help(
            "So many failed tasks fail the job; -1: the job goes on whatever fails.",
            "失败这么多任务则作业失败；-1：任务失败不影响作业。",
        ),
    Key::new("minSucceededInstances", Kind::Tasks { min: -1 }).role(RoleField::MinSucceeded).help(
        "So many succeeded tasks make the job succeed; all instances when not given; \
         -1: it runs until all tasks have completed.",
        "成功这么多任务则作业成功，不填则为全部；-1：运行到所有任务完成。",
    ),
];

pub(super) const CONTAINER: &[Key] = &[
    Key::new("shmMB", Kind::Whole { min: 1, max: MAX_AMOUNT })
        .role(RoleField::SharedMemory)
        .default("512")
        .help(
            "Size of `/dev/shm` in MiB, part of the memory.",
            "`/dev/shm` 的大小，单位 MiB，计入内存。",
        ),
    Key::new("infiniband", Kind::Flag)
        .default("false")
        .help("InfiniBand devices are wanted.", "需要 InfiniBand 设备。"),
];

pub(super) const RESOURCES: &[Key] = &[
    Key::new("cpu", Kind::Whole { min: 1, max: MAX_UNITS })
        .role(RoleField::Cpus)
        .required()
        .examples("[4]")
        .help("CPU cores.", "CPU 核数。"),
    Key::new("memoryMB", Kind::Whole { min: MIN_MEMORY, max: MAX_AMOUNT })
        .role(RoleField::Memory)
        .required()
        .examples("[8192]")
        .help("Memory in MiB.", "内存，单位 MiB。"),
    Key::new("gpu", Kind::Gpus).role(RoleField::Gpus).required().examples("[1, 0.25]").help(
        "GPUs; below 1 a part of one, on nodes that share theirs.",
        "GPU 数；小于 1 时为一张的一部分，须有共享 GPU 的节点。",
    ),
    Key::new("ports", Kind::PortCounts).help(
        "Number of ports by label, besides `http` and `ssh`, which every task has.",
        "各标签的端口数；每个任务另有 `http` 和 `ssh`。",
    ),
];

pub(super) const DEPLOYMENT: &[Key] = &[
    Key::new("protocolVersion", Kind::Word).help("Version of the protocol.", "协议的版本。"),
    Key::new("name", Kind::Word)
        .required()
        .help("Name that `defaults.deployment` chooses.", "供 `defaults.deployment` 选择的名称。"),
    Key::new("version", Kind::Word).help("Its version.", "其版本。"),
    Key::new("contributor", Kind::Word).help("Who wrote it.", "作者。"),
    Key::new("description", Kind::Word).help("Free text.", "任意文本。"),
    Key::new("taskRoles", Kind::ByWord(Object::DeploymentRole))
        .required()
        .help("Commands by role.", "按任务角色列出的命令。"),
];

pub(super) const DEPLOYMENT_ROLE: &[Key] = &[
    Key::new("preCommands", Kind::Commands)
        .help("They run before the role's own.", "在任务角色自己的命令之前运行。"),
    Key::new("postCommands", Kind::Commands).help(
        "They run after the role's own have succeeded.",
        "在任务角色自己的命令成功之后运行。",
    ),
];

pub(super) const DEFAULTS: &[Key] = &[
    Key::new("virtualCluster", Kind::OptionalText)
        .job(JobField::VirtualCluster)
        .default(r#""default""#)
        .help("Virtual cluster to run in.", "运行所在的虚拟集群。"),
    Key::new("deployment", Kind::OptionalText)
        .help("Name of the deployment to use.", "所用部署的名称。"),
];

pub(super) const EXTRAS: &[Key] = &[
    Key::new("hivedScheduler", Kind::One(Object::Scheduler))
        .help("Priority and GPU types.", "优先级和 GPU 型号。"),
    Key::new(PLUGINS, Kind::List(Object::Plugin)).help(PLUGINS_HELP.english, PLUGINS_HELP.chinese),
    Key::new(STORAGES, Kind::List(Object::Storage))
        .help(STORAGES_HELP.english, STORAGES_HELP.chinese),
    Key::new("gangAllocation", Kind::Flag).default("true").help(
        "All tasks start together; `false` is refused where there are several. Tasks are started \
         again by themselves either way.",
        "所有任务一起启动；有多个任务时不能为 `false`。任务总是可以单独重新启动。",
    ),
    Key::new("berth", Kind::One(Object::Berth))
        .help("What the rest of the notation has no word for.", "其余部分无法表达的内容。"),
];

const LAZY_PREEMPTION: Key = Key::new("lazyPreemptionEnable", Kind::Anything)
    .unused()
    .help("Taken, but not used here.", "接受，但此处不使用。");
const GANG_RELEASE: Key = Key::new("gangReleaseEnable", Kind::Anything)
    .unused()
    .help("Taken, but not used here.", "接受，但此处不使用。");
const SUGGESTED_NODES: Key = Key::new("ignoreK8sSuggestedNodes", Kind::Anything)
    .unused()
    .help("Taken, but not used here.", "接受，但此处不使用。");

pub(super) const SCHEDULER: &[Key] = &[
    Key::new("jobPriorityClass", Kind::PriorityClass)
        .default(r#""test""#)
        .help("Place in the queue.", "优先级。"),
    Key::new("taskRoles", Kind::ByRole(Object::SchedulerRole))
        .help("GPU types by role.", "各任务角色的 GPU 型号。"),
    LAZY_PREEMPTION,
    GANG_RELEASE,
    SUGGESTED_NODES,
];

pub(super) const SCHEDULER_ROLE: &[Key] = &[
    Key::new("gpuType", Kind::Names).help("GPU type.", "GPU 型号。"),
    Key::new("skuType", Kind::Names)
        .help("GPU type, in newer files.", "GPU 型号，用于较新的文件。"),
    Key::new("skuNum", Kind::Anything).unused().help(
        "Number of shares of a machine; not used here, where resourcePerInstance says all.",
        "资源单元数；此处不使用，以 resourcePerInstance 为准。",
    ),
    Key::new("reservationId", Kind::OptionalText)
        .unused()
        .help("Reservation; taken, but not used here.", "预留资源；接受，但此处不使用。"),
    Key::new("pinnedCellId", Kind::OptionalText).unused().help(
        "Reservation, in newer files; taken, but not used here.",
        "预留资源，用于较新的文件；接受，但此处不使用。",
    ),
    Key::new("affinityGroupName", Kind::OptionalText)
        .unused()
        .help("Affinity group; taken, but not used here.", "亲和组；接受，但此处不使用。"),
    LAZY_PREEMPTION,
    GANG_RELEASE,
    SUGGESTED_NODES,
];
