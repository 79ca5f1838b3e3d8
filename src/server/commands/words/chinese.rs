use app::i18n::Language;
use protocol::cluster::NodeCondition;

use super::catalogue::Words;
use super::{doctor, import};

pub(super) static WORDS: Words = Words {
    state: |state| Language::Chinese.state(state),
    wait: |reason| Language::Chinese.wait(reason),
    condition: |condition| match condition {
        NodeCondition::Ready => "就绪",
        NodeCondition::Draining => "正在排空",
        NodeCondition::Unreachable => "失联",
    },
    ago,
    yes: "是",
    no: "否",

    jobs_heading: ["名称", "用户", "状态", "虚拟集群", "任务数", "GPU 数", "提交时间", "退出码"],
    tasks_heading: ["任务", "状态", "节点", "地址", "端口", "退出码"],
    nodes_heading: ["节点", "地址", "状态", "架构", "CPU 核数", "内存", "GPU 数", "任务数"],
    clusters_heading: ["名称", "GPU 数", "CPU 核数", "内存", "运行中", "排队中", "可使用"],
    users_heading: ["用户", "管理员", "虚拟集群"],

    cluster: "虚拟集群",
    waits: "排队原因",
    place: "队列位置",
    ended: "结束原因",
    last_attempt: "上次尝试",
    stopping: |name| format!("{name}：正在停止"),
    not_stopped: |count| format!("{count} 个作业未能停止"),
    deleted: |name| format!("{name}：已删除"),
    not_deleted: |count| format!("{count} 个作业未能删除"),

    simulated: "（模拟）",
    probing: |node| format!("正在查找 {node} 的 GPU"),

    signed_in: |server, user| format!("已以 {user} 的身份登录 {server}"),
    nobody_signed_in: |server| format!("尚未登录 {server}：请使用 `berth login` 或 BERTH_TOKEN"),
    password_of: |user| format!("{user} 的密码："),
    new_password_of: |user| format!("{user} 的新密码："),
    password_for: |user| format!("为 {user} 设置密码："),
    added: |user| format!("已添加 {user}"),

    silent: |server, error| format!("{server} 没有响应：{error}"),
    other_answer: |server, status, kind| format!("{server} 返回了 {status}：它是 {kind} 吗？"),
    not_understood: |server, kind| format!("无法理解 {server} 的回答：它是 {kind} 吗？"),
    in_request: |message, request| format!("{message}（请求 {request}）"),

    no_such_task: |task| format!("“{task}”不是任务：应为 ROLE-INDEX，如 worker-0"),
    task_absent: |job, task, known| format!("{job} 没有任务“{task}”，现有 {known}"),
    port_absent: |port, known| format!("该任务没有端口“{port}”，现有 {known}"),
    forwards: |here, there, task| format!("127.0.0.1:{here} -> {task} 的 {there}"),
    no_path_in_task: "其中一个路径必须在任务中：JOB[/ROLE-INDEX]:PATH",
    paths_in_tasks: "每次只能与一个任务之间复制文件；同一作业的任务之间请在任务中使用 scp",
    no_program: |program| format!("无法启动 `{program}`，是否已安装 OpenSSH？"),

    doctor: doctor::CHINESE,
    import: import::CHINESE,
};

fn ago(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} 秒前"),
        60..3_600 => format!("{} 分钟前", seconds / 60),
        3_600..172_800 => format!("{} 小时前", seconds / 3_600),
        _ => format!("{} 天前", seconds / 86_400),
    }
}
