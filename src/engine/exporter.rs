//! What the exporters of the vendors tell of a node's GPUs: dcgm-exporter of NVIDIA's, AMD's device metrics
//! exporter, and Ascend's npu-exporter, all in the text format of Prometheus over HTTP.

mod gpus;
mod text;

use std::fmt::Display;
use std::pin::pin;

use bytes::Bytes;
use futures::future::{Either, select};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::model::{EngineError, Result};

/// The most bytes of an answer.
const LARGEST: usize = 4 * 1024 * 1024;

/// What an exporter tells of one GPU; what it does not tell is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuSample {
    /// Its index on the node.
    pub index: Option<u32>,
    /// Its UUID; of an instance of MIG that of the GPU of which it is a part.
    pub uuid: Option<String>,
    /// The number of the instance on that GPU, if it is one.
    pub instance: Option<u32>,
    /// How busy it is, in percent.
    pub load: Option<f32>,
    /// Bytes of its memory in use.
    pub memory: Option<f32>,
    /// Bytes of its memory.
    pub all_memory: Option<f32>,
    /// Watts.
    pub power: Option<f32>,
    /// Degrees Celsius.
    pub temperature: Option<f32>,
    /// MHz of its cores.
    pub clock: Option<f32>,
    /// Errors of its memory that could not be corrected.
    pub ecc_errors: Option<f32>,
    /// The code of the last error that its driver told of; 0: none.
    pub xid: Option<f32>,
    /// Why its clocks are lower than they could be, as bits of NVIDIA's (NVML).
    pub throttle: Option<f32>,
}

/// Asks an exporter at `http://host[:port]/path`, for as long as that takes: give it a limit.
///
/// # Errors
/// [`EngineError::Unreachable`] where nobody answers there, [`EngineError::Failed`] for an answer that is
/// none.
pub async fn read(address: &str) -> Result<Vec<GpuSample>> {
    let text = fetch(address).await?;
    Ok(gpus::read(&text))
}

/// Why an exporter cannot be asked at this address; `None`: it can.
fn refusal(address: &str) -> Option<&'static str> {
    let Ok(uri) = address.parse::<Uri>() else { return Some("is no address") };
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(host)) if !host.is_empty() => None,
        _ => Some("does not begin with http:// and a host"),
    }
}

async fn fetch(address: &str) -> Result<String> {
    let failed = |error: &dyn Display| EngineError::Failed(format!("{address}: {error}"));
    if let Some(refusal) = refusal(address) {
        return Err(failed(&refusal));
    }
    let uri = address.parse::<Uri>().map_err(|error| failed(&error))?;
    let (host, port) = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(80));
    let unreachable = |error: &dyn Display| EngineError::Unreachable(format!("{address}: {error}"));
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await;
    let stream = stream.map_err(|error| unreachable(&error))?;
    let opened = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = opened.map_err(|error| unreachable(&error))?;
    let request = Request::get(uri.path_and_query().map_or("/", |path| path.as_str()))
        .header(HOST, uri.authority().map_or(host, |authority| authority.as_str()))
        .header(ACCEPT, "text/plain")
        .body(Empty::<Bytes>::new())
        .map_err(|error| failed(&error))?;
    let asked = async move {
        let answer = sender.send_request(request).await.map_err(|error| unreachable(&error))?;
        if !answer.status().is_success() {
            return Err(failed(&answer.status()));
        }
        let body = Limited::new(answer.into_body(), LARGEST).collect().await;
        let body = body.map_err(|error| failed(&error))?.to_bytes();
        String::from_utf8(body.into()).map_err(|error| failed(&error))
    };
    // The connection goes on as long as it is looked at.
    match select(pin!(asked), pin!(connection)).await {
        Either::Left((text, _)) => text,
        Either::Right((_, asked)) => asked.await,
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request so.
    async fn answering(answer: &'static str) -> (String, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/metrics", listener.local_addr().unwrap());
        let served = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(stream.read_u8().await.unwrap());
            }
            assert!(asked.starts_with(b"GET /metrics HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        (address, served)
    }

    #[tokio::test]
    async fn an_exporter_is_asked_over_http() {
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\
                      DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 97\n";
        let (address, served) = answering(answer).await;
        let gpus = read(&address).await.unwrap();
        let expected = GpuSample { index: Some(0), load: Some(97.0), ..GpuSample::default() };
        assert_eq!(gpus, [expected]);
        served.await.unwrap();
    }

    #[tokio::test]
    async fn what_is_no_answer_is_a_failure() {
        let answer = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
        let (address, served) = answering(answer).await;
        let error = read(&address).await.unwrap_err();
        assert!(matches!(&error, EngineError::Failed(said) if said.contains("503")), "{error:?}");
        served.await.unwrap();
        let error = read(&address).await.unwrap_err();
        assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    }

    #[test]
    fn addresses_are_checked() {
        assert_eq!(refusal("http://gpu-1:9400/metrics"), None);
        assert_eq!(refusal("http://[::1]:9400/metrics"), None);
        for wrong in ["", "gpu-1:9400", "https://gpu-1/metrics", "/metrics", "http://a b/"] {
            assert!(refusal(wrong).is_some(), "{wrong}");
        }
    }
}
