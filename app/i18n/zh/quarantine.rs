use crate::i18n::words_quarantine::Quarantine;

pub(super) const QUARANTINE: Quarantine = Quarantine {
    title: "被隔离的容器",
    what: "这些容器自称属于本集群，但数据库从未分配过它们：它们或来自恢复的备份所不知道的时期，或来自使用数据库副本的另一台服务器。\
           系统不会对它们做任何操作，它们占用的资源也不会分配给他人。请等待它们自行结束，或停止无人需要的容器。\
           如果没有恢复过备份，请先找出另一台服务器。其他集群的容器也列在此处，只由它们自己的集群管理。",
    container: "容器",
    says: "自称属于",
    holds: "占用",
    amounts: |cpus, memory| format!("CPU {cpus}，{memory}"),
    gpus: |indices| format!("GPU {indices}"),
    of_cluster: |cluster| format!("集群 {cluster}"),
    not_ours: "不属于本集群",
    created: "从未启动",
    runs: "运行中",
    ended: "已结束",
    stop: "停止",
    stop_title: |container| format!("停止 {container}"),
    stop_text: "其中运行的程序会结束，未保存的内容会丢失。容器及其日志会保留，直到您将其删除。",
    remove_title: |container| format!("删除 {container}"),
    remove_text: "其日志和其中的文件会丢失。",
    done: "已完成",
    was_stopped: "停止被隔离的容器",
    was_removed: "删除被隔离的容器",
};
