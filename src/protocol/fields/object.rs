use super::{Help, Key, Notation, berth, v1, v2};

/// An object of a job file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A job file of version 1.
    V1Job,
    /// A task role of version 1.
    V1Role,
    /// A group of ports.
    Port,
    /// `extras` of version 1.
    V1Extras,
    /// A job file of version 2.
    V2Job,
    /// An image, or data, a script or an output.
    Prerequisite,
    /// A task role of version 2.
    V2Role,
    /// `completion` of a role.
    Completion,
    /// `extraContainerOptions` of a role.
    Container,
    /// `resourcePerInstance` of a role.
    Resources,
    /// One of the `deployments`.
    Deployment,
    /// A role of a deployment.
    DeploymentRole,
    /// `defaults`.
    Defaults,
    /// `extras` of version 2.
    V2Extras,
    /// `extras.hivedScheduler`.
    Scheduler,
    /// A role in `extras.hivedScheduler`.
    SchedulerRole,
    /// `extras.berth`.
    Berth,
    /// `grace` in `extras.berth`.
    Grace,
    /// `topology` in `extras.berth`.
    Topology,
    /// A role in `extras.berth`.
    BerthRole,
    /// Credentials of a registry.
    Auth,
    /// A runtime plugin in `extras`.
    Plugin,
    /// A storage in `extras`.
    Storage,
}

impl Object {
    /// All of them; those that a notation has for itself stand before what both have.
    pub const ALL: [Self; 23] = [
        Self::V1Job,
        Self::V1Role,
        Self::Port,
        Self::V1Extras,
        Self::V2Job,
        Self::Prerequisite,
        Self::V2Role,
        Self::Completion,
        Self::Container,
        Self::Resources,
        Self::Deployment,
        Self::DeploymentRole,
        Self::Defaults,
        Self::V2Extras,
        Self::Scheduler,
        Self::SchedulerRole,
        Self::Berth,
        Self::Grace,
        Self::Topology,
        Self::BerthRole,
        Self::Auth,
        Self::Plugin,
        Self::Storage,
    ];

    /// Its keys in the order of the documents.
    #[must_use]
    pub const fn keys(self) -> &'static [Key] {
        match self {
            Self::V1Job => v1::JOB,
            Self::V1Role => v1::ROLE,
            Self::Port => v1::PORT,
            Self::V1Extras => v1::EXTRAS,
            Self::V2Job => v2::JOB,
            Self::Prerequisite => v2::PREREQUISITE,
            Self::V2Role => v2::ROLE,
            Self::Completion => v2::COMPLETION,
            Self::Container => v2::CONTAINER,
            Self::Resources => v2::RESOURCES,
            Self::Deployment => v2::DEPLOYMENT,
            Self::DeploymentRole => v2::DEPLOYMENT_ROLE,
            Self::Defaults => v2::DEFAULTS,
            Self::V2Extras => v2::EXTRAS,
            Self::Scheduler => v2::SCHEDULER,
            Self::SchedulerRole => v2::SCHEDULER_ROLE,
            Self::Berth => berth::BERTH,
            Self::Grace => berth::GRACE,
            Self::Topology => berth::TOPOLOGY,
            Self::BerthRole => berth::ROLE,
            Self::Auth => berth::AUTH,
            Self::Plugin => berth::PLUGIN,
            Self::Storage => berth::STORAGE,
        }
    }

    /// Whether files of a notation have it.
    #[must_use]
    pub const fn is_of(self, notation: Notation) -> bool {
        match self {
            Self::V1Job | Self::V1Role | Self::V1Extras => matches!(notation, Notation::V1),
            Self::V2Job
            | Self::Prerequisite
            | Self::V2Role
            | Self::Completion
            | Self::Container
            | Self::Resources
            | Self::Deployment
            | Self::DeploymentRole
            | Self::Defaults
            | Self::V2Extras
            | Self::Scheduler
            | Self::SchedulerRole => matches!(notation, Notation::V2),
            Self::Port
            | Self::Berth
            | Self::Grace
            | Self::Topology
            | Self::BerthRole
            | Self::Auth
            | Self::Plugin
            | Self::Storage => true,
        }
    }

    /// What stands before its keys in a path from the job or the role that has it.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::Berth => "extras.berth.",
            Self::Grace => "extras.berth.grace.",
            Self::Topology => "extras.berth.topology.",
            Self::Defaults => "defaults.",
            Self::Completion => "completion.",
            Self::Container => "extraContainerOptions.",
            Self::Resources => "resourcePerInstance.",
            Self::V1Job
            | Self::V1Role
            | Self::Port
            | Self::V1Extras
            | Self::V2Job
            | Self::Prerequisite
            | Self::V2Role
            | Self::Deployment
            | Self::DeploymentRole
            | Self::V2Extras
            | Self::Scheduler
            | Self::SchedulerRole
            | Self::BerthRole
            | Self::Auth
            | Self::Plugin
            | Self::Storage => "",
        }
    }

    /// Its name in the schema of a notation.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V1Job | Self::V2Job => "Job",
            Self::V1Role | Self::V2Role => "TaskRole",
            Self::Port => "Port",
            Self::V1Extras | Self::V2Extras => "Extras",
            Self::Prerequisite => "Prerequisite",
            Self::Completion => "Completion",
            Self::Container => "ContainerOptions",
            Self::Resources => "Resources",
            Self::Deployment => "Deployment",
            Self::DeploymentRole => "DeploymentRole",
            Self::Defaults => "Defaults",
            Self::Scheduler => "Scheduler",
            Self::SchedulerRole => "SchedulerRole",
            Self::Berth => "Berth",
            Self::Grace => "Grace",
            Self::Topology => "Topology",
            Self::BerthRole => "BerthRole",
            Self::Auth => "Auth",
            Self::Plugin => "Plugin",
            Self::Storage => "Storage",
        }
    }

    /// Whether it may have other keys as well, as OpenPAI lets it.
    pub(crate) const fn is_open(self) -> bool {
        matches!(
            self,
            Self::V1Extras
                | Self::V2Extras
                | Self::Prerequisite
                | Self::Container
                | Self::Deployment
                | Self::Defaults
                | Self::Scheduler
                | Self::SchedulerRole
                | Self::Auth
                | Self::Plugin
                | Self::Storage
        )
    }

    /// What it is.
    #[must_use]
    pub const fn help(self) -> Help {
        let (english, chinese) = match self {
            Self::V1Job => ("A job file of PAI, QIZHI or SCM.", "PAI、启智或 SCM 的作业文件。"),
            Self::V2Job => ("A job of protocol version 2.", "协议第 2 版的作业。"),
            Self::V1Role | Self::V2Role => ("A kind of task.", "一个任务角色。"),
            Self::Port => ("Ports of one label.", "一个标签的端口。"),
            Self::V1Extras | Self::V2Extras => {
                ("Anything, kept with the job.", "任意内容，随作业保存。")
            }
            Self::Prerequisite => {
                ("Something that roles refer to by name.", "任务角色按名称引用的内容。")
            }
            Self::Completion => {
                ("When tasks of a role end the job.", "任务角色的任务何时使作业结束。")
            }
            Self::Container => ("Shared memory and devices.", "共享内存和设备。"),
            Self::Resources => ("What each task gets.", "每个任务的资源。"),
            Self::Deployment => {
                ("Commands around those of the roles.", "任务角色的命令前后的命令。")
            }
            Self::DeploymentRole => {
                ("Commands around those of a role.", "一个任务角色的命令前后的命令。")
            }
            Self::Defaults => ("Where and how the job is deployed.", "作业部署的位置和方式。"),
            Self::Scheduler => ("Priority and GPU types.", "优先级和 GPU 型号。"),
            Self::SchedulerRole => ("GPU type of a role.", "一个任务角色的 GPU 型号。"),
            Self::Berth => (
                "What the notation has no word for. A job that was written in the other version and \
                 is shown in this one has it here.",
                "该版本无法表达的内容。以另一版本书写的作业用此版本显示时，这些内容放在这里。",
            ),
            Self::Grace => (
                "What tasks are told before the job gives way, its time is over or its node is emptied.",
                "作业被抢占、运行超时或其节点被清空之前，如何通知任务。",
            ),
            Self::Topology => ("How near each other tasks are.", "任务之间的位置要求。"),
            Self::BerthRole => ("Additions to a task role.", "对任务角色的补充。"),
            Self::Auth => ("Credentials of a registry.", "镜像仓库的登录信息。"),
            Self::Plugin => ("Something that is done beside the commands.", "命令之外执行的操作。"),
            Self::Storage => {
                ("A storage that an administrator has set up.", "管理员设置的一个存储。")
            }
        };
        Help { english, chinese }
    }
}
