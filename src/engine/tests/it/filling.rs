//! Volumes that are filled while something goes wrong, at whatever call.

use bytes::Bytes;
use engine::simulated::{Fault, SimHandle, Simulated};
use engine::{EndpointOptions, EngineError, Volume, connect};
use futures::FutureExt;
use protocol::epoch::Epoch;

use crate::contract::World;

fn world(name: &str) -> (World, SimHandle) {
    let options = EndpointOptions { endpoint: format!("sim://{name}"), ..Default::default() };
    let world = World { engine: connect(&options).unwrap(), image: "any".into() };
    (world, Simulated::handle(name))
}

fn volume(name: &str) -> Volume {
    let (name, cluster) = (name.to_owned(), "test".to_owned());
    Volume { name, cluster, attempt: None, epoch: Epoch::default() }
}

impl World {
    async fn provide(&self, name: &str) -> engine::Result<String> {
        self.engine.provide(&volume(name), &self.image, &Bytes::new()).await
    }

    /// Starts a container that has a volume of its own.
    async fn launch(&self, job: i64) -> engine::Result<()> {
        let mut spec = self.spec(job, "exit 0");
        spec.code = Some(self.provide(&format!("code-{job}")).await?);
        self.engine.create(&spec).await?;
        self.engine.start(&spec.name()).await
    }
}

#[tokio::test]
async fn whatever_call_is_the_last_no_container_starts_without_its_files() {
    for fault in Fault::ALL {
        let (world, node) = world(&format!("filling-{fault:?}"));
        world.launch(0).await.unwrap();
        let calls = node.launch_calls();
        assert!(calls > 10, "a volume is filled in some calls, not in {calls}");
        for call in 1..=calls {
            // What is tried at once below is not interrupted by the runtime.
            tokio::task::yield_now().await;
            let job = i64::try_from(call).unwrap();
            node.fail_launch(call, fault);
            // One that hangs goes on no more, as when the server is killed.
            let first = world.launch(job).now_or_never();
            assert!(!matches!(first, Some(Ok(()))), "{fault:?} at call {call}");
            let second = world.launch(job).await;
            assert!(second.is_ok(), "{fault:?} at call {call}: {second:?}");
            assert_eq!(node.bare_starts(), 0, "{fault:?} at call {call}");
        }
        assert_eq!(node.starts(), calls + 1, "each was started once");
        for job in 0..=calls {
            world.engine.remove(&world.spec(job.try_into().unwrap(), "").name()).await.unwrap();
            world.engine.remove_volume(&format!("code-{job}")).await.unwrap();
        }
        assert_eq!(node.volumes(), Vec::<String>::new(), "nothing is left by what failed");
    }
}

#[tokio::test]
async fn a_volume_that_somebody_removes_is_filled_anew() {
    let (world, node) = world("pruned");
    let first = world.provide("code").await.unwrap();
    assert_eq!(world.provide("code").await.unwrap(), first);
    node.prune_volumes();
    let second = world.provide("code").await.unwrap();
    assert_ne!(second, first);
    let mut spec = world.spec(1, "sleep 600");
    spec.code = Some(second.clone());
    world.engine.create(&spec).await.unwrap();
    // What says that it is whole goes; the container keeps it.
    node.prune_volumes();
    assert_eq!(node.volumes(), std::slice::from_ref(&second));
    world.engine.start(&spec.name()).await.unwrap();
    let third = world.provide("code").await.unwrap();
    assert_ne!(third, second);
    // Between the two calls: the engine then makes an empty one for the container.
    node.prune_volumes();
    let mut late = world.spec(2, "sleep 600");
    late.code = Some(third);
    let error = world.engine.create(&late).await.unwrap_err();
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert_eq!(node.containers(), [spec.name()]);
    assert_eq!((node.starts(), node.bare_starts()), (1, 0));
}
