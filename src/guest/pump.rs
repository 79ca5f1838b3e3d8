//! Moving data between a channel and what is behind it.

use std::io;

use bytes::BytesMut;
use russh::{ChannelId, ChannelMsg, ChannelReadHalf, ChannelWriteHalf};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::spool::Spool;

/// Bytes read at once: what fits into one packet.
const CHUNK: usize = 32 << 10;

/// The number that SSH has for standard error.
pub(crate) const ERRORS: u32 = 1;

/// Which of a session's outputs data belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    Standard,
    Errors,
}

/// What a channel sends through, be it the server's or a client's.
pub(crate) trait Message: From<(ChannelId, ChannelMsg)> + Send + Sync + 'static {}

impl<M: From<(ChannelId, ChannelMsg)> + Send + Sync + 'static> Message for M {}

/// Reads some data; `None`: the end.
pub(crate) async fn read(source: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<BytesMut>> {
    let mut data = BytesMut::with_capacity(CHUNK);
    let count = source.read_buf(&mut data).await?;
    Ok((count > 0).then_some(data))
}

/// Sends data, as fast as the other side takes them.
pub(crate) async fn send<M: Message>(
    channel: &ChannelWriteHalf<M>,
    output: Output,
    data: BytesMut,
) -> Result<(), russh::Error> {
    match output {
        Output::Standard => channel.data_bytes(data.freeze()).await,
        Output::Errors => channel.extended_data_bytes(ERRORS, data.freeze()).await,
    }
}

/// Sends everything up to the end, or until the other side is gone.
pub(crate) async fn send_all<M: Message>(
    mut source: impl AsyncRead + Unpin,
    channel: &ChannelWriteHalf<M>,
    output: Output,
) {
    while let Ok(Some(data)) = read(&mut source).await {
        if send(channel, output, data).await.is_err() {
            return;
        }
    }
}

/// Puts aside what the other side sends. Returns when it has closed the channel.
pub(crate) async fn receive_all(channel: &mut ChannelReadHalf, spool: &Spool) {
    while let Some(message) = channel.wait().await {
        match message {
            ChannelMsg::Data { data } => spool.push(data).await,
            ChannelMsg::Eof => spool.end(),
            ChannelMsg::Close => return,
            _ => {}
        }
    }
}

/// Hands on what was put aside up to its end, then closes the target. What a target does not take
/// any more is thrown away, or it would pile up.
pub(crate) async fn hand_on(spool: &Spool, mut target: impl AsyncWrite + Unpin) {
    while let Ok(Some(data)) = spool.take().await {
        if target.write_all(&data).await.is_err() {
            drop(target);
            while let Ok(Some(_)) = spool.take().await {}
            return;
        }
    }
    let _ = target.shutdown().await;
}
