use api::job_filter::Key;
use protocol::state::State;

use crate::i18n::words_lists::{Finding, Many, Map, Views};
use crate::number::count;

pub(super) const FINDING: Finding = Finding {
    words: "筛选条件",
    remove_word: |word| format!("去掉筛选条件 {word}"),
    suggestions: "可以输入的内容",
    not_filtered: "筛选条件无法识别，更正后才会显示作业",
    bad_key: |word| {
        let keys = Key::ALL.map(|key| format!("{}:", key.as_str())).join(" ");
        format!("“{word}”不是筛选条件。可用的有 {keys} 以及不含冒号的关键词。")
    },
    bad_value: |word, allowed| format!("无法识别“{word}”。可以填写：{allowed}。"),
    allowed: |key| match key {
        Key::User => "用户名，或 me（本人）".to_owned(),
        Key::State => State::ALL.map(|state| state.as_str().to_ascii_lowercase()).join("、"),
        Key::VirtualCluster => "虚拟集群的名称".to_owned(),
        Key::Gpu => "4、>=4、>4、<=4 或 <4".to_owned(),
        Key::Type => "GPU 型号，例如 A100".to_owned(),
        Key::Node => "节点的名称".to_owned(),
        Key::Priority => "oppo、test、prod、crit 或数字".to_owned(),
        Key::Since | Key::Until | Key::Ended => "30m、24h、7d、2w 或 2026-11-21".to_owned(),
        Key::Tag => "标签，含空格时用引号括起".to_owned(),
        Key::Name => "名称的一部分".to_owned(),
    },
    elsewhere: |n| format!("其中 {} 个不在本页", count(n)),
    unselect: "取消选择",
    and_more: |n| format!("以及另外 {} 个", count(n)),
};

pub(super) const MANY: Many = Many {
    again: |n| format!("再次运行 {} 个作业", count(n)),
    again_text: "每个作业按原样再提交一次，成为您名下使用新名称的作业。原作业保持不变。",
    again_done: |n| format!("已再次提交 {} 个作业", count(n)),
    priority: |n| format!("设置 {} 个作业的优先级", count(n)),
    priority_text: "此后等待中的作业排在优先级更低的作业之前、更高的作业之后。运行中的作业保持不变。",
    tag: |n| format!("为 {} 个作业添加标签", count(n)),
    tag_text: "每个作业都会加上此标签，原有标签保留。",
    untag: |n| format!("去掉 {} 个作业的标签", count(n)),
    untag_text: "每个作业都会去掉此标签，其他标签保留。",
    which_tag: "标签名称",
    changed: |n| format!("已更改 {} 个作业", count(n)),
    refused: |n| format!("{} 个作业保持原样", count(n)),
};

pub(super) const VIEWS: Views = Views {
    title: "已保存的视图",
    save: "保存此视图…",
    save_text: "筛选条件、作业范围和排序将以此名称保存，仅供您使用。名称已存在时，将替换原有内容。",
    name: "视图名称",
    name_of: |name| format!("{name} 的新名称"),
    rename: |name| format!("重命名 {name}"),
    rename_short: "重命名",
    remove: |name| format!("删除 {name}"),
    removed: "已删除。",
    close: "关闭",
};

pub(super) const MAP: Map = Map {
    none_match: "没有符合条件的节点",
    search: "搜索节点",
    search_hint: "名称、GPU 型号、rack=3、用户或作业",
    face: "视图",
    map: "分布图",
    table: "表格",
    only: "显示",
    only_all: "全部",
    only_free: "有空闲 GPU",
    only_faulty: "有故障",
    only_idle: "有占而未用的 GPU",
    group: "分组",
    group_none: "不分组",
    group_type: "GPU 型号",
    no_group: "未分组",
    colour: "着色",
    by_held: "已分配份额",
    by_job: "作业",
    by_user: "用户",
    by_load: "利用率",
    by_memory: "显存",
    by_temperature: "温度",
    load_of: |percent| format!("利用率 {percent}%"),
    memory_of: |percent| format!("显存 {percent}%"),
    degrees_of: |degrees| format!("{degrees} °C"),
    idle: "占而未用",
    not_measured: "无监控数据",
    legend: "颜色说明",
    held_part: "部分已分配",
    held_whole: "已分配",
    held_by: "占用者",
    others: "其他",
    free_gpus: "空闲 GPU",
    free_of: |free, total| format!("{free} / {total}"),
};
