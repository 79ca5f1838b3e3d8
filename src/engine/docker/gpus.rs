use std::time::Duration;

use bollard::models::{ContainerCreateBody, HostConfig};
use bollard::query_parameters::{
    CreateContainerOptions, LogsOptions, RemoveContainerOptions, StartContainerOptions,
    WaitContainerOptions,
};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::GpuType;
use protocol::resources::Gpu;

use super::failure::classify;
use super::{CALL, DockerEngine, WORK, shape, streams};
use crate::{EngineError, Result};

/// `nvidia-smi` waits for drivers that are being loaded.
const DRIVER: Duration = Duration::from_secs(120);

impl DockerEngine {
    /// Runs `nvidia-smi`, which the NVIDIA runtime puts into every container that has a GPU.
    /// Empty where the engine has no such runtime.
    pub(super) async fn ask_for_gpus(&self, image: &str) -> Result<Vec<Gpu>> {
        let info = self.connection.call(CALL, |docker| async move { docker.info().await });
        let info = info.await.map_err(|error| classify(error, ""))?;
        if !info.runtimes.unwrap_or_default().contains_key("nvidia") {
            return Ok(Vec::new());
        }
        let call = self.connection.call(WORK, |docker| async move {
            docker.create_container(None::<CreateContainerOptions>, helper(image)).await
        });
        let id = call.await.map_err(|error| classify(error, image))?.id;
        let told = self.run_helper(&id).await;
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        let call = self.connection.call(WORK, |docker| {
            let id = id.clone();
            async move { docker.remove_container(&id, Some(options)).await }
        });
        call.await.map_err(|error| classify(error, &id))?;
        let gpus = parse(&told?).map_err(EngineError::Failed)?;
        self.cache.set_gpus(gpus.clone());
        Ok(gpus)
    }

    async fn run_helper(&self, id: &str) -> Result<String> {
        let call = self.connection.call(DRIVER, |docker| async move {
            docker.start_container(id, None::<StartContainerOptions>).await?;
            let mut end = docker.wait_container(id, None::<WaitContainerOptions>);
            end.next().await.transpose()?;
            let options = LogsOptions { stdout: true, tail: "all".into(), ..Default::default() };
            docker.logs(id, Some(options)).map_ok(streams::chunk).try_collect::<Vec<_>>().await
        });
        let chunks = call.await.map_err(|error| classify(error, id))?;
        let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.bytes).collect();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn helper(image: &str) -> ContainerCreateBody {
    let command = ["nvidia-smi", "--query-gpu=index,name,uuid", "--format=csv,noheader"];
    ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(command.map(str::to_owned).to_vec()),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            device_requests: Some(vec![shape::nvidia(None)]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Reads `nvidia-smi --query-gpu=index,name,uuid --format=csv,noheader`.
fn parse(text: &str) -> std::result::Result<Vec<Gpu>, String> {
    let mut gpus = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let gpu = gpu(line).ok_or_else(|| format!("nvidia-smi said: {line}"))?;
        gpus.push(gpu);
    }
    gpus.sort_by_key(|gpu| gpu.index);
    Ok(gpus)
}

fn gpu(line: &str) -> Option<Gpu> {
    let mut parts = line.split(',').map(str::trim);
    let index = parts.next()?.parse().ok()?;
    let model = parts.next()?.split_whitespace().collect::<Vec<_>>().join("-");
    let uuid = parts.next()?.to_owned();
    Some(Gpu {
        index,
        gpu_type: GpuType::new(model).ok()?,
        healthy: uuid.starts_with("GPU-"),
        uuid: uuid.starts_with("GPU-").then_some(uuid),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As two A100 and a card that fell off the bus answer.
    const RECORDED: &str = "\
0, NVIDIA A100-SXM4-80GB, GPU-5ae7c3a1-3b0f-2f6c-9a11-1f3f60a3d1c2
1, NVIDIA A100-SXM4-80GB, GPU-0b9d5f0e-7c55-9f7c-6a57-b8e0c1a4d6aa
2, NVIDIA A100-SXM4-80GB, [Unknown Error]
";

    #[test]
    fn gpus_are_read() {
        let gpus = parse(RECORDED).unwrap();
        assert_eq!(gpus.iter().map(|gpu| gpu.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(gpus[0].gpu_type.as_str(), "NVIDIA-A100-SXM4-80GB");
        assert_eq!(gpus[1].uuid.as_deref(), Some("GPU-0b9d5f0e-7c55-9f7c-6a57-b8e0c1a4d6aa"));
        assert!(gpus[0].healthy && gpus[1].healthy && !gpus[2].healthy);
        assert_eq!(gpus[2].uuid, None);
    }

    #[test]
    fn a_driver_that_does_not_answer_is_not_a_node_without_gpus() {
        let said = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.";
        assert!(parse(said).unwrap_err().contains("couldn't communicate"));
        assert_eq!(parse("").unwrap(), []);
    }
}
