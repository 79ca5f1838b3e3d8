//! What OpenPAI's clients ask beside jobs: tokens, attempts, what there is.

use serde_json::json;

use crate::fakes::World;
use crate::hall::{Hall, PASSWORD};
use crate::server::{ADMIN, ALICE, Answer, Client, JSON, Server};

async fn fresh() -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    (folder, client)
}

/// A token for alice's password.
async fn signed_in(hall: &Hall) -> String {
    let login = json!({ "username": "alice", "password": PASSWORD }).to_string();
    let answer = hall.client.send("POST", "/api/v2/authn/basic/login", &[JSON], &login).await;
    answer.json()["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_program_makes_tokens_and_ends_them() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", signed_in(&hall).await);
    let who = [("authorization", bearer.as_str())];
    let checked = hall.client.get("/api/v2/tokens/check", &who).await.json();
    assert_eq!((&checked["username"], &checked["application"]), (&json!("alice"), &json!(false)));
    assert!(checked["exp"].as_i64() > checked["iat"].as_i64(), "{checked}");
    let made = hall.client.send("POST", "/api/v2/tokens/application", &who, "").await.json();
    assert_eq!(made["application"], true);
    let made = format!("Bearer {}", made["token"].as_str().unwrap());
    let program = [("authorization", made.as_str())];
    let checked = hall.client.get("/api/v1/token/check", &program).await.json();
    assert_eq!(checked["application"], true, "{checked}");
    let listed = hall.client.get("/api/v2/tokens", &who).await.json();
    let numbers = listed["tokens"].as_array().unwrap();
    assert_eq!(numbers.len(), listed["details"].as_array().unwrap().len());
    assert!(numbers.len() >= 2 && !listed.to_string().contains("berth_"), "{listed}");
    // By itself, as OpenPAI's clients do.
    let itself = format!("/api/v2/tokens/{}", made.strip_prefix("Bearer ").unwrap());
    assert_eq!(hall.client.send("DELETE", &itself, &who, "").await.status, 200);
    assert_eq!(hall.client.get("/api/v2/tokens/check", &program).await.status, 401);
    let out = hall.client.send("DELETE", "/api/v2/authn/basic/logout", &who, "").await;
    assert_eq!((out.status, &out.json()["message"]), (200, &json!("Logout successfully")));
    assert_eq!(hall.client.get("/api/v2/jobs", &who).await.status, 401);
}

#[tokio::test]
async fn nobody_ends_or_sees_anothers_tokens() {
    let hall = Hall::open().await;
    let [alice, bob] = ["alice", "bob"].map(|name| format!("Bearer {}", hall.token(name)));
    let who = [("authorization", bob.as_str())];
    let own = hall.client.get("/api/v2/tokens", &[("authorization", alice.as_str())]).await.json();
    let number = own["tokens"][0].as_str().unwrap().to_owned();
    for token in [number.as_str(), hall.token("alice"), "berth_nonsense", "-1", "%2e%2e"] {
        let path = format!("/api/v2/tokens/{token}");
        assert_eq!(hall.client.send("DELETE", &path, &who, "").await.status, 400, "{token}");
        assert_eq!(hall.client.send("DELETE", &path, &[], "").await.status, 401, "{token}");
    }
    let listed = hall.client.get("/api/v2/tokens", &who).await.json();
    assert!(!listed["tokens"].as_array().unwrap().contains(&json!(number)), "{listed}");
    let still = hall.client.get("/api/v2/jobs", &[("authorization", alice.as_str())]).await;
    assert_eq!(still.status, 200);
    for path in ["/api/v2/tokens", "/api/v2/tokens/check"] {
        assert_eq!(hall.client.get(path, &[]).await.status, 401, "{path}");
    }
    assert_eq!(hall.client.send("POST", "/api/v2/tokens/application", &[], "").await.status, 401);
}

#[tokio::test]
async fn attempts_of_jobs_and_tasks_are_told() {
    let (_folder, client) = fresh().await;
    let attempt = client.get("/api/v2/jobs/alice~train/attempts/3", &[ALICE]).await.json();
    let whole = client.get("/api/v2/jobs/alice~train", &[ALICE]).await.json();
    assert_eq!(attempt, whole, "the last is what the job shows");
    let history = client.get("/api/v2/jobs/alice~train/job-attempts", &[ALICE]).await.json();
    assert_eq!((&history[0]["attemptIndex"], &history[0]["isLatest"]), (&json!(3), &json!(true)));
    let one = client.get("/api/v2/jobs/alice~train/job-attempts/3", &[ALICE]).await.json();
    assert_eq!((&one["uid"], &one["taskRoles"]), (&history[0]["uid"], &whole["taskRoles"]));
    let healthy = client.get("/api/v2/jobs/alice~train/job-attempts/healthz", &[ALICE]).await;
    assert_eq!((healthy.status, healthy.text.as_str()), (200, "ok"));
    let failed = client.get("/api/v2/jobs/bob~sweep/job-attempts", &[ALICE]).await.json();
    assert_eq!(failed[0]["exitType"], "Failed");
    assert!(failed[0]["exitPhrase"].is_string(), "{failed}");
    let summary = failed[0]["exitDiagnostics"]["diagnosticsSummary"].as_str();
    assert!(summary.is_some_and(|text| text.ends_with("boom")), "{failed}");
    let task = "/api/v2/jobs/alice~train/attempts/3/taskRoles/worker/taskIndex/0/attempts";
    let history = client.get(task, &[ALICE]).await.json();
    assert_eq!(history["taskRoleName"], "worker");
    assert_eq!((&history["jobAttemptId"], &history["taskIndex"]), (&json!(3), &json!(0)));
    assert_eq!(history["attempts"][0]["containerIp"], "10.0.0.1");
    let logs = client.get(&format!("{task}/0/logs?tail-mode=true"), &[ALICE]).await.json();
    let by_library = client.get(&format!("{task}/0/logs?tailMode=true"), &[ALICE]).await.json();
    assert_eq!(by_library, logs, "as OpenPAI's own library asks");
    let uri = logs["locations"][0]["uri"].as_str().unwrap();
    assert_eq!(client.get(uri, &[ALICE]).await.text, "one\ntwo\n");
    for (path, code) in [
        ("/api/v2/jobs/alice~train/attempts/9".to_owned(), "NoJobError"),
        ("/api/v2/jobs/alice~train/job-attempts/9".to_owned(), "NoJobError"),
        ("/api/v2/jobs/alice~none/attempts/3".to_owned(), "NoJobError"),
        (task.replace("worker", "ps"), "NoJobError"),
        (format!("{task}/7/logs"), "NoTaskLogError"),
    ] {
        let path = path.as_str();
        let answer = client.get(path, &[ALICE]).await;
        assert_eq!((answer.status, &answer.json()["code"]), (404, &json!(code)), "{path}");
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn a_filter_that_is_not_known_gives_no_jobs_at_all() {
    let (_folder, client) = fresh().await;
    for query in ["tagContains=old", "tags=new", "jobPriority=high", "usrname=alice"] {
        for path in ["/api/v2/jobs", "/api/v1/jobs", "/api/v1/user/alice/jobs"] {
            let answer = client.get(&format!("{path}?{query}"), &[ALICE]).await;
            assert_eq!(answer.status, 400, "{path}?{query}: {}", answer.text);
            assert_eq!(answer.json()["code"], "InvalidParametersError");
        }
    }
}

#[tokio::test]
async fn no_list_gives_more_than_was_asked_for() {
    let (_folder, client) = fresh().await;
    for path in [
        "/api/v2/jobs/alice~train/events?kind=Warning",
        "/api/v2/jobs/alice~train/events?type=warnings",
        "/api/v2/cluster/sku-types?virtualCluster=default",
        "/api/v2/virtual-clusters?name=default",
        "/api/v2/storages?name=data",
        "/api/v2/users?username=alice",
        "/api/v1/user?admin=true",
        "/api/v2/groups?name=lab",
        "/api/v2/nodes?condition=ready",
        "/api/v2/alerts?filter=alertname",
        "/api/v2/jobs/alice~train?attempt=1",
        "/api/v2/jobs/alice~train/logs?role=worker&task=worker-1",
        "/api/v1/jobs/train/ssh/key?kind=putty",
        "/api/v1/virtual-clusters?vc=default",
        "/rest-server/api/v2/users/?username=alice",
    ] {
        let answer = client.get(path, &[ALICE]).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        assert_eq!(answer.json()["code"], "InvalidParametersError");
    }
    let named = client.get("/api/v2/jobs/alice~train/logs?task=worker-1", &[ALICE]).await;
    let message = named.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("\"task\" is not known") && message.contains("role"), "{message}");
    let stop = client.send("DELETE", "/api/v2/users/bob?dryRun=true", &[ADMIN], "").await;
    assert_eq!(stop.status, 400, "what cannot be tried is not done");
    for harmless in ["/api/v2/users?_=1609459261007", "/api/v2/users?"] {
        assert_eq!(client.get(harmless, &[ALICE]).await.status, 200, "{harmless}");
    }
}

#[tokio::test]
async fn a_log_is_a_page_behind_the_address_that_version_1_tells() {
    let (_folder, client) = fresh().await;
    let job = client.get("/api/v1/user/alice/jobs/train", &[ALICE]).await.json();
    let told = job["taskRoles"]["worker"]["taskStatuses"][0]["containerLog"].clone();
    let page = told.as_str().unwrap().strip_prefix(&client.base).expect("a whole address");
    for file in ["", "user.pai.stdout/?start=0", "user.pai.stderr/?start=0", "stdout?start=-4096"] {
        let answer = client.get(&format!("{page}{file}"), &[ALICE]).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, "text/html; charset=utf-8")
        );
        let all = "<div class=\"content\"><pre>one\ntwo\n</pre></div>";
        assert!(answer.text.contains(all), "{file}: {}", answer.text);
    }
    let end = client.get(&format!("{page}user.pai.all?start=4"), &[ALICE]).await;
    assert!(end.text.contains("<pre>two\n</pre>"), "{}", end.text);
    assert!(end.text.contains("<p>Showing the last 4 bytes. "), "{}", end.text);
    let (_, link) = end.text.split_once("<a href=\"").expect("the way to all of it");
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(client.get(&link, &[ALICE]).await.text, "one\ntwo\n");
    for wrong in ["passwd", "user.pai.stdout/further"] {
        assert_eq!(client.get(&format!("{page}{wrong}"), &[ALICE]).await.status, 404, "{wrong}");
    }
    assert_eq!(client.get(&format!("{page}stdout?from=4"), &[ALICE]).await.status, 400);
    assert_eq!(client.get(page, &[]).await.status, 401);
}

#[tokio::test]
async fn what_a_body_says_and_its_door_does_not_know_is_refused() {
    let (_folder, client) = fresh().await;
    for (method, path, body) in [
        (
            "POST",
            "/api/v2/users",
            json!({ "username": "x", "password": "long enough", "groups": ["a"] }),
        ),
        ("PUT", "/api/v2/users/bob/admin", json!({ "admin": false, "until": 1 })),
        ("PUT", "/api/v2/users/bob/password", json!({ "newPassword": "another horse", "x": 1 })),
        ("PUT", "/api/v2/users/bob/grouplist", json!({ "grouplist": [], "patch": true })),
        ("PUT", "/api/v1/jobs/train/executionType", json!({ "value": "STOP", "tasks": [0] })),
        ("PUT", "/api/v2/jobs/alice~train/executionType", json!({ "value": "STOP", "x": 0 })),
    ] {
        let answer = client.send(method, path, &[ADMIN, JSON], &body.to_string()).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
        assert!(answer.text.contains("unknown field"), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn openpais_other_names_of_doors_are_taken() {
    let (_folder, client) = fresh().await;
    for (other, own) in [
        ("/api/v2/user", "/api/v2/users"),
        ("/api/v1/user/alice", "/api/v2/users/alice"),
        ("/api/v2/group", "/api/v2/groups"),
        ("/api/v1/authn/info", "/api/v2/authn/info"),
    ] {
        let (other, own) = (client.get(other, &[ALICE]).await, client.get(own, &[ALICE]).await);
        assert_eq!((other.status, other.text), (200, own.text));
    }
    for path in [
        "/api/v2/cluster/sku-types",
        "/api/v2/virtual-clusters/default/sku-types",
        "/api/v2/virtual-clusters?nodes",
    ] {
        assert_eq!(client.get(path, &[ALICE]).await.json(), json!({}), "{path}");
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
    for path in ["/api/v1/kubernetes/nodes", "/api/v2/kubernetes/nodes"] {
        let nodes = client.get(path, &[ALICE]).await.json();
        assert_eq!((&nodes["kind"], &nodes["items"]), (&json!("NodeList"), &json!([])), "{path}");
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
    let storages = client.get("/api/v2/storages?default=true", &[ALICE]).await.json();
    assert_eq!(storages, json!({ "storages": [] }));
    let storages = client.get("/api/v2/storages", &[ALICE]).await.json();
    let data = json!({ "name": "data", "share": true, "volumeName": "data", "default": false });
    assert_eq!(storages, json!({ "storages": [data] }));
    let data = client.get("/api/v2/storages/data", &[ALICE]).await.json();
    assert_eq!((&data["type"], &data["data"]), (&json!("other"), &json!({})), "{data}");
    for (path, server) in [("/api/v2/storage/config", false), ("/api/v2/storage/server", true)] {
        let listed = client.get(&format!("{path}?names=data,other"), &[ALICE]).await.json();
        let one = client.get(&format!("{path}/data"), &[ALICE]).await.json();
        assert_eq!(listed, json!([one]), "{path}");
        assert_eq!(one[if server { "spn" } else { "name" }], "data", "{one}");
        assert_eq!(client.get(&format!("{path}?names=other"), &[ALICE]).await.json(), json!([]));
        let none = client.get(&format!("{path}/other"), &[ALICE]).await;
        assert_eq!((none.status, &none.json()["code"]), (404, &json!("NoStorageError")));
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
    let (put, delete) = (json!({ "source": { "path": "/mnt/a" } }).to_string(), "DELETE");
    let path = "/api/v2/storages/data";
    assert_eq!(client.send("PUT", path, &[ADMIN, JSON], &put).await.status, 202);
    let refused = client.send("PUT", path, &[ADMIN, JSON], r#"{"source": {"s3": 1}}"#).await;
    assert_eq!(refused.json()["code"], "InvalidParametersError", "{}", refused.text);
    assert_eq!(client.send(delete, path, &[ADMIN], "").await.status, 404);
    let none = client.get("/api/v2/storages/nfs", &[ALICE]).await;
    assert_eq!((none.status, &none.json()["code"]), (404, &json!("NoStorageError")));
    assert_eq!(client.get("/api/v2/storages/nfs", &[]).await.status, 401);
    let unknown = client.get("/api/v2/cluster/sku-types?vc=none", &[ALICE]).await;
    assert_eq!(unknown.json()["code"], "NoVirtualClusterError");
    assert_eq!(client.get("/api/v2/info", &[]).await.json()["launcherType"], "k8s");
    assert_eq!(client.get("/rest-server/api/docs", &[]).await.header("location"), "/reference");
    for (path, done) in
        [("/api/v1/virtual-clusters/default", 201), ("/api/v2/virtual-clusters/default", 200)]
    {
        assert_eq!(client.send("DELETE", path, &[ADMIN], "").await.status, done, "{path}");
        assert_eq!(client.send("DELETE", path, &[], "").await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn what_a_new_user_is_not_given_is_said() {
    let hall = Hall::open().await;
    let admin = format!("Bearer {}", hall.token("admin"));
    let who = [JSON, ("authorization", admin.as_str())];
    let mut user = json!({ "username": "carol", "password": "correct horse", "email": "" });
    let plain = hall.client.send("POST", "/api/v2/users/", &who, &user.to_string()).await;
    assert_eq!((plain.status, plain.header("x-warning")), (201, ""), "{}", plain.text);
    user["username"] = json!("dave");
    user["virtualCluster"] = json!(["vision"]);
    let unknown = hall.client.send("POST", "/api/v2/user", &who, &user.to_string()).await;
    assert_eq!((unknown.status, &unknown.json()["code"]), (404, &json!("NoVirtualClusterError")));
    user["virtualCluster"] = json!(["default"]);
    user["admin"] = json!(true);
    let more = hall.client.send("POST", "/api/v2/user", &who, &user.to_string()).await;
    assert_eq!(more.status, 201, "{}", more.text);
    assert!(more.header("x-warning").starts_with("not used: virtualCluster;"), "{more:?}");
}

async fn tag(hall: &Hall, who: [(&str, &str); 2], method: &str, job: &str, tag: &str) -> Answer {
    let (path, body) = (format!("/api/v2/jobs/{job}/tag"), json!({ "value": tag }));
    hall.client.send(method, &path, &who, &body.to_string()).await
}

#[tokio::test]
async fn jobs_are_found_by_their_tags() {
    let hall = Hall::open().await;
    let bearers = ["alice", "bob"].map(|name| format!("Bearer {}", hall.token(name)));
    let [alice, bob] = bearers.each_ref().map(|bearer| [JSON, ("authorization", bearer.as_str())]);
    for name in ["kept", "other"] {
        let job = JOB.replace("name: kept", &format!("name: {name}"));
        let sent = hall.client.send("POST", "/api/v2/jobs", &alice[1..], &job).await;
        assert_eq!(sent.status, 202, "{}", sent.text);
    }
    let added = tag(&hall, alice, "PUT", "alice~kept", "for later").await;
    let message = "Add tag for later for job alice~kept successfully.";
    assert_eq!((added.status, added.json()), (200, json!({ "status": 200, "message": message })));
    assert_eq!(tag(&hall, alice, "PUT", "alice~kept", "for later").await.status, 200, "again");
    assert_eq!(tag(&hall, alice, "PUT", "alice~kept", "a,b").await.status, 400);
    assert_eq!(tag(&hall, bob, "PUT", "alice~kept", "mine").await.status, 403);
    assert_eq!(tag(&hall, alice, "PUT", "alice~none", "x").await.json()["code"], "NoJobError");
    let found = async |query: &str| {
        let listed = hall.client.get(&format!("/api/v2/jobs?{query}"), &bob).await.json();
        let names = listed.as_array().unwrap().iter();
        names.map(|job| job["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("tagsContain=x,for+later").await, ["kept"]);
    assert_eq!(found("tagsNotContain=for+later").await, ["other"]);
    assert_eq!(found("tagsContain=x").await, [""; 0]);
    assert_eq!(found("jobPriority=prod,crit,oppo").await, [""; 0]);
    assert_eq!(found("jobPriority=default&keyword=oth").await, ["other"]);
    let kept = hall.client.get("/api/v2/jobs/alice~kept", &bob).await.json();
    assert_eq!(kept["tags"], json!(["for later"]));
    assert_eq!(tag(&hall, alice, "DELETE", "alice~kept", "for later").await.status, 200);
    let gone = tag(&hall, alice, "DELETE", "alice~kept", "for later").await;
    assert_eq!((gone.status, &gone.json()["code"]), (404, &json!("NoTagError")));
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_job_that_goes_on_is_started_without_effect_and_one_that_was_stopped_is_not() {
    let hall = Hall::open().await;
    let bearers = ["alice", "bob"].map(|name| format!("Bearer {}", hall.token(name)));
    let [alice, bob] = bearers.each_ref().map(|bearer| [JSON, ("authorization", bearer.as_str())]);
    let sent = hall.client.send("POST", "/api/v2/jobs", &alice[1..], JOB).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    let path = "/api/v2/jobs/alice~kept/executionType";
    let (start, stop) = (r#"{"value": "START"}"#, r#"{"value": "STOP"}"#);
    for (who, body, status) in
        [(alice, start, 202), (bob, start, 403), (alice, stop, 202), (alice, start, 202)]
    {
        let answer = hall.client.send("PUT", path, &who, body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    }
    let again = hall.client.send("PUT", path, &alice, start).await;
    assert_eq!(again.header("x-warning"), "a stopped job is not started again: submit a clone");
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_job_that_waits_has_its_first_attempt_already() {
    let hall = Hall::open().await;
    let alice = format!("Bearer {}", hall.token("alice"));
    let who = ("authorization", alice.as_str());
    let sent = hall.client.send("POST", "/api/v2/jobs", &[who], JOB).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    let get = async |path: &str| hall.client.get(path, &[who]).await;
    let job = "/api/v2/jobs/alice~kept";
    let listed = get(&format!("{job}/job-attempts")).await.json();
    assert_eq!((&listed[0]["attemptIndex"], &listed[0]["state"]), (&json!(0), &json!("WAITING")));
    let one = get(&format!("{job}/job-attempts/0")).await.json();
    assert_eq!((&one["uid"], &one["isLatest"]), (&listed[0]["uid"], &json!(true)));
    let first = get(&format!("{job}/attempts/0")).await.json();
    let status = &first["jobStatus"];
    assert_eq!((&first["name"], &status["attemptId"]), (&json!("kept"), &json!(0)));
    let task = &first["taskRoles"]["w"]["taskStatuses"][0];
    for told in [&status["appId"], &task["taskUid"], &task["containerLog"]] {
        assert!(told.is_string(), "OpenPAI's schema wants a text: {first}");
    }
    assert_eq!(get(&format!("{job}/attempts/1")).await.status, 404);
    hall.control.shutdown().await;
}

#[tokio::test]
async fn virtual_clusters_are_stopped_and_get_shares_in_percent() {
    let hall = Hall::open().await;
    let bearers = ["admin", "alice"].map(|name| format!("Bearer {}", hall.token(name)));
    let [admin, alice] =
        bearers.each_ref().map(|bearer| [JSON, ("authorization", bearer.as_str())]);
    let put = async |path: &str, body: &str| hall.client.send("PUT", path, &admin, body).await;
    let lab = "/api/v1/virtual-clusters/lab";
    let made = put(lab, r#"{"vcCapacity": 25, "vcMaxCapacity": 25, "description": "d"}"#).await;
    assert_eq!((made.status, made.header("x-warning")), (201, "not used: description"));
    assert_eq!(made.json()["message"], "create vc: lab to capacity: 25 successfully");
    let seen = hall.client.get("/api/v2/virtual-clusters/lab", &alice).await.json();
    assert_eq!(seen["borrows"], false, "it may have its share and no more");
    for bad in [r#"{"vcCapacity": 101}"#, r#"{"vcCapacity": 50, "vcMaxCapacity": 20}"#] {
        assert_eq!(put(lab, bad).await.status, 400, "{bad}");
    }
    let stopped = put(&format!("{lab}/status"), r#"{"vcStatus": "stopped"}"#).await;
    assert_eq!(
        (stopped.status, &stopped.json()["message"]),
        (201, &json!("stop vc lab successfully"))
    );
    assert_eq!(hall.client.get(lab, &alice).await.json()["status"], "STOPPED");
    let job = JOB.replace("taskRoles:", "defaults: {virtualCluster: lab}\ntaskRoles:");
    let submit = async || hall.client.send("POST", "/api/v2/jobs", &alice[1..], &job).await;
    let refused = submit().await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("ConflictVcError")));
    let again = put("/api/v2/virtual-clusters/lab/status", r#"{"vcStatus": "running"}"#).await;
    assert_eq!(again.status, 201, "{}", again.text);
    assert_eq!(hall.client.get(lab, &alice).await.json()["status"], "RUNNING");
    let taken = submit().await;
    assert_eq!(taken.status, 202, "{}", taken.text);
    for (path, who, status) in [
        ("/api/v1/virtual-clusters/default/status", admin, 403),
        ("/api/v1/virtual-clusters/none/status", admin, 404),
        ("/api/v1/virtual-clusters/lab/status", alice, 403),
    ] {
        let answer = hall.client.send("PUT", path, &who, r#"{"vcStatus": "stopped"}"#).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn pods_and_alerts_are_for_administrators() {
    let (_folder, client) = fresh().await;
    for path in ["/api/v2/kubernetes/pods", "/api/v1/kubernetes/pods?namespace=default"] {
        let pods = client.get(path, &[ADMIN]).await.json();
        assert_eq!((&pods["kind"], &pods["items"]), (&json!("PodList"), &json!([])), "{path}");
        assert_eq!(client.get(path, &[ALICE]).await.status, 403, "{path}");
        assert_eq!(client.get(path, &[]).await.status, 401, "{path}");
    }
    let unknown = client.get("/api/v2/kubernetes/pods?labelSelector=a", &[ADMIN]).await;
    assert_eq!(unknown.status, 400, "a filter that is not known");
    for who in [ADMIN, ALICE] {
        assert_eq!(client.get("/api/v2/alerts", &[who]).await.json(), json!([]));
    }
    assert_eq!(client.get("/api/v2/alerts", &[]).await.status, 401);
}

const JOB: &str = r#"# as written
protocolVersion: 2
name: kept
type: job
prerequisites:
  - {type: dockerimage, name: img, uri: busybox}
secrets: {word: hush}
taskRoles:
  w:
    instances: 1
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["echo <% $secrets.word %>"]
"#;

#[tokio::test]
async fn a_job_comes_back_as_the_file_of_version_2_that_it_was() {
    let hall = Hall::open().await;
    let alice = format!("Bearer {}", hall.token("alice"));
    let who = ("authorization", alice.as_str());
    let sent = hall.client.send("POST", "/rest-server/api/v2/jobs", &[who], JOB).await;
    assert_eq!(sent.status, 202, "{}", sent.text);
    let config = "/rest-server/api/v2/jobs/alice~kept/config";
    let accept = ("accept", "application/json, text/plain, */*");
    let json = hall.client.get(config, &[who, accept]).await.json();
    assert_eq!((&json["protocolVersion"], &json["name"]), (&json!(2), &json!("kept")));
    assert_eq!(json["prerequisites"][0]["uri"], "busybox");
    assert_eq!(json["taskRoles"]["w"]["commands"], json!(["echo <% $secrets.word %>"]));
    assert!(json["secrets"]["word"].is_string() && !json.to_string().contains("hush"), "{json}");
    for accept in ["*/*", "text/yaml"] {
        let text = hall.client.get(config, &[who, ("accept", accept)]).await.text;
        assert!(text.starts_with("# as written\nprotocolVersion: 2\n"), "{accept}: {text}");
        assert!(text.contains("uri: busybox") && !text.contains("hush"), "{accept}: {text}");
    }
}
