//! The addresses that OpenPAI's clients and people have: the same doors, guarded the same.

use serde_json::json;
use server::limits::Limits;
use server::state::StateOptions;

use crate::fakes::World;
use crate::hall::Hall;
use crate::server::{ALICE, Client, FORM, JSON, Server};

async fn with(options: StateOptions) -> (tempfile::TempDir, World, Client) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let client = Server::with(folder.path(), world.backend(), options).await.client();
    (folder, world, client)
}

async fn fresh() -> (tempfile::TempDir, World, Client) {
    with(StateOptions::default()).await
}

#[tokio::test]
async fn rest_is_also_where_openpais_portal_had_it() {
    let (_folder, world, client) = fresh().await;
    let login = r#"{"username":"alice","password":"correct-horse"}"#;
    let answer = client.send("POST", "/rest-server/api/v1/token", &[JSON], login).await;
    assert_eq!((answer.status, &answer.json()["token"]), (200, &"token-of-alice".into()));
    for path in [
        "/rest-server/api/v2/jobs",
        "/rest-server/api/v2/jobs/alice~train",
        "/rest-server/api/v1",
        "/rest-server/api/v2/info",
        "/rest-server/api/v1/jobs?vc=default",
    ] {
        let own = path.strip_prefix("/rest-server").unwrap();
        let (asked, own) = (client.get(path, &[ALICE]).await, client.get(own, &[ALICE]).await);
        assert_eq!((asked.status, asked.text), (200, own.text), "{path}");
    }
    let sent = client.send("POST", "/rest-server/api/v2/jobs", &[ALICE], "a job").await;
    assert_eq!((sent.status, world.submitted.lock().unwrap().len()), (202, 1));
}

#[tokio::test]
async fn a_slash_at_the_end_is_the_same_address() {
    let (_folder, _world, client) = fresh().await;
    for path in ["/api/v2/jobs", "/api/v2/users", "/api/v1", "/api/v2", "/api/v1/jobs/train"] {
        let (plain, slash) =
            (client.get(path, &[ALICE]).await, client.get(&format!("{path}/"), &[ALICE]).await);
        assert_eq!((slash.status, slash.text), (200, plain.text), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_address_of_programs_is_told_in_json() {
    let (_folder, _world, client) = fresh().await;
    for path in [
        "/api",
        "/api/",
        "/api/v3",
        "/api/v2/nothing/",
        "/rest-server",
        "/rest-server/",
        "/rest-server/api",
        "/rest-server/api/v2/nothing",
        "/rest-server/nothing",
        "/rest-server/jobs",
        "/rest-server/rest-server/api/v2/jobs",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            let answer = client.send(method, path, &[ALICE], "").await;
            assert_eq!(answer.status, 404, "{method} {path}");
            let error = answer.json();
            assert_eq!(error["code"], "NoApiError", "{method} {path}");
            assert!(error["message"].as_str().unwrap().contains("is not found"), "{path}");
        }
    }
}

#[tokio::test]
async fn an_alias_is_guarded_as_its_door_is() {
    let limits = Limits { requests_per_second: 1, request_burst: 40, ..Limits::default() };
    let (_folder, world, client) = with(StateOptions { limits, ..StateOptions::default() }).await;
    let jobs = "/rest-server/api/v2/jobs";
    assert_eq!(client.get(jobs, &[]).await.status, 401);
    let bad = ("authorization", "Bearer nonsense");
    assert_eq!(client.get(jobs, &[bad]).await.status, 401);
    let cookie = client.sign_in("alice", "correct-horse").await;
    let cookie = ("cookie", cookie.as_str());
    assert_eq!(client.get(jobs, &[cookie]).await.status, 200);
    for foreign in [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")] {
        let answer = client.send("POST", jobs, &[cookie, foreign], "a job").await;
        assert_eq!((answer.status, &answer.json()["code"]), (403, &"ForbiddenUserError".into()));
    }
    assert!(world.submitted.lock().unwrap().is_empty());
    let stop = r#"{"value":"STOP"}"#;
    let others = "/rest-server/api/v2/jobs/bob~sweep/executionType/";
    assert_eq!(client.send("PUT", others, &[ALICE, JSON], stop).await.status, 403);
    let large = "x".repeat(1024 * 1024 + 1);
    assert_eq!(client.send("POST", jobs, &[ALICE], &large).await.status, 413);
    let mut statuses = Vec::new();
    for path in ["/api/v2/jobs", jobs, "/api/v2/jobs/"].iter().cycle().take(2_000) {
        statuses.push(client.get(path, &[ALICE]).await.status);
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.ends_with(&[429]), "all addresses are counted together");
}

#[tokio::test]
async fn webhdfs_is_also_where_openpais_portal_had_it() {
    let hall = Hall::open().await;
    for prefix in ["/webhdfs/api/v1", "/webhdfs/webhdfs/v1"] {
        let at = |path: &str| format!("{prefix}{path}&delegation={}", hall.token("alice"));
        let created = at("/alice/a%20b?op=CREATE&overwrite=true");
        let first = hall.client.send("PUT", &created, &[], "").await;
        let data = first.header("location").to_owned();
        assert_eq!(first.status, 307, "{}", first.text);
        assert_eq!(hall.client.send("PUT", hall.local(&data), &[], prefix).await.status, 201);
        assert_eq!(hall.client.get(&at("/alice/a%20b?op=OPEN"), &[]).await.text, prefix);
        let others = hall.client.get(&at("/bob?op=LISTSTATUS"), &[]).await;
        let own = hall.ask("GET", "alice", "/bob", "LISTSTATUS").await;
        assert_eq!((others.status, others.text), (own.status, own.text));
        for path in ["/alice?op=LISTSTATUS", "/alice/../bob?op=LISTSTATUS", "/.berth?op=LISTSTATUS"]
        {
            let nobody = hall.client.get(&format!("{prefix}{path}"), &[]).await;
            assert_eq!(nobody.status, 401, "{prefix}{path}");
            assert!(nobody.json()["RemoteException"].is_object(), "{prefix}{path}");
        }
    }
}

#[tokio::test]
async fn links_of_the_old_portal_lead_to_our_pages() {
    let (_folder, _world, client) = fresh().await;
    for (old, ours) in [
        ("/job-detail.html?username=alice&jobName=train", "/jobs/alice/train"),
        ("/job-list.html", "/jobs"),
        ("/submit.html", "/submit"),
        ("/jobs/", "/jobs"),
        ("/job-detail.html?username=a&jobName=%2F%2Fevil.example", "/jobs"),
    ] {
        let answer = client.get(old, &[]).await;
        assert_eq!((answer.status, answer.header("location")), (307, ours), "{old}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{old}");
    }
    let sent = client.send("POST", "/job-list.html", &[ALICE], "").await;
    assert_ne!(sent.status, 307, "only what is read is led on");
}

#[tokio::test]
async fn a_job_of_version_1_comes_as_a_form_as_well() {
    let (_folder, world, client) = fresh().await;
    let form = "jobName=fresh&image=a&taskRoles%5B0%5D%5Bname%5D=w&taskRoles[0][command]=a+%26+b";
    let answer = client.send("POST", "/api/v1/jobs", &[ALICE, FORM], form).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    // As `curl -d @job.json` sends it.
    let file = "{\"jobName\": \"a=b\"} // as written";
    assert_eq!(client.send("POST", "/api/v1/jobs", &[ALICE, FORM], file).await.status, 202);
    let submitted = world.submitted.lock().unwrap();
    let job: serde_json::Value = serde_json::from_str(&submitted[0].text).unwrap();
    let roles = json!([{ "name": "w", "command": "a & b" }]);
    assert_eq!(job, json!({ "jobName": "fresh", "image": "a", "taskRoles": roles }));
    assert_eq!(submitted[1].text, file);
}

const TOOLS: (&str, &str) = ("origin", "https://tools.example.org");

fn welcome(origins: &[&str]) -> StateOptions {
    let cors_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    StateOptions { cors_origins, ..StateOptions::default() }
}

#[tokio::test]
async fn pages_of_named_sites_may_call_with_a_token() {
    let (_folder, _world, client) = with(welcome(&["https://tools.example.org"])).await;
    let asks = ("access-control-request-method", "PUT");
    let answer = client.send("OPTIONS", "/rest-server/api/v2/jobs", &[TOOLS, asks], "").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), TOOLS.1);
    assert!(answer.header("access-control-allow-headers").contains("authorization"));
    assert!(answer.header("access-control-allow-methods").contains("PUT"));
    for (headers, status) in [(vec![ALICE, TOOLS], 200), (vec![TOOLS], 401)] {
        let answer = client.get("/api/v2/jobs", &headers).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), TOOLS.1, "errors can be read");
    }
}

#[tokio::test]
async fn no_other_site_is_let_in_and_none_with_a_cookie() {
    let asks = ("access-control-request-method", "GET");
    let evil = ("origin", "https://evil.example");
    let cases: [(&[&str], Option<&str>); 2] = [(&[], None), (&[TOOLS.1], Some(TOOLS.1))];
    for (origins, welcome_one) in cases {
        let (_folder, _world, client) = with(welcome(origins)).await;
        for (origin, allowed) in [(evil, None), (TOOLS, welcome_one), (("origin", "null"), None)] {
            for method in ["GET", "OPTIONS"] {
                let headers = [ALICE, origin, asks];
                let answer = client.send(method, "/api/v2/jobs", &headers, "").await;
                let said = answer.headers.get("access-control-allow-origin");
                assert_eq!(said.map(|said| said.to_str().unwrap()), allowed, "{origin:?}");
                assert!(answer.headers.get("access-control-allow-credentials").is_none());
            }
        }
    }
    let (_folder, world, client) = with(welcome(&["*", TOOLS.1])).await;
    let cookie = client.sign_in("alice", "correct-horse").await;
    let headers = [("cookie", cookie.as_str()), TOOLS];
    let answer = client.get("/api/v2/jobs", &headers).await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert!(answer.headers.get("access-control-allow-credentials").is_none());
    let sent = client.send("POST", "/api/v2/jobs", &headers, "a job").await;
    assert_eq!((sent.status, world.submitted.lock().unwrap().len()), (403, 0));
    for page in ["/jobs", "/auth/sign-in", "/fn/nodes/map"] {
        let answer = client.get(page, &[TOOLS]).await;
        assert!(answer.headers.get("access-control-allow-origin").is_none(), "{page}");
    }
}
