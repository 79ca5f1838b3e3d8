//! Why a job that was asked for can never start, as REST says it.

use crate::i18n::said::sayings;

pub(super) const WAITS: &str = sayings![
    ("This request can never be met: {}. Ask for less.", "该请求永远无法满足：{0}。请减少申请量"),
    ("it asks for {}, virtual cluster {} has {} in all", "需要 {0}，虚拟集群 {1} 共有 {2}"),
    (
        "a task asks for {}, the largest node it may use has {}",
        "单任务需要 {0}，可用的最大节点有 {1}",
    ),
    (
        "This request can never be met: all {} tasks have to be in one {}, and the largest that it may use holds {} of them. Ask for less, or for a wider level.",
        "该请求永远无法满足：全部 {0} 个任务须位于同一 {1}，可用的最大一处仅可容纳 {2} 个。请减少申请量或放宽层级",
    ),
    ("{} CPU core", "{0} 个 CPU 核"),
    ("{} CPU cores", "{0} 个 CPU 核"),
    ("{} GPU", "{0} 张 GPU"),
    ("{} GPUs", "{0} 张 GPU"),
    ("{} port", "{0} 个端口"),
    ("{} ports", "{0} 个端口"),
    ("{} GB of disk", "{0} GB 硬盘"),
    ("{} GB of memory", "{0} GB 内存"),
    ("{} MB of memory", "{0} MB 内存"),
    (
        "No node it may use has a GPU of type {}. None has a GPU at all.",
        "可用的节点中没有 {0} 型号的 GPU，也没有任何 GPU",
    ),
    (
        "No node it may use has a GPU of type {}. There are: {}.",
        "可用的节点中没有 {0} 型号的 GPU；现有型号：{1}",
    ),
    (
        "There is no node {}. Ask for nodes that there are, or for any.",
        "没有{0}的节点。请改用现有的节点，或不限节点",
    ),
    ("named {}", "名为 {0}"),
    ("named {} or {}", "名为 {0} 或 {1}"),
    ("labelled {}", "标签为 {0}"),
    ("named {} and labelled {}", "名为 {0} 且标签为 {1}"),
    (
        "It asks for the ports {} to {}, but no node it may use gives these to tasks: beginAt lies in {} to {}, or is 0 for any ports.",
        "申请了端口 {0} 到 {1}，但没有可用的节点提供这些端口：beginAt 应在 {2} 到 {3} 之间，或为 0（任意端口）",
    ),
    (
        "It asks for part of a GPU, but no node shares its GPUs. Ask for a whole GPU, or an administrator lets a node share them.",
        "申请了 GPU 的一部分，但没有节点共享 GPU。请申请整张 GPU，或请管理员允许某个节点共享",
    ),
    (
        "It asks for part of a GPU, but no node shares its GPUs of type {}. Ask for a whole GPU, or an administrator lets a node share them.",
        "申请了 GPU 的一部分，但没有节点共享 {0} 型号的 GPU。请申请整张 GPU，或请管理员允许某个节点共享",
    ),
];
