//! Version 1.

use super::berth::{PLUGINS_HELP, STORAGES_HELP};
use super::{
    JobField, Key, Kind, MAX_AMOUNT, MAX_PORTS, MAX_UNITS, MIN_MEMORY, Object, PLUGINS, RETRIES,
    RoleField, STORAGES, TASKS, TASKS_COMPLETED,
};
use crate::spec::Dialect;

pub(super) const JOB: &[Key] = &[
    Key::new("jobName", Kind::JobName)
        .job(JobField::Name)
        .required()
        .examples(r#"["tensorflow-cifar10"]"#)
        .help("Name of the job, unique among your jobs.", "作业名称，在您的作业中唯一。"),
    Key::new("image", Kind::Image).required().examples(r#"["tensorflow/tensorflow:latest"]"#).help(
        "Image of all tasks, as `registry/name:tag`.",
        "所有任务的镜像，形如 `registry/name:tag`。",
    ),
    Key::new("authFile", Kind::OptionalText).job(JobField::AuthFile).since(Dialect::Pai).help(
        "File with three lines (registry, user name, password) that opens a private \
         registry.",
        "用于登录私有镜像仓库的文件，共三行：仓库、用户名、密码。",
    ),
    Key::new("dataDir", Kind::OptionalText)
        .job(JobField::DataDir)
        .examples(r#"["$PAI_DEFAULT_FS_URI/data"]"#)
        .help(
            "Where the data lies; `$PAI_DATA_DIR` in the containers.",
            "数据所在的位置；容器中为 `$PAI_DATA_DIR`。",
        ),
    Key::new("outputDir", Kind::OptionalText).job(JobField::OutputDir).help(
        "Where results go; `$PAI_DEFAULT_FS_URI/Output/$jobName` when not given.",
        "结果的存放位置；不填则为 `$PAI_DEFAULT_FS_URI/Output/$jobName`。",
    ),
    Key::new("codeDir", Kind::OptionalText).job(JobField::CodeDir).help(
        "Code to be put into every container, read-only, at most 200 MB.",
        "放入每个容器的代码，只读，不超过 200 MB。",
    ),
    Key::new("virtualCluster", Kind::OptionalText)
        .job(JobField::VirtualCluster)
        .since(Dialect::Pai)
        .default(r#""default""#)
        .help("Virtual cluster to run in.", "运行所在的虚拟集群。"),
    Key::new("taskRoles", Kind::List(Object::V1Role))
        .required()
        .help("The kinds of tasks, at least one.", "任务角色，至少一个。"),
    Key::new("gpuType", Kind::Names)
        .job(JobField::GpuType)
        .since(Dialect::Pai)
        .examples(r#"["TITANX", "A100,H100"]"#)
        .help(
            "GPU type that the tasks need, or several separated by commas; any when not \
             given.",
            "任务所需的 GPU 型号，多个用逗号分隔；不填则任意。",
        ),
    Key::new("killAllOnCompletedTaskNumber", Kind::Whole { min: 0, max: TASKS_COMPLETED })
        .job(JobField::KillAll)
        .default("0")
        .help(
            "The job ends when so many tasks have completed; 0: no such rule.",
            "完成这么多任务后作业结束；0 表示没有此规则。",
        ),
    Key::new("retryCount", RETRIES).job(JobField::Retries).default("0").help(
        "So many more attempts after a failure of the job's own; -1: after every \
         failure; -2: always.",
        "作业自身失败后再尝试的次数；-1：每次失败后都重试；-2：始终重试。",
    ),
    Key::new("jobEnvs", Kind::Environment).job(JobField::Environment).since(Dialect::Scm).help(
        "Environment variables of all tasks, taken literally. They replace none of the \
         platform's.",
        "所有任务的环境变量，原样使用，不会替换平台自己的变量。",
    ),
    Key::new("extras", Kind::One(Object::V1Extras))
        .since(Dialect::Scm)
        .help("Anything else, kept with the job.", "其他任意内容，随作业保存。"),
    Key::new("tmp", Kind::Anything).since(Dialect::Scm).help(
        "Scratch space of a submission page; accepted and dropped.",
        "提交页面的暂存内容，接受但不保存。",
    ),
];

pub(super) const ROLE: &[Key] = &[
    Key::new("name", Kind::RoleName)
        .role(RoleField::Name)
        .required()
        .examples(r#"["worker"]"#)
        .help("Name of the role, unique in the job.", "任务角色的名称，在作业中唯一。"),
    Key::new("taskNumber", Kind::Whole { min: 1, max: TASKS })
        .role(RoleField::Tasks)
        .required()
        .examples("[1]")
        .help("Number of tasks.", "任务数。"),
    Key::new("cpuNumber", Kind::Whole { min: 1, max: MAX_UNITS })
        .role(RoleField::Cpus)
        .required()
        .examples("[4]")
        .help("CPU cores of each task.", "每个任务的 CPU 核数。"),
    Key::new("memoryMB", Kind::Whole { min: MIN_MEMORY, max: MAX_AMOUNT })
        .role(RoleField::Memory)
        .required()
        .examples("[8192]")
        .help("Memory of each task in MiB.", "每个任务的内存，单位 MiB。"),
    Key::new("shmMB", Kind::Whole { min: 1, max: MAX_AMOUNT })
        .role(RoleField::SharedMemory)
        .since(Dialect::Scm)
        .default("64")
        .help(
            "Size of `/dev/shm` in MiB, part of the memory.",
            "`/dev/shm` 的大小，单位 MiB，计入内存。",
        ),
    Key::new("gpuNumber", Kind::Gpus).role(RoleField::Gpus).required().examples("[1, 0.25]").help(
        "GPUs of each task; below 1 a part of one, on nodes that share theirs.",
        "每个任务的 GPU 数；小于 1 时为一张的一部分，须有共享 GPU 的节点。",
    ),
    Key::new("storageGB", Kind::Whole { min: 0, max: MAX_AMOUNT })
        .role(RoleField::Disk)
        .since(Dialect::Scm)
        .default("0")
        .help("Disk of each task in GiB.", "每个任务的硬盘，单位 GiB。"),
    Key::new("portList", Kind::List(Object::Port)).since(Dialect::Pai).help(
        "Ports besides `http` and `ssh`, which every task has.",
        "除每个任务都有的 `http` 和 `ssh` 以外的端口。",
    ),
    Key::new("command", Kind::Text)
        .required()
        .examples(r#"["python code/train.py"]"#)
        .help("Shell command of each task.", "每个任务的 shell 命令。"),
    Key::new("minFailedTaskCount", Kind::Tasks { min: 1 })
        .role(RoleField::MinFailed)
        .since(Dialect::Scm)
        .default("1")
        .help(
            "So many failed tasks fail the job; null: the job goes on whatever fails.",
            "失败这么多任务则作业失败；null：任务失败不影响作业。",
        ),
    Key::new("minSucceededTaskCount", Kind::Tasks { min: 1 })
        .role(RoleField::MinSucceeded)
        .since(Dialect::Scm)
        .default("null")
        .help(
            "So many succeeded tasks make the job succeed; null: it runs until all tasks \
             have completed.",
            "成功这么多任务则作业成功；null：运行到所有任务完成。",
        ),
];

pub(super) const PORT: &[Key] = &[
    Key::new("label", Kind::DottedName)
        .required()
        .examples(r#"["jupyter"]"#)
        .help("Label, unique in the role.", "标签，在任务角色中唯一。"),
    Key::new("beginAt", Kind::Whole { min: 0, max: 65_535 })
        .required()
        .examples("[0]")
        .help("First port; 0: any free ones.", "起始端口；0 表示任选空闲端口。"),
    Key::new("portNumber", Kind::Whole { min: 1, max: MAX_PORTS })
        .required()
        .examples("[1]")
        .help("Number of ports.", "端口数。"),
];

pub(super) const EXTRAS: &[Key] = &[
    Key::new(PLUGINS, Kind::List(Object::Plugin)).help(PLUGINS_HELP.english, PLUGINS_HELP.chinese),
    Key::new(STORAGES, Kind::List(Object::Storage))
        .help(STORAGES_HELP.english, STORAGES_HELP.chinese),
    Key::new("berth", Kind::One(Object::Berth))
        .help("What the rest of the notation has no word for.", "其余部分无法表达的内容。"),
];
