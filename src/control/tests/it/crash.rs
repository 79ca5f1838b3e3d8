//! The server is torn away at random moments, again and again, while jobs run.

use std::time::Duration;

use protocol::state::State;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::house::{House, close, job, submit, until};

const JOBS: u32 = 20;

/// Runs a server in a runtime of its own and tears it away after `life`: everything stops at
/// whatever it is awaiting.
fn torn_away(house: &House, life: Duration, first: bool) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let _cut_off = runtime.block_on(async {
        // The first life is as long as it takes to submit everything, and then some.
        if first {
            let control = house.start().await;
            for index in 0..JOBS {
                submit(&control.backend, story(index)).await;
            }
            return tokio::time::timeout(life, std::future::pending::<()>()).await;
        }
        let lives = async {
            let _control = house.start().await;
            std::future::pending::<()>().await;
        };
        tokio::time::timeout(life, lives).await
    });
    runtime.shutdown_timeout(Duration::from_secs(10));
}

fn story(index: u32) -> String {
    let name = format!("job-{index}");
    match index % 4 {
        0 => job(&name, 2, 1, "sleep 0.4; exit 0", ""),
        1 => job(&name, 1, 0, "sleep 0.1; exit 7", ""),
        2 => job(&name, 1, 2, "exit 0", ""),
        _ => job(&name, 3, 0, "sleep 0.2; exit 1", r#""retryCount": 1,"#),
    }
}

#[test]
fn every_job_ends_as_it_should_and_nothing_is_left() {
    let mut random = StdRng::seed_from_u64(20_261_121);
    for round in 0..4 {
        let house = House::new(2);
        torn_away(&house, Duration::from_millis(200), true);
        for _ in 0..6 {
            torn_away(&house, Duration::from_millis(random.random_range(1..400)), false);
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let control = house.start().await;
            for index in 0..JOBS {
                let name = format!("job-{index}");
                let ended =
                    until(&control.backend, &name, |detail| detail.summary.state.is_final()).await;
                let (state, attempts) = match index % 4 {
                    0 | 2 => (State::Succeeded, 1),
                    1 => (State::Failed, 1),
                    _ => (State::Failed, 2),
                };
                assert_eq!(ended.summary.state, state, "round {round}, {name}: {ended:#?}");
                assert_eq!(ended.attempts.len(), attempts, "round {round}, {name}");
            }
            for node in 0..2 {
                house.node(node).until_empty().await;
            }
            close(&control).await;
        });
        for node in 0..2 {
            let most = house.node(node).most_made();
            assert!(most <= 1, "round {round}: a container was made {most} times");
        }
    }
}
