//! What WebHDFS refuses.

use serde_json::json;
use server::state::StateOptions;

use crate::hall::Hall;

fn exception(answer: &crate::server::Answer) -> String {
    answer.json()["RemoteException"]["exception"].as_str().unwrap_or_default().to_owned()
}

/// Paths as they are on the wire.
#[tokio::test]
async fn ways_out_are_refused() {
    let hall = Hall::open().await;
    hall.write("bob", "/bob/secret", "s").await;
    std::fs::write(hall.folder.path().join("outside"), "o").unwrap();
    let home = hall.folder.path().join("storage/alice");
    std::fs::create_dir_all(&home).unwrap();
    std::os::unix::fs::symlink("../../outside", home.join("out")).unwrap();
    std::os::unix::fs::symlink("../bob", home.join("bobs")).unwrap();
    let long = format!("/alice/{}", "x".repeat(300));
    for (path, status, name) in [
        ("/../outside", 400, "IllegalArgumentException"),
        ("/alice/../bob/secret", 400, "IllegalArgumentException"),
        ("/alice/%2e%2e/bob/secret", 400, "IllegalArgumentException"),
        ("/alice/..%2fbob%2fsecret", 400, "IllegalArgumentException"),
        ("/%2e%2e/%2e%2e/etc/passwd", 400, "IllegalArgumentException"),
        ("/alice/%00", 400, "IllegalArgumentException"),
        ("/alice/a%00.txt", 400, "IllegalArgumentException"),
        ("/alice/a%0ab", 400, "IllegalArgumentException"),
        ("/alice/x%20", 400, "IllegalArgumentException"),
        ("/.berth/owners", 400, "IllegalArgumentException"),
        ("/%2eberth", 400, "IllegalArgumentException"),
        ("//.berth/logs", 400, "IllegalArgumentException"),
        (&long, 400, "IllegalArgumentException"),
        ("/alice/out/x", 400, "IllegalArgumentException"),
        ("/alice/bobs/secret", 400, "IllegalArgumentException"),
        ("/bob/secret", 403, "AccessControlException"),
        ("/bob", 403, "AccessControlException"),
        ("/Container/bob/x", 403, "AccessControlException"),
        ("//bob//secret", 403, "AccessControlException"),
    ] {
        let operations = [
            ("GET", "OPEN"),
            ("GET", "GETFILESTATUS"),
            ("GET", "LISTSTATUS"),
            ("GET", "GETCONTENTSUMMARY"),
            ("PUT", "CREATE&overwrite=true"),
            ("PUT", "CREATE&overwrite=true&step=data"),
            ("POST", "APPEND&step=data"),
            ("PUT", "MKDIRS"),
            ("PUT", "SETPERMISSION&permission=777"),
        ];
        for (method, operation) in operations {
            let answer = hall.ask(method, "alice", path, operation).await;
            assert_eq!(
                (answer.status, exception(&answer).as_str()),
                (status, name),
                "{operation} {path}: {}",
                answer.text
            );
            assert!(!answer.text.contains(hall.folder.path().to_str().unwrap()), "{}", answer.text);
        }
        hall.write("alice", "/alice/mine", "m").await;
        let destination = format!("RENAME&destination={path}");
        let renamed = hall.ask("PUT", "alice", "/alice/mine", &destination).await;
        assert_ne!(renamed.text, json!({ "boolean": true }).to_string(), "{path}");
    }
    for operation in ["OPEN", "LISTSTATUS", "GETCONTENTSUMMARY"] {
        let answer = hall.ask("GET", "alice", "/alice/out", operation).await;
        assert_eq!(answer.status, 400, "{operation}: {}", answer.text);
    }
    let link = hall.ask("GET", "alice", "/alice/out", "GETFILESTATUS").await.json();
    assert_eq!(link["FileStatus"]["type"], "SYMLINK");
    assert_eq!(std::fs::read_to_string(hall.folder.path().join("outside")).unwrap(), "o");
    assert_eq!(hall.text("/bob/secret").await, "s");
}

#[tokio::test]
async fn bad_requests_are_explained_in_hadoops_words() {
    let hall = Hall::open().await;
    hall.write("alice", "/alice/a", "a").await;
    for (method, path, operation, status, name) in [
        ("GET", "/alice/none", "OPEN", 404, "FileNotFoundException"),
        ("GET", "/alice", "OPEN", 404, "FileNotFoundException"),
        ("GET", "/alice/a/b", "GETFILESTATUS", 404, "FileNotFoundException"),
        ("POST", "/alice/none", "APPEND", 404, "FileNotFoundException"),
        ("GET", "/alice/a", "OPEN&offset=-1", 400, "IllegalArgumentException"),
        ("GET", "/alice/a", "OPEN&length=many", 400, "IllegalArgumentException"),
        ("PUT", "/alice/b", "CREATE&overwrite=maybe", 400, "IllegalArgumentException"),
        ("PUT", "/alice/a", "RENAME", 400, "IllegalArgumentException"),
        ("GET", "/alice/a", "CHECKACCESS", 400, "IllegalArgumentException"),
        ("GET", "/alice/a", "", 400, "UnsupportedOperationException"),
        ("GET", "/alice/a", "FORMAT", 400, "UnsupportedOperationException"),
        ("GET", "/alice/a", "DELETE", 400, "UnsupportedOperationException"),
        ("PUT", "/alice/a", "OPEN", 400, "UnsupportedOperationException"),
        ("POST", "/alice/a", "CONCAT&sources=/alice/b", 400, "UnsupportedOperationException"),
        ("PUT", "/alice/a", "CREATESYMLINK&destination=/bob", 400, "UnsupportedOperationException"),
        ("PUT", "/alice/a", "SETOWNER&owner=bob", 403, "AccessControlException"),
        ("GET", "/alice/%ff%fe", "OPEN", 400, "IllegalArgumentException"),
        ("PUT", "/alice/a/b", "CREATE&step=data", 403, "FileAlreadyExistsException"),
        ("PUT", "/alice", "CREATE&overwrite=true", 403, "FileAlreadyExistsException"),
        ("PUT", "/alice/a", "MKDIRS", 403, "FileAlreadyExistsException"),
        ("DELETE", "/", "DELETE&recursive=true", 403, "AccessControlException"),
        ("PUT", "/new", "MKDIRS", 403, "AccessControlException"),
        ("PATCH", "/alice/a", "OPEN", 405, "UnsupportedOperationException"),
    ] {
        let answer = hall.ask(method, "alice", path, operation).await;
        let found = (answer.status, exception(&answer));
        let status = if status == 405 { 400 } else { status };
        assert_eq!(
            found,
            (status, name.to_owned()),
            "{method} {operation} {path}: {}",
            answer.text
        );
        assert!(
            answer.json()["RemoteException"]["javaClassName"].as_str().unwrap().ends_with(name)
        );
    }
}

#[tokio::test]
async fn who_asks_must_be_proved() {
    let hall = Hall::open().await;
    hall.write("alice", "/alice/a", "a").await;
    let open = "/webhdfs/v1/alice/a?op=OPEN";
    let bearer = format!("Bearer {}", hall.token("alice"));
    let basic = |user: &str| {
        use base64::Engine;
        let text = format!("{user}:{}", hall.token("alice"));
        format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
    };
    let (good, bad) = (basic("alice"), basic("bob"));
    for (query, authorization, status) in [
        ("", None, 401),
        ("&user.name=alice", None, 401),
        ("&user.name=admin&doas=alice", None, 401),
        ("&delegation=berth_wrong", None, 401),
        ("&delegation=", None, 401),
        ("", Some("Bearer berth_wrong"), 401),
        ("", Some("Negotiate YII="), 401),
        ("", Some(bad.as_str()), 401),
        ("", Some(bearer.as_str()), 200),
        ("", Some(good.as_str()), 200),
        ("&user.name=bob", Some(bearer.as_str()), 200),
    ] {
        let headers: Vec<_> =
            authorization.map(|value| ("authorization", value)).into_iter().collect();
        let answer = hall.client.get(&format!("{open}{query}"), &headers).await;
        assert_eq!(answer.status, status, "{query} {authorization:?}");
        if status == 401 {
            assert_eq!(exception(&answer), "SecurityException", "{query} {authorization:?}");
        }
    }
}

/// A page of another site cannot change files with somebody's cookie.
#[tokio::test]
async fn a_cookie_changes_files_only_from_our_pages() {
    let hall = Hall::open().await;
    hall.write("alice", "/alice/a", "a").await;
    let cookie = hall.client.sign_in("alice", "correct horse").await;
    let cookie = ("cookie", cookie.as_str());
    let own = hall.client.base.clone();
    let open = hall.client.get("/webhdfs/v1/alice/a?op=OPEN", &[cookie]).await;
    assert_eq!((open.status, open.text.as_str()), (200, "a"));
    let foreign = ("origin", "http://elsewhere.example");
    for (method, query) in [
        ("PUT", "/alice/b?op=CREATE&step=data"),
        ("POST", "/alice/a?op=APPEND&step=data"),
        ("PUT", "/alice/c?op=MKDIRS"),
        ("PUT", "/alice/a?op=RENAME&destination=/alice/z"),
        ("DELETE", "/alice/a?op=DELETE"),
    ] {
        let path = format!("/webhdfs/v1{query}");
        for headers in [vec![cookie], vec![cookie, foreign]] {
            let answer = hall.client.send(method, &path, &headers, "x").await;
            assert_eq!(
                (answer.status, exception(&answer).as_str()),
                (403, "AccessControlException")
            );
        }
    }
    assert_eq!(hall.text("/alice/a").await, "a");
    let headers = [cookie, ("origin", own.as_str())];
    let path = "/webhdfs/v1/alice/b?op=CREATE&step=data";
    assert_eq!(hall.client.send("PUT", path, &headers, "b").await.status, 201);
}

#[tokio::test]
async fn files_have_a_limit_and_users_a_quota() {
    let options = StateOptions { upload_limit: Some(1_000), ..StateOptions::default() };
    let hall = Hall::with(Some(1_500), options).await;
    let path = hall.address("alice", "/alice/a", "CREATE&step=data");
    let large = hall.client.send("PUT", &path, &[], &"x".repeat(1_001)).await;
    assert_eq!((large.status, exception(&large).as_str()), (413, "IOException"));
    assert_eq!(hall.client.send("PUT", &path, &[], &"x".repeat(1_000)).await.status, 201);
    let path = hall.address("alice", "/alice/b", "CREATE&step=data");
    let full = hall.client.send("PUT", &path, &[], &"x".repeat(600)).await;
    assert_eq!((full.status, exception(&full).as_str()), (403, "DSQuotaExceededException"));
    assert_eq!(hall.ask("GET", "alice", "/alice/b", "GETFILESTATUS").await.status, 404);
    let first = hall.ask("PUT", "bob", "/bob/b", "CREATE").await;
    assert_eq!(first.status, 307, "bob has room of his own");
}
