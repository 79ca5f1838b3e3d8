//! What the keys of job files mean, in Chinese, for the editor's help. The schemas themselves, which
//! are English, are the server's alone: none of this is sent with the pages.

use serde_json::Value;

use crate::i18n::Language;

/// A schema with its explanations in a language.
pub(crate) fn in_language(mut schema: Value, language: Language) -> Value {
    if language == Language::Chinese {
        explain(&mut schema);
    }
    schema
}

fn explain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description")
                && let Some((_, chinese)) =
                    KEYS.iter().find(|(english, _)| *english == text.as_str())
            {
                (*chinese).clone_into(text);
            }
            map.values_mut().for_each(explain);
        }
        Value::Array(items) => items.iter_mut().for_each(explain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

const KEYS: &[(&str, &str)] = &[
    ("A job file of PAI, QIZHI or SCM.", "PAI、启智或 SCM 的作业文件。"),
    ("Name of the job, unique among your jobs.", "作业名称，在您的作业中唯一。"),
    ("Image of all tasks, as `registry/name:tag`.", "所有任务的镜像，形如 `registry/name:tag`。"),
    (
        "File with three lines (registry, user name, password) that opens a private registry.",
        "用于登录私有镜像仓库的文件，共三行：仓库、用户名、密码。",
    ),
    (
        "Where the data lies; `$PAI_DATA_DIR` in the containers.",
        "数据所在的位置；容器中为 `$PAI_DATA_DIR`。",
    ),
    (
        "Where results go; `$PAI_DEFAULT_FS_URI/Output/$jobName` when not given.",
        "结果的存放位置；不填则为 `$PAI_DEFAULT_FS_URI/Output/$jobName`。",
    ),
    (
        "Code to be put into every container, read-only, at most 200 MB.",
        "放入每个容器的代码，只读，不超过 200 MB。",
    ),
    ("Virtual cluster to run in.", "运行所在的虚拟集群。"),
    ("The kinds of tasks, at least one.", "任务角色，至少一个。"),
    (
        "GPU type that the tasks need, or several separated by commas; any when not given.",
        "任务所需的 GPU 型号，多个用逗号分隔；不填则任意。",
    ),
    (
        "The job ends when so many tasks have completed; 0: no such rule.",
        "完成这么多任务后作业结束；0 表示没有此规则。",
    ),
    (
        "So many more attempts after a failure of the job's own; -1: after every failure; -2: always.",
        "作业自身失败后再尝试的次数；-1：每次失败后都重试；-2：始终重试。",
    ),
    (
        "Environment variables of all tasks, taken literally. They replace none of the platform's.",
        "所有任务的环境变量，原样使用，不会替换平台自己的变量。",
    ),
    ("Anything else, kept with the job.", "其他任意内容，随作业保存。"),
    (
        "Scratch space of a submission page; accepted and dropped.",
        "提交页面的暂存内容，接受但不保存。",
    ),
    ("A kind of task.", "一个任务角色。"),
    ("Name of the role, unique in the job.", "任务角色的名称，在作业中唯一。"),
    ("Number of tasks.", "任务数。"),
    ("CPU cores of each task.", "每个任务的 CPU 核数。"),
    ("Memory of each task in MiB.", "每个任务的内存，单位 MiB。"),
    ("Size of `/dev/shm` in MiB, part of the memory.", "`/dev/shm` 的大小，单位 MiB，计入内存。"),
    (
        "GPUs of each task; below 1 a part of one, on nodes that share theirs.",
        "每个任务的 GPU 数；小于 1 时为一张的一部分，须有共享 GPU 的节点。",
    ),
    ("Disk of each task in GiB.", "每个任务的硬盘，单位 GiB。"),
    (
        "Ports besides `http` and `ssh`, which every task has.",
        "除每个任务都有的 `http` 和 `ssh` 以外的端口。",
    ),
    ("Shell command of each task.", "每个任务的 shell 命令。"),
    (
        "So many failed tasks fail the job; null: the job goes on whatever fails.",
        "失败这么多任务则作业失败；null：任务失败不影响作业。",
    ),
    (
        "So many succeeded tasks make the job succeed; null: it runs until all tasks have completed.",
        "成功这么多任务则作业成功；null：运行到所有任务完成。",
    ),
    ("Ports of one label.", "一个标签的端口。"),
    ("Label, unique in the role.", "标签，在任务角色中唯一。"),
    ("First port; 0: any free ones.", "起始端口；0 表示任选空闲端口。"),
    ("Number of ports.", "端口数。"),
    ("Anything, kept with the job.", "任意内容，随作业保存。"),
    ("What the rest of the notation has no word for.", "其余部分无法表达的内容。"),
    (
        "What the notation has no word for. A job that was written in the other version and is shown \
         in this one has it here.",
        "该版本无法表达的内容。以另一版本书写的作业用此版本显示时，这些内容放在这里。",
    ),
    ("Name of the job, where version 2 does not allow it.", "作业名称，用于第 2 版不允许的名称。"),
    ("Free text.", "任意文本。"),
    (
        "Place in the queue: crit, prod, test, oppo, or a number from -1 to 126.",
        "优先级：crit（关键）、prod（生产）、test（测试）、oppo（闲时），或 -1 到 126 的数字。",
    ),
    (
        "How long each attempt may run: seconds, or a text such as `2h 30m`. Then it is stopped. A job \
         with a limit may start sooner, where it is over before a place is needed.",
        "每次尝试的运行时长上限：秒数，或 `2h 30m` 这样的文本，到时即停止。有上限的作业若能在资源被需要之前结束，可能更早启动。",
    ),
    ("GPU types that will do for the whole job.", "整个作业可用的 GPU 型号。"),
    (
        "The only nodes that will do: a name, several separated by commas, or a list.",
        "限定节点：一个名称，用逗号分隔的多个名称，或列表。",
    ),
    (
        "Labels that a node must have, each with this value; an administrator gives them to nodes.",
        "节点必须具有的标签及其值；标签由管理员设置。",
    ),
    ("The job ends when so many tasks have completed.", "完成这么多任务后作业结束。"),
    ("File that opens a private registry.", "用于登录私有镜像仓库的文件。"),
    ("Where the data lies.", "数据所在的位置。"),
    ("Where results go.", "结果的存放位置。"),
    ("Code to be put into every container.", "放入每个容器的代码。"),
    ("Environment variables of all tasks.", "所有任务的环境变量。"),
    (
        "Secrets by name, used as `<% $secrets.name %>`; never shown again.",
        "机密数据，按名称以 `<% $secrets.name %>` 使用；不会再次显示。",
    ),
    ("Additions to task roles, by the role's name.", "对任务角色的补充，按角色名称。"),
    ("Additions to a task role.", "对任务角色的补充。"),
    (
        "Name of the role, where version 2 does not allow it.",
        "任务角色的名称，用于第 2 版不允许的名称。",
    ),
    ("Image of this role.", "该任务角色的镜像。"),
    ("Credentials of the image's registry.", "镜像仓库的登录信息。"),
    ("GPU types that will do for this role.", "该任务角色可用的 GPU 型号。"),
    ("Ports with their first number.", "端口及其起始端口号。"),
    ("Further starts of a failed task.", "任务失败后再次启动的次数。"),
    ("InfiniBand devices are wanted.", "需要 InfiniBand 设备。"),
    ("Credentials of a registry.", "镜像仓库的登录信息。"),
    ("User name.", "用户名。"),
    ("Password; best written as `<% $secrets.name %>`.", "密码；最好写作 `<% $secrets.name %>`。"),
    ("The registry; Docker Hub when not given.", "镜像仓库；不填则为 Docker Hub。"),
    ("A job of protocol version 2.", "协议第 2 版的作业。"),
    ("Version of the protocol.", "协议的版本。"),
    ("What the file describes: a job.", "文件描述的内容：作业。"),
    ("Version of the file.", "文件的版本。"),
    ("Who wrote it.", "作者。"),
    (
        "Images, data, scripts and outputs that the roles refer to by name.",
        "任务角色按名称引用的镜像、数据、脚本和输出。",
    ),
    (
        "Values that commands use as `<% $parameters.name %>`; nested ones as `a.b[0]`.",
        "命令中以 `<% $parameters.name %>` 使用的值；嵌套的值写作 `a.b[0]`。",
    ),
    (
        "Values that commands and auth use as `<% $secrets.name %>`; never shown again.",
        "命令和 auth 中以 `<% $secrets.name %>` 使用的值；不会再次显示。",
    ),
    ("The kinds of tasks by name, at least one.", "按名称列出的任务角色，至少一个。"),
    (
        "Commands around those of the roles, for one place of deployment each.",
        "任务角色的命令前后的命令，每个部署一组。",
    ),
    ("Where and how the job is deployed.", "作业部署的位置和方式。"),
    ("Something that roles refer to by name.", "任务角色按名称引用的内容。"),
    ("Name, unique among those of its type.", "名称，在同一类型中唯一。"),
    ("What it is.", "类型。"),
    ("Its version.", "其版本。"),
    ("Who made it.", "制作者。"),
    ("Credentials of an image's registry.", "镜像仓库的登录信息。"),
    ("Image, address or path; for data a list as well.", "镜像、地址或路径；data 也可以是列表。"),
    ("When tasks of this role end the job.", "该任务角色的任务何时使作业结束。"),
    ("Names of prerequisites that this role needs besides.", "该任务角色还需要的依赖项的名称。"),
    ("Name of a prerequisite of type dockerimage.", "dockerimage 类型的依赖项的名称。"),
    (
        "Name of a prerequisite of type data, here `$data`.",
        "data 类型的依赖项的名称，此处为 `$data`。",
    ),
    (
        "Name of a prerequisite of type output, here `$output`.",
        "output 类型的依赖项的名称，此处为 `$output`。",
    ),
    (
        "Name of a prerequisite of type script, here `$script`.",
        "script 类型的依赖项的名称，此处为 `$script`。",
    ),
    ("Shared memory and devices.", "共享内存和设备。"),
    ("What each task gets.", "每个任务的资源。"),
    ("Shell commands, one after the other.", "依次执行的 shell 命令。"),
    ("When tasks of a role end the job.", "任务角色的任务何时使作业结束。"),
    (
        "So many failed tasks fail the job; -1: the job goes on whatever fails.",
        "失败这么多任务则作业失败；-1：任务失败不影响作业。",
    ),
    (
        "So many succeeded tasks make the job succeed; all instances when not given; -1: it runs until \
         all tasks have completed.",
        "成功这么多任务则作业成功，不填则为全部；-1：运行到所有任务完成。",
    ),
    ("CPU cores.", "CPU 核数。"),
    ("Memory in MiB.", "内存，单位 MiB。"),
    (
        "GPUs; below 1 a part of one, on nodes that share theirs.",
        "GPU 数；小于 1 时为一张的一部分，须有共享 GPU 的节点。",
    ),
    (
        "Number of ports by label, besides `http` and `ssh`, which every task has.",
        "各标签的端口数；每个任务另有 `http` 和 `ssh`。",
    ),
    ("Number of ports of a label.", "一个标签的端口数。"),
    ("Commands around those of the roles.", "任务角色的命令前后的命令。"),
    ("Name that `defaults.deployment` chooses.", "供 `defaults.deployment` 选择的名称。"),
    ("Commands by role.", "按任务角色列出的命令。"),
    ("Commands around those of a role.", "一个任务角色的命令前后的命令。"),
    ("They run before the role's own.", "在任务角色自己的命令之前运行。"),
    ("They run after the role's own have succeeded.", "在任务角色自己的命令成功之后运行。"),
    ("Name of the deployment to use.", "所用部署的名称。"),
    ("Priority and GPU types.", "优先级和 GPU 型号。"),
    ("Place in the queue.", "优先级。"),
    ("GPU types by role.", "各任务角色的 GPU 型号。"),
    ("GPU type of a role.", "一个任务角色的 GPU 型号。"),
    ("GPU type.", "GPU 型号。"),
    ("GPU type, in newer files.", "GPU 型号，用于较新的文件。"),
    ("Reservation; accepted and kept.", "预留资源，接受并保存。"),
    ("Reservation, in newer files; accepted and kept.", "预留资源，用于较新的文件，接受并保存。"),
    ("Affinity group; accepted and kept.", "亲和组，接受并保存。"),
    (
        "Keep the container of a failed task, so that one can look into it.",
        "保留失败任务的容器，以便查看。",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn explanations(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(map) => {
                found.extend(map.get("description").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|part| explanations(part, found));
            }
            Value::Array(items) => items.iter().for_each(|part| explanations(part, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn every_key_is_explained_in_chinese() {
        for schema in [protocol::schema::v1(), protocol::schema::v2()] {
            let mut found = Vec::new();
            explanations(&in_language(schema.clone(), Language::Chinese), &mut found);
            assert!(found.len() > 30, "{found:?}");
            for text in found {
                assert!(
                    text.contains(|letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter)),
                    "{text}"
                );
            }
            assert_eq!(in_language(schema.clone(), Language::English), schema);
        }
    }
}
