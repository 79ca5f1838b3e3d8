use super::*;
use crate::gpus::FoundGpu;
use crate::resources::Gpu;

fn signs(index: u32, xid: u32, errors: u64, degrees: u32) -> GpuSigns {
    let (xid, errors, degrees) = (Some(xid), Some(errors), Some(degrees));
    GpuSigns { index, xid, errors, degrees, throttle: None }
}

fn check(name: &str, gpus: bool) -> Check {
    let check = serde_json::json!({
        "name": name, "image": "ubuntu", "command": "true", "gpus": gpus,
    });
    serde_json::from_value(check).unwrap()
}

/// What is wrong, in words.
fn said(health: &Health) -> Vec<String> {
    health.ailments.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_program_may_have_done_is_no_ailment_and_what_only_hardware_does_is() {
    let well = Health::default();
    for xid in [0, 13, 31, 43, 45] {
        assert_eq!(well.measured(&[signs(0, xid, 0, 60)], Timestamp(1)), well, "{xid}");
    }
    let worried = well.measured(&[signs(0, 94, 0, 60)], Timestamp(1));
    assert!(worried.is_doubtful() && !worried.has_failed_gpu(0));
    let broken = worried.measured(&[signs(0, 79, 0, 60)], Timestamp(2));
    assert_eq!(said(&broken), ["GPU 0: its driver tells of error 79 (Xid)"]);
    assert!(broken.has_failed_gpu(0) && !broken.has_failed_gpu(1) && !broken.has_failed());
    assert_eq!(broken.ailments[0].since, Timestamp(1), "it began with the warning");
    assert!(broken.failure(&[0, 1]).is_some() && broken.failure(&[1]).is_none());
}

#[test]
fn a_warning_goes_with_its_reason_and_a_failure_stays_until_somebody_says_so() {
    let sick =
        Health::default().measured(&[signs(0, 79, 2, 60), signs(1, 63, 0, 91)], Timestamp(1));
    assert_eq!(sick.ailments.len(), 4);
    let later = sick.measured(&[signs(0, 0, 2, 60), signs(1, 0, 0, 87)], Timestamp(2));
    let hot = "GPU 1: it is so hot that it slows down".to_owned();
    assert_eq!(later.ailments.len(), 3);
    assert!(said(&later).contains(&hot), "it has not cooled enough");
    let cool = later.measured(&[signs(1, 0, 0, 84)], Timestamp(3));
    assert!(!cool.is_doubtful() && cool.has_failed_gpu(0));
    let ada: UserName = "ada".parse().unwrap();
    let cleared = cool.cleared(&ada, Timestamp(4));
    assert_eq!(cleared.ailments, []);
    let by: Vec<_> = cleared.history.iter().map(|was| was.ended_by.is_some()).collect();
    assert_eq!(by, [false, false, true, true]);
}

#[test]
fn clocks_that_are_low_for_the_machines_sake_are_a_warning_for_a_while() {
    let clocks = |bits| [GpuSigns { index: 2, throttle: Some(bits), ..GpuSigns::default() }];
    let well = Health::default();
    assert_eq!(well.measured(&clocks(0b101), Timestamp(0)), well, "idle, or by its settings");
    let slow = well.measured(&clocks(64), Timestamp(0));
    assert!(slow.is_doubtful());
    assert!(slow.measured(&clocks(0), Timestamp(A_WHILE - 1)).is_doubtful(), "it comes and goes");
    assert!(!slow.measured(&clocks(0), Timestamp(A_WHILE)).is_doubtful());
}

#[test]
fn what_somebody_has_taken_note_of_does_not_count_until_it_comes_again() {
    let (told, ada) = (signs(0, 79, 2, 60), "ada".parse().unwrap());
    let sick = Health::default().measured(&[told], Timestamp(1));
    let cleared = sick.cleared(&ada, Timestamp(2));
    assert_eq!(cleared.measured(&[told], Timestamp(3)), cleared, "an exporter goes on telling it");
    let more = cleared.measured(&[signs(0, 79, 3, 60)], Timestamp(4));
    assert_eq!(said(&more), ["GPU 0: its memory has errors that cannot be corrected"]);
    let reset = cleared.measured(&[signs(0, 0, 0, 60)], Timestamp(4));
    assert_eq!(reset.noted, BTreeMap::new());
    assert_eq!(reset.measured(&[told], Timestamp(5)).ailments.len(), 2);
}

#[test]
fn a_check_closes_a_node_and_opens_it_and_its_gpus_again() {
    let (one, other) = (check("disk", false), check("diag", true));
    let sick = Health::default().measured(&[signs(3, 95, 0, 60)], Timestamp(1));
    let sick = sick.check_failed(&one, "full".to_owned(), Timestamp(2));
    let sick = sick.check_failed(&one, "still full".to_owned(), Timestamp(3));
    assert!(sick.has_failed());
    assert_eq!(said(&sick)[1], "the check disk fails: still full");
    let opened = sick.check_passed(&one, Timestamp(4));
    assert!(!opened.has_failed() && opened.has_failed_gpu(3), "it knows nothing of GPUs");
    assert_eq!(opened.check_passed(&other, Timestamp(5)).ailments, []);
    let forgotten = sick.with_checks(|name| name == "diag", Timestamp(4));
    assert!(!forgotten.has_failed(), "nobody makes that check any more");
    let warning = Check { grade: Grade::Warning, ..one };
    let doubtful = Health::default().check_failed(&warning, String::new(), Timestamp(1));
    assert!(doubtful.is_doubtful() && !doubtful.has_failed());
}

#[test]
fn links_that_are_lost_are_a_warning_until_they_are_back() {
    let report = |links: &[&[u32]], well: &[u32]| {
        let gpu = |index: u32| FoundGpu {
            gpu: Gpu {
                index,
                gpu_type: "A100".parse().unwrap(),
                uuid: None,
                healthy: well.contains(&index),
            },
            model: String::new(),
            memory_mb: 0,
            fault: None,
            part_of: None,
        };
        let links = links.iter().map(|group| group.to_vec()).collect();
        GpuReport { gpus: (0..4).map(gpu).collect(), links, ..GpuReport::default() }
    };
    let all = report(&[&[0, 1, 2, 3]], &[0, 1, 2, 3]);
    let half = report(&[&[0, 1], &[2, 3]], &[0, 1, 2, 3]);
    let gone = report(&[&[0, 1, 2]], &[0, 1, 2]);
    let well = Health::default();
    assert_eq!(well.looked_for((&all, &gone), Timestamp(1)), well, "a GPU is gone, not a link");
    let lost = well.looked_for((&all, &half), Timestamp(1));
    assert!(lost.is_doubtful());
    assert_eq!(lost.looked_for((&half, &half), Timestamp(2)), lost);
    assert!(!lost.looked_for((&half, &all), Timestamp(3)).is_doubtful());
}

#[test]
fn so_much_is_remembered_and_no_more() {
    let disk = check("disk", false);
    let mut health = Health::default();
    for at in 0..200 {
        let failed = health.check_failed(&disk, "full".to_owned(), Timestamp(at));
        health = failed.check_passed(&disk, Timestamp(at));
    }
    assert_eq!(health.history.len(), REMEMBERED);
    assert_eq!(health.history.last().map(|was| was.until), Some(Timestamp(199)));
    let text = serde_json::to_string(&health).unwrap();
    assert_eq!(serde_json::from_str::<Health>(&text).unwrap(), health);
}

#[test]
fn checks_that_cannot_be_made_are_refused() {
    assert_eq!(check("disk", false).mistakes(), Vec::<String>::new());
    let wrong = Check { name: " ".to_owned(), seconds: 0, ..check("disk", false) };
    assert_eq!(wrong.mistakes().len(), 2);
    let only = Check { labels: [("disk".into(), "ssd".into())].into(), ..check("disk", false) };
    assert!(!only.is_for(&BTreeMap::new()) && only.is_for(&only.labels));
}

#[test]
fn a_disk_that_gets_full_is_told_and_then_closes_its_node() {
    const GIB: u64 = 1 << 30;
    let seen = |health: &Health, free: u64, at: i64| {
        health.disk_seen((free * GIB, 1_000 * GIB), Timestamp(at))
    };
    let well = seen(&Health::default(), 51, 1);
    assert_eq!(well, Health::default());
    let little = seen(&well, 49, 2);
    assert!(little.is_doubtful() && !little.has_failed());
    assert_eq!(little.ailments[0].to_string(), "its disk has only 49 GiB left");
    let full = seen(&little, 4, 3);
    assert!(full.has_failed() && full.ailments.len() == 1, "{full:?}");
    assert!(seen(&full, 20, 4).has_failed(), "it is not opened for a little room");
    let mended = seen(&full, 60, 5);
    assert_eq!((mended.ailments.len(), mended.history.len()), (0, 1));
    let small = Health::default().disk_seen((11 * GIB, 100 * GIB), Timestamp(6));
    assert_eq!(small, Health::default(), "a small disk has a tenth left");
}
