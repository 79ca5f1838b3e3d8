use crate::fakes::{World, key};
use crate::server::{ADMIN, ALICE, Client, JSON, Server};

async fn fresh() -> (tempfile::TempDir, World, Client) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let client = Server::start(folder.path(), &world).await.client();
    (folder, world, client)
}

#[tokio::test]
async fn a_jobs_key_is_a_file_for_its_owner() {
    let (_folder, _world, client) = fresh().await;
    let info = client.get("/api/v2/jobs/alice~train/ssh", &[ALICE]).await.json();
    let link = info["keyPair"]["privateKeyDirectDownloadLink"].as_str().unwrap();
    let path = link.split_once("/api/").unwrap().1;
    let file = client.get(&format!("/api/{path}"), &[ALICE]).await;
    assert_eq!(file.text, "the private half");
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"alice~train\"");
    assert_eq!(file.header("cache-control"), "no-store");
    let putty = client.get("/api/v1/jobs/train/ssh/key?form=putty", &[ALICE]).await;
    assert_eq!(putty.header("content-disposition"), "attachment; filename=\"alice~train.ppk\"");
    for path in ["/api/v2/jobs/bob~sweep/ssh", "/api/v2/jobs/bob~sweep/ssh/key"] {
        assert_eq!(client.get(path, &[ALICE]).await.status, 403, "{path}");
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn every_error_has_its_shape_and_its_request_id() {
    let (_folder, _world, client) = fresh().await;
    let cases = [
        ("GET", "/api/v1/jobs/nothing", "", 404, "NoJobError"),
        ("GET", "/api/v2/jobs/alice~nothing", "", 404, "NoJobError"),
        ("GET", "/api/v2/jobs/x", "", 404, "NoJobError"),
        ("GET", "/api/v3/jobs", "", 404, "NoApiError"),
        ("DELETE", "/api/v1/jobs", "", 405, "NoApiError"),
        ("GET", "/api/v2/jobs?limit=50001", "", 400, "InvalidParametersError"),
        ("GET", "/api/v2/jobs?limit=x", "", 400, "InvalidParametersError"),
        ("GET", "/api/v1/virtual-clusters/none", "", 404, "NoVirtualClusterError"),
        ("POST", "/api/v1/jobs", "bad", 400, "InvalidProtocolError"),
        ("POST", "/api/v1/jobs", "taken", 409, "ConflictJobError"),
        ("POST", "/api/v1/user/bob/jobs", "a job", 403, "ForbiddenUserError"),
        ("POST", "/api/v2/jobs", "panic", 500, "UnknownError"),
        (
            "PUT",
            "/api/v2/jobs/alice~train/executionType",
            r#"{"value":"PAUSE"}"#,
            400,
            "InvalidParametersError",
        ),
        (
            "PUT",
            "/api/v2/jobs/bob~sweep/executionType",
            r#"{"value":"STOP"}"#,
            403,
            "ForbiddenUserError",
        ),
        ("PUT", "/api/v2/jobs/alice~none/executionType", r#"{"value":"START"}"#, 404, "NoJobError"),
        ("POST", "/api/v1/token", r#"{"username":"alice"}"#, 400, "InvalidParametersError"),
    ];
    for (method, path, body, status, code) in cases {
        let answer = client.send(method, path, &[ALICE, JSON], body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        let error = answer.json();
        assert_eq!(error["code"], code, "{method} {path}");
        assert!(error["problems"].is_array());
        assert_eq!(error["requestId"], answer.header("x-request-id"));
    }
}

#[tokio::test]
async fn mistakes_in_a_job_file_are_listed() {
    let (_folder, world, client) = fresh().await;
    let headers = [ALICE, ("x-request-id", "trace-12345678")];
    let answer = client.send("POST", "/api/v2/jobs", &headers, "bad").await;
    let error = answer.json();
    assert_eq!(error["requestId"], "trace-12345678");
    let problem = serde_json::json!({
        "path": "taskRoles[0].cpuNumber", "line": 3, "column": 7,
        "message": "0 is too small", "allowed": "1 or more",
    });
    assert_eq!(error["problems"], serde_json::json!([problem]));
    assert!(world.submitted.lock().unwrap().is_empty());
}

#[tokio::test]
async fn jobs_are_submitted_and_stopped() {
    let (_folder, world, client) = fresh().await;
    let answer =
        client.send("PUT", "/api/v1/jobs/fresh?clonedFrom=bob~sweep", &[ALICE], "{}").await;
    assert_eq!(
        (answer.status, answer.text.as_str()),
        (202, r#"{"message":"update job fresh successfully"}"#)
    );
    assert_eq!(answer.header("location"), "/api/v1/user/alice/jobs/fresh");
    assert_eq!(answer.header("x-warning"), "retryCount is large");
    {
        let submitted = world.submitted.lock().unwrap();
        assert_eq!(submitted[0].expected_name, Some("fresh".parse().unwrap()));
        assert_eq!(submitted[0].cloned_from, Some(key("bob~sweep")));
    }
    let answer =
        client.send("POST", "/api/v2/jobs", &[ALICE, ("content-type", "text/yaml")], "a: 1").await;
    let expected = r#"{"status":202,"message":"Update job fresh for user alice successfully."}"#;
    assert_eq!((answer.status, answer.text.as_str()), (202, expected));
    let stop = r#"{"value":"STOP"}"#;
    let answer = client.send("PUT", "/api/v1/jobs/train/executionType", &[ALICE, JSON], stop).await;
    assert_eq!(answer.status, 202);
    assert_eq!(*world.stopped.lock().unwrap(), [key("alice~train")]);
}

#[tokio::test]
async fn job_files_come_in_the_notation_asked_for() {
    let (_folder, _world, client) = fresh().await;
    let cases = [
        ("/api/v1/jobs/train/config", "*/*", "{} // as written"),
        ("/api/v1/jobs/train/config", "application/json", "{}"),
        ("/api/v1/user/alice/jobs/train/config", "text/yaml", "protocolVersion: 2"),
        ("/api/v2/jobs/alice~train/config", "*/*", "protocolVersion: 2"),
        ("/api/v2/jobs/alice~train/config", "text/yaml", "protocolVersion: 2"),
        (
            "/api/v2/jobs/alice~train/config",
            "application/json, text/plain, */*",
            "{\n  \"protocolVersion\": 2\n}",
        ),
    ];
    for (path, accept, text) in cases {
        let answer = client.get(path, &[ALICE, ("accept", accept)]).await;
        assert_eq!(answer.text, text, "{path} {accept}");
        let kind = match text {
            "{} // as written" => "text/plain; charset=utf-8",
            "protocolVersion: 2" => "text/yaml; charset=utf-8",
            _ => "application/json",
        };
        assert_eq!(answer.header("content-type"), kind, "{text}");
    }
}

#[tokio::test]
async fn logs_are_plain_text() {
    let (_folder, _world, client) = fresh().await;
    let answer = client.get("/api/v1/jobs/train/logs?offset=4&download=true", &[ALICE]).await;
    assert_eq!(answer.text, "two\n");
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!((answer.header("x-log-offset"), answer.header("x-log-end")), ("4", "8"));
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"train-worker-0.log\"");
    let path = "/api/v2/jobs/alice~train/logs?role=worker&index=0&follow=true";
    assert_eq!(client.get(path, &[ALICE]).await.text, "one\ntwo\n");
    let all = "/api/v2/jobs/alice~train/logs/together?download=true";
    let answer = client.get(all, &[ALICE]).await;
    assert_eq!(answer.text, "==> worker-0 <==\none\ntwo\n\n");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"train.log\"");
    let search =
        "/api/v2/jobs/alice~train/logs/together/search?text=one&pattern=true&task=0&from=1";
    let answer = client.get(search, &[ALICE]).await;
    assert_eq!((answer.status, &answer.json()["all"]), (200, &true.into()));
}

#[tokio::test]
async fn large_bodies_are_refused() {
    let (_folder, _world, client) = fresh().await;
    let large = "x".repeat(1024 * 1024 + 1);
    let answer = client.send("POST", "/api/v2/jobs", &[ALICE], &large).await;
    assert_eq!((answer.status, &answer.json()["code"]), (413, &"TooLargeError".into()));
    let just_right = "x".repeat(1024 * 1024);
    assert_eq!(client.send("POST", "/api/v2/jobs", &[ALICE], &just_right).await.status, 202);
}

#[tokio::test]
async fn every_answer_guards_the_browser() {
    let (_folder, _world, client) = fresh().await;
    for path in ["/healthz", "/api/v2/jobs", "/pkg/none.js", "/"] {
        let answer = client.get(path, &[ALICE]).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(answer.header("strict-transport-security"), "", "no https, no promise of it");
    }
    let answer = client.get("/api/v2/jobs", &[ALICE]).await;
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn health_and_measurements_are_told() {
    let (_folder, _world, client) = fresh().await;
    assert_eq!(client.get("/healthz", &[]).await.text, "ok");
    let ready = client.get("/readyz", &[]).await;
    assert_eq!((ready.status, &ready.json()["ready"]), (200, &true.into()));
    let expected = serde_json::json!([
        { "name": "database", "ready": true, "needed": true },
        {
            "name": "loop images", "ready": false, "needed": false,
            "problem": "it panics again and again",
        },
        { "name": "loop changes", "ready": true, "needed": false },
    ]);
    assert_eq!(ready.json()["checks"], expected, "what others can do without is only named");
    client.get("/api/v2/jobs/alice~train", &[ALICE]).await;
    let text = client.get("/metrics", &[ADMIN]).await.text;
    for line in [
        "berth_jobs{state=\"running\"} 1",
        "berth_gpus 0",
        "# TYPE berth_schedule_pass_seconds summary",
        "berth_schedule_pass_seconds_count 3",
        "berth_schedule_pass_seconds_sum 0.75",
        "berth_schedule_last_pass_seconds 0.5",
        "# TYPE berth_database_failures counter",
        "berth_database_failures_total 2",
        "# TYPE berth_engine_call_seconds histogram",
        "berth_engine_call_seconds_bucket{action=\"start\",le=\"0.5\"} 1",
        "berth_engine_call_seconds_bucket{action=\"start\",le=\"+Inf\"} 4",
        "berth_engine_call_seconds_sum{action=\"start\"} 9.5",
        r#"berth_engine_failures_total{node="a\"b\\c\n",action="start"} 7"#,
        "berth_jobs{state=\"waiting\"} 0",
        "berth_http_requests_total{method=\"GET\",route=\"/api/v2/jobs/{key}\",status=\"200\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn an_unknown_page_is_not_found() {
    let (_folder, _world, client) = fresh().await;
    let answer = client.get("/no/such/page", &[]).await;
    assert_eq!(answer.status, 404);
    assert!(answer.header("content-type").starts_with("text/html"));
}

#[tokio::test]
async fn files_go_in_and_out_of_tasks() {
    let (_folder, _world, client) = fresh().await;
    let path = "/api/v1/user/alice/jobs/train/files?role=worker&index=0&path=%2Ftmp%2Fa%20b";
    let read = client.get(path, &[ALICE]).await;
    assert_eq!(read.text, "what is in /tmp/a b");
    assert_eq!(read.header("content-type"), "application/octet-stream");
    let name = "attachment; filename=\"a_b\"; filename*=UTF-8''a%20b";
    assert_eq!(read.header("content-disposition"), name);
    // Larger than any job file may be.
    let large = "x".repeat(5 * 1024 * 1024);
    let written = client.send("PUT", path, &[ALICE], &large).await;
    assert_eq!(written.json(), serde_json::json!({ "path": "/tmp/a b", "bytes": large.len() }));
    let bob = ("authorization", "Bearer token-of-bob");
    for (headers, status) in [(vec![bob], 403), (vec![], 401)] {
        assert_eq!(client.get(path, &headers).await.status, status);
        assert_eq!(client.send("PUT", path, &headers, "x").await.status, status);
    }
    let nameless = "/api/v1/user/alice/jobs/train/files?role=worker&index=0&path=";
    assert_eq!(client.get(nameless, &[ALICE]).await.status, 400);
    let cookie = client.sign_in("alice", "correct-horse").await;
    let foreign = [("cookie", cookie.as_str()), ("origin", "http://evil.example")];
    assert_eq!(client.send("PUT", path, &foreign, "x").await.status, 403);
}
