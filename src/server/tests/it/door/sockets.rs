use super::*;

#[tokio::test]
async fn both_loopback_addresses_are_ours() {
    let bare = Bare::open(Router::new(), Limits::default());
    let port = bare.address.port();
    for address in ["127.0.0.1", "::1"] {
        TcpStream::connect((address, port)).await.unwrap();
        assert!(std::net::TcpListener::bind((address, port)).is_err(), "{address} is taken");
    }
    assert!(std::net::TcpListener::bind(("0.0.0.0", port)).is_err());
    assert!(std::net::TcpListener::bind(("::", port)).is_err());
}

#[tokio::test]
async fn all_addresses_are_those_of_ipv6_too() {
    let sockets = bind("0.0.0.0:0".parse().unwrap()).unwrap();
    let port = sockets[0].local_addr().unwrap().port();
    for address in ["127.0.0.1", "::1"] {
        TcpStream::connect((address, port)).await.unwrap();
        assert!(std::net::TcpListener::bind((address, port)).is_err(), "{address} is taken");
    }
}

#[tokio::test]
async fn whoever_has_the_port_or_the_other_loopback_is_named() {
    for (wanted, other) in [("127.0.0.1", "[::1]"), ("[::1]", "127.0.0.1"), ("0.0.0.0", "[::1]")] {
        let thief = std::net::TcpListener::bind(format!("{other}:0")).unwrap();
        let port = thief.local_addr().unwrap().port();
        for wanted in [wanted, other] {
            let wanted: SocketAddr = format!("{wanted}:{port}").parse().unwrap();
            let error = bind(wanted).unwrap_err().to_string();
            let process = format!("process {}", std::process::id());
            for word in [&format!(":{port}"), "taken by", &process, "choose another port"] {
                assert!(error.contains(word), "{word:?} is not in {error:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_port_is_taken_back_at_once() {
    let bare = Bare::open(Router::new(), Limits::default());
    let address = bare.address;
    // Closed by the server, these connections fade on its side.
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(bare.connect().await);
    }
    bare.stop.cancel();
    timeout(PATIENCE, bare.ended).await.unwrap().unwrap();
    for mut stream in open {
        rest(&mut stream).await;
    }
    assert_eq!(bind(address).unwrap().len(), 2);
}
