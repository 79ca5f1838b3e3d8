use super::mistakes::{SCM, dialects};
use crate::parse::parse;
use crate::problem::Problem;

fn problems(text: &str) -> Vec<Problem> {
    parse(text).map(|parsed| parsed.spec).expect_err("a file with a mistake in it")
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_is_allowed() {
    for (dialect, example, mistakes) in dialects() {
        for mistake in mistakes {
            let (text, line, column) = mistake.put_into(example);
            let expected = Problem {
                path: mistake.path.to_owned(),
                line,
                column,
                message: mistake.message.to_owned(),
                allowed: mistake.allowed.to_owned(),
            };
            assert_eq!(problems(&text), [expected], "{dialect}");
        }
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_text() {
    let text = SCM
        .replace("helloworld_16be675e", "hello world")
        .replace("\"cpuNumber\": 1", "\"cpuNumber\": 0")
        .replace("\"portList\": []", "\"portLists\": []")
        .replace("TITANX\",\n  \"tmp\"", "TITAN X\",\n  \"tmp\"");
    let paths: Vec<String> = problems(&text).into_iter().map(|problem| problem.path).collect();
    assert_eq!(paths, ["jobName", "taskRoles[0].cpuNumber", "taskRoles[0].portLists", "gpuType"]);
}

#[test]
fn what_is_no_job_at_all_is_refused() {
    for (text, message) in [
        ("", "the file is empty"),
        ("  \n// nothing\n", "the file is a text, not an object"),
        ("[]", "the file is a list, not an object"),
        ("a: b: c", "this is not YAML"),
        ("{\"a\": \u{1}}", "a control character stands here"),
    ] {
        let found = problems(text);
        assert!(found[0].message.starts_with(message), "{text:?}: {}", found[0]);
    }
    let huge = format!("{{\"jobName\": \"{}\"}}", "x".repeat(1 << 20));
    assert_eq!(problems(&huge)[0].allowed, "at most 1 MiB of text");
    for deep in ["[".repeat(100_000), format!("{{\"a\": {}", "[".repeat(300)), "- ".repeat(100)] {
        assert_eq!(problems(&deep).len(), 1);
    }
    let many = format!("{{{}}}", (0..5000).map(|i| format!("\"k{i}\": 1,")).collect::<String>());
    assert_eq!(problems(&many).len(), 201);
}

#[test]
fn a_small_text_cannot_become_a_huge_tree() {
    let mut text = "a0: &a0 lol\n".to_owned();
    for i in 1..30 {
        let list = vec![format!("*a{}", i - 1); 10].join(", ");
        text.push_str(&format!("a{i}: &a{i} [{list}]\n"));
    }
    let found = problems(&text);
    assert_eq!(found[0].message, "the aliases make this file too large");
}
