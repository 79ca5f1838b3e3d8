//! What people write, in the markup of pages that the server renders for others.

use serde_json::json;

use crate::hall::Hall;

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
