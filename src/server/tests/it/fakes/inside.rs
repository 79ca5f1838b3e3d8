//! What goes on inside tasks, and the ways into them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use api::metrics::{JobMetrics, JobUse, Metrics, MetricsAsk, NodeMetrics, NodeMetricsAsk};
use api::proxy::{Proxy, TaskPort, Upstream};
use api::ssh::{KeyPair, PublicKeyView, Ssh, SshAccess, SshTask};
use api::task_files::{Content, TaskFile, TaskFiles};
use api::terminals::{
    Terminal, TerminalControls, TerminalEnd, TerminalEvent, TerminalId, TerminalRequest,
    TerminalSize, Terminals,
};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::ids::JobKey;
use protocol::state::State;
use protocol::time::Timestamp;

use super::World;
use crate::way::Local;

#[async_trait]
impl Proxy for World {
    async fn upstream(&self, actor: &Actor, port: &TaskPort) -> Result<Upstream> {
        if actor.user != port.job.user && !actor.admin {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        if port.port.as_str() != "http" {
            return Err(Error::new(ErrorCode::NoTaskError, "no such port"));
        }
        match self.upstream.load(Ordering::SeqCst) {
            0 => Err(Error::new(ErrorCode::UnavailableError, "worker-0 does not run")),
            port => {
                let way = Arc::new(Local(port));
                Ok(Upstream { address: "127.0.0.1".into(), port, way })
            }
        }
    }
    async fn enter(&self, actor: &Actor, port: &TaskPort, _: &str) -> Result<()> {
        self.upstream(actor, port).await.map(drop)
    }
}

/// A shell that repeats what is typed, and tells its size when that changes.
struct Parrot(tokio::sync::mpsc::Sender<TerminalEvent>);

#[async_trait]
impl TerminalControls for Parrot {
    async fn write(&self, bytes: Bytes) -> bool {
        self.0.send(TerminalEvent::Output(bytes)).await.is_ok()
    }
    async fn resize(&self, size: TerminalSize) {
        let text = format!("[{}x{}]", size.columns, size.rows);
        let _ = self.0.send(TerminalEvent::Output(text.into())).await;
    }
    async fn received(&self, bytes: u64) {
        let _ = self.0.send(TerminalEvent::Output(format!("[{bytes}]").into())).await;
    }
    async fn close(&self) {
        let _ = self.0.send(TerminalEvent::Ended(TerminalEnd::Closed)).await;
    }
}

#[async_trait]
impl Terminals for World {
    async fn open(&self, actor: &Actor, request: TerminalRequest) -> Result<Terminal> {
        if actor.user != request.job.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        if request.index > 0 {
            return Err(Error::new(ErrorCode::UnavailableError, "worker-1 does not run"));
        }
        let (said, output) = tokio::sync::mpsc::channel(16);
        let resumed = request.back_to.is_some();
        let (id, offset) = request.back_to.unwrap_or((TerminalId("shell".into()), 0));
        let output = tokio_stream::wrappers::ReceiverStream::new(output).boxed();
        Ok(Terminal { id, resumed, offset, output, controls: Box::new(Parrot(said)) })
    }
}

#[async_trait]
impl Metrics for World {
    async fn of_job(&self, _: &Actor, ask: &MetricsAsk) -> Result<JobMetrics> {
        let attempt = ask.attempt.unwrap_or_default();
        let points = ask.points.unwrap_or_default();
        let from = ask.from.unwrap_or_default();
        Ok(JobMetrics { attempt, from, points, ..JobMetrics::default() })
    }
    async fn use_of_job(&self, _: &Actor, _: &JobKey) -> Result<JobUse> {
        Ok(JobUse::default())
    }
    async fn of_node(&self, _: &Actor, _: &NodeMetricsAsk) -> Result<NodeMetrics> {
        Ok(NodeMetrics::default())
    }
}

#[async_trait]
impl TaskFiles for World {
    async fn read(&self, actor: &Actor, file: &TaskFile) -> Result<Content> {
        if actor.user != file.job.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        let bytes = Bytes::from(format!("what is in {}", file.path));
        Ok(Content { size: bytes.len() as u64, bytes: futures::stream::iter([Ok(bytes)]).boxed() })
    }
    async fn write(
        &self,
        actor: &Actor,
        file: &TaskFile,
        mut bytes: BoxStream<'static, Result<Bytes>>,
    ) -> Result<u64> {
        self.read(actor, file).await?;
        let mut written = 0;
        while let Some(piece) = bytes.next().await {
            written += piece?.len() as u64;
        }
        Ok(written)
    }
}

#[async_trait]
impl Ssh for World {
    async fn access(&self, actor: &Actor, key: &JobKey) -> Result<SshAccess> {
        if actor.user != key.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        Ok(SshAccess {
            user: "root".into(),
            keys: KeyPair {
                file_name: key.to_string(),
                public: "ssh-ed25519 AAAA alice~train".into(),
                private: "the private half".into(),
                putty: "PuTTY's private half".into(),
            },
            folder: "file:///files/Container/alice/train/ssh/application_1_0001/.ssh".into(),
            tasks: vec![SshTask {
                role: "worker".parse().unwrap(),
                index: 0,
                container: "berth-x-1-a0-r0-t0-n0".into(),
                address: "10.0.0.8".into(),
                port: 34235,
                state: State::Running,
            }],
            host_key: "ssh-ed25519 BBBB".into(),
        })
    }
    async fn public_keys(&self, _: &Actor) -> Result<Vec<PublicKeyView>> {
        Ok(Vec::new())
    }
    async fn add_public_key(&self, _: &Actor, label: &str, _: &str) -> Result<PublicKeyView> {
        Ok(PublicKeyView {
            id: 7,
            label: label.into(),
            kind: "ssh-ed25519".into(),
            fingerprint: "SHA256:abc".into(),
            created_at: Timestamp(5),
        })
    }
    async fn remove_public_key(&self, _: &Actor, id: i64) -> Result<()> {
        match id {
            7 => Ok(()),
            _ => Err(Error::new(ErrorCode::InvalidParametersError, "you have no such key")),
        }
    }
}
