//! How what people are told is written: mails in their language, calls as JSON.

use database::notifications::Entry;
use post::Letter;
use protocol::ids::JobKey;
use protocol::notifications::{Notice, Occasion, Tongue};
use serde_json::{Value, json};

/// A mail names so many; of the others it says how many they are.
const NAMED: usize = 100;

/// A mail about one thing or many.
pub(crate) fn letter(
    tongue: Tongue,
    to: String,
    notices: &[&Notice],
    portal: Option<&str>,
) -> Letter {
    let subject = match notices {
        [notice] => sentence(tongue, notice),
        _ => many(tongue, notices.len()),
    };
    let mut lines = Vec::new();
    for notice in notices.iter().take(NAMED) {
        lines.push(sentence(tongue, notice));
        lines.extend(portal.map(|portal| address(portal, &notice.job)));
        lines.push(String::new());
    }
    let others = notices.len().saturating_sub(NAMED);
    if others > 0 {
        lines.extend([more(tongue, others), String::new()]);
    }
    lines.push(why(tongue, portal));
    Letter { to, subject, text: lines.join("\n") }
}

/// A mail that says nothing but that it arrives.
pub(crate) fn test(tongue: Tongue, to: String, portal: Option<&str>) -> Letter {
    let subject = match tongue {
        Tongue::English => "A test from Berth".to_owned(),
        Tongue::Chinese => "Berth 测试邮件".to_owned(),
    };
    let text = match tongue {
        Tongue::English => "Mail from Berth reaches you.",
        Tongue::Chinese => "您可以收到 Berth 的邮件。",
    };
    Letter { to, subject, text: format!("{text}\n\n{}", why(tongue, portal)) }
}

/// What a webhook is told.
pub(crate) fn body(entries: &[Entry], portal: Option<&str>) -> Value {
    let told = entries.iter().map(|entry| {
        let Notice { job, occasion, detail } = &entry.new.notice;
        let url = portal.map(|portal| address(portal, job));
        json!({
            "id": entry.id, "job": job.to_string(), "occasion": occasion, "detail": detail,
            "at": entry.new.at, "url": url,
        })
    });
    json!({ "notifications": told.collect::<Vec<_>>() })
}

fn address(portal: &str, job: &JobKey) -> String {
    format!("{}/jobs/{}/{}", portal.trim_end_matches('/'), job.user, job.name)
}

fn sentence(tongue: Tongue, notice: &Notice) -> String {
    let Notice { job, occasion, .. } = notice;
    match tongue {
        Tongue::English => format!("Job {job} {}", in_english(*occasion)),
        Tongue::Chinese => format!("作业 {job} {}", in_chinese(*occasion)),
    }
}

fn in_english(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::Started => "has started",
        Occasion::Succeeded => "has succeeded",
        Occasion::Failed => "has failed",
        Occasion::Stopped => "was stopped",
        Occasion::Retried => "is tried again",
        Occasion::Preempted => "gives way to other work and waits again",
        Occasion::Waiting => "has been waiting for long",
        Occasion::Idle => "does not use its GPUs",
    }
}

fn in_chinese(occasion: Occasion) -> &'static str {
    match occasion {
        Occasion::Started => "已开始运行",
        Occasion::Succeeded => "已成功",
        Occasion::Failed => "已失败",
        Occasion::Stopped => "已停止",
        Occasion::Retried => "正在重试",
        Occasion::Preempted => "被抢占，重新排队",
        Occasion::Waiting => "等待时间过长",
        Occasion::Idle => "未使用其 GPU",
    }
}

fn many(tongue: Tongue, notices: usize) -> String {
    match tongue {
        Tongue::English => format!("{notices} notices about your jobs"),
        Tongue::Chinese => format!("{notices} 条作业通知"),
    }
}

fn more(tongue: Tongue, others: usize) -> String {
    match tongue {
        Tongue::English => format!("And {others} more."),
        Tongue::Chinese => format!("另有 {others} 条。"),
    }
}

/// Why somebody gets it, and where he has it otherwise.
fn why(tongue: Tongue, portal: Option<&str>) -> String {
    let profile = portal.map(|portal| format!("{}/profile", portal.trim_end_matches('/')));
    match (tongue, profile) {
        (Tongue::English, Some(at)) => format!("What you are told is your choice: {at}"),
        (Tongue::English, None) => "What you are told is your choice, on your profile page.".into(),
        (Tongue::Chinese, Some(at)) => format!("接收哪些通知由您选择：{at}"),
        (Tongue::Chinese, None) => "接收哪些通知由您在个人资料中选择。".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(name: &str, occasion: Occasion) -> Notice {
        let job = format!("ada~{name}").parse().unwrap();
        Notice { job, occasion, detail: "Failed: exit code 1".to_owned() }
    }

    #[test]
    fn a_mail_is_in_its_readers_language() {
        let failed = notice("train", Occasion::Failed);
        let to = || "ada@example.org".to_owned();
        let portal = Some("https://berth.example.org/");
        let english = letter(Tongue::English, to(), &[&failed], portal);
        assert_eq!(english.subject, "Job ada~train has failed");
        assert!(english.text.contains("\nhttps://berth.example.org/jobs/ada/train\n"));
        assert!(english.text.ends_with("https://berth.example.org/profile"));
        let chinese = letter(Tongue::Chinese, to(), &[&failed], None);
        assert_eq!(chinese.subject, "作业 ada~train 已失败");
        assert_eq!(chinese.text, "作业 ada~train 已失败\n\n接收哪些通知由您在个人资料中选择。");
        for occasion in Occasion::ALL {
            assert!(in_english(occasion).is_ascii() && !in_chinese(occasion).is_ascii());
        }
    }

    #[test]
    fn many_are_gathered_into_one_mail_and_the_rest_is_counted() {
        let notices: Vec<Notice> =
            (0..150).map(|job| notice(&format!("j{job}"), Occasion::Succeeded)).collect();
        let notices: Vec<&Notice> = notices.iter().collect();
        let mail = letter(Tongue::English, "a@example.org".to_owned(), &notices, None);
        assert_eq!(mail.subject, "150 notices about your jobs");
        assert!(mail.text.contains("Job ada~j99 has") && !mail.text.contains("Job ada~j100 has"));
        assert!(mail.text.contains("And 50 more."));
    }
}
