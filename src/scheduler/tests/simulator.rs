//! What the simulator reads and judges by, which is a program without tests of its own.

#[path = "../benches/simulator/gates.rs"]
mod gates;
#[path = "../benches/simulator/jobs.rs"]
mod jobs;
#[path = "../benches/simulator/traces.rs"]
mod traces;

use jobs::Job;

/// GPUs of each virtual cluster by day.
const GPUS: &str = "\
date,total,vc1,vc2
2020-04-01,48,32,16
2020-04-02,56,40,16
";
const LOG: &str = "\
job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration
1,uAAA,vc1,8,32,COMPLETED,2020-04-01 00:10:00,60
2,uBBB,vc2,0,4,COMPLETED,2020-04-01 00:20:00,60
3,uBBB,vc9,1,4,COMPLETED,2020-04-01 00:20:00,60
4,uBBB,vc2,1,4,FAILED,2020-04-01 00:00:30,7200
5,a row that breaks off
";

#[test]
fn helios_form_is_read() {
    let (jobs, nodes) = jobs::helios_of(GPUS, LOG).unwrap();
    let nodes: Vec<_> = nodes.iter().map(|(name, nodes)| (name.as_str(), *nodes)).collect();
    assert_eq!(nodes, [("vc1", 5), ("vc2", 2)], "of the day with most of them");
    let of = |job: &Job| {
        let Job { cluster, user, submitted, runs, gpus } = job;
        (cluster.to_string(), user.to_string(), *submitted, *runs, *gpus)
    };
    let wanted = [
        ("vc2".to_owned(), "ubbb".to_owned(), 30_000, 7_200_000, 1),
        ("vc1".to_owned(), "uaaa".to_owned(), 600_000, 60_000, 8),
    ];
    assert_eq!(jobs.iter().map(of).collect::<Vec<_>>(), wanted, "with GPUs, in order");
}

#[test]
fn what_is_not_of_a_form_is_said() {
    let missing = LOG.replace("gpu_num", "gpus");
    let said = jobs::helios_of(GPUS, &missing).unwrap_err();
    assert_eq!(said, "cluster_log.csv has no column gpu_num");
    let said = jobs::helios_of(GPUS, &LOG.replace("2020-04-01 00:10:00", "yesterday")).unwrap_err();
    assert_eq!(said, "no moment: yesterday");
    let nowhere = traces::folder("nowhere").unwrap_err();
    assert!(nowhere.contains("there is no folder"), "{nowhere}");
    let nowhere = std::path::Path::new("/nowhere");
    assert!(jobs::helios(nowhere).is_err());
    assert!(jobs::philly(nowhere, &["10"]).is_err());
}

#[test]
fn a_gate_that_is_missed_fails_the_whole() {
    assert_eq!(gates::beside("users.middle", 0.5), "", "it only informs");
    assert_eq!(gates::beside("users.jain", 0.995), " (at least 0.99: met)");
    assert_eq!(gates::sum().unwrap(), "1 of 1 gates are met");
    assert_eq!(gates::beside("nodes10000.flap_max", 10.5), " (at most 10: missed)");
    assert_eq!(gates::beside("philly_09_0.5.sharing_loss.max", -1.0), " (at most 0: met)");
    assert_eq!(gates::sum().unwrap_err(), "2 of 3 gates are met; missed: nodes10000.flap_max");
}
