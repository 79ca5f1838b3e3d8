//! Against Pebble, the authority that Let's Encrypt gives for tests.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use server::listen::tls::{Acme, Source, Tls};
use server::state::StateOptions;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_util::task::TaskTracker;

use super::tls::{NAME, connect, pair};
use super::*;
use crate::fakes::World;
use crate::server::Server;

/// An authority, and a name server by which every name leads here.
struct Authority {
    programs: [Child; 2],
    directory: u16,
    management: u16,
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn start(program: &str, arguments: &[String], log: &Path) -> Child {
    let log = std::fs::File::create(log).unwrap();
    let started = Command::new(program)
        .args(arguments)
        .env("PEBBLE_VA_NOSLEEP", "1")
        .env("PEBBLE_WFE_NONCEREJECT", "0")
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn();
    started.unwrap_or_else(|error| panic!("{program}, Debian's package pebble: {error}"))
}

impl Authority {
    /// One that looks for us at this port. Its own certificate is `authority.pem` in the folder.
    fn start(folder: &Path, port: u16) -> Self {
        let [directory, management, names, names_management] = [(); 4].map(|()| free_port());
        let (certificate, key) = pair();
        let [pem, secret, config] =
            ["authority.pem", "authority.key", "pebble.json"].map(|name| folder.join(name));
        std::fs::write(&pem, certificate.pem()).unwrap();
        std::fs::write(&secret, key.serialize_pem()).unwrap();
        let settings = json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{directory}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": pem,
            "privateKey": secret,
            "httpPort": free_port(),
            "tlsPort": port,
            "ocspResponderURL": "",
            "externalAccountBindingRequired": false,
        }});
        std::fs::write(&config, settings.to_string()).unwrap();
        let off =
            ["-http01", "-https01", "-tlsalpn01", "-defaultIPv6"].map(|flag| format!("{flag}="));
        let mut arguments = off.to_vec();
        arguments.push(format!("-dns01=127.0.0.1:{names}"));
        arguments.push(format!("-management=127.0.0.1:{names_management}"));
        let resolver = start("pebble-challtestsrv", &arguments, &folder.join("names.log"));
        let arguments =
            [format!("-config={}", config.display()), format!("-dnsserver=127.0.0.1:{names}")];
        let authority = start("pebble", &arguments, &folder.join("pebble.log"));
        Self { programs: [resolver, authority], directory, management }
    }

    /// The root of what it signs, as soon as it answers.
    async fn root(&self, folder: &Path) -> CertificateDer<'static> {
        let url = format!("https://127.0.0.1:{}/roots/0", self.management);
        let file = folder.join("authority.pem");
        let pem = until("the authority answers", async || {
            let (url, file) = (url.clone(), file.clone());
            tokio::task::spawn_blocking(move || fetch(&url, &file)).await.unwrap()
        });
        CertificateDer::from_pem_slice(pem.await.as_bytes()).unwrap()
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        for program in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

fn fetch(url: &str, authority: &Path) -> Option<String> {
    let pem = std::fs::read(authority).unwrap();
    let root = ureq::tls::Certificate::from_pem(&pem).unwrap();
    let tls = ureq::tls::TlsConfig::builder()
        .root_certs(ureq::tls::RootCerts::new_with_certs(&[root]))
        .build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(tls).build().into();
    agent.get(url).call().ok()?.body_mut().read_to_string().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_fetched_kept_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let reserved = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = reserved[0].local_addr().unwrap().port();
    let authority = Authority::start(folder, port);
    let root = authority.root(folder).await;
    let source = Source::Acme(Acme {
        domains: vec![NAME.to_owned()],
        contact: vec!["ops@berth.test".to_owned()],
        directory: format!("https://127.0.0.1:{}/dir", authority.directory),
        directory_ca: Some(folder.join("authority.pem")),
        cache: folder.join("acme"),
    });
    let stop = CancellationToken::new();
    let [first, again] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let open = async |folder: &Path, port: u16| {
        let tls =
            Tls::start(source.clone(), (&TaskTracker::new(), &stop), &Arc::default()).unwrap();
        let backend = World::new().backend();
        let options = StateOptions { tls: true, ..StateOptions::default() };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Server::at(address, folder, backend, options, Limits::default(), Some(tls)).await
    };
    drop(reserved);
    let server = open(first.path(), port).await;
    let shown = async |address| connect(address, root.clone(), "h2").await.ok().map(drop);
    until("the certificate is fetched", async || shown(server.address).await).await;
    let mode =
        std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(folder.join("acme")).unwrap());
    assert_eq!(mode & 0o077, 0, "keys are nobody else's");
    until("it is kept", async || {
        (std::fs::read_dir(folder.join("acme")).unwrap().count() == 2).then_some(())
    })
    .await;

    drop(authority);
    let second = open(again.path(), 0).await;
    until("it is used again without the authority", async || shown(second.address).await).await;
    stop.cancel();
}
