//! `extras.berth` and what lies in it: whatever a notation has no word of its own for.

use super::{Help, JobField, Key, Kind, MAX_AMOUNT, Object, RETRIES, RoleField, TASKS_COMPLETED};
use crate::spec::{Grace, GraceSignal, TopologyLevel};

pub(super) const BERTH: &[Key] = &[
    Key::new("name", Kind::JobName).help(
        "Name of the job, where version 2 does not allow it.",
        "作业名称，用于第 2 版不允许的名称。",
    ),
    Key::new("description", Kind::OptionalText)
        .job(JobField::Description)
        .help("Free text.", "任意文本。"),
    Key::new("priority", Kind::Word)
        .job(JobField::Priority)
        .default(r#""test""#)
        .examples(r#"["prod"]"#)
        .help(
            "Place in the queue: crit, prod, test, oppo, or a number from -1 to 126.",
            "优先级：crit（关键）、prod（生产）、test（测试）、oppo（闲时），\
             或 -1 到 126 的数字。",
        ),
    Key::new("timeLimit", Kind::TimeLimit)
        .job(JobField::TimeLimit)
        .examples(r#"["2h 30m", 3600]"#)
        .help(
            "How long each attempt may run: seconds, or a text such as `2h 30m`. Then it \
             is stopped. A job with a limit may start sooner, where it is over before a \
             place is needed.",
            "每次尝试的运行时长上限：秒数，或 `2h 30m` 这样的文本，到时即停止。\
             有上限的作业若能在资源被需要之前结束，可能更早启动。",
        ),
    Key::new("grace", Kind::One(Object::Grace)).help(
        "A signal, and seconds to save its work in, before the job gives way, its time is over or its \
         node is emptied.",
        "作业被抢占、运行超时或其节点被清空之前，发送给任务的信号和留给任务保存进度的秒数。",
    ),
    Key::new("deadline", Kind::Moment)
        .job(JobField::Deadline)
        .examples(r#"["2026-12-01T08:00:00Z"]"#)
        .help(
            "By when the job is to have ended. Its page says when it has to start for that; a time limit \
             says best how long it runs. Where its virtual cluster minds deadlines, it goes before others \
             of its priority while that is near and can be met. Nothing happens when it is missed.",
            "作业应在此时刻之前结束。作业页面会说明最迟何时启动；运行时长上限最能说明作业要运行多久。\
             若虚拟集群考虑时限，则在时限临近且仍来得及时，作业排在同优先级的其他作业之前。错过时限不会有任何后果。",
        ),
    Key::new("gpuType", Kind::Names)
        .job(JobField::GpuType)
        .help("GPU types that will do for the whole job.", "整个作业可用的 GPU 型号。"),
    Key::new("nodes", Kind::Names).job(JobField::Nodes).examples(r#"[["node-1"]]"#).help(
        "The only nodes that will do: a name, several separated by commas, or a list.",
        "限定节点：一个名称，用逗号分隔的多个名称，或列表。",
    ),
    Key::new("nodeLabels", Kind::Labels)
        .job(JobField::NodeLabels)
        .examples(r#"[{"rack": "3"}]"#)
        .help(
            "Labels that a node must have, each with this value; an administrator gives \
             them to nodes.",
            "节点必须具有的标签及其值；标签由管理员设置。",
        ),
    Key::new("topology", Kind::One(Object::Topology))
        .help("How near each other the tasks have to be.", "任务之间的位置要求。"),
    Key::new("killAllOnCompletedTaskNumber", Kind::Whole { min: 0, max: TASKS_COMPLETED })
        .job(JobField::KillAll)
        .help("The job ends when so many tasks have completed.", "完成这么多任务后作业结束。"),
    Key::new("authFile", Kind::OptionalText)
        .job(JobField::AuthFile)
        .help("File that opens a private registry.", "用于登录私有镜像仓库的文件。"),
    Key::new("dataDir", Kind::OptionalText)
        .job(JobField::DataDir)
        .help("Where the data lies.", "数据所在的位置。"),
    Key::new("outputDir", Kind::OptionalText)
        .job(JobField::OutputDir)
        .help("Where results go.", "结果的存放位置。"),
    Key::new("codeDir", Kind::OptionalText)
        .job(JobField::CodeDir)
        .help("Code to be put into every container.", "放入每个容器的代码。"),
    Key::new("jobEnvs", Kind::Environment)
        .job(JobField::Environment)
        .help("Environment variables of all tasks.", "所有任务的环境变量。"),
    Key::new("secrets", Kind::Secrets).job(JobField::Secrets).help(
        "Secrets by name, used as `<% $secrets.name %>`; never shown again.",
        "机密数据，按名称以 `<% $secrets.name %>` 使用；不会再次显示。",
    ),
    Key::new("taskRoles", Kind::ByRole(Object::BerthRole))
        .help("Additions to task roles, by the role's name.", "对任务角色的补充，按角色名称。"),
];

pub(super) const GRACE: &[Key] = &[
    Key::new("signal", Kind::OneOf(GraceSignal::NAMES))
        .job(JobField::GraceSignal)
        .default(r#""SIGTERM""#)
        .help("What the commands of tasks are sent.", "发送给任务命令的信号。"),
    Key::new("seconds", Kind::Whole { min: 1, max: Grace::LONGEST as i64 })
        .job(JobField::GraceSeconds)
        .default("60")
        .help(
            "So long they may go on after that; a time limit includes it.",
            "发出信号后任务还可以运行的秒数；包含在运行时长上限之内。",
        ),
];

pub(super) const TOPOLOGY: &[Key] = &[
    Key::new("required", Kind::OneOf(&TopologyLevel::NAMES)).job(JobField::TopologyRequired).help(
        "All tasks start in one place of this level, as the labels of nodes name it, or wait.",
        "所有任务须同时位于该层级的同一位置（由节点标签指定），否则等待。",
    ),
    Key::new("preferred", Kind::OneOf(&TopologyLevel::NAMES))
        .job(JobField::TopologyPreferred)
        .help(
            "All tasks start in one place of this level where one has room for them.",
            "该层级有同一位置可容纳所有任务时，优先放在那里。",
        ),
];

pub(super) const ROLE: &[Key] = &[
    Key::new("name", Kind::RoleName).help(
        "Name of the role, where version 2 does not allow it.",
        "任务角色的名称，用于第 2 版不允许的名称。",
    ),
    Key::new("image", Kind::Image).help("Image of this role.", "该任务角色的镜像。"),
    Key::new("auth", Kind::One(Object::Auth))
        .help("Credentials of the image's registry.", "镜像仓库的登录信息。"),
    Key::new("gpuType", Kind::Names)
        .help("GPU types that will do for this role.", "该任务角色可用的 GPU 型号。"),
    Key::new("storageGB", Kind::Whole { min: 0, max: MAX_AMOUNT })
        .role(RoleField::Disk)
        .help("Disk of each task in GiB.", "每个任务的硬盘，单位 GiB。"),
    Key::new("portList", Kind::List(Object::Port))
        .help("Ports with their first number.", "端口及其起始端口号。"),
    Key::new("taskRetryCount", RETRIES)
        .role(RoleField::Retries)
        .default("0")
        .help("Further starts of a failed task.", "任务失败后再次启动的次数。"),
    Key::new("infiniband", Kind::Flag)
        .default("false")
        .help("InfiniBand devices are wanted.", "需要 InfiniBand 设备。"),
];

pub(super) const AUTH: &[Key] = &[
    Key::new("username", Kind::Word).help("User name.", "用户名。"),
    Key::new("password", Kind::Word).examples(r#"["<% $secrets.docker_password %>"]"#).help(
        "Password; best written as `<% $secrets.name %>`.",
        "密码；最好写作 `<% $secrets.name %>`。",
    ),
    Key::new("registryuri", Kind::OptionalText)
        .help("The registry; Docker Hub when not given.", "镜像仓库；不填则为 Docker Hub。"),
];

/// What runtime plugins are, in either notation.
pub(super) const PLUGINS_HELP: Help = Help {
    english: "What is done around the commands of tasks, and who may enter them.",
    chinese: "在任务的命令前后执行的操作，以及谁可以登录任务。",
};

pub(super) const PLUGIN: &[Key] = &[
    Key::new("plugin", Kind::Word).required().examples(r#"["cmd", "ssh"]"#).help(
        "Its name: `cmd` runs commands before and after those of tasks, `ssh` lets holders of a \
         key enter, `teamwise_storage` gives tasks storages, `git` clones a repository, \
         `tensorboard` shows curves beside the first task.",
        "插件名称：`cmd` 在任务的命令前后运行命令，`ssh` 允许持有密钥者登录，\
         `teamwise_storage` 为任务挂载存储，`git` 克隆代码仓库，`tensorboard` 在首个任务旁显示曲线。",
    ),
    Key::new("parameters", Kind::Map).help(
        "What it needs to know; may refer to parameters and secrets.",
        "插件的参数；可以引用 parameters 和 secrets。",
    ),
    Key::new("failurePolicy", Kind::OneOf(&["fail", "ignore"]))
        .default(r#""fail""#)
        .help("Whether the task fails where this cannot be done.", "插件无法完成时任务是否失败。"),
    Key::new("taskroles", Kind::Texts)
        .help("The roles it is for; all when not given.", "适用的任务角色；不填则为全部。"),
];

/// What storages are, in either notation.
pub(super) const STORAGES_HELP: Help = Help {
    english: "Storages that an administrator has set up and tasks are to have; an empty list: those \
              that are for every job.",
    chinese: "任务要使用的、由管理员设置的存储；空列表表示默认存储。",
};

pub(super) const STORAGE: &[Key] = &[
    Key::new("name", Kind::Word).required().help("Its name.", "存储的名称。"),
    Key::new("mountPath", Kind::OptionalText).examples(r#"["/mnt/data"]"#).help(
        "Where tasks have it; where its administrator says when not given.",
        "在任务中的路径；不填则采用管理员设置的路径。",
    ),
];
