use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::cluster::GpuRuntime;

use crate::docker::{DockerEngine, Transport};
use crate::engine::Engine;
use crate::model::{EngineError, OwnNetwork, Result};
use crate::simulated::{SimAddress, Simulated};

/// How a node's engine is reached.
#[derive(Debug, Clone, Default)]
pub struct EndpointOptions {
    /// `unix:///path`, `tcp://host:port`, `ssh://[user@]host[:port]` or `sim://name?…`
    /// ([`crate::simulated`] describes the last).
    pub endpoint: String,
    /// How containers of this node get GPUs; decides whether the engine is asked for them.
    pub gpu_runtime: GpuRuntime,
    /// Folder of credentials: `ca.pem`, `cert.pem` and `key.pem` for `tcp://`; for `ssh://` the
    /// private key `key.pem`, without which OpenSSH's own configuration and agent decide, and with
    /// it, if it is there, the keys of the machine, `known_hosts`.
    pub tls: Option<PathBuf>,
    /// The network of this name, made if it is not there, is what containers may have in place of
    /// the node's; [`crate::EngineInfo::tasks_address`] tells the address it gives them.
    pub network: Option<OwnNetwork>,
}

/// Makes the engine of an endpoint. Nothing is asked of it yet: an engine that is down shows at
/// the first call, as [`EngineError::Unreachable`], and is found again once it is up.
///
/// # Errors
/// [`EngineError::Endpoint`] when the endpoint is not understood, credentials are missing, or it
/// would send commands that amount to `root` over an open network.
pub fn connect(options: &EndpointOptions) -> Result<Arc<dyn Engine>> {
    let fail =
        |message: String| EngineError::Endpoint { endpoint: options.endpoint.clone(), message };
    let (scheme, rest) = options.endpoint.split_once("://").ok_or_else(|| fail(ALLOWED.into()))?;
    let credentials = options.tls.as_deref();
    let transport = match scheme {
        "sim" => {
            let address = SimAddress::parse(rest).map_err(fail)?;
            return Ok(Arc::new(Simulated::open(address)));
        }
        "unix" => unix(rest).map_err(fail)?,
        "tcp" => tcp(rest, credentials).map_err(fail)?,
        "ssh" => ssh(rest, credentials).map_err(fail)?,
        _ => return Err(fail(ALLOWED.into())),
    };
    let network = options.network.clone();
    Ok(Arc::new(DockerEngine::new(transport, options.gpu_runtime, network)))
}

const ALLOWED: &str =
    "allowed are unix:///path, tcp://host:port, ssh://[user@]host[:port] and sim://name";

fn unix(path: &str) -> std::result::Result<Transport, String> {
    if path.starts_with('/') {
        Ok(Transport::Unix { path: path.to_owned() })
    } else {
        Err("unix:// is followed by an absolute path, as in unix:///var/run/docker.sock".into())
    }
}

fn tcp(authority: &str, credentials: Option<&Path>) -> std::result::Result<Transport, String> {
    let authority = authority.trim_end_matches('/');
    let (host, port) = authority
        .rsplit_once(':')
        .ok_or("tcp:// is followed by host:port, as in tcp://node-1:2376")?;
    port.parse::<u16>().map_err(|_| format!("{port} is not a port"))?;
    let address = authority.to_owned();
    match credentials {
        Some(folder) => {
            Ok(Transport::Tls { address, files: files(folder, ["ca.pem", "cert.pem", "key.pem"])? })
        }
        None if is_loopback(host) => Ok(Transport::Tcp { address }),
        None => Err(format!(
            "without certificates whoever reaches {authority} is root there: give a folder with \
             ca.pem, cert.pem and key.pem (plain tcp is accepted to loopback addresses only)"
        )),
    }
}

fn ssh(authority: &str, credentials: Option<&Path>) -> std::result::Result<Transport, String> {
    let authority = authority.trim_end_matches('/');
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.is_empty() || host.starts_with('-') || authority.contains('/') {
        return Err("ssh:// is followed by [user@]host[:port] and nothing more".into());
    }
    let key = match credentials {
        Some(folder) => Some(files(folder, ["key.pem"])?[0].clone()),
        None => None,
    };
    let hosts = credentials.map(|folder| folder.join("known_hosts")).filter(|file| file.exists());
    Ok(Transport::Ssh { address: authority.to_owned(), key, hosts })
}

fn files<const N: usize>(
    folder: &Path,
    names: [&str; N],
) -> std::result::Result<[PathBuf; N], String> {
    for name in names {
        let path = folder.join(name);
        std::fs::File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(names.map(|name| folder.join(name)))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(endpoint: &str) -> String {
        let options = EndpointOptions { endpoint: endpoint.into(), ..Default::default() };
        match connect(&options) {
            Err(EngineError::Endpoint { endpoint: told, message }) => {
                assert_eq!(told, endpoint);
                message
            }
            other => panic!("{endpoint} gave {other:?}"),
        }
    }

    #[test]
    fn endpoints_are_checked() {
        assert!(refused("/var/run/docker.sock").contains("unix:///path"));
        assert!(refused("http://node").contains("allowed are"));
        assert!(refused("unix://relative").contains("absolute path"));
        assert!(refused("tcp://node-1").contains("host:port"));
        assert!(refused("tcp://node-1:99999").contains("not a port"));
        assert!(refused("ssh://-oProxyCommand=x").contains("[user@]host"));
        assert!(refused("ssh://node/socket").contains("nothing more"));
    }

    #[test]
    fn plain_tcp_goes_to_loopback_only() {
        assert!(refused("tcp://10.0.0.1:2375").contains("ca.pem"));
        for endpoint in ["tcp://127.0.0.2:2375", "tcp://localhost:2375", "tcp://[::1]:2375"] {
            let options = EndpointOptions { endpoint: endpoint.into(), ..Default::default() };
            assert!(connect(&options).is_ok(), "{endpoint}");
        }
    }

    #[test]
    fn missing_certificates_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), "x").unwrap();
        let options = EndpointOptions {
            endpoint: "tcp://10.0.0.1:2376".into(),
            tls: Some(folder.path().into()),
            ..Default::default()
        };
        let error = connect(&options).unwrap_err().to_string();
        assert!(error.contains("cert.pem"), "{error}");
    }
}
