//! Refusals in the language of whoever asks, by the one catalogue of the pages.

use crate::hall::Hall;
use crate::server::Answer;

const CHINESE: (&str, &str) = ("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");

fn is_chinese(text: &str) -> bool {
    text.contains(|letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}

/// Asks as alice, each time with the same id, so that answers can be compared whole.
async fn ask(
    hall: &Hall,
    (method, path, body): (&str, &str, &str),
    language: &[(&str, &str)],
) -> Answer {
    let token = format!("Bearer {}", hall.token("alice"));
    let who = [("authorization", token.as_str()), ("x-request-id", "trace-12345678")];
    hall.client.send(method, path, &[who.as_slice(), language].concat(), body).await
}

#[tokio::test]
async fn a_refusal_is_said_in_the_readers_language() {
    let hall = Hall::open().await;
    let cases = [
        (("GET", "/api/v2/jobs/alice~none", ""), "alice has no job none", "alice 没有作业 none"),
        (("GET", "/api/v3/jobs", ""), "API /api/v3/jobs is not found.", "没有接口 /api/v3/jobs"),
        (("GET", "/api/v2/audit", ""), "only administrators may do this", "只有管理员可以这样做"),
        (("GET", "/api/v2/nodes/pier-9", ""), "there is no node pier-9", "没有节点 pier-9"),
        (
            ("PUT", "/api/v2/jobs/alice~none/executionType", r#"{"value":"PAUSE"}"#),
            "value: \"PAUSE\" is not allowed here; allowed is STOP (a stopped job is not started \
             again: submit a clone)",
            "value：此处不能为“PAUSE”；只能为 STOP（已停止的作业不会再次启动，请提交其克隆）",
        ),
    ];
    for (what, english, chinese) in cases {
        let plain = ask(&hall, what, &[]).await;
        assert_eq!(plain.json()["message"], english, "{what:?}");
        for language in ["en", "de-CH, fr;q=0.5", "zh;q=0"] {
            let other = ask(&hall, what, &[("accept-language", language)]).await;
            assert_eq!((other.text, other.status), (plain.text.clone(), plain.status));
        }
        let told = ask(&hall, what, &[CHINESE]).await;
        assert_eq!(told.json()["message"], chinese, "{what:?}");
        assert_eq!((told.status, &told.json()["code"]), (plain.status, &plain.json()["code"]));
        let languages = (plain.header("content-language"), told.header("content-language"));
        assert_eq!(languages, ("en", "zh-CN"), "{what:?}");
        assert!(told.headers.get_all("vary").iter().any(|vary| vary == "accept-language, cookie"));
    }
}

#[tokio::test]
async fn mistakes_in_a_job_file_are_said_in_the_readers_language() {
    let hall = Hall::open().await;
    let file = r#"{"jobName": "a b", "image": "x", "taskRoles": [{"name": "w", "memoryMB": 5}]}"#;
    let what = ("POST", "/api/v1/jobs", file);
    let (plain, told) = (ask(&hall, what, &[]).await, ask(&hall, what, &[CHINESE]).await);
    let (plain, told) = (plain.json(), told.json());
    let (plain, told) =
        (plain["problems"].as_array().unwrap(), told["problems"].as_array().unwrap());
    assert!(plain.len() > 3 && plain.len() == told.len(), "{told:?}");
    for (plain, told) in plain.iter().zip(told) {
        for place in ["path", "line", "column"] {
            assert_eq!(plain[place], told[place]);
        }
        for words in ["message", "allowed"] {
            let (plain, told) = (plain[words].as_str().unwrap(), told[words].as_str().unwrap());
            assert!(!is_chinese(plain) && is_chinese(told), "{plain}: {told}");
        }
    }
}

#[tokio::test]
async fn the_language_that_was_chosen_on_the_pages_comes_first() {
    let hall = Hall::open().await;
    let what = ("GET", "/api/v2/jobs/alice~none", "");
    let english = ask(&hall, what, &[CHINESE, ("cookie", "berth_language=en")]).await;
    assert_eq!(english.json()["message"], "alice has no job none");
    let chinese = ask(&hall, what, &[("cookie", "berth_language=zh")]).await;
    assert_eq!(chinese.json()["message"], "alice 没有作业 none");
}

#[tokio::test]
async fn pages_and_hadoops_programs_get_the_words_that_they_know() {
    let hall = Hall::open().await;
    for path in ["/fn/jobs/list", "/webhdfs/v1/alice?op=NONE"] {
        let answer = hall.client.get(path, &[CHINESE]).await;
        assert!(answer.status >= 400 && !is_chinese(&answer.text), "{path}: {}", answer.text);
    }
}
