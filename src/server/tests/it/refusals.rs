use std::path::Path;

use control::{Control, Options};
use database::Database;
use serde_json::json;
use storage::Storage;

use crate::mistakes::dialects;
use crate::server::{Client, JSON, Server};

const PASSWORD: &str = "correct horse";

/// Control over a real database. It has no nodes: a cluster without any refuses no job for what it
/// asks, so that whatever is refused is refused for how it is written.
async fn control(folder: &Path) -> Control {
    let at = |name: &str| folder.join(name).display().to_string();
    let database = Database::open(&format!("sqlite://{}", at("berth.db"))).await.unwrap();
    let storage = Storage::open(&at("storage")).unwrap();
    let options = Options {
        admin_password: Some(PASSWORD.to_owned()),
        ..Options::new(database, storage, folder.to_owned())
    };
    control::start(options).await.unwrap()
}

async fn administrator(client: &Client) -> String {
    let body = json!({ "username": "admin", "password": PASSWORD }).to_string();
    let answer = client.send("POST", "/api/v1/token", &[JSON], &body).await;
    format!("Bearer {}", answer.json()["token"].as_str().unwrap())
}

#[tokio::test]
async fn bad_input_of_every_dialect_is_explained_and_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let control = control(folder.path()).await;
    let client = Server::over(folder.path(), control.backend.clone()).await.client();
    let headers = [("authorization", administrator(&client).await)];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    for (dialect, example, mistakes) in dialects() {
        assert!(mistakes.len() >= 12, "{dialect}");
        let jobs = if dialect == "version 2" { "/api/v2/jobs" } else { "/api/v1/jobs" };
        for mistake in mistakes {
            let (text, line, column) = mistake.put_into(example);
            let answer = client.send("POST", jobs, &headers, &text).await;
            assert_eq!(answer.status, 400, "{dialect}: {}", answer.text);
            let expected = json!([{
                "path": mistake.path, "line": line, "column": column,
                "message": mistake.message, "allowed": mistake.allowed,
            }]);
            assert_eq!(answer.json()["problems"], expected, "{dialect}");
        }
        assert_eq!(client.get(jobs, &headers).await.json(), json!([]), "{dialect}");
    }
    control.shutdown().await;
}
