//! Images of containers. Engines merge the container's configuration into that of the image, and
//! most note the container's own beside it: its variables, its command, the keys that its guest is
//! told. So what is committed gets its configuration anew: that of the image it was made from.

use std::collections::HashMap;

use bollard::models::{ContainerConfig, ContainerInspectResponse, ImageConfig, ImageInspect};
use bollard::query_parameters::CommitContainerOptions;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use protocol::guest::{FOLDER, PROGRAM, without_peers};
use serde_json::{Value, json};
use tar::{Archive, Builder, Header};

use super::failure::{classify, status_of};
use super::images::LONG;
use super::{DockerEngine, provide};
use crate::engine::Engine;
use crate::images::Images;
use crate::model::{EngineError, Result};

/// The largest configuration of an OpenSSH client that is looked at, in bytes.
const LARGEST: usize = 1 << 20;

impl DockerEngine {
    /// Makes an image of a container.
    pub(super) async fn save(&self, name: &str, image: &str) -> Result<()> {
        let gone = || EngineError::NoContainer(name.to_owned());
        let found = self.inspect_raw(name).await?.ok_or_else(gone)?;
        let config = found.config.clone().unwrap_or_default();
        let has_guest = config.entrypoint.iter().flatten().next().is_some_and(|p| p == PROGRAM);
        if has_guest && !keys_are_apart(&found) {
            return Err(EngineError::Refused(
                "the container is from before an upgrade, its keys would be in the image: \
                 submit the job again"
                    .to_owned(),
            ));
        }
        let containerd = self.facts().await?.containerd_images;
        if containerd && !has_guest {
            return Err(EngineError::Refused(
                "the job's command would be in the image: tasks must run by Berth's own program"
                    .to_owned(),
            ));
        }
        let original = self.inspect_image(&found.image.unwrap_or_default()).await?;
        let original_config = original.config.clone().unwrap_or_default();
        let ssh_config = client_config(&config);
        let peers = self.without_peers(name, &ssh_config).await?;
        let made = self.commit_raw(name, merged(&original_config, &config)).await;
        // Also where it failed: the container goes on as it was.
        if let Some(before) = peers {
            self.put_file(name, &ssh_config, before).await?;
        }
        let made = made?;
        // One that only lost its name would stay for ever.
        self.remove_image(image).await?;
        let named = if containerd {
            self.tag(&made, image).await
        } else {
            self.renew(&made, &original, image).await
        };
        if named.is_err() || !containerd {
            self.remove_image(&made).await?;
        }
        named
    }

    async fn commit_raw(&self, name: &str, config: ContainerConfig) -> Result<String> {
        let options = CommitContainerOptions {
            container: Some(name.to_owned()),
            pause: true,
            ..Default::default()
        };
        let call = self
            .connection
            .call(LONG, |docker| async move { docker.commit_container(options, config).await });
        match call.await {
            Ok(made) => Ok(made.id),
            Err(error) if status_of(&error) == Some(404) => {
                Err(EngineError::NoContainer(name.to_owned()))
            }
            Err(error) => Err(classify(error, name)),
        }
    }

    /// Names the layers of an image as one with the original's configuration: a tar of nothing but
    /// a configuration, since the engine has the layers.
    async fn renew(&self, made: &str, original: &ImageInspect, image: &str) -> Result<()> {
        let made = self.inspect_image(made).await?;
        let tar = archive(&made, original, image)
            .map_err(|error| EngineError::Failed(error.to_string()))?;
        self.import(stream::iter([Ok(Bytes::from(tar))]).boxed()).await
    }

    /// Takes the other tasks out of a container's client configuration, which the guest has
    /// written there; gives what it was where it has changed.
    async fn without_peers(&self, name: &str, path: &str) -> Result<Option<File>> {
        let Some(file) = self.read_file(name, path).await? else { return Ok(None) };
        let Ok(text) = std::str::from_utf8(&file.content) else { return Ok(None) };
        let without = without_peers(text);
        if without == text {
            return Ok(None);
        }
        let header = file.header.clone();
        self.put_file(name, path, File { header, content: without.into_bytes() }).await?;
        Ok(Some(file))
    }

    /// A small file of a container; `None`: there is none.
    async fn read_file(&self, name: &str, path: &str) -> Result<Option<File>> {
        let mut pieces = match self.get_archive(name, path).await {
            Ok(pieces) => pieces,
            Err(error @ EngineError::Unreachable(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.try_next().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > LARGEST {
                return Ok(None);
            }
        }
        Ok(File::first_of(&bytes))
    }

    async fn put_file(&self, name: &str, path: &str, file: File) -> Result<()> {
        let (folder, _) = path.rsplit_once('/').unwrap_or(("/", path));
        let tar = file.archive().map_err(|error| EngineError::Failed(error.to_string()))?;
        let tar = stream::iter([Ok(Bytes::from(tar))]).boxed();
        provide::upload(&self.connection, name, folder, tar).await
    }
}

/// A file of a container, with its owner and its permissions.
struct File {
    header: Header,
    content: Vec<u8>,
}

impl File {
    fn first_of(tar: &[u8]) -> Option<Self> {
        let mut archive = Archive::new(tar);
        let mut entry = archive.entries().ok()?.next()?.ok()?;
        let header = entry.header().clone();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).ok()?;
        header.entry_type().is_file().then_some(Self { header, content })
    }

    fn archive(self) -> std::io::Result<Vec<u8>> {
        let Self { mut header, content } = self;
        let mut archive = Builder::new(Vec::new());
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content.as_slice())?;
        archive.into_inner()
    }
}

/// Whether what the guest keeps lies in a volume, which is in no image.
fn keys_are_apart(found: &ContainerInspectResponse) -> bool {
    found.mounts.iter().flatten().any(|mount| mount.destination.as_deref() == Some(FOLDER))
}

/// Where the guest tells an OpenSSH client of the other tasks.
fn client_config(config: &ContainerConfig) -> String {
    let home = config.env.iter().flatten().find_map(|pair| pair.strip_prefix("HOME="));
    let home = home.filter(|home| !home.is_empty()).unwrap_or("/root");
    format!("{}/.ssh/config", home.trim_end_matches('/'))
}

/// A configuration that leaves nothing of the container's own when the engine merges the two. A
/// variable without a value is none in containers; a label can only be emptied.
fn merged(original: &ImageConfig, container: &ContainerConfig) -> ContainerConfig {
    let name = |pair: &str| pair.split_once('=').map_or(pair, |(name, _)| name).to_owned();
    let own: Vec<String> = original.env.clone().unwrap_or_default();
    let kept: Vec<String> = own.iter().map(|pair| name(pair)).collect();
    let strange = container.env.iter().flatten().map(|pair| name(pair));
    let strange: Vec<String> = strange.filter(|name| !kept.contains(name)).collect();
    let names = container.labels.iter().flatten().map(|(name, _)| (name.clone(), String::new()));
    let mut labels: HashMap<String, String> = names.collect();
    labels.extend(original.labels.clone().unwrap_or_default());
    let entrypoint = original.entrypoint.clone().unwrap_or_default();
    let mut cmd = original.cmd.clone().unwrap_or_default();
    if entrypoint.is_empty() && cmd.is_empty() && container.cmd.iter().flatten().next().is_some() {
        cmd.push("/bin/sh".to_owned());
    }
    ContainerConfig {
        user: Some(original.user.clone().filter(|user| !user.is_empty()).unwrap_or("0".into())),
        exposed_ports: original.exposed_ports.clone(),
        env: Some(own.into_iter().chain(strange).collect()),
        cmd: Some(cmd),
        healthcheck: original.healthcheck.clone(),
        volumes: original.volumes.clone(),
        working_dir: original.working_dir.clone(),
        entrypoint: Some(entrypoint),
        on_build: original.on_build.clone(),
        labels: Some(labels),
        stop_signal: original.stop_signal.clone().or(Some("SIGTERM".to_owned())),
        shell: original.shell.clone(),
        ..Default::default()
    }
}

/// The tar of an image whose layers the engine has.
fn archive(made: &ImageInspect, original: &ImageInspect, image: &str) -> std::io::Result<Vec<u8>> {
    let layers = made.root_fs.as_ref().and_then(|found| found.layers.clone()).unwrap_or_default();
    let from = original.repo_tags.iter().flatten().next().map_or("", String::as_str);
    let history = layers.iter().enumerate().map(|(index, _)| {
        let comment = if index + 1 == layers.len() { "saved from a container of" } else { "from" };
        json!({ "created": made.created, "comment": format!("{comment} {from}").trim() })
    });
    let mut config = json!({
        "architecture": made.architecture,
        "os": made.os,
        "created": made.created,
        "config": original.config,
        "rootfs": { "type": "layers", "diff_ids": layers },
        "history": history.collect::<Vec<Value>>(),
    });
    if let Some(variant) = made.variant.as_deref().filter(|variant| !variant.is_empty()) {
        config["variant"] = json!(variant);
    }
    let files: Vec<String> = (0..layers.len()).map(|layer| format!("{layer}.tar")).collect();
    let manifest = json!([{ "Config": "config.json", "RepoTags": [image], "Layers": files }]);
    let mut tar = Builder::new(Vec::new());
    for (name, value) in [("config.json", config), ("manifest.json", manifest)] {
        let bytes = serde_json::to_vec(&value)?;
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, bytes.as_slice())?;
    }
    tar.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Option<Vec<String>> {
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn labels(pairs: &[(&str, &str)]) -> Option<HashMap<String, String>> {
        Some(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn nothing_of_the_container_is_merged_into_the_image() {
        let original = ImageConfig {
            env: texts(&["PATH=/bin", "LANG=C"]),
            labels: labels(&[("maker", "me")]),
            ..Default::default()
        };
        let container = ContainerConfig {
            user: Some("0:0".into()),
            env: texts(&["PATH=/bin", "LANG=de", "TOKEN=s3cret", "BERTH_TASK={}"]),
            cmd: texts(&["echo s3cret"]),
            entrypoint: texts(&["/.berth/bin/guest", "run"]),
            labels: labels(&[("maker", "me"), ("berth.cluster", "c")]),
            ..Default::default()
        };
        let made = merged(&original, &container);
        assert_eq!(made.env, texts(&["PATH=/bin", "LANG=C", "TOKEN", "BERTH_TASK"]));
        assert_eq!(made.labels, labels(&[("maker", "me"), ("berth.cluster", "")]));
        assert_eq!((made.entrypoint, made.cmd), (texts(&[]), texts(&["/bin/sh"])));
        assert_eq!(made.user.as_deref(), Some("0"));
    }

    #[test]
    fn the_clients_configuration_is_in_the_home_folder() {
        let config = |env: &[&str]| ContainerConfig { env: texts(env), ..Default::default() };
        assert_eq!(client_config(&config(&[])), "/root/.ssh/config");
        assert_eq!(client_config(&config(&["HOME=/home/me/"])), "/home/me/.ssh/config");
    }
}
