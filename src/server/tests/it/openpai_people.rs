//! Groups and users as OpenPAI's clients change them.

use serde_json::{Value, json};

use crate::hall::{Hall, PASSWORD};
use crate::server::{Answer, JSON};

/// What somebody sends.
async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {}", hall.token(who));
    let headers = [JSON, ("authorization", bearer.as_str())];
    hall.client.send(method, path, &headers, &body.to_string()).await
}

async fn get(hall: &Hall, who: &str, path: &str) -> Value {
    let bearer = format!("Bearer {}", hall.token(who));
    let answer = hall.client.get(path, &[("authorization", bearer.as_str())]).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

/// Sends as the administrator and expects this status.
async fn done(hall: &Hall, status: u16, method: &str, path: &str, body: Value) -> Answer {
    let answer = send(hall, "admin", method, path, body).await;
    assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
    answer
}

#[tokio::test]
async fn groups_are_written_changed_and_forgotten() {
    let hall = Hall::open().await;
    let mut group = json!({
        "groupname": "vision",
        "description": "who sees",
        "externalName": "cn=vision",
        "extension": { "acls": { "admin": false, "virtualClusters": ["default"] }, "team": 7 },
    });
    let refused = send(&hall, "alice", "POST", "/api/v2/groups", group.clone()).await;
    assert_eq!(refused.status, 403);
    let made = done(&hall, 201, "POST", "/api/v2/groups", group.clone()).await;
    assert_eq!(
        (made.header("x-warning"), &made.json()["message"]),
        ("", &json!("group is created successfully"))
    );
    let again = done(&hall, 409, "POST", "/api/v2/groups/", group.clone()).await;
    assert_eq!(again.json()["code"], "ConflictGroupError");
    group["extension"]["acls"]["storageConfigs"] = json!([]);
    assert_eq!(get(&hall, "admin", "/api/v2/groups/vision").await, group);
    let more = json!({ "patch": true, "data": {
        "groupname": "vision", "extension": { "room": 2, "acls": { "admin": true } },
    } });
    done(&hall, 201, "PUT", "/api/v2/groups", more).await;
    done(&hall, 201, "PUT", "/api/v2/group/vision/description", json!({ "description": "d" }))
        .await;
    let elsewhere = json!({ "externalName": "e" });
    done(&hall, 201, "PUT", "/api/v2/groups/vision/externalname", elsewhere).await;
    let seen = get(&hall, "admin", "/api/v2/groups/vision").await;
    assert_eq!((&seen["description"], &seen["externalName"]), (&json!("d"), &json!("e")));
    assert_eq!((&seen["extension"]["team"], &seen["extension"]["room"]), (&json!(7), &json!(2)));
    done(&hall, 201, "PUT", "/api/v2/users/alice/group", json!({ "groupname": "vision" })).await;
    let is_admin = async || get(&hall, "alice", "/api/v2/tokens/check").await["admin"] == true;
    assert!(is_admin().await, "its members are administrators");
    let path = "/api/v2/groups/vision/extension/acls/admin";
    done(&hall, 201, "PUT", path, json!({ "data": false })).await;
    assert!(!is_admin().await);
    let extension = json!({ "extension": { "acls": { "admin": true } } });
    done(&hall, 201, "PUT", "/api/v2/groups/vision/extension", extension).await;
    assert!(is_admin().await);
    done(&hall, 200, "DELETE", "/api/v2/groups/vision", Value::Null).await;
    assert!(!is_admin().await);
    assert_eq!(get(&hall, "admin", "/api/v2/users/alice").await["grouplist"], json!([]));
    let gone = done(&hall, 404, "DELETE", "/api/v2/groups/vision", Value::Null).await;
    assert_eq!(gone.json()["code"], "NoGroupError");
    hall.control.shutdown().await;
}

#[tokio::test]
async fn groups_open_virtual_clusters_and_close_them_to_nobody() {
    let hall = Hall::open().await;
    done(&hall, 202, "PUT", "/api/v2/virtual-clusters/lab", json!({ "users": ["bob"] })).await;
    done(&hall, 202, "PUT", "/api/v2/virtual-clusters/own", json!({ "groups": ["vision"] })).await;
    let usable = async |who: &str| {
        get(&hall, "admin", &format!("/api/v2/users/{who}")).await["virtualCluster"].clone()
    };
    assert_eq!(usable("alice").await, json!(["default"]));
    let acls =
        |clusters: Value| json!({ "extension": { "acls": { "virtualClusters": clusters } } });
    let path = "/api/v2/groups/vision/extension";
    let answer = done(&hall, 201, "PUT", path, acls(json!(["lab", "own"]))).await;
    let warning = answer.header("x-warning");
    assert!(warning.starts_with("may be used nevertheless: default;"), "{warning}");
    let groups = json!({ "grouplist": ["vision"] });
    done(&hall, 201, "PUT", "/api/v2/users/alice/grouplist", groups).await;
    assert_eq!(usable("alice").await, json!(["default", "lab", "own"]));
    let own = get(&hall, "alice", "/api/v2/groups").await;
    assert_eq!(own[0]["groupname"], "vision");
    let left = done(&hall, 409, "PUT", path, acls(json!(["lab"]))).await;
    assert_eq!(left.json()["code"], "ConflictGroupError", "it would be everybody's");
    done(&hall, 409, "DELETE", "/api/v2/groups/vision", Value::Null).await;
    let none = done(&hall, 404, "PUT", path, acls(json!(["nowhere"]))).await;
    assert_eq!(none.json()["code"], "NoVirtualClusterError");
    assert_eq!(usable("alice").await, json!(["default", "lab", "own"]), "nothing was changed");
    assert_eq!(usable("bob").await, json!(["default", "lab"]));
    hall.control.shutdown().await;
}

#[tokio::test]
async fn groups_open_storages_and_leave_them_to_others() {
    let hall = Hall::open().await;
    let team = json!({ "source": { "path": "/mnt/team" }, "users": ["bob"] });
    done(&hall, 202, "PUT", "/api/v2/storages/team", team).await;
    let groups = json!({ "grouplist": ["vision"] });
    done(&hall, 201, "PUT", "/api/v2/users/alice/grouplist", groups).await;
    let acls = |storages: Value| json!({ "acls": { "storageConfigs": storages } });
    let group = json!({ "groupname": "vision", "extension": acls(json!(["team"])) });
    done(&hall, 201, "POST", "/api/v2/groups", group).await;
    let seen = get(&hall, "admin", "/api/v2/groups/vision").await;
    assert_eq!(seen["extension"]["acls"]["storageConfigs"], json!(["team"]));
    let has = async |who: &str| {
        get(&hall, "admin", &format!("/api/v2/users/{who}")).await["storageConfig"].clone()
    };
    assert_eq!(has("alice").await, json!(["team"]));
    let path = "/api/v2/groups/vision/extension";
    let unknown = json!({ "extension": acls(json!(["nowhere"])) });
    let none = done(&hall, 404, "PUT", path, unknown).await;
    assert_eq!(none.json()["code"], "NoStorageError");
    done(&hall, 200, "DELETE", "/api/v2/groups/vision", Value::Null).await;
    assert_eq!(has("alice").await, json!([]), "another group of that name has nothing");
    assert_eq!(has("bob").await, json!(["team"]));
    hall.control.shutdown().await;
}

#[tokio::test]
async fn users_are_changed_and_keep_what_programs_keep_with_them() {
    let hall = Hall::open().await;
    done(&hall, 202, "PUT", "/api/v2/virtual-clusters/lab", json!({ "users": ["bob"] })).await;
    let carol = json!({
        "username": "carol", "password": PASSWORD, "email": "carol@example.org",
        "virtualCluster": ["lab"], "extension": { "theme": "dark" },
    });
    done(&hall, 201, "POST", "/api/v2/users", carol).await;
    let seen = get(&hall, "admin", "/api/v2/users/carol").await;
    assert_eq!(
        (&seen["email"], &seen["extension"]),
        (&json!("carol@example.org"), &json!({ "theme": "dark" }))
    );
    assert_eq!(seen["virtualCluster"], json!(["default", "lab"]));
    let change = json!({ "patch": true, "data": {
        "username": "carol", "email": "c@example.org", "virtualCluster": [], "admin": false,
        "extension": { "keys": [1] },
    } });
    let answer = done(&hall, 201, "PUT", "/api/v2/users", change.clone()).await;
    assert_eq!(answer.json()["message"], "Update user carol successfully");
    let seen = get(&hall, "admin", "/api/v2/users/carol").await;
    assert_eq!(seen["extension"], json!({ "theme": "dark", "keys": [1] }));
    assert_eq!(send(&hall, "alice", "PUT", "/api/v2/users", change).await.status, 403);
    let path = "/api/v2/users/carol/virtualcluster";
    let answer = done(&hall, 201, "PUT", path, json!({ "virtualCluster": [] })).await;
    assert!(answer.header("x-warning").contains("default"));
    let seen = get(&hall, "admin", "/api/v2/users/carol").await;
    assert_eq!(seen["virtualCluster"], json!(["default"]));
    done(
        &hall,
        201,
        "PUT",
        "/api/v1/user/carol/virtualClusters",
        json!({ "virtualClusters": "lab" }),
    )
    .await;
    let unknown = done(&hall, 404, "PUT", path, json!({ "virtualCluster": ["no"] })).await;
    assert_eq!(unknown.json()["code"], "NoVirtualClusterError");
    let path = "/api/v2/users/admin/virtualcluster";
    done(&hall, 403, "PUT", path, json!({ "virtualCluster": ["lab"] })).await;
    for (path, body) in [
        ("/api/v2/users/carol/email", json!({ "email": "nobody" })),
        ("/api/v2/users/carol/extension", json!({ "extension": { "x": "y".repeat(70_000) } })),
    ] {
        let refused = done(&hall, 400, "PUT", path, body).await;
        assert_eq!(refused.json()["code"], "InvalidParametersError");
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn everybody_changes_what_is_his_own() {
    let hall = Hall::open().await;
    let change = json!({ "patch": true, "data": {
        "username": "alice", "email": "a@example.org", "extension": { "a": 1 },
        "oldPassword": PASSWORD, "newPassword": "another horse",
    } });
    let wrong = json!({ "data": { "newPassword": "another horse", "oldPassword": "no" } });
    assert_eq!(send(&hall, "alice", "PUT", "/api/v2/users/me", wrong).await.status, 400);
    for other in [json!({ "data": { "username": "bob" } }), json!({ "data": { "admin": true } })] {
        let status = send(&hall, "alice", "PUT", "/api/v2/users/me", other).await.status;
        assert!(status == 403 || status == 400, "{status}");
    }
    let own =
        send(&hall, "alice", "PUT", "/api/v2/users/alice/email", json!({ "email": "" })).await;
    assert_eq!(own.status, 201, "{}", own.text);
    let others =
        send(&hall, "alice", "PUT", "/api/v2/users/bob/email", json!({ "email": "" })).await;
    assert_eq!(others.status, 404, "nobody sees others");
    let done = send(&hall, "alice", "PUT", "/api/v2/users/me", change).await;
    assert_eq!(done.status, 201, "{}", done.text);
    let who = get(&hall, "alice", "/api/v2/tokens/check").await;
    assert_eq!(who["username"], "alice", "what asked for it stays good");
    let alice = get(&hall, "admin", "/api/v2/users/alice").await;
    assert_eq!(
        (&alice["email"], &alice["extension"]),
        (&json!("a@example.org"), &json!({ "a": 1 }))
    );
    let bearer = format!("Bearer {}", hall.token("bob"));
    let other = hall.client.get("/api/v2/users/alice", &[("authorization", bearer.as_str())]).await;
    assert_eq!(other.status, 404, "what programs keep may be secret: {}", other.text);
    let bob = get(&hall, "bob", "/api/v2/users/me").await;
    assert_eq!(bob["username"], "bob");
    let login = json!({ "username": "alice", "password": "another horse" }).to_string();
    let answer = hall.client.send("POST", "/api/v2/tokens", &[JSON], &login).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    hall.control.shutdown().await;
}

#[tokio::test]
async fn version_1_makes_changes_and_removes_users() {
    let hall = Hall::open().await;
    let mut dave = json!({ "username": "dave", "password": PASSWORD, "admin": false });
    done(&hall, 201, "PUT", "/api/v1/user", dave.clone()).await;
    done(&hall, 409, "PUT", "/api/v1/user", dave.clone()).await;
    dave["modify"] = json!(true);
    dave["admin"] = json!(true);
    done(&hall, 201, "PUT", "/api/v1/user", dave.clone()).await;
    assert_eq!(get(&hall, "admin", "/api/v1/user/dave").await["admin"], true);
    assert_eq!(send(&hall, "alice", "PUT", "/api/v1/user", dave).await.status, 403);
    let gone = json!({ "username": "dave" });
    assert_eq!(send(&hall, "alice", "DELETE", "/api/v1/user", gone.clone()).await.status, 403);
    let answer = done(&hall, 200, "DELETE", "/api/v1/user", gone).await;
    assert_eq!(answer.json()["message"], "remove successfully");
    hall.control.shutdown().await;
}

#[tokio::test]
async fn what_opens_an_account_at_github_is_taken_but_not_kept() {
    let hall = Hall::open().await;
    let path = "/api/v1/user/alice/githubPAT";
    let pat = json!({ "githubPAT": "opens_github" });
    let none = json!({ "githubPAT": "" });
    for (who, body, warning) in [
        ("alice", &pat, "not used: githubPAT;"),
        ("admin", &pat, "not used: githubPAT;"),
        ("alice", &none, ""),
    ] {
        let answer = send(&hall, who, "PUT", path, body.clone()).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(answer.json()["message"], "update user github PAT successfully");
        let said = answer.header("x-warning");
        assert!(said.starts_with(warning) && said.is_empty() == warning.is_empty(), "{said}");
    }
    let kept = get(&hall, "admin", "/api/v2/users/alice").await.to_string();
    assert!(!kept.contains("opens_github"), "{kept}");
    for (who, user) in [("bob", "alice"), ("admin", "nobody_here")] {
        let path = format!("/api/v1/user/{user}/githubPAT");
        let answer = send(&hall, who, "PUT", &path, pat.clone()).await;
        assert_eq!((answer.status, &answer.json()["code"]), (404, &json!("NoUserError")));
    }
    hall.control.shutdown().await;
}

#[tokio::test]
async fn programs_change_no_accounts() {
    let hall = Hall::open().await;
    let made = done(&hall, 200, "POST", "/api/v2/tokens/application", json!({})).await.json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let program = [JSON, ("authorization", bearer.as_str())];
    let carol = json!({ "username": "carol", "password": PASSWORD });
    let vision = json!({ "groupname": "vision" });
    let named = json!({ "data": { "username": "alice", "admin": true } });
    for (method, path, body) in [
        ("POST", "/api/v2/users", &carol),
        ("PUT", "/api/v2/users", &named),
        ("DELETE", "/api/v2/users/alice", &Value::Null),
        ("PUT", "/api/v2/users/alice/admin", &json!({ "admin": true })),
        ("PUT", "/api/v2/users/alice/group", &vision),
        ("DELETE", "/api/v2/users/alice/group", &vision),
        ("PUT", "/api/v2/users/alice/grouplist", &json!({ "grouplist": ["vision"] })),
        ("PUT", "/api/v2/users/alice/virtualcluster", &json!({ "virtualCluster": [] })),
        ("POST", "/api/v2/groups", &vision),
        ("PUT", "/api/v2/groups/vision/description", &json!({ "description": "d" })),
        ("PUT", "/api/v1/user", &carol),
    ] {
        let refused = hall.client.send(method, path, &program, &body.to_string()).await;
        let told = refused.json();
        assert_eq!((refused.status, &told["code"]), (403, &json!("ForbiddenUserError")), "{path}");
        let wanted = "Applications are not allowed to do this operation.";
        assert_eq!(told["message"], wanted, "{method} {path}");
    }
    assert_eq!(hall.client.get("/api/v2/users", &program).await.status, 200, "they may look");
    assert_eq!(get(&hall, "admin", "/api/v2/users/alice").await["admin"], false);
    done(&hall, 201, "POST", "/api/v2/users", carol).await;
    hall.control.shutdown().await;
}

#[tokio::test]
async fn a_wrong_password_is_told_in_openpais_words_of_any_name() {
    let hall = Hall::open().await;
    for name in ["alice", "nobody_here"] {
        let login = json!({ "username": name, "password": "a guess" }).to_string();
        let path = "/api/v2/authn/basic/login";
        let told = hall.client.send("POST", path, &[JSON], &login).await;
        assert_eq!(told.status, 400, "{}", told.text);
        let told = told.json();
        assert_eq!(
            (&told["code"], &told["message"]),
            (&json!("IncorrectPasswordError"), &json!("Password is incorrect."))
        );
    }
    hall.control.shutdown().await;
}
