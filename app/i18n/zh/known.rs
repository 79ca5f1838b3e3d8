//! That what the server says is known in Chinese: all that it refuses, all that is wrong in job files,
//! all that becomes of jobs.

use std::path::{Path, PathBuf};

use protocol::architecture::Architecture;
use protocol::exit::Cause;

#[path = "../../../src/protocol/parse/tests/mistakes.rs"]
mod mistakes;

use crate::i18n::spacing::is_han;
use crate::i18n::worded;
use crate::i18n::zh::TEXTS;
use crate::i18n::zh::said::said;

/// Where sentences for people begin, by file or folder, seen from the pages.
const PLACES: [(&str, &[&str]); 14] = [
    ("../src/control", &["ErrorCode::", "message = "]),
    ("../src/server", &["ErrorCode::", "message = "]),
    ("../src/server/functions.rs", &["invalid("]),
    ("../src/server/streams.rs", &["too_many("]),
    ("../src/api", &["#[error("]),
    ("../src/api/error.rs", &["ErrorCode::"]),
    ("../src/storage/path.rs", &["refuse("]),
    ("../src/storage/error.rs", &["#[error("]),
    ("../src/engine/model.rs", &["#[error("]),
    ("../src/engine/docker.rs", &["EngineError::"]),
    ("../src/engine/docker", &["EngineError::"]),
    ("server_fns", &["ErrorCode::", "message = "]),
    ("posted.rs", &["ErrorCode::"]),
    ("ssr.rs", &["ErrorCode::"]),
];

/// What is for programs and for the command line, whose own words are English.
const ELSEWHERE: [&str; 4] = ["server/webhdfs", "server/commands", "/tests/", "/tests.rs"];

/// Two plain words one after the other: what nobody writes in Chinese.
fn has_english(text: &str) -> bool {
    let is_plain = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(2).any(|pair| pair.iter().all(is_plain))
}

/// Asserts that a sentence is told in Chinese, all of it.
fn assert_told(sentence: &str, place: &str) {
    let told = said(sentence);
    let chinese = told.chars().any(is_han) && !has_english(&told);
    assert!(chinese, "{place}: {sentence} is told as {told}");
}

/// Rust files at a place or below it.
pub(super) fn rust_files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let entries = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| rust_files(&path));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The text that begins a source, when there is nothing but names and brackets before it, `x` where
/// something is filled in.
fn sentence(source: &str) -> Option<String> {
    let before = |letter: char| letter.is_alphanumeric() || ", \n(!:|_".contains(letter);
    let (text, _) = source.trim_start_matches(before).strip_prefix('"')?.split_once('"')?;
    let lines: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    let text = lines.concat();
    let mut pieces = text.split('{');
    let first = pieces.next()?.to_owned();
    let rest = pieces.map(|piece| piece.split_once('}').map_or("", |(_, after)| after));
    let is_word = |word: &str| word.len() > 3 && word.chars().all(char::is_alphabetic);
    let sentence = rest.fold(first, |sentence, piece| sentence + "x" + piece);
    sentence.split(' ').any(is_word).then_some(sentence)
}

#[test]
fn what_is_refused_is_known() {
    let mut count = 0;
    for (place, beginnings) in PLACES {
        for file in rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(place)) {
            let name = file.display().to_string();
            if ELSEWHERE.iter().any(|other| name.contains(other)) {
                continue;
            }
            let source = std::fs::read_to_string(&file).unwrap();
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            for beginning in beginnings {
                let found = code.match_indices(beginning);
                let found = found.filter_map(|(at, _)| sentence(&code[at + beginning.len()..]));
                for english in found {
                    assert_told(&english, &name);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 140, "{count} sentences");
}

#[test]
fn what_is_wrong_in_job_files_is_known() {
    for (dialect, example, mistakes) in mistakes::dialects() {
        for mistake in mistakes {
            let (_, line, column) = mistake.put_into(example);
            assert_told(mistake.message, dialect);
            let told = said(mistake.allowed);
            assert!(!has_english(&told), "{}: {told}", mistake.allowed);
            let whole = protocol::problem::Problem {
                path: mistake.path.to_owned(),
                line,
                column,
                message: mistake.message.to_owned(),
                allowed: mistake.allowed.to_owned(),
            };
            assert_told(&format!("{whole} (and 3 more)"), dialect);
        }
    }
}

#[test]
fn what_is_wrong_with_storages_is_known() {
    let storage = |name: &str, source: &str| {
        let text = format!(r#"{{"name": "{name}", "source": {source}, "mount": "/proc/a"}}"#);
        serde_json::from_str::<protocol::storages::StorageSettings>(&text).unwrap()
    };
    let storages = [
        storage("a", r#"{"path": "mnt"}"#),
        storage("b", r#"{"nfs": {"server": "", "path": "/a", "options": ""}}"#),
        storage("c", r#"{"smb": {"server": "a", "share": ""}}"#),
        storage("d", r#"{"path": "/mnt/all"}"#),
        storage("e", r#"{"path": "/mnt/all/deep"}"#),
    ];
    let mistakes = protocol::storages::mistakes(&storages);
    assert_eq!(mistakes.len(), 10, "{mistakes:?}");
    for mistake in mistakes {
        assert_told(&mistake.to_string(), &mistake.path);
    }
}

#[test]
fn what_is_wrong_with_nodes_is_known() {
    use protocol::health::{Ailment, Grade, Sign};

    let check = |words: &str| Sign::Check { name: "disk".to_owned(), words: words.to_owned() };
    let signs = [
        Sign::Xid(79),
        Sign::Memory(2),
        Sign::Hot,
        Sign::Slowed,
        Sign::Links,
        Sign::Disk(3),
        check("full"),
        check("it ended with exit code 3"),
        check("it has not ended within 60 s"),
    ];
    for sign in signs {
        for gpu in [None, Some(3)] {
            let (grade, since) = (Grade::Failed, protocol::time::Timestamp(0));
            let ailment = Ailment { gpu, grade, sign: sign.clone(), since };
            assert_told(&ailment.to_string(), "health");
            assert_told(&format!("closed by itself: {ailment}"), "health");
            let event = format!("worker-1: GPU 3 of gpu-1 has failed: {sign}");
            assert_told(&event, "health");
        }
    }
}

#[test]
fn what_becomes_of_tasks_is_known() {
    let node = || "a100-10".parse().unwrap();
    let causes = [
        Cause::Succeeded,
        Cause::CommandFailed,
        Cause::CommandNotFound,
        Cause::CommandNotExecutable,
        Cause::OutOfMemory { limit_mb: 512 },
        Cause::SharedMemory { shm_mb: 64 },
        Cause::GpuOutOfMemory,
        Cause::CudaVersion,
        Cause::CudaError,
        Cause::GpuHardware,
        Cause::NcclError,
        Cause::DiskFull,
        Cause::ModuleMissing,
        Cause::FileMissing,
        Cause::ProgramError,
        Cause::Signal { signal: 9 },
        Cause::ImageNotFound { image: "a/b".to_owned(), message: "404".to_owned() },
        Cause::RegistryDenied { image: "a/b".to_owned() },
        Cause::OtherArchitecture {
            node: node(),
            image: "a/b".to_owned(),
            of_image: Architecture::new("arm64"),
            of_node: Architecture::new("amd64"),
        },
        Cause::OtherArchitecture {
            node: node(),
            image: "a/b".to_owned(),
            of_image: None,
            of_node: Architecture::new("arm64"),
        },
        Cause::OtherArchitecture {
            node: node(),
            image: "a/b".to_owned(),
            of_image: None,
            of_node: None,
        },
        Cause::ContainerRefused { message: "no".to_owned() },
        Cause::PortTaken,
        Cause::ContainerLost { node: node() },
        Cause::NodeLost { node: node() },
        Cause::EngineRestarted { node: node() },
        Cause::NodeOutOfMemory { node: node() },
        Cause::NodeUnwell { node: node(), message: "no".to_owned() },
        Cause::StorageAbsent {
            node: node(),
            storage: "data".parse().unwrap(),
            message: "the storage data is not on this node: tell an administrator".to_owned(),
        },
        Cause::EngineFailed { node: node(), message: "no".to_owned() },
        Cause::NodeDrained { node: node() },
        Cause::Preempted,
        Cause::StopRequested { by: "ada".to_owned() },
        Cause::JobEnded { role: Some("ps".parse().unwrap()), index: Some(0) },
        Cause::JobEnded { role: None, index: None },
        Cause::TimeLimit,
        Cause::Idle { minutes: 45 },
    ];
    for cause in causes {
        for event in ["worker-3: ", "another attempt follows: ", "Failed: "] {
            assert_told(&format!("{event}{cause}"), event);
        }
    }
}

#[test]
fn what_is_counted_is_told_for_one_as_for_many() {
    for (sentence, told) in [
        ("1 active job uses lab: stop it first", "有 1 个未结束的作业在使用 lab：请先停止它"),
        (
            "its GPUs did nothing for 1 minute: it is stopped in 30 minutes unless somebody keeps it",
            "其 GPU 已闲置 1 分钟：30 分钟后将被停止，除非有人选择保留",
        ),
        (
            "ada has 1 job waiting in the virtual cluster lab, where each user may have 1: submit it \
             again when some have started",
            "用户 ada 在虚拟集群 lab 中已有 1 个作业排队，每个用户最多 1 个：请待部分作业启动后再提交",
        ),
        (
            "minFailedTaskCount is 2, but the role has 1 task",
            "minFailedTaskCount 为 2，但该任务角色只有 1 个任务",
        ),
    ] {
        assert_eq!(said(sentence), told);
    }
}

#[test]
fn what_others_said_is_told_within_a_sentence() {
    let node = "a100-10".parse().unwrap();
    let cause = Cause::EngineFailed { node, message: "no statistics".to_owned() };
    let told = (TEXTS.cause)(&cause);
    assert_eq!(told, "节点 a100-10 的容器引擎无法启动它：没有统计数据");
    let problem = protocol::problem::Problem {
        path: String::new(),
        line: 3,
        column: 1,
        message: "Expected comma".to_owned(),
        allowed: String::new(),
    };
    let told = (TEXTS.submit.unreadable)(&worded(&problem, TEXTS.said));
    assert_eq!(told, "表单无法读取文本：第 3 行，缺少逗号。");
}
