use protocol::amount::Amount;
use protocol::ids::GpuType;
use protocol::spec::{NodeSelector, TopologyLevel};
use protocol::wait::{Limited, ResourceKind, WaitReason};

use crate::i18n::spacing::apart;
use crate::i18n::waits::{amount, list};

pub(super) fn wait(reason: &WaitReason) -> String {
    apart(&worded(reason))
}

fn worded(reason: &WaitReason) -> String {
    match reason {
        WaitReason::Queued => "已在队列中，等待调度".to_owned(),
        WaitReason::QuotaVc { virtual_cluster, resource, gpu_type, needs, free, share } => {
            let what = gpu_type.as_ref().map_or_else(String::new, |kind| format!("{kind} "));
            let name = word(*resource);
            format!(
                "虚拟集群 {virtual_cluster} 的 {what}{name}配额共 {}，剩余 {}，本作业需要 {}",
                amount(*resource, *share),
                amount(*resource, *free),
                amount(*resource, *needs),
            )
        }
        WaitReason::Fragmented { gpu_types, needs, free, best_node } => {
            let of = spaced(gpu_types);
            format!(
                "空闲 {of}GPU 共 {free} 张，但单节点最多 {best_node} 张；本任务需单节点 {needs} 张"
            )
        }
        WaitReason::TypeAbsent { wanted, existing } => {
            let there = if existing.is_empty() { "无".to_owned() } else { list(existing, "、") };
            format!("可用的节点中没有 {} 类型的 GPU；现有类型：{there}", list(wanted, " 或 "))
        }
        WaitReason::NodesAbsent { wanted } => format!("没有{}的节点", selector(wanted)),
        WaitReason::StorageAbsent { storage } => format!("可用的节点都没有存储 {storage}"),
        WaitReason::PortsOutside { first, last, allowed } => format!(
            "申请了端口 {first}–{last}；可用节点提供的端口为 {}–{}",
            allowed.first, allowed.last
        ),
        WaitReason::GpusNotShared { wanted } => {
            format!("申请了 GPU 的一部分，但没有节点共享其 {}GPU", spaced(wanted))
        }
        WaitReason::Behind { ahead } => format!("前面还有 {ahead} 个优先级更高或相同的作业"),
        WaitReason::Gang { tasks, fit } => {
            format!("需 {tasks} 个任务同时启动（当前可放置 {fit} 个）")
        }
        WaitReason::Short { resource: ResourceKind::Gpu, gpu_types, needs, best_node }
            if needs.is_part() =>
        {
            let of = spaced(gpu_types);
            format!("单任务需要一张 {of}GPU 的 {needs}，单张 GPU 最多空闲 {best_node}")
        }
        WaitReason::Short { resource, gpu_types, needs, best_node } => format!(
            "{}{}不足：单任务需要 {}，节点最多空闲 {}",
            spaced(gpu_types),
            word(*resource),
            amount(*resource, *needs),
            amount(*resource, *best_node),
        ),
        WaitReason::NodeDown { nodes } => format!("可用节点中有 {nodes} 个失联、正在排空或异常"),
        WaitReason::Impossible { resource, needs, largest, virtual_cluster } => {
            let (needs, largest) = (amount(*resource, *needs), amount(*resource, *largest));
            let name = word(*resource);
            match virtual_cluster {
                Some(cluster) => format!(
                    "该请求永远无法满足：需要{name} {needs}，虚拟集群 {cluster} 的配额为 {largest}"
                ),
                None => {
                    format!(
                        "该请求永远无法满足：单任务需要{name} {needs}，可用的最大节点为 {largest}"
                    )
                }
            }
        }
        WaitReason::ShareElsewhere { virtual_cluster, tasks, fit } => format!(
            "虚拟集群 {virtual_cluster} 的配额位于其他节点：在可用的节点上，无论其他作业是否运行，最多容纳其 {tasks} 个任务中的 {fit} 个，且该虚拟集群不借用空闲资源"
        ),
        WaitReason::LevelFull { level, tasks, fit } => format!(
            "需同一{}容纳全部 {tasks} 个任务（空闲最多的一处当前可容纳 {fit} 个）",
            place(*level)
        ),
        WaitReason::LevelTooSmall { level, tasks, fit } => format!(
            "该请求永远无法满足：全部 {tasks} 个任务须位于同一{}，可用的最大一处仅可容纳 {fit} 个",
            place(*level)
        ),
        WaitReason::Hold { by: Some(by), administrator: true } => format!("被管理员 {by} 暂停"),
        WaitReason::Hold { by: Some(by), administrator: false } => format!("被 {by} 暂停"),
        WaitReason::Hold { by: None, administrator: _ } => "已暂停".to_owned(),
        WaitReason::Backoff { .. } => {
            "上次尝试失败，暂停片刻后自动重试；每次失败后暂停时间会延长".to_owned()
        }
        WaitReason::GaveWay { times, .. } => format!(
            "已让出资源 {times} 次，暂时只能使用所属虚拟集群自己的配额启动；每多让出一次，这段时间就更长"
        ),
        WaitReason::Preempting { jobs } => format!("待 {jobs} 个作业让出资源后立即启动"),
        WaitReason::UserLimit { virtual_cluster, group, limited, needs, running, most } => {
            let whose = match group {
                Some(group) => format!("用户组 {group} 的成员合计"),
                None => "作业所有者".to_owned(),
            };
            let (most, running, needs) = match limited {
                Limited::Gpus => {
                    (format!("{most} 张 GPU"), format!("{running} 张"), format!("{needs} 张"))
                }
                Limited::Jobs => {
                    (format!("{most} 个作业"), format!("{running} 个"), format!("{needs} 个"))
                }
            };
            format!(
                "在虚拟集群 {virtual_cluster} 中，{whose}最多可同时运行 {most}：已运行 {running}，该作业还需 {needs}"
            )
        }
        WaitReason::NoNodes => "集群中还没有节点".to_owned(),
    }
}

pub(super) fn remedy(reason: &WaitReason) -> &'static str {
    match reason {
        WaitReason::QuotaVc { .. } => {
            "该虚拟集群有作业结束后即可启动；也可减少申请量或改用其他虚拟集群。"
        }
        WaitReason::Fragmented { .. } => "可减少单任务 GPU 数，或等待整台节点空闲。",
        WaitReason::TypeAbsent { .. } => "请改用现有的 GPU 型号。",
        WaitReason::NodesAbsent { .. } => "请改用现有的节点，或不限节点。",
        WaitReason::StorageAbsent { .. } => "有节点具备该存储后即可启动：请告知管理员。",
        WaitReason::PortsOutside { .. } => "请申请该范围内的端口，或任意端口（beginAt 为 0）。",
        WaitReason::GpusNotShared { .. } => "请申请整张 GPU，或请管理员允许某个节点共享其 GPU。",
        WaitReason::LevelFull { .. } => "减少任务数或放宽层级可更早启动。",
        WaitReason::LevelTooSmall { .. } => "请停止该作业，减少申请量或放宽层级后重新提交。",
        WaitReason::Gang { .. } => "减少任务数或单任务资源可更早启动。",
        WaitReason::Short { resource, best_node, .. } if *best_node == Amount::default() => {
            match resource {
                ResourceKind::Gpu => "占用 GPU 的作业结束后即可启动；也可改用其他型号的 GPU。",
                ResourceKind::Cpu
                | ResourceKind::Memory
                | ResourceKind::Disk
                | ResourceKind::Port => "占用该资源的作业结束后即可启动。",
            }
        }
        WaitReason::Short { .. } => "减少该资源的申请量可更早启动。",
        WaitReason::Impossible { .. } => "请停止该作业，减少申请量后重新提交。",
        WaitReason::ShareElsewhere { .. } => {
            "请改用其他节点或不限节点；也可请管理员允许该虚拟集群借用空闲资源。"
        }
        WaitReason::NodeDown { .. } => "管理员可在节点页面查看原因。",
        WaitReason::NoNodes => "管理员可在“系统管理”页面添加节点。",
        WaitReason::Hold { by: _, administrator: true } => "只有管理员可以恢复。",
        WaitReason::Hold { by: _, administrator: false } => "恢复后即可启动。",
        WaitReason::UserLimit { .. } => "其中有作业结束后即可启动；在此之前不会耽误其他作业。",
        WaitReason::Queued | WaitReason::Behind { .. } => "",
        WaitReason::GaveWay { .. } => "此后可再次借用其他虚拟集群的空闲资源。",
        WaitReason::Backoff { .. } | WaitReason::Preempting { .. } => "",
    }
}

/// A place of a level of topology.
fn place(level: TopologyLevel) -> &'static str {
    match level {
        TopologyLevel::Site => "站点",
        TopologyLevel::Row => "机柜列",
        TopologyLevel::Rack => "机柜",
        TopologyLevel::Switch => "交换机",
    }
}

/// Which nodes are asked for.
fn selector(selector: &NodeSelector) -> String {
    let NodeSelector { names, labels, topology: _ } = selector;
    let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let parts = [("名为 ", list(names, " 或 ")), ("标签为 ", list(&labels, "、"))];
    let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
    list(&parts.map(|(word, list)| format!("{word}{list} ")).collect::<Vec<_>>(), "且")
}

/// Names before another word, if there are any.
fn spaced(names: &[GpuType]) -> String {
    if names.is_empty() { String::new() } else { format!("{} ", list(names, " 或 ")) }
}

fn word(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Cpu => "CPU 核",
        ResourceKind::Memory => "内存",
        ResourceKind::Disk => "硬盘",
        ResourceKind::Gpu => "GPU",
        ResourceKind::Port => "端口",
    }
}
