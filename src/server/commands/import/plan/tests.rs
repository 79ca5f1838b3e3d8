use serde_json::from_value;

use super::*;

/// An OpenPAI whose users are in groups, with one who is given something by himself.
fn there() -> There {
    let users = json!([
        { "username": "ada", "grouplist": ["default", "vision"], "email": "ada@example.org",
          "virtualCluster": ["default", "vision"], "extension": { "theme": "dark" } },
        { "username": "bob", "grouplist": ["default"], "virtualCluster": ["default", "lab"] },
        { "username": "root", "grouplist": ["admins"], "admin": true,
          "virtualCluster": ["default", "lab", "vision", "spare"] },
        { "username": "old", "admin": true },
        { "username": "no body" },
    ]);
    let acls = |clusters: Value, storages: Value, admin: bool| {
        json!({ "acls": {
            "admin": admin, "virtualClusters": clusters, "storageConfigs": storages,
        } })
    };
    let groups = json!([
        { "groupname": "default", "extension": acls(json!(["default"]), json!(["data"]), false) },
        { "groupname": "vision", "description": "who sees", "externalName": "cn=vision",
          "extension": acls(json!(["vision"]), json!(["team", "blob"]), false) },
        { "groupname": "admins", "extension": acls(json!([]), json!([]), true) },
    ]);
    let guaranteed = |gpus: u64| json!({ "resourcesGuaranteed": { "gpu": gpus } });
    let clusters = json!({
        "default": guaranteed(8), "vision": guaranteed(4), "lab": guaranteed(2),
        "spare": guaranteed(0), "a.b": guaranteed(0),
    });
    let mut clusters: BTreeMap<String, Cluster> = from_value(clusters).unwrap();
    for cluster in clusters.values_mut() {
        cluster.types = vec!["V100".to_owned()];
    }
    let detail = |value: Value| Ok(from_value(value).unwrap());
    let storage = |name: &str, default, detail| Storage { name: name.to_owned(), default, detail };
    let storages = vec![
        storage(
            "data",
            true,
            detail(json!({
                "share": true, "type": "nfs", "data": { "server": "10.0.0.5", "path": "/data" },
                "readOnly": true, "mountOptions": ["nfsvers=4.1", "nconnect=4"],
            })),
        ),
        storage(
            "team",
            false,
            detail(json!({
                "share": false, "type": "samba",
                "data": { "address": "//files/team/a", "username": "pai", "password": "hunter2" },
            })),
        ),
        storage("blob", false, detail(json!({ "type": "azureBlob", "data": {} }))),
        storage("closed", false, Err("not for root".to_owned())),
    ];
    There {
        users: from_value(users).unwrap(),
        groups: from_value(groups).unwrap(),
        clusters,
        storages,
    }
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn here() -> Here {
    Here { clusters: set(&["default"]), gpu_types: set(&["V100"]), ..Here::default() }
}

fn find<'a>(steps: &'a [Step], part: Part, name: &str) -> &'a Step {
    steps.iter().find(|step| step.part == part && step.name == name).unwrap()
}

/// What is asked for so that something comes.
fn wanted(steps: &[Step], part: Part, name: &str) -> Value {
    match &find(steps, part, name).fate {
        Fate::Comes(Wanted::Group(body) | Wanted::VirtualCluster(body) | Wanted::Storage(body)) => {
            body.clone()
        }
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn groups_come_with_what_they_are_and_without_rights_that_others_name() {
    let steps = plan(&there(), &here(), &[]);
    let vision = json!({
        "groupname": "vision", "description": "who sees", "externalName": "cn=vision",
        "extension": { "acls": { "admin": false } },
    });
    assert_eq!(wanted(&steps, Part::Groups, "vision"), vision);
    let admins = find(&steps, Part::Groups, "admins");
    assert_eq!(admins.notes, [Note::AdminMembers]);
    let parts: Vec<_> = steps.iter().map(|step| step.part).collect();
    let first = |part: Part| parts.iter().position(|one| *one == part).unwrap();
    assert!(first(Part::Groups) < first(Part::Users), "who is in a group needs it");
}

#[test]
fn virtual_clusters_name_who_may_use_them_and_are_never_opened_to_everybody() {
    let steps = plan(&there(), &here(), &[]);
    let cluster = |name| wanted(&steps, Part::VirtualClusters, name);
    let share = |gpus: u64| json!({ "gpus": { "V100": gpus } });
    let vision = json!({ "share": share(4), "groups": ["vision"], "users": [] });
    assert_eq!(cluster("vision"), vision);
    assert_eq!(cluster("lab"), json!({ "share": share(2), "groups": [], "users": ["bob"] }));
    assert_eq!(cluster("spare"), json!({ "share": {}, "groups": ["admins"], "users": [] }));
    assert_eq!(find(&steps, Part::VirtualClusters, "default").fate, Fate::Stays);
    assert_eq!(find(&steps, Part::VirtualClusters, "a.b").fate, Fate::Left);
}

#[test]
fn a_share_is_said_only_in_types_that_are_here() {
    let steps = plan(&there(), &Here::default(), &[]);
    let vision = find(&steps, Part::VirtualClusters, "vision");
    assert_eq!(vision.notes, [Note::NoShare(4)]);
    assert_eq!(wanted(&steps, Part::VirtualClusters, "vision")["share"], json!({}));
}

#[test]
fn storages_come_as_far_as_engines_can_mount_them() {
    let steps = plan(&there(), &here(), &[]);
    let data = json!({
        "source": { "nfs": {
            "server": "10.0.0.5", "path": "/data", "options": "nfsvers=4.1,nconnect=4",
        } },
        "read_only": true, "default": true, "own_folders": false,
        "groups": ["default"], "users": [],
    });
    assert_eq!(wanted(&steps, Part::Storages, "data"), data);
    let team = wanted(&steps, Part::Storages, "team");
    let source = json!({ "smb": {
        "server": "files", "share": "team/a", "user": "pai", "password": "hunter2",
        "options": null,
    } });
    assert_eq!((&team["source"], &team["own_folders"]), (&source, &json!(true)));
    let not_mounted = Note::NotMounted("azureBlob".to_owned());
    for (name, why) in [("blob", not_mounted), ("closed", Note::told("not for root"))] {
        let step = find(&steps, Part::Storages, name);
        assert_eq!((&step.fate, &step.notes[..]), (&Fate::Left, &[why][..]), "{name}");
    }
}

#[test]
fn users_come_with_their_groups_and_are_administrators_by_them() {
    let steps = plan(&there(), &here(), &[]);
    let user = |name: &str| match &find(&steps, Part::Users, name).fate {
        Fate::Comes(Wanted::User { body, groups }) => (body.clone(), groups.clone()),
        other => panic!("{name}: {other:?}"),
    };
    let (body, groups) = user("ada");
    let expected = json!({
        "username": "ada", "email": "ada@example.org", "admin": false,
        "extension": { "theme": "dark" },
    });
    assert_eq!((Value::Object(body), groups), (expected, vec!["default".into(), "vision".into()]));
    assert_eq!(user("root").0["admin"], false, "the group says it");
    assert_eq!(user("old").0["admin"], true);
    assert_eq!(find(&steps, Part::Users, "no body").fate, Fate::Left);
}

#[test]
fn what_is_here_stays_and_is_said() {
    let here = Here {
        users: BTreeMap::from([("Ada".to_owned(), set(&["default"]))]),
        groups: set(&["vision"]),
        storages: set(&["data"]),
        ..here()
    };
    let steps = plan(&there(), &here, &[]);
    let ada = find(&steps, Part::Users, "ada");
    assert_eq!(ada.fate, Fate::Stays);
    let also_in = Note::AlsoIn(vec!["vision".to_owned()]);
    assert_eq!(ada.notes, [Note::KnownAs("Ada".to_owned()), also_in]);
    assert_eq!(find(&steps, Part::Groups, "vision").fate, Fate::Stays);
    assert_eq!(find(&steps, Part::Storages, "data").fate, Fate::Stays);
}

#[test]
fn parts_are_left_out_when_that_is_said() {
    let steps = plan(&there(), &here(), &[Part::Groups, Part::Storages]);
    let all = [Part::VirtualClusters, Part::Users];
    assert!(steps.iter().all(|step| all.contains(&step.part)));
    let root = find(&steps, Part::Users, "root");
    let Fate::Comes(Wanted::User { body, groups }) = &root.fate else { panic!("{root:?}") };
    assert_eq!((&body["admin"], groups.len()), (&json!(true), 0), "no group says it here");
}
