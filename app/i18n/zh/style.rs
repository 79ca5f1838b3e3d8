//! How the Chinese catalogue is written: full-width punctuation, a space between Chinese and Latin
//! words, one term for each thing.

/// All of the catalogue.
const SOURCES: [&str; 18] = [
    include_str!("../zh.rs"),
    include_str!("accounts.rs"),
    include_str!("audit.rs"),
    include_str!("causes.rs"),
    include_str!("connect.rs"),
    include_str!("files.rs"),
    include_str!("images.rs"),
    include_str!("lists.rs"),
    include_str!("outage.rs"),
    include_str!("pages.rs"),
    include_str!("queue.rs"),
    include_str!("said/causes.rs"),
    include_str!("said/events.rs"),
    include_str!("said/problems.rs"),
    include_str!("said/refusals.rs"),
    include_str!("spans.rs"),
    include_str!("submit.rs"),
    include_str!("waits.rs"),
];

/// Terms that are not used, each with the one that is.
const TERMS: [(&str, &str); 9] = [
    ("磁盘", "硬盘"),
    ("GPU 类型", "GPU 型号"),
    ("显示卡", "GPU"),
    ("运行时限", "运行时长上限"),
    ("个人设置", "个人资料"),
    ("本机代码", "原生代码"),
    ("子目录", "子文件夹"),
    ("口令", "密码"),
    ("工作名称", "作业名称"),
];

fn is_han(letter: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&letter)
}

/// The Chinese texts in the sources.
fn texts() -> Vec<&'static str> {
    let all = SOURCES.iter().flat_map(|source| source.lines());
    let code = all.filter(|line| !line.trim_start().starts_with("//"));
    let texts = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    texts.filter(|text| text.chars().any(is_han)).collect()
}

#[test]
fn punctuation_is_full_width() {
    let texts = texts();
    assert!(texts.len() > 500, "{} texts", texts.len());
    for text in texts {
        let letters: Vec<char> = text.chars().collect();
        for pair in letters.windows(2) {
            let narrow = |letter| ",;:!?()".contains(letter);
            let wrong = is_han(pair[0]) && narrow(pair[1]) || narrow(pair[0]) && is_han(pair[1]);
            assert!(!wrong, "{}{} in {text}", pair[0], pair[1]);
        }
    }
}

#[test]
fn a_space_stands_between_chinese_and_latin() {
    for text in texts() {
        let letters: Vec<char> = text.chars().collect();
        for pair in letters.windows(2) {
            let latin = |letter: char| letter.is_ascii_alphanumeric();
            let wrong = is_han(pair[0]) && latin(pair[1]) || latin(pair[0]) && is_han(pair[1]);
            assert!(!wrong, "{}{} in {text}", pair[0], pair[1]);
        }
    }
}

#[test]
fn each_thing_has_one_term() {
    for text in texts() {
        for (other, term) in TERMS {
            assert!(!text.contains(other), "{term}, not {other}: {text}");
        }
    }
}

#[test]
fn places_of_sayings_are_filled() {
    for (english, chinese) in super::said::SAYINGS.into_iter().flatten() {
        let places = english.matches("{}").count();
        let used = (0..9).filter(|place| chinese.contains(&format!("{{{place}}}")));
        assert!(used.into_iter().all(|place| place < places), "{english}: {chinese}");
    }
}

#[test]
fn what_is_filled_in_stands_apart() {
    assert_eq!(super::apart("单任务需要CPU 核 9"), "单任务需要 CPU 核 9");
    assert_eq!(super::apart("没有A100的节点"), "没有 A100 的节点");
    assert_eq!(super::apart("内存不足：8 GB"), "内存不足：8 GB");
}

/// Rust files below a folder.
fn rust_files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The sentence of the text that begins here in a source, `x` where something is filled in.
fn sentence(source: &str) -> Option<String> {
    let (text, _) = source.strip_prefix('"')?.split_once('"')?;
    let lines: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    let pieces = lines.concat();
    let mut pieces = pieces.split('{');
    let first = pieces.next()?.to_owned();
    let rest = pieces.map(|piece| piece.split_once('}').map_or("", |(_, after)| after));
    Some(rest.fold(first, |sentence, piece| sentence + "x" + piece))
}

#[test]
fn what_operations_refuse_is_known() {
    let control = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/control/ops");
    let mut count = 0;
    for file in rust_files(std::path::Path::new(control)) {
        let source = std::fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        for (at, _) in code.match_indices("ErrorCode::").chain(code.match_indices("message = ")) {
            let after =
                code[at..].trim_start_matches("message = ").trim_start_matches("ErrorCode::");
            let after =
                after.trim_start_matches(|c: char| c.is_alphanumeric() || ", \n".contains(c));
            let after = after.trim_start_matches("!(").trim_start();
            let is_word = |word: &str| word.len() > 3 && word.chars().all(char::is_alphabetic);
            let words = |english: &String| english.split(' ').any(is_word);
            let Some(english) = sentence(after).filter(words) else { continue };
            count += 1;
            let told = super::said::said(&english);
            assert!(told.chars().any(is_han), "{}: {english}", file.display());
        }
    }
    assert!(count > 60, "{count} sentences");
}

#[test]
fn what_settings_may_not_be_is_known() {
    use protocol::cluster::{NodeSettings, VirtualClusterSettings};

    let node: NodeSettings = serde_json::from_str(
        r#"{"name": "n", "address": "a b", "endpoint": "x", "cpus": 0, "memory_mb": 0,
            "gpus": [{"type": "A100", "count": 2000}], "links": [[2000], [1, 1]], "ports": "9-1"}"#,
    )
    .unwrap();
    let none = r#"{"name": "n", "address": "", "endpoint": "sim://", "gpus": [], "links": [[0]]}"#;
    let none: NodeSettings = serde_json::from_str(none).unwrap();
    let eights = r#"{"type": "A100", "gpus": 8, "count": 0}"#;
    let clusters = [
        r#"{"name": "lab", "share": {"cpus": 1}}"#.to_owned(),
        r#"{"name": "one", "parent": "lab", "share": {"cpus": 2}}"#.to_owned(),
        r#"{"name": "two", "parent": "one"}"#.to_owned(),
        r#"{"name": "own", "parent": "own"}"#.to_owned(),
        r#"{"name": "far", "parent": "nowhere"}"#.to_owned(),
        format!(r#"{{"name": "odd", "shapes": [{eights}, {eights}]}}"#),
    ];
    let clusters: Vec<VirtualClusterSettings> =
        clusters.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let of_clusters = protocol::shares::mistakes(&clusters);
    let alone = protocol::shares::mistakes(&clusters[3..4]);
    let mistakes = [node.mistakes(), none.mistakes(), of_clusters, alone].concat();
    assert_eq!(mistakes.len(), 18, "{mistakes:?}");
    let failed = crate::Failed::from(api::Error::invalid_settings(mistakes));
    for told in failed.sentences(super::said::said) {
        let english = ["is", "there", "less", "more", "not", "once", "part", "(allowed:", "or"];
        let left = english.iter().find(|word| told.split(' ').any(|one| one == **word));
        assert!(told.contains('（') && told.chars().any(is_han) && left.is_none(), "{told}");
    }
}
