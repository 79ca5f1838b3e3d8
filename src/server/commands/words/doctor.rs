//! What `berth doctor` says of nodes.

use protocol::words::counted;

use super::word::{Named, Paired, Word};

/// What it finds, and what helps.
#[derive(Debug)]
pub(in crate::commands) struct Doctor {
    pub(in crate::commands) well: Named,
    /// A node, and what is wrong with it.
    pub(in crate::commands) finding: Paired,
    /// How many of how many are not well.
    pub(in crate::commands) sick: fn(usize, usize) -> String,
    pub(in crate::commands) silent: Named,
    pub(in crate::commands) nothing_known: Word,
    /// The engine's version, and the least.
    pub(in crate::commands) engine_old: Paired,
    pub(in crate::commands) pull_failed: Named,
    /// The address of its tasks, and their ports.
    pub(in crate::commands) ports_closed: Paired,
    pub(in crate::commands) closed: Word,
    pub(in crate::commands) drained: Word,
    /// Its number, and its type.
    pub(in crate::commands) gpu_broken: Paired,
    pub(in crate::commands) warning: Named,
    pub(in crate::commands) failed: Named,
    pub(in crate::commands) task_failed: Named,
    pub(in crate::commands) task_waits: Named,
    pub(in crate::commands) nobody_knows: Word,
    pub(in crate::commands) task_late: Word,
    /// In seconds.
    pub(in crate::commands) clock_behind: fn(i64) -> String,
    pub(in crate::commands) clock_ahead: fn(i64) -> String,
    /// So many GiB are left.
    pub(in crate::commands) disk_full: fn(i64) -> String,
    /// So many by a task that had one.
    pub(in crate::commands) gpus_seen: fn(i64) -> String,
}

pub(super) const ENGLISH: Doctor = Doctor {
    well: |node| format!("{node}: well"),
    finding: |node, finding| format!("{node}: {finding}"),
    sick: |sick, all| {
        let is = if sick == 1 { "is" } else { "are" };
        format!("{sick} of {} {is} not well", counted(all as u64, "node"))
    },
    silent: |problem| {
        format!(
            "does not answer: see that its engine runs and that this server reaches it ({problem})"
        )
    },
    nothing_known: "nothing more is known",
    engine_old: |engine, least| {
        format!("its engine is {engine}, older than those that are tried: install {least} or newer")
    },
    pull_failed: |why| {
        format!(
            "images are not pulled: {why}: see that it reaches the registry (name, proxy, \
             certificate), or name an image that is there with --image"
        )
    },
    ports_closed: |address, ports| {
        format!(
            "the server does not reach its tasks: let it connect to ports {ports} of {address}, \
             and see that this is the node's address as the server has it"
        )
    },
    closed: "takes nothing new since it failed to start or to end tasks: its page says why",
    drained: "takes nothing new: an administrator wants it empty",
    gpu_broken: |index, gpu_type| {
        format!("GPU {index} ({gpu_type}) is gone, has failed or is taken: its page says why")
    },
    warning: |ailment| format!("{ailment}: it is the last choice while that is so"),
    failed: |ailment| format!("{ailment}: once it is mended, let it take tasks again"),
    task_failed: |how| format!("a task that was tried there failed: {how}"),
    task_waits: |why| format!("no task could be tried there, it waits: {why}"),
    nobody_knows: "nobody knows why",
    task_late: "a task that was tried there has not ended in time: see how long its engine takes to \
                pull images and to start containers, or wait longer with --patience",
    clock_behind: |seconds| {
        format!("its clock is {seconds} s behind this machine's: see that NTP sets both")
    },
    clock_ahead: |seconds| {
        format!("its clock is {seconds} s ahead of this machine's: see that NTP sets both")
    },
    disk_full: |free| {
        format!("its disk has only {free} GiB left: remove images there that nobody needs")
    },
    gpus_seen: |found| {
        format!(
            "a task that had one GPU saw {found}: see that the node's runtime for GPUs gives \
             containers what they are given by UUID"
        )
    },
};

pub(super) const CHINESE: Doctor = Doctor {
    well: |node| format!("{node}：正常"),
    finding: |node, finding| format!("{node}：{finding}"),
    sick: |sick, all| format!("{all} 个节点中有 {sick} 个不正常"),
    silent: |problem| {
        format!("没有响应：请确认其容器引擎在运行，且本服务器可以连接到它（{problem}）")
    },
    nothing_known: "没有更多信息",
    engine_old: |engine, least| {
        format!("其容器引擎为 {engine}，早于经过测试的版本：请安装 {least} 或更新版本")
    },
    pull_failed: |why| {
        format!(
            "无法拉取镜像：{why}：请确认该节点能访问镜像仓库（域名、代理和证书），\
             或用 --image 指定仓库中有的镜像"
        )
    },
    ports_closed: |address, ports| {
        format!(
            "服务器无法访问其任务：请允许服务器连接 {address} 的端口 {ports}，\
             并确认这是服务器访问该节点所用的地址"
        )
    },
    closed: "未能启动或结束任务，因此不再接收新任务：其页面说明了原因",
    drained: "不接收新任务：管理员正在将其排空",
    gpu_broken: |index, gpu_type| {
        format!("第 {index} 号 GPU（{gpu_type}）已消失、故障或被占用：其页面说明了原因")
    },
    warning: |ailment| format!("{ailment}：在此期间最后才会选用该节点"),
    failed: |ailment| format!("{ailment}：修复后请让该节点重新接收任务"),
    task_failed: |how| format!("在该节点试运行的任务失败：{how}"),
    task_waits: |why| format!("无法在该节点试运行任务，任务仍在排队：{why}"),
    nobody_knows: "原因未知",
    task_late: "在该节点试运行的任务未能按时结束：请查看其容器引擎拉取镜像和启动容器需要多久，\
                或用 --patience 等待更久",
    clock_behind: |seconds| format!("其时钟比本机慢 {seconds} 秒：请确认两者均由 NTP 校时"),
    clock_ahead: |seconds| format!("其时钟比本机快 {seconds} 秒：请确认两者均由 NTP 校时"),
    disk_full: |free| format!("其硬盘仅剩 {free} GiB：请删除其中无人需要的镜像"),
    gpus_seen: |found| {
        format!(
            "分到一块 GPU 的任务看到了 {found} 块：请确认该节点的 GPU 运行时按 UUID 将 GPU 交给容器"
        )
    },
};
