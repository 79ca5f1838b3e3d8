use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::gpus::Reading;
use protocol::ids::TaskKey;
use protocol::spec::{GraceSignal, RegistryAuth};

use crate::exporter::GpuSample;
use crate::images::Images;
use crate::model::{
    Container, ContainerSpec, DiskRoom, EngineInfo, Exec, LogChunk, LogRequest, Result, Stats,
    Stranger,
};
use crate::volume::{Content, Volume};

/// A node's container engine. Containers are named by [`protocol::ids::TaskKey::container_name`].
#[async_trait]
pub trait Engine: Images {
    /// What the engine is and what its machine has. Also the heartbeat: it answers within
    /// seconds or fails.
    async fn info(&self) -> Result<EngineInfo>;
    /// All containers of this cluster (label `berth.cluster`), running or not.
    async fn list(&self, cluster: &str) -> Result<Vec<Container>>;
    /// Containers of other clusters than this, which are theirs alone.
    async fn strangers(&self, cluster: &str) -> Result<Vec<Stranger>>;
    /// One container; `None`: there is none of that name.
    async fn inspect(&self, name: &str) -> Result<Option<Container>>;
    /// What a container was labelled with when it was made.
    async fn labels(&self, name: &str) -> Result<BTreeMap<String, String>>;
    /// Whether the image is there, so that nothing need be pulled.
    async fn has_image(&self, image: &str) -> Result<bool>;
    /// Pulls an image; each item is a line of progress. Ends when the image is there.
    async fn pull(
        &self,
        image: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>>;
    /// Fills a volume of this node, for containers to have read-only, by means of any image that
    /// is there, and gives the name by which they have it. One that is whole is left as it is;
    /// whatever fails here, what is not whole is taken for whole by nobody.
    async fn provide(&self, volume: &Volume, image: &str, content: &dyn Content) -> Result<String>;
    /// All volumes of this cluster, whole or not.
    async fn volumes(&self, cluster: &str) -> Result<Vec<Volume>>;
    /// Removes a volume; one that a container has stays.
    async fn remove_volume(&self, name: &str) -> Result<()>;
    /// Makes a container and gives the engine's id; one of the same name is taken as it is, unless
    /// it never ran and has other volumes. The volumes are what was provided, or it is not made.
    /// One of another epoch is another one, and stays what it is: none is made then.
    async fn create(&self, spec: &ContainerSpec) -> Result<String>;
    /// Starts a container that never ran; one that runs or ran is left as it is.
    async fn start(&self, name: &str) -> Result<()>;
    /// Asks the container to end (SIGTERM) and kills it after `grace`. Returns when it has ended.
    async fn stop(&self, name: &str, grace: Duration) -> Result<()>;
    /// Sends a running container a signal. One that does not run is left as it is.
    async fn signal(&self, name: &str, signal: GraceSignal) -> Result<()>;
    /// Removes a container, running or not.
    async fn remove(&self, name: &str) -> Result<()>;
    /// Wakes the caller when a container of this cluster changed. It says nothing more: look.
    /// The stream ends or fails when the engine is gone; subscribe again and look once.
    async fn changes(&self, cluster: &str) -> Result<BoxStream<'static, Result<()>>>;
    /// What the container wrote. The end of a followed stream is not the end of the container.
    async fn logs(
        &self,
        name: &str,
        request: LogRequest,
    ) -> Result<BoxStream<'static, Result<LogChunk>>>;
    /// What each running container of this cluster has written into its own layer, in bytes. An
    /// engine looks at all of those files for it: ask rarely.
    async fn written(&self, cluster: &str) -> Result<HashMap<TaskKey, u64>>;
    /// What the container uses right now.
    async fn stats(&self, name: &str) -> Result<Stats>;
    /// Runs a command in a running container.
    async fn exec(&self, name: &str, command: Vec<String>, tty: bool) -> Result<Exec>;
    /// Tells a command run with a terminal its new size.
    async fn resize_exec(&self, id: &str, columns: u16, rows: u16) -> Result<()>;
    /// The exit code of a command; `None` while it runs.
    async fn exec_code(&self, id: &str) -> Result<Option<i32>>;
    /// Unpacks a tar into a folder of a container, running or not.
    async fn put_archive(&self, name: &str, folder: &str, tar: Bytes) -> Result<()>;
    /// A path of a container as a tar.
    async fn get_archive(
        &self,
        name: &str,
        path: &str,
    ) -> Result<BoxStream<'static, Result<Bytes>>>;
    /// Asks the drivers of its machine for their GPUs, in a short-lived container of this image, which is
    /// pulled if need be. Where it cannot be had, any image that is there tells which there are, no more.
    /// Empty where containers get none.
    async fn probe_gpus(&self, image: &str) -> Result<Reading>;
    /// What it knows by itself of what GPUs do; most engines know nothing of that, an exporter does.
    async fn gpu_samples(&self) -> Result<Vec<GpuSample>> {
        Ok(Vec::new())
    }
    /// Asks the drivers of its machine what its GPUs do, in a short-lived container of the image that was
    /// named to [`Engine::probe_gpus`]; nothing where that never answered. It costs a container: ask rarely.
    async fn ask_gpus(&self) -> Result<Vec<GpuSample>> {
        Ok(Vec::new())
    }
    /// How much room there is on the disk beneath its containers, asked in a short-lived container of an
    /// image that is there; none where none can tell. It costs a container: ask rarely.
    async fn disk_room(&self) -> Result<Option<DiskRoom>> {
        Ok(None)
    }
}
