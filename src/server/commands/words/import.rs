//! What `berth import` says.

use protocol::words::counted;

/// What came, what did not, and what is worth knowing of it.
#[derive(Debug)]
pub(crate) struct Import {
    /// Group, virtual cluster, storage, user, template.
    pub(crate) parts: [&'static str; 5],
    /// It would come, came, stays, was left out, failed.
    pub(crate) became: [&'static str; 5],
    pub(crate) administrators_only: &'static str,
    /// A file.
    pub(crate) passwords_in: fn(&str) -> String,
    pub(crate) some_failed: fn(usize) -> String,

    pub(crate) admin_members: &'static str,
    pub(crate) administrator: &'static str,
    pub(crate) nobody_may: &'static str,
    /// GPUs of a type.
    pub(crate) guaranteed: fn(u64, &str) -> String,
    pub(crate) no_share: fn(u64) -> String,
    pub(crate) no_password: &'static str,
    /// A kind of storage.
    pub(crate) not_mounted: fn(&str) -> String,
    /// A name here.
    pub(crate) known_as: fn(&str) -> String,
    /// Groups.
    pub(crate) member_of: fn(&str) -> String,
    pub(crate) also_in: fn(&str) -> String,
    /// Why.
    pub(crate) in_no_group: fn(&str) -> String,
    pub(crate) no_job_file: &'static str,
    /// A mistake in a job file, and where the file is.
    pub(crate) to_be_changed: fn(&str, &str) -> String,
}

pub(super) const ENGLISH: Import = Import {
    parts: ["group", "virtual cluster", "storage", "user", "template"],
    became: ["would come", "came", "is here already and stays", "left out", "failed"],
    administrators_only: "only administrators may import",
    passwords_in: |file| format!("first passwords of new users are in {file}"),
    some_failed: |count| format!("{count} failed: run it again"),

    admin_members: "its members are administrators",
    administrator: "administrator",
    nobody_may: "nobody may use it there",
    guaranteed: |gpus, gpu_type| format!("is guaranteed {gpus} {gpu_type}"),
    no_share: |gpus| {
        let there = counted(gpus, "GPU");
        format!("is guaranteed nothing yet, there {there}: give it a share")
    },
    no_password: "its password is not told: give it here",
    not_mounted: |kind| {
        format!("engines do not mount what is {kind}: mount it on the nodes, and save it as a path")
    },
    known_as: |name| format!("as {name}"),
    member_of: |groups| format!("in: {groups}"),
    also_in: |groups| format!("there also in: {groups}"),
    in_no_group: |why| format!("is in no group: {why}"),
    no_job_file: "it has no job file",
    to_be_changed: |mistake, file| format!("a file to be changed first, {file}: {mistake}"),
};

pub(super) const CHINESE: Import = Import {
    parts: ["组", "虚拟集群", "存储", "用户", "模板"],
    became: ["将会迁入", "已迁入", "此处已有，保持不变", "不迁入", "失败"],
    administrators_only: "只有管理员可以迁入",
    passwords_in: |file| format!("新用户的初始密码在 {file} 中"),
    some_failed: |count| format!("{count} 项失败：请再次运行"),

    admin_members: "其成员为管理员",
    administrator: "管理员",
    nobody_may: "原系统中无人可以使用",
    guaranteed: |gpus, gpu_type| format!("保证 {gpus} 个 {gpu_type}"),
    no_share: |gpus| format!("尚无保证的资源，原系统中有 {gpus} 个 GPU：请为其设置份额"),
    no_password: "原系统不提供其密码：请在此处填写",
    not_mounted: |kind| format!("容器引擎不能挂载 {kind} 类型：请在节点上挂载，并保存为路径"),
    known_as: |name| format!("名称为 {name}"),
    member_of: |groups| format!("所在组：{groups}"),
    also_in: |groups| format!("原系统中还属于：{groups}"),
    in_no_group: |why| format!("未加入任何组：{why}"),
    no_job_file: "没有作业文件",
    to_be_changed: |mistake, file| format!("已写入文件 {file}，需先修改：{mistake}"),
};
