use super::*;

fn told(index: u32, uuid: &str) -> Told {
    Told {
        index,
        uuid: Some(uuid.to_owned()),
        model: Some("NVIDIA A100-SXM4-80GB".to_owned()),
        profile: None,
        part_of: None,
        memory_mb: 81_920,
        fault: None,
        gpu_type: None,
    }
}

/// GPUs with these UUIDs, in this order.
fn reading(uuids: &[&str]) -> Reading {
    let gpus = (0..).zip(uuids).map(|(index, uuid)| told(index, uuid)).collect();
    Reading { driver: Some("535.104.05".to_owned()), gpus, ..Reading::default() }
}

fn after(report: &GpuReport, reading: Reading) -> GpuReport {
    report.after(reading, &GpuNames::default())
}

/// Index, UUID and whether it is healthy.
fn shown(report: &GpuReport) -> Vec<(u32, &str, bool)> {
    let gpus = report.gpus.iter().map(|found| &found.gpu);
    gpus.map(|gpu| (gpu.index, gpu.uuid.as_deref().unwrap_or("-"), gpu.healthy)).collect()
}

#[test]
fn what_is_found_first_has_the_drivers_order() {
    let report = after(&GpuReport::default(), reading(&["a", "b"]));
    assert_eq!(shown(&report), [(0, "a", true), (1, "b", true)]);
    assert_eq!(report.gpus[0].gpu.gpu_type.as_str(), "A100");
    assert_eq!((report.gpus[0].memory_mb, report.driver.as_deref()), (81_920, Some("535.104.05")));
}

#[test]
fn one_that_vanishes_stays_unhealthy_and_the_others_keep_their_indices() {
    let before = after(&GpuReport::default(), reading(&["a", "b", "c", "d"]));
    let report = after(&before, reading(&["a", "c", "d"]));
    let expected = [(0, "a", true), (1, "b", false), (2, "c", true), (3, "d", true)];
    assert_eq!(shown(&report), expected);
    assert_eq!(report.gpus[1].fault, Some(GpuFault::Gone));
    assert_eq!(shown(&after(&report, reading(&["a", "c", "d"]))), expected, "still");
    let back = after(&report, reading(&["a", "b", "c", "d"]));
    assert_eq!(back, before, "it is back");
    let forgotten = after(&report.without_gone(), reading(&["a", "c", "d"]));
    assert_eq!(shown(&forgotten), [(0, "a", true), (2, "c", true), (3, "d", true)]);
}

#[test]
fn another_card_takes_the_place_of_one_that_was_replaced() {
    let before = after(&GpuReport::default(), reading(&["a", "b", "c"]));
    let report = after(&before, reading(&["a", "new", "c"]));
    assert_eq!(shown(&report), [(0, "a", true), (1, "new", true), (2, "c", true)]);
    let more = after(&report, reading(&["first", "a", "new", "c"]));
    let expected = [(0, "a", true), (1, "new", true), (2, "c", true), (3, "first", true)];
    assert_eq!(shown(&more), expected);
}

#[test]
fn one_that_its_driver_cannot_reach_is_still_known() {
    let before = after(&GpuReport::default(), reading(&["a", "b"]));
    let mut broken = reading(&["a", "b"]);
    let nothing = Told { uuid: None, model: None, memory_mb: 0, ..told(1, "") };
    broken.gpus[1] = Told { fault: Some(GpuFault::Silent), ..nothing };
    let report = after(&before, broken.clone());
    assert_eq!(shown(&report), [(0, "a", true), (1, "b", false)]);
    assert_eq!(report.gpus[1].fault, Some(GpuFault::Silent));
    assert_eq!((report.gpus[1].memory_mb, &report.gpus[1].model), (81_920, &before.gpus[1].model));
    let never_said = after(&GpuReport::default(), broken);
    assert_eq!(shown(&never_said), [(0, "a", true)], "nobody can tell what it is");
}

#[test]
fn a_doubt_changes_nothing_and_a_lost_driver_everything() {
    let before = after(&GpuReport::default(), reading(&["a", "b"]));
    for doubt in [GpuProblem::NoImage("ubuntu".into()), GpuProblem::Failed("busy".into())] {
        let report = after(&before, Reading::failed(doubt.clone()));
        assert_eq!((&report.gpus, report.problem), (&before.gpus, Some(doubt)));
    }
    for lost in [GpuProblem::NoDriver, GpuProblem::NoRuntime, GpuProblem::NoDevices] {
        let report = after(&before, Reading::failed(lost));
        assert_eq!(shown(&report), [(0, "a", false), (1, "b", false)]);
    }
}

#[test]
fn what_is_said_in_an_image_that_nobody_named_adds_to_nothing_that_is_known() {
    let unproven = |uuids: &[&str]| Reading {
        problem: Some(GpuProblem::Unproven("ubuntu".into())),
        ..reading(uuids)
    };
    let first = after(&GpuReport::default(), unproven(&["a", "b"]));
    assert_eq!(shown(&first), [(0, "a", true), (1, "b", true)]);
    for said in [unproven(&["a"]), unproven(&[]), unproven(&["a", "b", "c"])] {
        let report = after(&first, said);
        assert_eq!((&report.gpus, &report.problem), (&first.gpus, &first.problem));
    }
    let proven = after(&first, reading(&["a"]));
    assert_eq!(shown(&proven), [(0, "a", true), (1, "b", false)]);
    assert_eq!(proven.problem, None);
}

#[test]
fn links_are_told_by_the_indices_that_jobs_hold() {
    let links = vec![vec![0, 1], vec![2, 3]];
    let first = Reading { links: links.clone(), ..reading(&["a", "b", "c", "d"]) };
    let before = after(&GpuReport::default(), first);
    assert_eq!(before.links, links);
    let report = after(&before, Reading { links: vec![vec![1, 2]], ..reading(&["a", "c", "d"]) });
    assert_eq!(report.links, [vec![2, 3]]);
}

#[test]
fn what_broke_is_told() {
    let before = after(&GpuReport::default(), reading(&["a", "b"])).seen();
    let now = after(&after(&GpuReport::default(), reading(&["a", "b"])), reading(&["a"])).seen();
    assert_eq!(broken(&before, &now), [&before[1]]);
    assert_eq!(broken(&now, &now), Vec::<&Gpu>::new(), "once");
    assert_eq!(broken(&before, &[]).len(), 2);
    assert_eq!(counts(before.iter()), BTreeMap::from([("A100".parse().unwrap(), 2)]));
}

#[test]
fn a_report_is_stored_as_it_is() {
    let mut report = after(&GpuReport::default(), reading(&["a"]));
    for problem in [None, Some(GpuProblem::NoDriver), Some(GpuProblem::Failed("x".into()))] {
        report.problem = problem;
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<GpuReport>(&text).unwrap(), report, "{text}");
    }
    assert_eq!(serde_json::from_str::<GpuReport>("{}").unwrap(), GpuReport::default());
}
