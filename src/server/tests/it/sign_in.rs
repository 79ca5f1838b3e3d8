use serde_json::json;

use crate::fakes::World;
use crate::hall::Hall;
use crate::server::{ALICE, Client, FORM, JSON, Server};

async fn fresh() -> (tempfile::TempDir, Server, Client) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let client = server.client();
    (folder, server, client)
}

#[tokio::test]
async fn a_form_signs_in_and_out() {
    let (_folder, _server, client) = fresh().await;
    let body = "username=alice&password=correct-horse&next=/jobs?state=RUNNING";
    let answer = client.send("POST", "/auth/sign-in", &[FORM], body).await;
    assert_eq!(answer.header("location"), "/jobs?state=RUNNING");
    let set = answer.header("set-cookie").to_owned();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax"), "{set}");
    let cookie = answer.cookie();
    let headers = [("cookie", cookie.as_str())];
    assert_eq!(client.get("/api/v2/jobs", &headers).await.status, 200);

    let headers = [FORM, ("cookie", &cookie), ("sec-fetch-site", "same-origin")];
    let answer = client.send("POST", "/auth/sign-out", &headers, "").await;
    assert_eq!((answer.status, answer.header("location")), (303, "/sign-in"));
    let headers = [("cookie", cookie.as_str())];
    assert_eq!(client.get("/api/v2/jobs", &headers).await.status, 401);
}

#[tokio::test]
async fn a_wrong_password_leads_back_to_the_form() {
    let (_folder, _server, client) = fresh().await;
    let body = "username=alice&password=wrong&next=//evil.example";
    let answer = client.send("POST", "/auth/sign-in", &[FORM], body).await;
    assert_eq!(answer.status, 303);
    assert_eq!(
        answer.header("location"),
        "/sign-in?error=IncorrectPasswordError&next=%2F&username=alice"
    );
    assert_eq!(answer.header("set-cookie"), "");
    let body = r#"{"username":"alice","password":"wrong"}"#;
    let answer = client.send("POST", "/auth/sign-in", &[JSON], body).await;
    assert_eq!((answer.status, &answer.json()["code"]), (400, &"IncorrectPasswordError".into()));
}

#[tokio::test]
async fn a_first_password_lets_nobody_in_before_another_one_is_chosen() {
    let hall = Hall::open().await;
    let client = &hall.client;
    let bearer = format!("Bearer {}", hall.token("admin"));
    let headers = [JSON, ("authorization", bearer.as_str())];
    let body = r#"{"username": "carol", "password": "set for carol", "temporary": true}"#;
    let answer = client.send("POST", "/api/v2/users", &headers, body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let first = r#"{"username": "carol", "password": "set for carol"}"#;
    for door in ["/api/v1/token", "/auth/sign-in"] {
        let answer = client.send("POST", door, &[JSON], first).await;
        assert_eq!(answer.status, 403, "{door}: {answer:?}");
        assert_eq!(answer.json()["code"], json!("TemporaryPasswordError"), "{door}");
        assert_eq!(answer.header("set-cookie"), "", "{door}");
    }
    let form = "username=carol&password=set+for+carol&next=/jobs";
    let answer = client.send("POST", "/auth/sign-in", &[FORM], form).await;
    let asked = "/sign-in?error=TemporaryPasswordError&next=%2Fjobs&username=carol&choose=1";
    assert_eq!(answer.header("location"), asked);
    let page = client.get(asked, &[]).await;
    assert!(page.text.contains(r#"name="newPassword""#), "{}", page.text);
    let short = format!("{form}&newPassword=short");
    let answer = client.send("POST", "/auth/sign-in", &[FORM], &short).await;
    let asked = "/sign-in?error=InvalidParametersError&next=%2Fjobs&username=carol&choose=1";
    assert_eq!(answer.header("location"), asked);
    let own = format!("{form}&newPassword=chosen+by+carol");
    let answer = client.send("POST", "/auth/sign-in", &[FORM], &own).await;
    assert_eq!(answer.header("location"), "/jobs");
    let session = answer.cookie();
    assert_eq!(client.get("/api/v2/jobs", &[("cookie", &session)]).await.status, 200);
    let answer = client.send("POST", "/api/v1/token", &[JSON], first).await;
    assert_eq!(answer.status, 400, "it is good for nothing any more: {answer:?}");
}

#[tokio::test]
async fn the_session_id_changes_at_sign_in() {
    let (_folder, _server, client) = fresh().await;
    let first = client.sign_in("alice", "correct-horse").await;
    let headers = [FORM, ("cookie", &first), ("sec-fetch-site", "same-origin")];
    let body = "username=bob&password=correct-horse";
    let answer = client.send("POST", "/auth/sign-in", &headers, body).await;
    let second = answer.cookie();
    assert_ne!(first, second);
    let headers = [("cookie", first.as_str())];
    assert_eq!(client.get("/api/v2/jobs", &headers).await.status, 401, "the old id is dead");
}

#[tokio::test]
async fn changes_under_a_cookie_come_from_our_own_pages() {
    let (_folder, _server, client) = fresh().await;
    let cookie = client.sign_in("alice", "correct-horse").await;
    let own = client.base.clone();
    let cases: [(&[(&str, &str)], u16); 6] = [
        (&[], 403),
        (&[("origin", "http://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("sec-fetch-site", "cross-site")], 403),
        (&[("sec-fetch-site", "same-origin")], 202),
        (&[("origin", &own)], 202),
    ];
    for (extra, status) in cases {
        let headers: Vec<_> = extra.iter().copied().chain([("cookie", cookie.as_str())]).collect();
        let answer = client.send("POST", "/api/v2/jobs", &headers, "a job").await;
        assert_eq!(answer.status, status, "{extra:?}: {}", answer.text);
    }
    let headers = [ALICE, ("origin", "http://evil.example")];
    let answer = client.send("POST", "/api/v2/jobs", &headers, "a job").await;
    assert_eq!(answer.status, 202, "tokens are no browser's");
}

#[tokio::test]
async fn other_sites_cannot_sign_a_browser_in() {
    let (_folder, _server, client) = fresh().await;
    let headers = [FORM, ("origin", "http://evil.example")];
    let body = "username=alice&password=correct-horse";
    let answer = client.send("POST", "/auth/sign-in", &headers, body).await;
    assert!(answer.header("location").contains("error=ForbiddenUserError"));
    assert_eq!(answer.header("set-cookie"), "");
}

#[tokio::test]
async fn guessing_is_slowed_down() {
    let (_folder, _server, client) = fresh().await;
    let body = r#"{"username":"alice","password":"wrong"}"#;
    let mut last = client.send("POST", "/api/v1/token", &[JSON], body).await;
    for _ in 0..8 {
        last = client.send("POST", "/api/v1/token", &[JSON], body).await;
    }
    assert_eq!((last.status, &last.json()["code"]), (429, &"TooManyRequestsError".into()));
    assert!(last.header("retry-after").parse::<u64>().unwrap() > 60);
    let right = r#"{"username":"alice","password":"correct-horse"}"#;
    assert_eq!(client.send("POST", "/auth/sign-in", &[JSON], right).await.status, 429);
    let other = r#"{"username":"bob","password":"correct-horse"}"#;
    assert_eq!(client.send("POST", "/auth/sign-in", &[JSON], other).await.status, 200);
}

#[tokio::test]
async fn nobody_keeps_another_from_signing_in() {
    let (_folder, _server, client) = fresh().await;
    let right = "username=bob&password=correct-horse";
    let first = client.send("POST", "/auth/sign-in", &[FORM], right).await;
    let device = first.header("set-cookie").split(';').next().unwrap().to_owned();
    assert!(device.starts_with("berth_device="), "{first:?}");
    // Somebody guesses, with the same address since both are behind one.
    let wrong = r#"{"username":"bob","password":"wrong"}"#;
    for _ in 0..6 {
        let answer = client.send("POST", "/api/v1/token", &[JSON], wrong).await;
        assert_eq!(answer.status, 400, "{answer:?}");
    }
    let headers = [FORM, ("cookie", device.as_str())];
    let again = client.send("POST", "/auth/sign-in", &headers, right).await;
    assert_eq!((again.status, again.header("location")), (303, "/"), "{again:?}");
    let again = client.send("POST", "/auth/sign-in", &[FORM], right).await;
    assert_eq!((again.status, again.header("location")), (303, "/"), "he was here before");
}

#[tokio::test]
async fn tokens_of_both_schemes_are_taken() {
    let (_folder, _server, client) = fresh().await;
    // alice:token-of-alice and bob:token-of-alice
    let cases = [
        ("Bearer token-of-alice", 200),
        ("Bearer nonsense", 401),
        ("Basic YWxpY2U6dG9rZW4tb2YtYWxpY2U=", 200),
        ("Basic Ym9iOnRva2VuLW9mLWFsaWNl", 401),
    ];
    for (value, status) in cases {
        let answer = client.get("/api/v2/jobs", &[("authorization", value)]).await;
        assert_eq!(answer.status, status, "{value}");
    }
    let cookie = client.sign_in("alice", "correct-horse").await;
    let headers = [("authorization", "Bearer nonsense"), ("cookie", cookie.as_str())];
    assert_eq!(client.get("/api/v2/jobs", &headers).await.status, 401, "a bad token is no guest");
}

#[tokio::test]
async fn sessions_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let server = Server::start(folder.path(), &world).await;
    let cookie = server.client().sign_in("alice", "correct-horse").await;
    server.stop().await;
    let server = Server::start(folder.path(), &world).await;
    let headers = [("cookie", cookie.as_str())];
    assert_eq!(server.client().get("/api/v2/jobs", &headers).await.status, 200);
}
