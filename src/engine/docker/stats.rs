use std::collections::HashMap;

use bollard::models::{
    ContainerBlkioStats, ContainerMemoryStats, ContainerNetworkStats, ContainerStatsResponse,
};
use bollard::query_parameters::StatsOptions;
use futures::StreamExt;

use super::cache::Sample;
use super::connection::CALL;
use super::failure::{classify, status_of};
use super::{DockerEngine, clock};
use crate::model::{EngineError, Result, Stats};

impl DockerEngine {
    /// One sample; the processor's share is counted from the sample before it, or from the start.
    pub(super) async fn usage(&self, name: &str) -> Result<Stats> {
        let options = StatsOptions { stream: false, one_shot: true };
        let call = self.connection.call(CALL, |docker| async move {
            docker.stats(name, Some(options)).next().await.transpose()
        });
        let answer = call.await.map_err(|error| match status_of(&error) {
            Some(404) => EngineError::NoContainer(name.to_owned()),
            Some(_) | None => classify(error, name),
        })?;
        let answer = answer.ok_or_else(|| EngineError::Failed("no statistics".to_owned()))?;
        let sample = sample(&answer);
        let known = self.cache.sample(answer.id.as_deref().unwrap_or(name), sample);
        let before = match known {
            Some(before) => Some(before),
            None => self.beginning(name).await?,
        };
        let (disk_read, disk_written) = answer.blkio_stats.as_ref().map_or((0, 0), disk);
        let (network_in, network_out) = network(answer.networks.as_ref());
        Ok(Stats {
            cpus: before.map_or(0.0, |before| cores(before, sample)),
            memory_bytes: answer.memory_stats.as_ref().map_or(0, memory),
            network_in,
            network_out,
            disk_read,
            disk_written,
        })
    }

    /// A container when it started: it had used nothing.
    async fn beginning(&self, name: &str) -> Result<Option<Sample>> {
        let Some(found) = self.inspect_raw(name).await? else {
            return Err(EngineError::NoContainer(name.to_owned()));
        };
        let started = found.state.and_then(|state| state.started_at);
        Ok(started.as_deref().and_then(clock::parse).map(|at| Sample { at: nanos(at), used: 0 }))
    }
}

fn sample(answer: &ContainerStatsResponse) -> Sample {
    let used = answer
        .cpu_stats
        .as_ref()
        .and_then(|cpu| cpu.cpu_usage.as_ref())
        .and_then(|usage| usage.total_usage)
        .unwrap_or(0);
    let at = answer.read.as_deref().and_then(clock::parse).map_or(0, nanos);
    Sample { at, used }
}

fn nanos((seconds, nanos): (i64, u32)) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

fn cores(before: Sample, now: Sample) -> f64 {
    let span = now.at - before.at;
    if span <= 0 {
        return 0.0;
    }
    now.used.saturating_sub(before.used) as f64 / span as f64
}

/// In use without the file cache that the kernel gives back first.
fn memory(stats: &ContainerMemoryStats) -> u64 {
    let cache = stats
        .stats
        .as_ref()
        .and_then(|parts| parts.get("total_inactive_file").or_else(|| parts.get("inactive_file")));
    stats.usage.unwrap_or(0).saturating_sub(cache.copied().unwrap_or(0))
}

/// All zero on the host's network, which belongs to no container.
fn network(networks: Option<&HashMap<String, ContainerNetworkStats>>) -> (u64, u64) {
    networks.into_iter().flat_map(HashMap::values).fold((0, 0), |(received, sent), one| {
        (received + one.rx_bytes.unwrap_or(0), sent + one.tx_bytes.unwrap_or(0))
    })
}

/// Of all disks, as far as the kernel counts them by container.
fn disk(stats: &ContainerBlkioStats) -> (u64, u64) {
    let entries = stats.io_service_bytes_recursive.iter().flatten();
    entries.fold((0, 0), |(read, written), entry| {
        let bytes = entry.value.unwrap_or(0);
        match entry.op.as_deref() {
            Some(op) if op.eq_ignore_ascii_case("read") => (read + bytes, written),
            Some(op) if op.eq_ignore_ascii_case("write") => (read, written + bytes),
            Some(_) | None => (read, written),
        }
    })
}
