use insta::assert_json_snapshot;

use crate::fakes::World;
use crate::server::{ALICE, JSON, Server};

#[tokio::test]
async fn version_1() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    let get = async |path: &str| client.get(path, &[ALICE]).await.json();
    assert_json_snapshot!("v1_jobs", get("/api/v1/jobs").await);
    let mut job = get("/api/v1/jobs/sweep").await;
    let log = job["taskRoles"]["worker"]["taskStatuses"][0]["containerLog"].take();
    assert_eq!(log, format!("{}/api/v1/user/bob/jobs/sweep/logs/worker/0/", client.base));
    assert_json_snapshot!("v1_job", job);
    assert_json_snapshot!("v1_virtual_clusters", get("/api/v1/virtual-clusters").await);
    assert_eq!(get("/api/v1/jobs/train").await, get("/api/v1/user/alice/jobs/train").await);
    let mut ssh = get("/api/v1/jobs/train/ssh").await;
    let link = ssh["keyPair"]["privateKeyDirectDownloadLink"].take();
    assert!(link.as_str().unwrap().ends_with("/api/v1/user/alice/jobs/train/ssh/key"), "{link}");
    assert_json_snapshot!("v1_ssh", ssh);
    let body = r#"{"username":"alice","password":"correct-horse","expiration":"3600"}"#;
    let answer = client.send("POST", "/api/v1/token", &[JSON], body).await;
    assert_json_snapshot!("v1_token", answer.json());
}

#[tokio::test]
async fn version_2() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    let get = async |path: &str| client.get(path, &[ALICE]).await.json();
    assert_json_snapshot!("v2_jobs", get("/api/v2/jobs?withTotalCount=true&limit=1").await);
    assert_json_snapshot!("v2_job", get("/api/v2/jobs/bob~sweep").await);
    assert_json_snapshot!("v2_virtual_cluster", get("/api/v2/virtual-clusters/default").await);
    assert_json_snapshot!("v2_users", get("/api/v2/users").await);
    let info = get("/api/v2/info").await;
    assert_eq!(info["name"], "Berth RESTful API");
}
