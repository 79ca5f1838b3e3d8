//! An engine whose calls are timed and counted, whichever it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::architecture::Architecture;
use protocol::gpus::Reading;
use protocol::ids::TaskKey;
use protocol::spec::{GraceSignal, RegistryAuth};

use crate::engine::Engine;
use crate::exporter::GpuSample;
use crate::images::{ImageSize, Images};
use crate::model::{
    Container, ContainerSpec, DiskRoom, EngineError, EngineInfo, Exec, LogChunk, LogRequest,
    Result, Stats, Stranger,
};
use crate::volume::{Content, Volume};

/// Takes note of the calls to an engine, and says when something may be changed there.
#[async_trait]
pub trait Calls: Send + Sync + std::fmt::Debug {
    /// A call was answered after so long. `failed`: the engine did not do it, and not because of what it
    /// was asked for. A call whose answer is a stream is answered when the stream begins.
    fn made(&self, action: &'static str, took: Duration, failed: bool);
    /// Returns once what it has or runs may be changed; whoever may no more waits for ever.
    async fn may_change(&self);
}

/// The same engine; of its calls somebody takes note, who says when something may be changed there.
#[must_use]
pub fn measured(engine: Arc<dyn Engine>, calls: Arc<dyn Calls>) -> Arc<dyn Engine> {
    Arc::new(Measured { engine, calls })
}

#[derive(Debug)]
struct Measured {
    engine: Arc<dyn Engine>,
    calls: Arc<dyn Calls>,
}

impl Measured {
    async fn note<T>(
        &self,
        action: &'static str,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let began = Instant::now();
        let answer = call.await;
        let failed = answer.as_ref().is_err_and(EngineError::is_of_engine);
        self.calls.made(action, began.elapsed(), failed);
        answer
    }

    /// The same for a call that changes what the engine has or runs. What it waits for is not the engine's.
    async fn change<T>(
        &self,
        action: &'static str,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        self.calls.may_change().await;
        self.note(action, call).await
    }
}

#[async_trait]
impl Engine for Measured {
    async fn info(&self) -> Result<EngineInfo> {
        self.note("info", self.engine.info()).await
    }

    async fn list(&self, cluster: &str) -> Result<Vec<Container>> {
        self.note("list", self.engine.list(cluster)).await
    }

    async fn strangers(&self, cluster: &str) -> Result<Vec<Stranger>> {
        self.note("strangers", self.engine.strangers(cluster)).await
    }

    async fn inspect(&self, name: &str) -> Result<Option<Container>> {
        self.note("inspect", self.engine.inspect(name)).await
    }

    async fn labels(&self, name: &str) -> Result<BTreeMap<String, String>> {
        self.note("labels", self.engine.labels(name)).await
    }

    async fn has_image(&self, image: &str) -> Result<bool> {
        self.note("has_image", self.engine.has_image(image)).await
    }

    async fn pull(
        &self,
        image: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        self.note("pull", self.engine.pull(image, auth)).await
    }

    async fn provide(&self, volume: &Volume, image: &str, content: &dyn Content) -> Result<String> {
        self.change("provide", self.engine.provide(volume, image, content)).await
    }

    async fn volumes(&self, cluster: &str) -> Result<Vec<Volume>> {
        self.note("volumes", self.engine.volumes(cluster)).await
    }

    async fn remove_volume(&self, name: &str) -> Result<()> {
        self.change("remove_volume", self.engine.remove_volume(name)).await
    }

    async fn create(&self, spec: &ContainerSpec) -> Result<String> {
        self.change("create", self.engine.create(spec)).await
    }

    async fn start(&self, name: &str) -> Result<()> {
        self.change("start", self.engine.start(name)).await
    }

    async fn stop(&self, name: &str, grace: Duration) -> Result<()> {
        self.change("stop", self.engine.stop(name, grace)).await
    }

    async fn signal(&self, name: &str, signal: GraceSignal) -> Result<()> {
        self.change("signal", self.engine.signal(name, signal)).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        self.change("remove", self.engine.remove(name)).await
    }

    async fn changes(&self, cluster: &str) -> Result<BoxStream<'static, Result<()>>> {
        self.note("changes", self.engine.changes(cluster)).await
    }

    async fn logs(
        &self,
        name: &str,
        request: LogRequest,
    ) -> Result<BoxStream<'static, Result<LogChunk>>> {
        self.note("logs", self.engine.logs(name, request)).await
    }

    async fn written(&self, cluster: &str) -> Result<HashMap<TaskKey, u64>> {
        self.note("written", self.engine.written(cluster)).await
    }

    async fn stats(&self, name: &str) -> Result<Stats> {
        self.note("stats", self.engine.stats(name)).await
    }

    async fn exec(&self, name: &str, command: Vec<String>, tty: bool) -> Result<Exec> {
        self.note("exec", self.engine.exec(name, command, tty)).await
    }

    async fn resize_exec(&self, id: &str, columns: u16, rows: u16) -> Result<()> {
        self.note("resize_exec", self.engine.resize_exec(id, columns, rows)).await
    }

    async fn exec_code(&self, id: &str) -> Result<Option<i32>> {
        self.note("exec_code", self.engine.exec_code(id)).await
    }

    async fn put_archive(&self, name: &str, folder: &str, tar: Bytes) -> Result<()> {
        self.change("put_archive", self.engine.put_archive(name, folder, tar)).await
    }

    async fn get_archive(
        &self,
        name: &str,
        path: &str,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        self.note("get_archive", self.engine.get_archive(name, path)).await
    }

    async fn probe_gpus(&self, image: &str) -> Result<Reading> {
        self.change("probe_gpus", self.engine.probe_gpus(image)).await
    }

    async fn gpu_samples(&self) -> Result<Vec<GpuSample>> {
        self.note("gpu_samples", self.engine.gpu_samples()).await
    }

    async fn ask_gpus(&self) -> Result<Vec<GpuSample>> {
        self.change("ask_gpus", self.engine.ask_gpus()).await
    }

    async fn disk_room(&self) -> Result<Option<DiskRoom>> {
        self.change("disk_room", self.engine.disk_room()).await
    }
}

#[async_trait]
impl Images for Measured {
    async fn container_size(&self, name: &str) -> Result<ImageSize> {
        self.note("container_size", self.engine.container_size(name)).await
    }

    async fn image_size(&self, image: &str) -> Result<u64> {
        self.note("image_size", self.engine.image_size(image)).await
    }

    async fn image_id(&self, image: &str) -> Result<String> {
        self.note("image_id", self.engine.image_id(image)).await
    }

    async fn image_architecture(&self, image: &str) -> Result<Option<Architecture>> {
        self.note("image_architecture", self.engine.image_architecture(image)).await
    }

    async fn may_pull(&self, image: &str, auth: Option<&RegistryAuth>) -> Result<()> {
        self.note("may_pull", self.engine.may_pull(image, auth)).await
    }

    async fn commit(&self, name: &str, image: &str) -> Result<()> {
        self.change("commit", self.engine.commit(name, image)).await
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        self.change("remove_image", self.engine.remove_image(image)).await
    }

    async fn export(&self, image: &str) -> Result<BoxStream<'static, Result<Bytes>>> {
        self.note("export", self.engine.export(image)).await
    }

    async fn import(&self, tar: BoxStream<'static, Result<Bytes>>) -> Result<()> {
        self.change("import", self.engine.import(tar)).await
    }

    async fn push(
        &self,
        image: &str,
        target: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        self.change("push", self.engine.push(image, target, auth)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures::FutureExt;

    use super::*;
    use crate::connect::{EndpointOptions, connect};
    use crate::simulated::Simulated;

    #[derive(Debug, Default)]
    struct Noted {
        calls: Mutex<Vec<(&'static str, bool)>>,
        may_not: AtomicBool,
    }

    #[async_trait]
    impl Calls for Noted {
        fn made(&self, action: &'static str, _took: Duration, failed: bool) {
            self.calls.lock().unwrap().push((action, failed));
        }

        async fn may_change(&self) {
            if self.may_not.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
        }
    }

    #[tokio::test]
    async fn calls_are_noted_and_only_the_engines_own_failures_are_failures() {
        let options =
            EndpointOptions { endpoint: "sim://measured".to_owned(), ..EndpointOptions::default() };
        let noted = Arc::<Noted>::default();
        let engine = measured(connect(&options).unwrap(), Arc::clone(&noted) as Arc<dyn Calls>);
        engine.info().await.unwrap();
        let nothing = engine.start("nothing").await.unwrap_err();
        assert!(matches!(nothing, EngineError::NoContainer(_)), "{nothing}");
        Simulated::handle("measured").set_unreachable(true);
        engine.info().await.unwrap_err();
        let expected = [("info", false), ("start", false), ("info", true)];
        assert_eq!(*noted.calls.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn nothing_is_changed_by_who_may_not() {
        let options =
            EndpointOptions { endpoint: "sim://fenced".to_owned(), ..EndpointOptions::default() };
        let noted = Arc::<Noted>::default();
        noted.may_not.store(true, Ordering::SeqCst);
        let engine = measured(connect(&options).unwrap(), Arc::clone(&noted) as Arc<dyn Calls>);
        engine.info().await.unwrap();
        assert!(engine.remove("nothing").now_or_never().is_none(), "it waits");
        assert!(engine.start("nothing").now_or_never().is_none());
        // It makes a container that asks.
        assert!(engine.probe_gpus("any:latest").now_or_never().is_none());
        assert!(engine.ask_gpus().now_or_never().is_none());
        assert_eq!(*noted.calls.lock().unwrap(), [("info", false)], "the engine is not asked");
    }
}
