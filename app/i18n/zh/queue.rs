use api::cluster::{GroupUse, Promised};
use api::queue::{Alternative, Instead};
use protocol::wait::{Ground, Likeness, ResourceKind};

use crate::i18n::words_queue::{Effects, Queue};
use crate::i18n::zh::spans::{about, between, not_before, rough, starts_then};
use crate::number::{amount, count};
use crate::time::Span;

pub(super) const QUEUE: Queue = Queue {
    table: "所需与现有",
    resource: word,
    needs: "需要",
    needs_of: |tasks, each| format!("{tasks} × {each}"),
    each_task: |amount| format!("每任务 {amount}"),
    free_now: "当前空闲",
    free_of: |gpus, borrowed| match borrowed {
        0 => gpus.to_string(),
        borrowed => format!("{gpus}（{borrowed} 张为借用）"),
    },
    on_one_node: "单节点最多",
    holders: "占用者",
    held: |jobs, gpus| match gpus.milli() {
        0 => format!("{jobs} 个作业"),
        _ => format!("{jobs} 个作业，{} 张 GPU", amount(gpus)),
    },
    ends_first: "最先结束",
    uses: "各用户用量",
    uses_text: "近期用量最少的用户优先。时间越久，计入越少；不用 GPU 的作业按 1 张 GPU 计。",
    user: "用户",
    uses_of_groups: "各用户组用量",
    uses_of_groups_text: "相对应占比例近期用量最少的用户组优先，组内则用量最少的用户优先。",
    group: "用户组",
    group_share: "应占",
    use_of_group: "用户组用量占比",
    group_use: |of| {
        let GroupUse { group, mean, percent, share } = of;
        let lately = format!("近期占 {percent}%（平均 {} 张 GPU）", amount(*mean));
        match of.is_beyond() {
            true => format!("用户组 {group} 已超出应占的 {share}%：{lately}"),
            false => format!("用户组 {group} {lately}，应占 {share}%"),
        }
    },
    mean_gpus: "平均 GPU 数",
    part_of_use: "用量占比",
    percent: |percent| format!("{percent}%"),
    owner_use: |percent, mean| format!("近期占 {percent}%（平均 {} 张 GPU）", amount(mean)),
    weights: "单张 GPU 折算",
    ahead: "排在前面",
    more: |n| format!("另有 {n} 个"),
    more_users: |n| format!("另有 {n} 个用户"),
    starts: "预计启动",
    starts_now: "作如下更改即可立即启动",
    instead: |Alternative { instead, borrowed, before }| {
        let change = match instead {
            Instead::Split { tasks, gpus } => format!("改为 {tasks} × {gpus} 张 GPU"),
            Instead::GpuType { gpu_type } => format!("改用 {gpu_type}"),
            Instead::VirtualCluster { virtual_cluster } => {
                format!("改用虚拟集群 {virtual_cluster}")
            }
            Instead::TimeLimit { time_limit } => {
                format!("将运行时长上限设为 {}", rough(Span::of_millis(time_limit.millis())))
            }
        };
        let change = match before {
            Some(job) => format!("{change}，赶在 {job} 启动之前"),
            None => change,
        };
        if *borrowed { format!("{change}（借用）") } else { change }
    },
    between,
    about,
    not_before,
    soon: "随时",
    starts_then,
    ground: |ground, cluster| match ground {
        Ground::Limits => "，依据运行时长上限".to_owned(),
        Ground::PastRuns => "，依据同类作业的历史运行时间".to_owned(),
        Ground::Elapsed => "，仅依据前面作业已运行的时间".to_owned(),
        Ground::PastWaits { like, runs } => {
            let runs = count(runs.into());
            match like {
                Likeness::Name => format!("，依据 {runs} 次同名作业的历史记录"),
                Likeness::Owner => {
                    format!("，依据该用户在 {cluster} 中 {runs} 次历史记录")
                }
                Likeness::Size => format!("，依据 {cluster} 中 {runs} 次同规模作业的历史记录"),
                Likeness::VirtualCluster => format!("，依据 {cluster} 中 {runs} 次历史记录"),
                Likeness::Everything => format!("，依据所有虚拟集群中 {runs} 次历史记录"),
            }
        }
    },
    turn: "排队次序",
    hold: "暂停",
    hold_text: "恢复之前不会启动。",
    release: "恢复",
    release_text: "轮到它时立即启动。",
    first: "移到最前",
    earlier: "提前一位",
    later: "推后一位",
    last: "移到最后",
    move_own: "只在您自己的作业之间交换位置，不影响他人。",
    move_any: "将越过其他用户的作业。",
    set_priority: "设置优先级",
    priority_text: "优先级高的作业先启动。",
    done: "排队次序已更改。",
    thinking: "正在推算影响…",
    effect: Effects {
        nothing: "不会立即使任何作业启动、等待或让出资源。",
        jobs_of: |n, cluster| format!("{cluster} 的 {n} 个作业"),
        and: "、",
        comma: "，",
        start: |jobs| format!("{jobs}将启动"),
        wait: |jobs| format!("{jobs}将等待"),
        preempted: |jobs| format!("{jobs}将让出资源并重新排队"),
        loses_guarantee: |jobs| format!("{jobs}将改为借用资源继续运行"),
        displaced: |jobs| format!("{jobs}正在其上运行，将继续直到结束"),
        moved: |jobs| format!("{jobs}将在其他节点重新开始"),
        impossible: |jobs| format!("{jobs}将永远无法启动"),
        promise: |promise| {
            let of = format!("已承诺 {}，共有 {}", count(promise.promised), count(promise.there));
            match &promise.resource {
                Promised::Gpus(gpu_type) => format!("{gpu_type}：{of}"),
                Promised::Cpus => format!("CPU 核：{of}"),
                Promised::MemoryMb => format!("内存（MB）：{of}"),
            }
        },
        overpromised: |promises| format!("承诺的资源超出现有资源：{promises}"),
        named: |sentence, names, more| {
            let (shown, all) = (names.join("、"), names.len() as u64 + more);
            match more {
                0 => format!("{sentence}（{shown}）"),
                _more => format!("{sentence}（{shown} 等 {all} 个）"),
            }
        },
    },
    save_named: |name| format!("保存 {name}"),
    save_text: "新的设置立即生效。",
    drain_title: |name| format!("排空 {name}"),
    empty_title: |name| format!("立即清空 {name}"),
    undrain_title: |name| format!("让 {name} 恢复接收任务"),
    undrain_text: "确认后立即接收任务。",
    was_held: "暂停作业",
    was_released: "恢复作业",
    was_prioritised: "更改优先级",
    was_limited: "更改运行时长上限",
    was_moved: "移动排队次序",
    was_drained: "排空节点",
    node_was_saved: "保存节点",
    node_was_removed: "删除节点",
    node_was_tried: "检验节点",
    cluster_was_saved: "保存虚拟集群",
    cluster_was_removed: "删除虚拟集群",
};

fn word(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Cpu => "CPU 核",
        ResourceKind::Memory => "内存",
        ResourceKind::Disk => "硬盘",
        ResourceKind::Gpu => "GPU",
        ResourceKind::Port => "端口",
    }
}
