//! `/api/v2/files`: what the Files page reads and writes by.

use crate::hall::Hall;

#[tokio::test]
async fn files_are_read_written_and_removed_by_their_path() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", hall.token("alice"));
    let headers = [("authorization", bearer.as_str())];
    let path = "/api/v2/files/alice/%E4%BD%9C%20%231.txt";
    let answer = hall.client.send("PUT", path, &headers, "0123456789").await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let read = hall.client.get(path, &headers).await;
    assert_eq!(read.text, "0123456789");
    assert_eq!(read.header("content-type"), "text/plain; charset=utf-8");
    assert!(read.header("content-disposition").starts_with("inline; filename*=UTF-8''%E4%BD%9C"));
    let download = hall.client.get(&format!("{path}?download=true"), &headers).await;
    assert!(download.header("content-disposition").starts_with("attachment"));
    assert_eq!(download.header("content-type"), "application/octet-stream");
    let again = hall.client.send("PUT", &format!("{path}?overwrite=false"), &headers, "x").await;
    assert_eq!((again.status, &again.json()["code"]), (409, &"ConflictFileError".into()));
    let part = hall.client.get(path, &[headers[0], ("range", "bytes=2-4")]).await;
    assert_eq!((part.status, part.text.as_str()), (206, "234"));
    assert_eq!(part.header("content-range"), "bytes 2-4/10");
    let beyond = hall.client.get(path, &[headers[0], ("range", "bytes=99-")]).await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */10"));

    let folder = hall.client.get("/api/v2/files/alice", &headers).await.json();
    assert_eq!(folder["entries"][0]["name"], "作 #1.txt");
    assert_eq!(folder["folder"]["owner"], "alice");
    let root = hall.client.get("/api/v2/files", &headers).await.json();
    assert_eq!(root["entries"][0]["name"], "alice");
    assert_eq!(hall.client.send("DELETE", path, &headers, "").await.status, 200);
    let gone = hall.client.send("DELETE", path, &headers, "").await;
    assert_eq!((gone.status, &gone.json()["code"]), (404, &"NoFileError".into()));
    assert_eq!(hall.client.get("/api/v2/files/bob", &headers).await.status, 403);
    assert_eq!(hall.client.get("/api/v2/files/alice/..%2fbob", &headers).await.status, 400);
    assert_eq!(hall.client.get("/api/v2/files/alice", &[]).await.status, 401);
}

/// What could hold a script is never shown by a browser as a page of ours.
#[tokio::test]
async fn scripts_are_not_served() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", hall.token("alice"));
    let headers = [("authorization", bearer.as_str())];
    for name in ["page.html", "picture.svg", "x.xml", "x.js", "x.pdf", "noextension"] {
        hall.write("alice", &format!("/alice/{name}"), "<script>alert(1)</script>").await;
        let answer = hall.client.get(&format!("/api/v2/files/alice/{name}"), &headers).await;
        assert_eq!(answer.header("content-type"), "application/octet-stream", "{name}");
        assert!(answer.header("content-disposition").starts_with("attachment"), "{name}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{name}");
        assert!(answer.header("content-security-policy").contains("default-src 'none'"), "{name}");
    }
}

/// Whoever was interrupted asks how much has arrived and goes on there.
#[tokio::test]
async fn a_file_is_sent_in_parts() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", hall.token("alice"));
    let headers = [("authorization", bearer.as_str())];
    let at =
        |offset: u32| format!("/api/v2/uploads/alice/deep/m.pt?id=a&length=10&offset={offset}");
    let arrived = hall.client.get(&at(0), &headers).await;
    assert_eq!(arrived.json()["arrived"], 0, "{}", arrived.text);
    let first = hall.client.send("PATCH", &at(0), &headers, "0123").await;
    assert_eq!((first.status, &first.json()["arrived"]), (200, &4.into()), "{}", first.text);
    assert_eq!(hall.client.get("/api/v2/files/alice/deep/m.pt", &headers).await.status, 404);

    // Another content, path or user has nothing to do with it.
    for other in ["alice/deep/m.pt?id=b&length=10", "alice/deep/n.pt?id=a&length=10"] {
        let other = format!("/api/v2/uploads/{other}");
        assert_eq!(hall.client.get(&other, &headers).await.json()["arrived"], 0, "{other}");
    }
    let twice = hall.client.send("PATCH", &at(0), &headers, "0123").await;
    assert_eq!((twice.status, &twice.json()["code"]), (409, &"ConflictUploadError".into()));
    assert!(twice.text.contains("4 bytes have arrived"), "{}", twice.text);
    let much = hall.client.send("PATCH", &at(4), &headers, "4567890").await;
    assert_eq!((much.status, &much.json()["code"]), (413, &"TooLargeError".into()));
    assert!(much.text.contains("of which 6 bytes are missing"), "{}", much.text);

    let last = hall.client.send("PATCH", &at(4), &headers, "456789").await;
    assert_eq!((last.status, &last.json()["arrived"]), (201, &10.into()), "{}", last.text);
    let read = hall.client.get("/api/v2/files/alice/deep/m.pt", &headers).await;
    assert_eq!(read.text, "0123456789");
    assert_eq!(hall.client.get(&at(0), &headers).await.json()["arrived"], 0);
}

#[tokio::test]
async fn parts_are_taken_only_where_files_are() {
    let hall = Hall::open().await;
    let bearer = format!("Bearer {}", hall.token("alice"));
    let headers = [("authorization", bearer.as_str())];
    hall.write("alice", "/alice/there", "x").await;
    for (address, status) in [
        ("bob/m.pt?id=a&length=1", 403),
        ("alice/..%2fbob/m.pt?id=a&length=1", 400),
        (".berth/unfinished/m.pt?id=a&length=1", 400),
        ("alice/m.pt?id=&length=1", 400),
        ("alice/m.pt?length=1", 400),
        ("alice/m.pt?id=a&length=99999999999999999", 413),
        ("alice/there?id=a&length=1&overwrite=false", 409),
    ] {
        let answer =
            hall.client.send("PATCH", &format!("/api/v2/uploads/{address}"), &headers, "x").await;
        assert_eq!(answer.status, status, "{address}: {}", answer.text);
    }
    let nobody = hall.client.send("PATCH", "/api/v2/uploads/alice/m?id=a&length=1", &[], "x").await;
    assert_eq!(nobody.status, 401);
    let empty = hall.client.send("PATCH", "/api/v2/uploads/alice/e?id=a&length=0", &headers, "");
    assert_eq!(empty.await.status, 201);
    assert_eq!(hall.client.get("/api/v2/files/alice/e", &headers).await.text, "");
}
