//! How the Chinese catalogue is written: full-width punctuation, a space between Chinese and Latin
//! words, simplified characters, one term for each thing. English has no Chinese in it.

use crate::i18n::said::each;
use crate::i18n::spacing::is_han;

/// All of the catalogue, and what else pages say in Chinese.
const SOURCES: [&str; 35] = [
    include_str!("../zh.rs"),
    include_str!("accounts.rs"),
    include_str!("admin.rs"),
    include_str!("audit.rs"),
    include_str!("causes.rs"),
    include_str!("connect.rs"),
    include_str!("declared.rs"),
    include_str!("files.rs"),
    include_str!("images.rs"),
    include_str!("keys.rs"),
    include_str!("lists.rs"),
    include_str!("metrics.rs"),
    include_str!("notifications.rs"),
    include_str!("outage.rs"),
    include_str!("pages.rs"),
    include_str!("quarantine.rs"),
    include_str!("queue.rs"),
    include_str!("said/causes.rs"),
    include_str!("said/doors.rs"),
    include_str!("said/engines.rs"),
    include_str!("said/events.rs"),
    include_str!("said/problems.rs"),
    include_str!("said/refusals.rs"),
    include_str!("said/syntax.rs"),
    include_str!("said/waits.rs"),
    include_str!("spans.rs"),
    include_str!("storages.rs"),
    include_str!("submit.rs"),
    include_str!("viewer.rs"),
    include_str!("waits.rs"),
    include_str!("../../../src/protocol/fields.rs"),
    include_str!("../../../src/protocol/fields/berth.rs"),
    include_str!("../../../src/protocol/fields/object.rs"),
    include_str!("../../../src/protocol/fields/v1.rs"),
    include_str!("../../../src/protocol/fields/v2.rs"),
];

/// The templates of the submit page, whose words lie beside their texts.
const TEMPLATES: &str = include_str!("../../../public/templates/index.json");

/// Where what is filled in gets its spaces when it is.
const SPACED: [&str; 2] = [include_str!("spans.rs"), include_str!("waits.rs")];

const ENGLISH: [&str; 21] = [
    include_str!("../en.rs"),
    include_str!("../en/accounts.rs"),
    include_str!("../en/admin.rs"),
    include_str!("../en/audit.rs"),
    include_str!("../en/causes.rs"),
    include_str!("../en/connect.rs"),
    include_str!("../en/declared.rs"),
    include_str!("../en/files.rs"),
    include_str!("../en/images.rs"),
    include_str!("../en/keys.rs"),
    include_str!("../en/lists.rs"),
    include_str!("../en/metrics.rs"),
    include_str!("../en/notifications.rs"),
    include_str!("../en/outage.rs"),
    include_str!("../en/pages.rs"),
    include_str!("../en/quarantine.rs"),
    include_str!("../en/queue.rs"),
    include_str!("../en/spans.rs"),
    include_str!("../en/storages.rs"),
    include_str!("../en/submit.rs"),
    include_str!("../en/waits.rs"),
];

/// The glossary's other side: terms that are not used, each with the one that is.
const TERMS: [(&str, &str); 26] = [
    ("磁盘", "硬盘"),
    ("GPU 类型", "GPU 型号"),
    ("显示卡", "GPU"),
    ("显卡", "GPU"),
    ("运行时限", "运行时长上限"),
    ("时长限制", "运行时长上限"),
    ("个人设置", "个人资料"),
    ("本机代码", "原生代码"),
    ("子目录", "子文件夹"),
    ("根目录", "根文件夹"),
    ("口令", "密码"),
    ("登陆", "登录"),
    ("帐", "账"),
    ("账号", "账户"),
    ("身份提供方", "登录提供方"),
    ("工作名称", "作业名称"),
    ("工作角色", "任务角色"),
    ("暂缓", "暂停"),
    ("放行", "恢复"),
    ("移除", "删除"),
    ("接受任务", "接收任务"),
    ("接受新任务", "接收新任务"),
    ("缺省", "默认"),
    ("服务端", "服务器"),
    ("重试次数上限", "重试次数"),
    ("……", "…"),
];

/// Letters that simplified Chinese writes otherwise.
const TRADITIONAL: &str =
    "個們來這時會說對開關點類號圖頁總數請選擇刪儲檔顯錯誤連網節務業隊長體應優級憶記錄報";

/// The Chinese texts in a source.
fn texts_in(source: &'static str) -> impl Iterator<Item = &'static str> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let texts = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    texts.filter(|text| text.chars().any(is_han))
}

/// All of them.
fn texts() -> Vec<&'static str> {
    SOURCES.into_iter().chain([TEMPLATES]).flat_map(texts_in).collect()
}

/// Fails where two letters of a text stand beside each other that may not.
fn assert_no_pair(text: &str, is_wrong: impl Fn(char, char) -> bool) {
    let letters: Vec<char> = text.chars().collect();
    for pair in letters.windows(2) {
        assert!(!is_wrong(pair[0], pair[1]), "{}{} in {text}", pair[0], pair[1]);
    }
}

#[test]
fn punctuation_is_full_width() {
    let narrow = |letter: char| ",;:!?()".contains(letter);
    let wide = |letter: char| "，；：！？（）。、".contains(letter);
    let texts = texts();
    assert!(texts.len() > 1_000, "{} texts", texts.len());
    for text in texts {
        assert_no_pair(text, |one, other| {
            is_han(one) && (narrow(other) || other == '.') || narrow(one) && is_han(other)
        });
        assert_no_pair(text, |one, other| wide(one) && other == ' ' || one == ' ' && wide(other));
    }
}

#[test]
fn a_space_stands_between_chinese_and_latin() {
    let latin = |letter: char| letter.is_ascii_alphanumeric();
    for text in texts() {
        assert_no_pair(text, |one, other| {
            is_han(one) && latin(other) || latin(one) && is_han(other) || (one, other) == (' ', ' ')
        });
    }
}

#[test]
fn a_space_stands_between_chinese_and_what_is_filled_in() {
    let said = |source: &&str| !source.contains("sayings![") && !SPACED.contains(source);
    for text in SOURCES.into_iter().filter(said).flat_map(texts_in) {
        // That is a sentence's beginning, in Chinese.
        let text = text.replace("{jobs}", "");
        assert_no_pair(&text, |one, other| {
            is_han(one) && other == '{' || one == '}' && is_han(other)
        });
    }
}

#[test]
fn a_unit_stands_apart_from_its_number() {
    let units = ["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"];
    for text in texts() {
        for word in text.split(|letter: char| !letter.is_ascii_alphanumeric()) {
            let unit = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
            assert!(unit == word || !units.contains(&unit), "{word} in {text}");
        }
    }
}

#[test]
fn each_thing_has_one_term() {
    for text in texts() {
        for (other, term) in TERMS {
            assert!(!text.contains(other), "{term}, not {other}: {text}");
        }
        let traditional = text.chars().find(|letter| TRADITIONAL.contains(*letter));
        assert_eq!(traditional, None, "{text}");
    }
}

#[test]
fn english_has_no_chinese() {
    let texts: Vec<_> = ENGLISH.into_iter().flat_map(texts_in).collect();
    assert_eq!(texts, Vec::<&str>::new());
}

#[test]
fn nothing_is_counted_in_brackets() {
    let words = include_str!("../../../src/protocol/words.rs");
    for source in ENGLISH.into_iter().chain(SOURCES).chain([words]) {
        let line = source.lines().find(|line| line.contains("(s)"));
        assert_eq!(line, None);
    }
}

/// Browsers fetch the sayings apart from the catalogue, for the first sentence of the server. If the catalogue
/// named them, they would come with it, to every page.
#[test]
fn the_catalogue_comes_without_the_sayings() {
    let own = SOURCES.into_iter().filter(|source| !source.contains("sayings!["));
    for line in own.flat_map(str::lines).filter(|line| line.contains("said::")) {
        assert_eq!(line, "pub(crate) use said::said;");
    }
}

#[test]
fn places_of_sayings_are_filled() {
    let all = super::said::SAYINGS.into_iter().chain([super::VIEWER]);
    for (english, chinese) in all.flat_map(each) {
        let places = english.matches("{}").count();
        let used = (0..9).filter(|place| chinese.contains(&format!("{{{place}}}")));
        assert!(used.into_iter().all(|place| place < places), "{english}: {chinese}");
    }
}

#[test]
fn what_settings_may_not_be_is_known() {
    use protocol::cluster::{NodeSettings, VirtualClusterSettings};

    let node: NodeSettings = serde_json::from_str(
        r#"{"name": "n", "address": "a b", "endpoint": "x", "cpus": 0, "memory_mb": 0,
            "gpus": [{"type": "A100", "count": 2000}], "links": [[2000], [1, 1]], "ports": "9-1"}"#,
    )
    .unwrap();
    let none = r#"{"name": "n", "address": "", "endpoint": "sim://n", "gpus": [], "links": [[0]]}"#;
    let none: NodeSettings = serde_json::from_str(none).unwrap();
    let eights = r#"{"type": "A100", "gpus": 8, "count": 0}"#;
    let clusters = [
        r#"{"name": "lab", "share": {"cpus": 1}}"#.to_owned(),
        r#"{"name": "one", "parent": "lab", "share": {"cpus": 2}}"#.to_owned(),
        r#"{"name": "two", "parent": "three"}"#.to_owned(),
        r#"{"name": "own", "parent": "own"}"#.to_owned(),
        r#"{"name": "far", "parent": "nowhere"}"#.to_owned(),
        format!(r#"{{"name": "odd", "shapes": [{eights}, {eights}]}}"#),
        r#"{"name": "pin", "nodes": ["n", "n"], "within": {"rack": ["", "1"]}}"#.to_owned(),
        r#"{"name": "three", "parent": "two", "within": {"rack": ["1"]}}"#.to_owned(),
    ];
    let clusters: Vec<VirtualClusterSettings> =
        clusters.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let of_clusters = protocol::shares::mistakes(&clusters);
    let alone = protocol::shares::mistakes(&clusters[3..4]);
    let mistakes = [node.mistakes(), none.mistakes(), of_clusters, alone].concat();
    assert_eq!(mistakes.len(), 25, "{mistakes:?}");
    let failed = crate::failed::Failed::from(api::Error::invalid_settings(mistakes));
    for told in failed.sentences(&super::TEXTS) {
        let english = ["is", "there", "less", "more", "not", "once", "part", "(allowed:", "or"];
        let left = english.iter().find(|word| told.split(' ').any(|one| one == **word));
        assert!(told.contains('（') && told.chars().any(is_han) && left.is_none(), "{told}");
    }
}

#[test]
fn components_paste_no_colons() {
    for folder in ["pages", "parts"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = super::known::rust_files(&folder).into_iter();
        for file in files.filter(|file| !file.ends_with("tests.rs")) {
            let source = std::fs::read_to_string(&file).unwrap();
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            let pasted = ["\": \"", "}: {"].into_iter().find(|pasted| code.contains(pasted));
            assert_eq!(pasted, None, "{}: there is `common.colon`", file.display());
        }
    }
}
