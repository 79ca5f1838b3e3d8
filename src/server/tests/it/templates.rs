//! Job files that people share, by REST.

use serde_json::{Value, json};

use crate::fakes::World;
use crate::hall::Hall;
use crate::server::{ALICE, Answer, JSON, Server};

const FILE: &str = r#"# for everybody
protocolVersion: 2
name: shared
type: job
prerequisites: [{type: dockerimage, name: img, uri: busybox}]
secrets: {word: hush}
taskRoles:
  w:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["echo <% $secrets.word %>"]
"#;

async fn ask(hall: &Hall, who: &str, method: &str, name: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let headers = [JSON, ("authorization", bearer.as_str())];
    hall.client.send(method, &format!("/api/v2/templates{name}"), &headers, &body).await
}

#[tokio::test]
async fn a_job_file_is_shared_without_its_secrets() {
    let hall = Hall::open().await;
    let shared = json!({ "text": FILE, "description": " says a word " });
    let made = ask(&hall, "alice", "PUT", "/echo", &shared).await;
    assert_eq!(
        (made.status, &made.json()["message"]),
        (201, &json!("Share template echo successfully."))
    );
    assert_eq!(ask(&hall, "alice", "PUT", "/echo", &shared).await.status, 200, "once more");
    let listed = ask(&hall, "bob", "GET", "", &Value::Null).await.json();
    let names = listed.as_array().unwrap().iter();
    let named: Vec<_> = names.map(|one| (&one["name"], &one["author"])).collect();
    assert_eq!(named, [(&json!("echo"), &json!("alice"))]);
    assert_eq!(listed[0]["description"], "says a word");
    assert!(listed[0].get("text").is_none(), "a list is short: {listed}");
    let seen = ask(&hall, "bob", "GET", "/echo", &Value::Null).await.json();
    let text = seen["text"].as_str().unwrap();
    assert!(text.starts_with("# for everybody\n") && text.contains("******"), "{text}");
    assert!(!text.contains("hush"), "{text}");
    for (bad, code) in [
        (json!({ "text": "no job" }), "InvalidProtocolError"),
        (json!({ "text": FILE, "description": "a\nb" }), "InvalidParametersError"),
        (json!({ "text": FILE, "title": "a" }), "InvalidParametersError"),
    ] {
        let refused = ask(&hall, "alice", "PUT", "/other", &bad).await;
        assert_eq!((refused.status, &refused.json()["code"]), (400, &json!(code)), "{bad}");
    }
    assert_eq!(ask(&hall, "alice", "PUT", "/a%20b", &shared).await.status, 400);
    hall.control.shutdown().await;
}

#[tokio::test]
async fn what_is_shared_has_nothing_that_its_name_says_is_secret() {
    let hall = Hall::open().await;
    let file = FILE.replace("[\"echo <% $secrets.word %>\"]", "[\"HF_TOKEN=hf_abcdef ./train\"]");
    assert!(file.contains("hf_abcdef"), "{file}");
    let shared = json!({ "text": file });
    assert_eq!(ask(&hall, "alice", "PUT", "/trains", &shared).await.status, 201);
    for who in ["bob", "alice"] {
        let seen = ask(&hall, who, "GET", "/trains", &Value::Null).await.json();
        let text = seen["text"].as_str().unwrap();
        assert!(text.contains("HF_TOKEN=******") && !text.contains("hf_abcdef"), "{text}");
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn nobody_changes_what_another_shares() {
    let hall = Hall::open().await;
    let shared = json!({ "text": FILE });
    assert_eq!(ask(&hall, "alice", "PUT", "/echo", &shared).await.status, 201);
    for method in ["PUT", "DELETE"] {
        let body = if method == "PUT" { shared.clone() } else { Value::Null };
        let refused = ask(&hall, "bob", method, "/echo", &body).await;
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("ForbiddenUserError")));
    }
    assert_eq!(ask(&hall, "admin", "PUT", "/echo", &shared).await.status, 200);
    let seen = ask(&hall, "bob", "GET", "/echo", &Value::Null).await.json();
    assert_eq!(seen["author"], "alice", "it stays hers");
    assert_eq!(ask(&hall, "alice", "DELETE", "/echo", &Value::Null).await.status, 200);
    for (method, name) in [("GET", "/echo"), ("DELETE", "/echo"), ("GET", "/%20"), ("DELETE", "/~")]
    {
        let none = ask(&hall, "admin", method, name, &Value::Null).await;
        assert_eq!((none.status, &none.json()["code"]), (404, &json!("NoTemplateError")), "{name}");
    }
    let admin = format!("Bearer {}", hall.token("admin"));
    let log = hall.client.get("/api/v2/audit", &[("authorization", &admin)]).await.text;
    for action in ["template.saved", "template.removed"] {
        assert!(log.contains(action), "{action}: {log}");
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn templates_are_for_those_who_are_signed_in() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    assert_eq!(client.get("/api/v2/templates", &[ALICE]).await.status, 200);
    assert_eq!(client.get("/api/v2/templates/hello", &[ALICE]).await.json()["text"], "a job");
    let listed = client.get("/fn/templates/list", &[ALICE]).await.json();
    assert_eq!(listed[0]["name"], "shared/hello", "{listed}");
    assert_eq!(listed[0]["zh"], json!({ "title": "hello", "description": "alice: says hello" }));
    for (name, status) in [("shared%2Fhello", 200), ("shared%2Fnone", 404), ("hello-world", 200)] {
        let opened = client.get(&format!("/fn/submit/template?name={name}"), &[ALICE]).await;
        assert_eq!(opened.status, status, "{name}: {}", opened.text);
        assert_eq!(opened.text.contains("a job"), name == "shared%2Fhello", "{}", opened.text);
    }
    for (method, path) in [("GET", ""), ("GET", "/hello"), ("PUT", "/hello"), ("DELETE", "/hello")]
    {
        let path = format!("/api/v2/templates{path}");
        let answer = client.send(method, &path, &[JSON], r#"{"text": "a"}"#).await;
        assert_eq!(answer.status, 401, "{method} {path}");
    }
}
