use server::state::StateOptions;

use crate::fakes::World;
use crate::server::{FORM, Server};

/// One that could be a session's, by its looks.
const PLANTED: &str = "berth_session=AAAAAAAAAAAAAAAAAAAAAA";

#[tokio::test(flavor = "multi_thread")]
async fn planted_cookies_keep_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let client = server.client();
    let own = client.sign_in("alice", "correct-horse").await;
    // A session, but nobody's.
    let stranger = client.get("/sign-in", &[]).await.cookie();
    let orders = [
        format!("{PLANTED}; {own}"),
        format!("{own}; {PLANTED}"),
        format!("berth_session=x; {own}; {stranger}; {PLANTED}; berth_session="),
    ];
    for cookies in &orders {
        let answer = client.get("/api/v2/jobs", &[("cookie", cookies)]).await;
        assert_eq!(answer.status, 200, "{cookies}");
    }
    let many: Vec<String> = (0..170).map(|n| format!("berth_session={n:022}")).collect();
    let many = format!("{}; {own}", many.join("; "));
    assert_eq!(client.get("/api/v2/jobs", &[("cookie", &many)]).await.status, 200);
    let headers = [FORM, ("cookie", orders[0].as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(client.send("POST", "/auth/sign-out", &headers, "").await.status, 303);
    let answer = client.get("/api/v2/jobs", &[("cookie", &own)]).await;
    assert_eq!(answer.status, 401, "who signs out is signed out, whatever was planted");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_https_a_session_has_one_name_that_nobody_else_can_set() {
    let folder = tempfile::tempdir().unwrap();
    let public_url = Some("https://berth.example.org".to_owned());
    let options = StateOptions { public_url, ..StateOptions::default() };
    let server = Server::with(folder.path(), World::new().backend(), options).await;
    let client = server.client();
    let body = "username=alice&password=correct-horse&next=/jobs";
    let answer = client.send("POST", "/auth/sign-in", &[FORM], body).await;
    for set in answer.headers.get_all("set-cookie") {
        let set = set.to_str().unwrap();
        assert!(set.starts_with("__Host-") && set.contains("Secure"), "{set}");
    }
    assert!(answer.cookie().starts_with("__Host-berth_session="), "{}", answer.cookie());
    assert!(answer.header("strict-transport-security").starts_with("max-age="));
    let cookie = answer.cookie();
    assert_eq!(client.get("/api/v2/jobs", &[("cookie", &cookie)]).await.status, 200);
    let bare = cookie.trim_start_matches("__Host-").to_owned();
    assert_eq!(client.get("/api/v2/jobs", &[("cookie", &bare)]).await.status, 401);
}
