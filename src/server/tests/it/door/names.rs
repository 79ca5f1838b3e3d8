use server::state::StateOptions;

use crate::hall::Hall;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_name_was_made_to_lead_here_reads_nothing() {
    let hall = Hall::open().await;
    for host in
        ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"]
    {
        for path in ["/", "/api/v2/jobs", "/metrics", "/pkg/x.js", "/webhdfs/v1/?op=LISTSTATUS"] {
            let answer = hall.client.get(path, &[("host", host)]).await;
            assert_eq!(answer.status, 421, "{host}{path}");
            assert!(answer.text.contains("hosts = ["), "{}", answer.text);
        }
        let check = hall.client.get("/healthz", &[("host", host)]).await;
        assert_eq!(check.status, 200, "who looks whether we are well has his own name for us");
    }
    for host in ["localhost", "127.0.0.1:1", "[::1]:8080", "192.0.2.1", "LOCALHOST.:80"] {
        let answer = hall.client.get("/sign-in", &[("host", host)]).await;
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_led_to_no_foreign_host() {
    let hall = Hall::open().await;
    let path = hall.address("alice", "/alice/x", "CREATE");
    let own = hall.client.send("PUT", &path, &[], "").await;
    assert!(own.header("location").starts_with(&hall.client.base), "{own:?}");
    for (host, status) in [("evil.example", 421), ("192.0.2.1:8080", 400)] {
        let answer = hall.client.send("PUT", &path, &[("host", host)], "").await;
        assert_eq!((answer.status, answer.header("location")), (status, ""), "{answer:?}");
        let open = hall.address("alice", "/alice/x", "OPEN&noredirect=true");
        let answer = hall.client.get(&open, &[("host", host)]).await;
        assert!(answer.status == status && !answer.text.contains("delegation"), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_made_of_the_public_address() {
    let public_url = Some("https://berth.example.org".to_owned());
    let hall = Hall::with(None, StateOptions { public_url, ..StateOptions::default() }).await;
    let path = hall.address("alice", "/alice/x", "CREATE");
    for host in ["berth.example.org", "127.0.0.1", "192.0.2.1"] {
        let answer = hall.client.send("PUT", &path, &[("host", host)], "").await;
        let location = answer.header("location");
        assert!(location.starts_with("https://berth.example.org/webhdfs/"), "{host}: {answer:?}");
    }
}
