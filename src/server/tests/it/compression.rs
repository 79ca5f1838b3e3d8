//! What is compressed on its way, and what is not.

use crate::fakes::World;
use crate::server::{ALICE, Server};

const BROTLI: (&str, &str) = ("accept-encoding", "gzip, deflate, br");
const GZIP: (&str, &str) = ("accept-encoding", "gzip");

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_what_they_ask_for_are_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    for path in ["/", "/jobs", "/fn/jobs/list?query%5Blimit%5D=50", "/api/v2/jobs"] {
        let plain = client.get_bytes(path, &[ALICE]).await;
        assert_eq!((plain.status, plain.header("content-encoding")), (200, ""), "{path}");
        let packed = client.get_bytes(path, &[ALICE, BROTLI]).await;
        assert_eq!(packed.header("content-encoding"), "br", "{path}");
        assert!(packed.header("vary").contains("accept-encoding"), "{path}");
        assert!(packed.body.len() * 2 < plain.body.len(), "{path}: {}", packed.body.len());
        // The client of these tests unpacks it and says no more of it.
        let packed = client.get_bytes(path, &[ALICE, GZIP]).await;
        assert!(packed.header("vary").contains("accept-encoding"), "{path}");
        assert!(packed.body.starts_with(&plain.body[..9]), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_site_asks_for_tells_nothing_by_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let client = Server::start(folder.path(), &World::new()).await.client();
    for (site, encoding) in
        [("cross-site", ""), ("same-site", ""), ("same-origin", "br"), ("none", "br")]
    {
        let from = ("sec-fetch-site", site);
        let page = client.get_bytes("/jobs", &[ALICE, BROTLI, from]).await;
        assert_eq!(page.header("content-encoding"), encoding, "{site}");
    }
}
