//! WebHDFS over real HTTP, with control and a storage behind it.

use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use storage::{Storage, StorageOptions};

use crate::hall::Hall;
use crate::server::Answer;

fn names(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let json = answer.json();
    let entries = json["FileStatuses"]["FileStatus"].as_array().unwrap();
    entries.iter().map(|entry| entry["pathSuffix"].as_str().unwrap().to_owned()).collect()
}

/// Writes in the two steps of Hadoop's clients.
async fn write(hall: &Hall, method: &str, path: &str, operation: &str, text: &str) -> Answer {
    let first = hall.ask(method, "alice", path, operation).await;
    assert_eq!((first.status, first.text.as_str()), (307, ""), "{path}");
    let location = first.header("location").to_owned();
    assert!(location.contains("&step=data"), "{location}");
    hall.client.send(method, hall.local(&location), &[], text).await
}

#[tokio::test]
async fn files_are_written_in_two_steps() {
    let hall = Hall::open().await;
    let path = "/alice/data/a%20%E4%BD%9C.txt";
    let created = write(&hall, "PUT", path, "CREATE", "one").await;
    assert_eq!((created.status, created.text.as_str()), (201, ""));
    assert!(created.header("location").ends_with(&format!("/webhdfs/v1{path}")));
    assert_eq!(hall.text("/alice/data/a 作.txt").await, "one");
    let again = hall.ask("PUT", "alice", path, "CREATE").await;
    let exception = &again.json()["RemoteException"];
    assert_eq!(
        (again.status, &exception["exception"]),
        (403, &"FileAlreadyExistsException".into())
    );
    assert_eq!(write(&hall, "PUT", path, "CREATE&overwrite=true", "two").await.status, 201);
    assert_eq!(write(&hall, "POST", path, "APPEND", " three").await.status, 200);
    assert_eq!(hall.text("/alice/data/a 作.txt").await, "two three");

    let told = hall.ask("PUT", "alice", "/alice/b", "CREATE&noredirect=true").await;
    assert_eq!(told.status, 200);
    let location = told.json()["Location"].as_str().unwrap().to_owned();
    assert_eq!(hall.client.send("PUT", hall.local(&location), &[], "b").await.status, 201);
    let one_step = hall.address("alice", "/alice/c", "CREATE&data=true");
    assert_eq!(hall.client.send("PUT", &one_step, &[], "as HttpFS").await.status, 201);
    assert_eq!(hall.text("/alice/c").await, "as HttpFS");
}

#[tokio::test]
async fn files_are_read_in_parts() {
    let hall = Hall::open().await;
    hall.write("alice", "/alice/a", "0123456789").await;
    for (parameters, part) in [
        ("", "0123456789"),
        ("&offset=3", "3456789"),
        ("&offset=3&length=4", "3456"),
        ("&OFFSET=8&Length=99", "89"),
        ("&offset=10", ""),
        ("&length=0", ""),
    ] {
        let answer = hall.ask("GET", "alice", "/alice/a", &format!("open{parameters}")).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, part), "{parameters}");
        assert_eq!(answer.header("content-length"), part.len().to_string());
        assert_eq!(answer.header("content-type"), "application/octet-stream");
    }
    let told = hall.ask("GET", "alice", "/alice/a", "OPEN&noredirect=true").await;
    let location = told.json()["Location"].as_str().unwrap().to_owned();
    assert_eq!(hall.client.get(hall.local(&location), &[]).await.text, "0123456789");
}

#[tokio::test]
async fn files_and_folders_are_told_as_hadoop_tells_them() {
    let hall = Hall::open().await;
    hall.write("alice", "/alice/d/a", "1234").await;
    let mut status = hall.ask("GET", "alice", "/alice/d/a", "GETFILESTATUS").await.json();
    let times = ["accessTime", "modificationTime"];
    for time in times {
        assert!(status["FileStatus"][time].as_i64().unwrap() > 1_600_000_000_000);
        status["FileStatus"][time] = json!(0);
    }
    let expected = json!({ "FileStatus": {
        "accessTime": 0, "blockSize": 134_217_728, "childrenNum": 0, "fileId": 0, "group": "berth",
        "length": 4, "modificationTime": 0, "owner": "alice", "pathSuffix": "",
        "permission": "600", "replication": 1, "storagePolicy": 0, "type": "FILE",
    }});
    assert_eq!(status, expected);
    let folder = hall.ask("GET", "alice", "/alice/d", "GETFILESTATUS").await.json();
    let folder = &folder["FileStatus"];
    assert_eq!((&folder["type"], &folder["permission"]), (&json!("DIRECTORY"), &json!("700")));
    assert_eq!(names(&hall.ask("GET", "alice", "/alice/d", "LISTSTATUS").await), ["a"]);
    assert_eq!(names(&hall.ask("GET", "alice", "/alice/d/a", "LISTSTATUS").await), [""]);
    assert_eq!(names(&hall.ask("GET", "alice", "", "LISTSTATUS").await), ["alice"]);
    assert_eq!(names(&hall.ask("GET", "alice", "/", "LISTSTATUS").await), ["alice"]);
    let summary = hall.ask("GET", "alice", "/alice", "GETCONTENTSUMMARY").await.json();
    let summary = &summary["ContentSummary"];
    let counts =
        ["directoryCount", "fileCount", "length"].map(|key| summary[key].as_u64().unwrap());
    assert_eq!(counts, [2, 1, 4]);
    let home = hall.ask("GET", "bob", "/", "GETHOMEDIRECTORY").await;
    assert_eq!(home.json(), json!({ "Path": "/bob" }));
    let read = "CHECKACCESS&fsaction=r--";
    assert_eq!(hall.ask("GET", "alice", "/alice/d/a", read).await.status, 200);
    assert_eq!(hall.ask("GET", "alice", "/", "CHECKACCESS&fsaction=-w-").await.status, 403);
}

#[tokio::test]
async fn a_large_folder_is_listed_whole_and_in_parts() {
    let hall = Hall::open().await;
    let folder = hall.folder.path().join("storage/alice/many");
    std::fs::create_dir_all(&folder).unwrap();
    let all: Vec<String> = (0..2_500).map(|number| format!("{number:05}")).collect();
    for name in &all {
        std::fs::write(folder.join(name), "x").unwrap();
    }
    let whole = names(&hall.ask("GET", "alice", "/alice/many", "LISTSTATUS").await);
    assert!(whole == all, "{} of {} are listed", whole.len(), all.len());
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let operation = format!("LISTSTATUS_BATCH&startAfter={after}");
        let answer = hall.ask("GET", "alice", "/alice/many", &operation).await.json();
        let listing = &answer["DirectoryListing"];
        let part = listing["partialListing"]["FileStatuses"]["FileStatus"].as_array().unwrap();
        found.extend(part.iter().map(|entry| entry["pathSuffix"].as_str().unwrap().to_owned()));
        after = found.last().unwrap().clone();
        if listing["remainingEntries"] == 0 {
            break;
        }
    }
    assert!(found == all, "{} of {} are listed", found.len(), all.len());
}

#[tokio::test]
async fn files_and_folders_are_moved_and_removed() {
    let hall = Hall::open().await;
    let yes: Value = json!({ "boolean": true });
    let no: Value = json!({ "boolean": false });
    let put =
        async |path: &str, operation: &str| hall.ask("PUT", "alice", path, operation).await.json();
    assert_eq!(put("/alice/a/b", "MKDIRS").await, yes);
    assert_eq!(put("/alice/a/b", "MKDIRS&permission=711").await, yes);
    hall.write("alice", "/alice/x", "x").await;
    assert_eq!(put("/alice/x", "RENAME&destination=/alice/y").await, yes);
    assert_eq!(put("/alice/y", "RENAME&destination=/alice/a").await, yes, "into a folder");
    assert_eq!(hall.text("/alice/a/y").await, "x");
    assert_eq!(put("/alice/none", "RENAME&destination=/alice/z").await, no);
    assert_eq!(put("/alice/a/y", "RENAME&destination=/alice/none/z").await, no);
    hall.write("alice", "/alice/z", "z").await;
    assert_eq!(put("/alice/a/y", "RENAME&destination=/alice/z").await, no);
    for operation in ["SETPERMISSION&permission=777", "SETTIMES&modificationtime=0"] {
        assert_eq!(hall.ask("PUT", "alice", "/alice/z", operation).await.status, 200);
    }
    assert_eq!(put("/alice/z", "SETREPLICATION&replication=3").await, yes);
    let delete =
        async |path: &str, operation: &str| hall.ask("DELETE", "alice", path, operation).await;
    let full = delete("/alice/a", "DELETE").await;
    let exception = &full.json()["RemoteException"]["exception"];
    assert_eq!((full.status, exception), (403, &json!("PathIsNotEmptyDirectoryException")));
    assert_eq!(delete("/alice/a", "DELETE&recursive=true").await.json(), yes);
    assert_eq!(delete("/alice/a", "DELETE").await.json(), no);
}

/// The documents' way to a job's key, which only its owner may have.
#[tokio::test]
async fn what_is_below_container_is_its_users() {
    let hall = Hall::open().await;
    let path = "/Container/alice/train/ssh/application_1/.ssh/application_1";
    hall.write("admin", path, "PRIVATE KEY").await;
    assert_eq!(hall.ask("GET", "alice", path, "OPEN").await.text, "PRIVATE KEY");
    assert_eq!(hall.ask("GET", "bob", path, "OPEN").await.status, 403);
    let nobody = hall.client.get(&format!("/webhdfs/v1{path}?op=OPEN&user.name=alice"), &[]).await;
    assert_eq!(nobody.status, 401);
}

/// Our own storage over our own door.
#[tokio::test]
async fn the_storage_works_over_this_door() {
    let hall = Hall::open().await;
    let host = hall.client.base.strip_prefix("http://").unwrap();
    let storage = Storage::open_with(StorageOptions {
        root: format!("webhdfs://{host}/alice/deep"),
        delegation: Some(hall.token("alice").to_owned()),
        ..StorageOptions::default()
    });
    let storage = storage.unwrap();
    let at = |path: &str| storage.resolve(path).unwrap();
    let content = |text: &'static str| futures::stream::iter([Ok(text.into())]).boxed();
    assert!(!storage.exists(&at("/x")).await.unwrap());
    storage.create(&at("/x/y"), false, content("one")).await.unwrap();
    storage.create(&at("/x/y"), true, content("two")).await.unwrap();
    storage.append(&at("/x/y"), content(" three")).await.unwrap();
    assert_eq!(storage.read(&at("/x/y")).await.unwrap(), "two three");
    let page = storage.list(&at("/x"), None, 10).await.unwrap();
    assert_eq!(page.entries.iter().map(|entry| entry.size).collect::<Vec<_>>(), [9]);
    storage.rename(&at("/x/y"), &at("/x/z")).await.unwrap();
    assert!(storage.remove(&at("/x"), false).await.is_err());
    assert!(storage.remove(&at("/x"), true).await.unwrap());
    let gone: Result<Vec<_>, _> = match storage.read_range(&at("/x/z"), Default::default()).await {
        Ok((_, content)) => content.try_collect::<Vec<_>>().await,
        Err(error) => Err(error),
    };
    assert!(gone.is_err());
}
