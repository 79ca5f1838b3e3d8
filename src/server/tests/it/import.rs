//! Moving in: `berth import` beside a small server that answers as OpenPAI's REST does.

use std::path::Path;
use std::process::{Command, Stdio};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::hall::Hall;
use crate::server::JSON;

/// The token of its administrator.
const TOKEN: &str = "over-there";

/// A job of its marketplace that is one here.
const JOB: &str = "# hello\nprotocolVersion: 2\nname: hello\ntype: job\n\
                   prerequisites: [{type: dockerimage, name: i, uri: busybox}]\n\
                   taskRoles: {w: {dockerImage: i, commands: [echo hello], \
                   resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}}}\n";

/// An OpenPAI whose REST is below its portal's address, with a marketplace; its address.
async fn openpai() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let info = json!({ "name": "PAI RESTful API", "version": "v1.8.0", "launcherType": "k8s" });
    let open = Router::new().route("/rest-server/api/v1", answering(info));
    let app = open.merge(closed().route_layer(from_fn(with_token))).fallback(no_api);
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    address
}

fn answering(value: Value) -> axum::routing::MethodRouter {
    get(move || {
        let value = value.clone();
        async move { Json(value) }
    })
}

async fn with_token(request: Request, next: Next) -> Response {
    let sent = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    let is_known = sent.is_some_and(|sent| sent == format!("Bearer {TOKEN}"));
    if is_known {
        return next.run(request).await;
    }
    let body = json!({ "code": "UnauthorizedUserError", "message": "Your token is invalid." });
    (StatusCode::UNAUTHORIZED, Json(body)).into_response()
}

async fn no_api() -> Response {
    let body = json!({ "code": "NoApiError", "message": "API is not found." });
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

/// What needs a token.
fn closed() -> Router {
    let users = json!([
        { "username": "ada", "grouplist": ["vision"], "email": "ada@example.org", "admin": false,
          "virtualCluster": ["lab"], "storageConfig": ["data"], "extension": { "theme": "dark" } },
        { "username": "alice", "grouplist": ["vision"], "email": "", "admin": false,
          "virtualCluster": ["lab"], "storageConfig": ["data"], "extension": {} },
    ]);
    let acls = json!({ "admin": false, "virtualClusters": ["lab"], "storageConfigs": ["data"] });
    let groups = json!([{
        "groupname": "vision", "description": "who sees", "externalName": "",
        "extension": { "acls": acls },
    }]);
    let resources = json!({ "cpu": 16, "memory": 64000, "gpu": 4, "vCores": 16, "GPUs": 4 });
    let cluster = json!({ "capacity": 50, "resourcesGuaranteed": resources, "dedicated": false });
    let clusters = json!({ "default": cluster, "lab": cluster });
    let summary = json!({ "name": "data", "share": true, "volumeName": "pv", "default": true });
    let mut detail = summary.clone();
    detail["type"] = json!("nfs");
    detail["data"] = json!({ "server": "10.0.0.5", "path": "/export/data" });
    detail["readOnly"] = json!(true);
    let items = json!([
        { "name": "mnist", "author": "ada", "protocol": "protocolVersion: 2\n" },
        { "name": "say hello", "protocol": JOB, "summary": "It says hello." },
    ]);
    Router::new()
        .route("/rest-server/api/v2/users", answering(users))
        .route("/rest-server/api/v2/groups", answering(groups))
        .route("/rest-server/api/v2/virtual-clusters", answering(clusters))
        .route("/rest-server/api/v2/cluster/sku-types", answering(json!({})))
        .route("/rest-server/api/v2/storages", answering(json!({ "storages": [summary] })))
        .route("/rest-server/api/v2/storages/data", answering(detail))
        .route("/marketplace/items", answering(items))
}

/// Whether `berth import` did what it should, and what it said.
async fn import(hall: &Hall, who: &str, arguments: &[&str]) -> (bool, String) {
    let folder = hall.folder.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
    command.args(["import", "openpai", "--server", &hall.client.base]).args(arguments);
    command.arg("--passwords").arg(folder.join("passwords.csv"));
    command.arg("--templates").arg(folder.join("templates"));
    command.env("BERTH_TOKEN", hall.token(who)).env("LANG", "C").env_remove("OPENPAI_TOKEN");
    command.stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

async fn seen(hall: &Hall, path: &str) -> Value {
    let bearer = format!("Bearer {}", hall.token("admin"));
    let answer = hall.client.get(path, &[("authorization", bearer.as_str())]).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_openpai_has_comes_once_and_what_is_here_stays() {
    let (hall, address) = (Hall::open().await, openpai().await);
    let marketplace = format!("{address}/marketplace");
    let all = [address.as_str(), "--token", TOKEN, "--marketplace", &marketplace];
    let (done, said) = import(&hall, "admin", &[&all[..], &["--dry-run"]].concat()).await;
    assert!(done, "{said}");
    for line in [
        "group vision: would come",
        "virtual cluster default: is here already and stays",
        "virtual cluster lab: would come",
        "storage data: would come",
        "user ada: would come (in: vision)",
        "user alice: is here already and stays (there also in: vision)",
        "template mnist: would come (a file to be changed first, ",
        "template say hello: would come (as say_hello)",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(seen(&hall, "/api/v2/groups").await, json!([]), "it only looked");
    assert_eq!(seen(&hall, "/api/v2/templates").await, json!([]), "it only looked");
    let in_chinese = [&all[..], &["--dry-run", "--language", "zh"]].concat();
    let (done, said) = import(&hall, "admin", &in_chinese).await;
    assert!(done && said.contains("组 vision: 将会迁入"), "{said}");
    assert!(!hall.folder.path().join("passwords.csv").exists());

    let (done, said) = import(&hall, "admin", &all).await;
    assert!(done && said.contains("came: 6, is here already and stays: 2"), "{said}");
    let ada = seen(&hall, "/api/v2/users/ada").await;
    assert_eq!(ada["grouplist"], json!(["vision"]));
    assert_eq!(
        (&ada["virtualCluster"], &ada["storageConfig"]),
        (&json!(["default", "lab"]), &json!(["data"]))
    );
    assert_eq!(
        (&ada["email"], &ada["extension"]["theme"]),
        (&json!("ada@example.org"), &json!("dark"))
    );
    assert_eq!(seen(&hall, "/api/v2/users/bob").await["virtualCluster"], json!(["default"]));
    assert_eq!(seen(&hall, "/api/v2/users/alice").await["grouplist"], json!([]));
    let storage = seen(&hall, "/api/v2/storages/data").await;
    assert_eq!((&storage["readOnly"], &storage["groups"]), (&json!(true), &json!(["vision"])));
    let passwords = text(hall.folder.path(), "passwords.csv");
    let password = passwords.trim().strip_prefix("ada,").unwrap();
    let mut login = json!({ "username": "ada", "password": password });
    for (new, status) in [(None, 403), (Some("a horse of her own"), 200)] {
        login["newPassword"] = json!(new);
        let answer = hall.client.send("POST", "/api/v2/tokens", &[JSON], &login.to_string()).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    assert_eq!(text(hall.folder.path(), "templates/mnist.yaml"), "protocolVersion: 2\n");
    let shared = seen(&hall, "/api/v2/templates/say_hello").await;
    assert_eq!((&shared["text"], &shared["author"]), (&json!(JOB), &json!("admin")));
    assert_eq!(shared["description"], "It says hello.");

    let (done, said) = import(&hall, "admin", &all).await;
    assert!(done && said.contains("is here already and stays: 8"), "{said}");
    assert_eq!(text(hall.folder.path(), "passwords.csv"), passwords);
    hall.control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_look_there_or_change_here_is_told_so() {
    let (hall, address) = (Hall::open().await, openpai().await);
    let (done, said) = import(&hall, "admin", &[address.as_str(), "--token", "wrong"]).await;
    assert!(!done && said.contains("Your token is invalid."), "{said}");
    let (done, said) = import(&hall, "alice", &[address.as_str(), "--token", TOKEN]).await;
    assert!(!done && said.contains("only administrators may import"), "{said}");
    let nowhere = format!("{address}/nowhere");
    let (done, said) = import(&hall, "admin", &[nowhere.as_str(), "--token", TOKEN]).await;
    assert!(!done && said.contains("API is not found."), "{said}");
    assert_eq!(seen(&hall, "/api/v2/groups").await, json!([]));
    hall.control.shutdown().await;
}
