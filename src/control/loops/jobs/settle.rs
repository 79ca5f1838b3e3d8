//! When a launch is given up.

use engine::Engine;
use protocol::epoch::Epoch;
use protocol::exit::Exit;

use crate::container::launch::Launched;

/// After so many failures of its engine or registry in a row a launch is given up there.
const TRIES: u32 = 6;

/// What has come of a launch, which was tried so often. It is given up once nothing of it can be started any
/// more: a start of which nobody has heard, since the line fell silent, may come to the engine later, when
/// another attempt has begun or its place is somebody else's.
pub(super) async fn settled(
    launched: Launched,
    tries: u32,
    engine: &dyn Engine,
    (name, epoch): (&str, Epoch),
) -> Launched {
    let exit = match launched {
        Launched::GivenUp(exit) => exit,
        Launched::Failed(cause) if tries >= TRIES => {
            Exit { code: None, cause, evidence: Vec::new() }
        }
        other => return other,
    };
    let gone = match engine.inspect(name).await {
        // It has come already: the next look shows it.
        Ok(Some(found)) if found.epoch == epoch && found.status.has_run() => return Launched::Done,
        Ok(Some(found)) if found.epoch == epoch => engine.remove(name).await,
        // One of another life of the database is not ours to touch.
        Ok(Some(_) | None) => Ok(()),
        Err(error) => Err(error),
    };
    match gone {
        Ok(()) => Launched::GivenUp(exit),
        Err(error) => {
            tracing::warn!(name, %error, "a launch is not given up: it may still be started");
            Launched::Failed(exit.cause)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use engine::simulated::{Call, SimHandle, Simulated};
    use engine::{ContainerSpec, ContainerStatus, EndpointOptions, EngineError, Network};
    use protocol::cluster::GpuRuntime;
    use protocol::exit::{Blame, Cause};
    use protocol::ids::{JobId, TaskKey};

    use super::*;

    const KEY: TaskKey = TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 };

    /// A node with a container that was made and not started.
    async fn made(node: &str) -> (Arc<dyn Engine>, SimHandle, String) {
        let options =
            EndpointOptions { endpoint: format!("sim://{node}"), ..EndpointOptions::default() };
        let engine = engine::connect(&options).unwrap();
        let spec = ContainerSpec {
            cluster: "settle".to_owned(),
            key: KEY,
            epoch: Epoch::default(),
            labels: BTreeMap::new(),
            image: "berth/base".to_owned(),
            command: "sleep 1000".into(),
            guest: None,
            code: None,
            folders: Vec::new(),
            shares: Vec::new(),
            job_env: Arc::from([]),
            env: Vec::new(),
            cpus: 1,
            memory_mb: 64,
            shm_mb: 16,
            gpus: Vec::new(),
            gpu_runtime: GpuRuntime::None,
            infiniband: false,
            network: Network::Host,
        };
        engine.create(&spec).await.unwrap();
        (engine, Simulated::handle(node), spec.name())
    }

    fn failed_by_engine() -> Launched {
        let node = "node-1".parse().unwrap();
        Launched::Failed(Cause::EngineFailed { node, message: "busy".into() })
    }

    #[tokio::test]
    async fn an_engine_that_fails_again_and_again_is_the_platforms_failure() {
        let (engine, node, name) = made("settle-fails").await;
        let after = async |tries: u32| {
            settled(failed_by_engine(), tries, engine.as_ref(), (&name, Epoch::default())).await
        };
        for tries in 1..TRIES {
            assert!(matches!(after(tries).await, Launched::Failed(_)), "{tries}");
        }
        assert_eq!(node.containers().len(), 1);
        let Launched::GivenUp(exit) = after(TRIES).await else { panic!("it is given up") };
        assert!(
            matches!(&exit.cause, Cause::EngineFailed { node, .. } if node.as_str() == "node-1")
        );
        assert_eq!(exit.cause.blame(), Blame::Platform);
        assert!(node.containers().is_empty());
        let late = engine.start(&name).await.unwrap_err();
        assert!(matches!(late, EngineError::NoContainer(_)), "{late}");
    }

    #[tokio::test]
    async fn what_may_still_be_started_is_not_given_up() {
        let (engine, node, name) = made("settle-late").await;
        let of = async |epoch: Epoch| {
            let exit = Exit { code: None, cause: Cause::PortTaken, evidence: Vec::new() };
            settled(Launched::GivenUp(exit), 1, engine.as_ref(), (&name, epoch)).await
        };
        node.refuse(Call::Remove, true);
        assert!(matches!(of(Epoch::default()).await, Launched::Failed(_)));
        node.refuse(Call::Remove, false);
        node.set_unreachable(true);
        assert!(matches!(of(Epoch::default()).await, Launched::Failed(_)));
        node.set_unreachable(false);
        let another = Epoch::default().next(7);
        assert!(matches!(of(another).await, Launched::GivenUp(_)));
        assert_eq!(node.containers(), [name.as_str()], "it is not ours to touch");
        engine.start(&name).await.unwrap();
        assert!(matches!(of(Epoch::default()).await, Launched::Done));
        let found = engine.inspect(&name).await.unwrap().unwrap();
        assert!(matches!(found.status, ContainerStatus::Running { .. }));
    }
}
