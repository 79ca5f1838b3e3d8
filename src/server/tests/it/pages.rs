//! What people write, in the markup of pages that the server renders for others.

use engine::EngineError;
use engine::simulated::{Call, Simulated};
use protocol::cluster::{Closed, ClosedCause, NodeSettings, StartFailure};
use protocol::health::{GpuSigns, Health};
use protocol::ids::NodeName;
use protocol::time::Timestamp;
use serde_json::json;

use crate::hall::{Hall, actor};

/// Ends the field that shows it, and goes on as a form that makes an administrator and a page that
/// leads elsewhere.
const ATTACK: &str = "</textarea></form></div></title></script></noscript>\
     <meta http-equiv=\"refresh\" content=\"0;url=http://evil.example/\"><base href=//evil.example>\
     <form action=/fn/users/add method=post><input name=name value=evil>\
     <button style=\"position:fixed;inset:0\"></button></form>";

/// What the attack would add to a page.
const ADDED: [&str; 4] =
    ["<meta http-equiv", "<base", "<form action=/fn/users/add", "<input name=name"];

fn assert_harmless(page: &str, html: &str) {
    for added in ADDED {
        assert!(!html.contains(added), "{page} has {added}");
    }
    let count = |word: &str| html.matches(word).count();
    assert_eq!(count("<textarea"), count("</textarea>"), "{page}");
    assert_eq!(count("<form"), count("</form>"), "{page}");
    assert!(count("</title>") <= 1, "{page}");
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[tokio::test]
async fn a_text_in_an_address_stays_a_text() {
    let hall = Hall::open().await;
    let token = format!("Bearer {}", hall.token("admin"));
    let attack = encoded(ATTACK);
    for page in [
        "/submit?text=",
        "/submit?refused=",
        "/submit?way=",
        "/submit?clone=",
        "/submit?template=",
        "/sign-in?username=",
        "/sign-in?next=/",
        "/sign-in?error=",
        "/jobs?q=",
        "/jobs?sort=",
        "/jobs?page=",
        "/jobs/",
        "/jobs/alice/",
        "/jobs/alice/none/",
        "/nodes/",
        "/nodes?q=",
        "/files?path=/",
        "/files?path=/alice&after=",
        "/clusters?q=",
        "/admin/",
        "/admin/nodes?edit=",
        "/admin/clusters?edit=",
        "/admin/storages?edit=",
        "/admin/audit?before=",
        "/profile?q=",
        "/no-such-page/",
    ] {
        let page = format!("{page}{attack}");
        let answer = hall.client.get(&page, &[("authorization", &token)]).await;
        assert!(answer.header("content-type").starts_with("text/html"), "{page}: {answer:?}");
        assert!(answer.status < 500, "{page}: {}", answer.status);
        assert_harmless(&page, &answer.text);
    }
    let text =
        hall.client.get(&format!("/submit?text={attack}"), &[("authorization", &token)]).await;
    assert!(text.text.contains("&lt;/textarea&gt;"), "the text is shown");
}

#[tokio::test]
async fn a_job_file_does_not_leave_its_field() {
    let hall = Hall::open().await;
    let [bob, admin] = ["bob", "admin"].map(|who| format!("Bearer {}", hall.token(who)));
    let json = json!({
        "jobName": "nice", "image": "berth/base:latest",
        "taskRoles": [{
            "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
            "command": format!("true # {ATTACK}"),
        }],
    });
    let job = format!("// {ATTACK}\n{json}");
    let answer = hall.client.send("POST", "/api/v1/jobs", &[("authorization", &bob)], &job).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    for page in [
        "/submit?clone=bob~nice",
        "/jobs/bob/nice",
        "/jobs/bob/nice/config",
        "/jobs/bob/nice/tasks",
    ] {
        let answer = hall.client.get(page, &[("authorization", &admin)]).await;
        assert_eq!(answer.status, 200, "{page}");
        assert_harmless(page, &answer.text);
    }
    let clone = hall.client.get("/submit?clone=bob~nice", &[("authorization", &admin)]).await;
    let shown = clone.text.matches("&lt;/textarea&gt;").count();
    assert!(shown >= 2, "the file and the command's field are shown, {shown}");
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_first_line_break_is_kept() {
    let hall = Hall::open().await;
    let token = format!("Bearer {}", hall.token("alice"));
    let answer =
        hall.client.get("/submit?text=%0A%0Aa%20%26lt%3B", &[("authorization", &token)]).await;
    // HTML drops the first one.
    assert!(answer.text.contains(">\n\n\na &amp;lt;</textarea>"), "{}", answer.text);
}

/// A node that was closed since it starts nothing, and goes on starting nothing.
async fn close(hall: &Hall, name: &NodeName) {
    Simulated::handle(name.as_str()).set_start_error(Some(EngineError::Broken("no driver".into())));
    let node = NodeSettings::new(name.clone(), "10.0.0.7", format!("sim://{name}"));
    let nodes = &hall.control.backend.nodes;
    nodes.save(&actor("admin"), node.clone()).await.unwrap();
    let failure = StartFailure {
        at: Timestamp(1_000),
        job: "alice~train".parse().unwrap(),
        image: "berth/base".to_owned(),
        message: "the engine failed: busy".to_owned(),
    };
    let message = "the node cannot do it: no driver".to_owned();
    let closed = Closed {
        since: Timestamp(2_000),
        cause: ClosedCause::StartsNothing,
        message,
        failures: vec![failure],
        containers: Vec::new(),
    };
    store_closed(hall, &node, &closed).await;
}

async fn store_closed(hall: &Hall, node: &NodeSettings, closed: &Closed) {
    let transaction = hall.control.database().begin().await.unwrap();
    assert!(database::nodes::close_for(&transaction, &node.name, closed).await.unwrap());
    transaction.commit().await.unwrap();
    // Who saves it has it read again.
    hall.control.backend.nodes.save(&actor("admin"), node.clone()).await.unwrap();
}

#[tokio::test]
async fn a_closed_node_says_why_in_the_readers_language() {
    let hall = Hall::open().await;
    let name: NodeName = "closed-on-pages".parse().unwrap();
    close(&hall, &name).await;
    let page = format!("/nodes/{name}");
    for (language, words) in [
        ("en", ["it fails to start tasks", "the node cannot do it: no driver", "let it at once"]),
        ("zh-CN", ["无法在该节点上启动任务", "该节点无法完成：no driver", "管理员也可立即恢复"]),
    ] {
        let bearer = format!("Bearer {}", hall.token("admin"));
        let headers = [("authorization", bearer.as_str()), ("accept-language", language)];
        let shown = hall.client.get(&page, &headers).await;
        assert_eq!(shown.status, 200);
        for word in words.into_iter().chain(["/jobs/alice/train", "berth/base"]) {
            assert!(shown.text.contains(word), "{language}: {word}");
        }
        let bearer = format!("Bearer {}", hall.token("bob"));
        let headers = [("authorization", bearer.as_str()), ("accept-language", language)];
        let others = hall.client.get(&page, &headers).await;
        assert!(others.text.contains(words[0]) && !others.text.contains("/jobs/alice/train"));
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_node_where_a_task_cannot_be_killed_says_so_in_the_readers_language() {
    let hall = Hall::open().await;
    let name: NodeName = "unkilled-on-pages".parse().unwrap();
    let node = NodeSettings::new(name.clone(), "10.0.0.9", format!("sim://{name}"));
    // What is on it is not seen: whether the container is gone cannot be told.
    Simulated::handle(name.as_str()).hang(Call::List, true);
    hall.control.backend.nodes.save(&actor("admin"), node.clone()).await.unwrap();
    let closed = Closed {
        since: Timestamp(2_000),
        cause: ClosedCause::Unkilled,
        message: "berth-c-1 cannot be killed".to_owned(),
        failures: Vec::new(),
        containers: vec!["berth-c-1".to_owned()],
    };
    store_closed(&hall, &node, &closed).await;
    for (language, words) in [
        ("en", ["a task cannot be killed here", "berth-c-1 cannot be killed"]),
        ("zh-CN", ["有任务无法终止", "无法终止 berth-c-1"]),
    ] {
        let bearer = format!("Bearer {}", hall.token("bob"));
        let headers = [("authorization", bearer.as_str()), ("accept-language", language)];
        let shown = hall.client.get(&format!("/nodes/{name}"), &headers).await;
        assert_eq!(shown.status, 200);
        for word in words {
            assert!(shown.text.contains(word), "{language}: {word}");
        }
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_node_that_is_not_well_says_why_in_the_readers_language() {
    let hall = Hall::open().await;
    let name: NodeName = "unwell-on-pages".parse().unwrap();
    let node = NodeSettings::new(name.clone(), "10.0.0.8", format!("sim://{name}"));
    let nodes = &hall.control.backend.nodes;
    nodes.save(&actor("admin"), node.clone()).await.unwrap();
    let signs = |xid, degrees| GpuSigns { index: 1, xid, degrees, ..GpuSigns::default() };
    let sick = Health::default().measured(&[signs(Some(79), Some(95))], Timestamp(1_000));
    let sick = sick.measured(&[signs(None, Some(60))], Timestamp(2_000));
    let transaction = hall.control.database().begin().await.unwrap();
    assert!(database::nodes::set_health(&transaction, &name, &sick).await.unwrap());
    transaction.commit().await.unwrap();
    // Who saves it has it read again.
    nodes.save(&actor("admin"), node).await.unwrap();
    for (language, words, well) in [
        (
            "en",
            ["GPU 1: its driver tells of error 79 (Xid)", "GPU 1: it is so hot that it slows down"],
            "It is well again",
        ),
        ("zh-CN", ["GPU 1：驱动程序报告错误 79（Xid）", "GPU 1：温度过高，已经降频"], "已恢复正常"),
    ] {
        for (who, may) in [("admin", true), ("bob", false)] {
            let bearer = format!("Bearer {}", hall.token(who));
            let headers = [("authorization", bearer.as_str()), ("accept-language", language)];
            let shown = hall.client.get(&format!("/nodes/{name}"), &headers).await;
            assert_eq!(shown.status, 200);
            for word in words {
                assert!(shown.text.contains(word), "{language}: {word}");
            }
            assert_eq!(shown.text.contains(well), may, "{language}: {who}");
        }
    }
    hall.control.shutdown().await;
}
