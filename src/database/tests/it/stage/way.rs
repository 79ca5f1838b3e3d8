//! A network between a server and its PostgreSQL that may be cut.

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A way to PostgreSQL on which nothing moves while it is stuck.
pub(crate) struct Way {
    pub(crate) url: String,
    pub(crate) stuck: watch::Sender<bool>,
}

impl Way {
    pub(crate) async fn to(url: &str) -> Result<Self> {
        let (server, name) = url.rsplit_once('/').context("a database has a name")?;
        let (user, server) = server.rsplit_once('@').context("somebody connects to it")?;
        let door = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("{user}@{}/{name}", door.local_addr()?);
        let (stuck, is_stuck) = watch::channel(false);
        tokio::spawn(let_in(door, server.to_owned(), is_stuck));
        Ok(Self { url, stuck })
    }
}

async fn let_in(door: TcpListener, server: String, is_stuck: watch::Receiver<bool>) {
    while let Ok((near, _)) = door.accept().await {
        let Ok(far) = TcpStream::connect(&server).await else { return };
        let (from_near, to_near) = near.into_split();
        let (from_far, to_far) = far.into_split();
        tokio::spawn(pass_on(from_near, to_far, is_stuck.clone()));
        tokio::spawn(pass_on(from_far, to_near, is_stuck.clone()));
    }
}

async fn pass_on(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut is_stuck: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let moves = is_stuck.wait_for(|stuck| !*stuck).await.is_ok();
        if !moves || to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
