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
