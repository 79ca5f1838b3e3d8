use protocol::cluster::{NodeNetwork, Preempts};
use protocol::spec::TopologyLevel;

use super::*;

fn load(file: &str, variables: &[(&str, &str)], flags: &Flags) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("berth.toml");
    std::fs::write(&path, file).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Config::load(Some(&path), variables, flags).map_err(|error| error.to_string())
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let file = "listen = '0.0.0.0:1'\ndata = '/file'\n[log]\nfilter = 'debug'";
    let variables = [("BERTH_LISTEN", "0.0.0.0:2"), ("BERTH_DATABASE_URL", "sqlite:///x.db")];
    let flags = Flags { listen: Some("0.0.0.0:3".into()), ..Flags::default() };
    let config = load(file, &variables, &flags).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.data, Path::new("/file"));
    assert_eq!(config.log.filter, "debug");
    assert_eq!(config.database_url(), "sqlite:///x.db");
    assert_eq!(load(file, &variables, &Flags::default()).unwrap().listen.port(), 2);
}

#[test]
fn a_flag_of_the_log_leaves_the_rest_of_it_as_the_file_says() {
    let log = Some(LogFlags { format: LogFormat::Journal });
    let flags = Flags { log, ..Flags::default() };
    let config = load("[log]\nfilter = 'debug'\nformat = 'json'", &[], &flags).unwrap();
    assert_eq!((config.log.filter.as_str(), config.log.format), ("debug", LogFormat::Journal));
}

#[test]
fn nodes_and_virtual_clusters_are_read() {
    let file = r#"
        [[nodes]]
        name = "gpu-1"
        address = "10.0.0.1"
        endpoint = "tcp://10.0.0.1:2376"
        cpus = 32
        gpus = [{ type = "TITANX", count = 2 }]
        gpu_runtime = "none"
        shares_gpus = true
        network = "bridge"
        ports = "30000-30999"
        labels = { rack = "a" }

        [[virtual_clusters]]
        name = "vc1"
        share = { gpus = { TITANX = 2 }, cpus = 8 }
        users = ["alice"]

        [[virtual_clusters]]
        name = "part"
        parent = "vc1"
        shapes = [{ type = "TITANX", gpus = 2, count = 1 }]
        nodes = ["worker-1"]
        within = { rack = ["a"] }
        borrows = false
        preempts = ["crit"]
        deadlines = true
        lease = 10
        idle = { minutes = 30, stop_after = 15 }
        limits = { user = { running_gpus = 8 }, users = { ada = { waiting_jobs = 9 } } }
        group_shares = { "gpu users" = 2, vision = 1 }

        [[groups]]
        name = "gpu users"
        description = "who trains"
        admin = true
    "#;
    let config = load(file, &[], &Flags::default()).unwrap();
    let node = &config.nodes[0];
    assert_eq!((node.ports.first, node.ports.last), (30_000, 30_999));
    assert_eq!(node.gpus.as_ref().unwrap()[0].count, 2);
    assert!(node.shares_gpus);
    assert_eq!(node.network, Some(NodeNetwork::Bridge));
    assert_eq!(config.virtual_clusters[0].share.cpus, Some(8));
    assert!(config.virtual_clusters[0].borrows);
    let part = &config.virtual_clusters[1];
    assert_eq!((part.parent.as_ref(), part.borrows), (Some(&"vc1".parse().unwrap()), false));
    assert_eq!((part.shapes[0].gpus, part.shapes[0].count), (2, 1));
    assert_eq!(part.nodes, ["worker-1".parse().unwrap()]);
    assert_eq!(config.virtual_clusters[0].preempts, Preempts::Everybody);
    assert_eq!(part.preempts, Preempts::Critical);
    assert!(!config.virtual_clusters[0].deadlines && part.deadlines);
    assert_eq!(part.within[&TopologyLevel::Rack], ["a"]);
    assert_eq!((config.virtual_clusters[0].lease, part.lease), (None, Some(10)));
    let idle = part.idle.unwrap();
    let limits = &part.limits;
    assert_eq!(limits.user.running_gpus, Some(8));
    assert_eq!(limits.users[&"ada".parse().unwrap()].waiting_jobs, Some(9));
    assert_eq!((idle.load, idle.minutes, idle.stop_after), (5, 30, Some(15)));
    assert_eq!(part.group_shares[&"gpu users".parse().unwrap()], 2);
    let group = &config.groups[0];
    assert_eq!((group.name.as_str(), group.admin), ("gpu users", true));
}

#[test]
fn checks_are_read_and_what_cannot_be_made_is_a_mistake() {
    use protocol::health::{Grade, When};

    let file = r#"
        [[checks]]
        name = "diag"
        image = "registry.example.org/dcgm:3"
        command = "dcgmi diag -r 1"
        when = "before"
        gpus = true

        [[checks]]
        name = "disk"
        image = "ubuntu:24.04"
        command = "test -w /data"
        grade = "warning"
        labels = { disk = "local" }
    "#;
    let checks = load(file, &[], &Flags::default()).unwrap().checks;
    assert_eq!(
        (checks[0].when, checks[0].grade, checks[0].gpus),
        (When::Before, Grade::Failed, true)
    );
    assert_eq!((checks[1].when, checks[1].grade), (When::Free, Grade::Warning));
    let twice = file.replace("disk\"\n", "diag\"\nseconds = 0\n");
    let error = load(&twice, &[], &Flags::default()).unwrap_err();
    assert!(error.contains("checks[1].seconds = 0"), "{error}");
    assert!(error.contains("checks: the name \"diag\" is there twice"), "{error}");
}

#[test]
fn types_of_gpus_are_named_by_patterns() {
    let file = r#"
        gpu_image = "registry.example.org/tools:1"

        [gpu_types]
        "A100-80G" = ["*A100*80GB*"]
        Small = ["Tesla T4", "*GTX*"]

        [gpu_prices]
        "A100-80G" = 12.5
        Small = 2
    "#;
    let gpus = load(file, &[], &Flags::default()).unwrap().gpus();
    assert_eq!(gpus.image, "registry.example.org/tools:1");
    let prices: Vec<String> = gpus.prices.values().map(ToString::to_string).collect();
    assert_eq!(prices, ["12.5", "2"]);
    let name = |model| gpus.names.name(model, None).unwrap().to_string();
    assert_eq!(name("NVIDIA A100-SXM4-80GB"), "A100-80G");
    assert_eq!(name("Tesla T4"), "Small");
    assert_eq!(name("NVIDIA H100 80GB HBM3"), "H100");
    let variables = [("BERTH_GPU_TYPES", r#"{ Ours = ["*H100*"] }"#)];
    let gpus = load("", &variables, &Flags::default()).unwrap().gpus();
    assert_eq!(gpus.names.name("NVIDIA H100 PCIe", None).unwrap().as_str(), "Ours");
    assert_eq!(gpus.image, "ubuntu:24.04");
    assert!(load("[gpu_types]\n\"a b\" = []", &[], &Flags::default()).is_err());
}

#[test]
fn without_nodes_there_is_the_local_engine() {
    let node = load("", &[], &Flags::default()).unwrap().first_node().unwrap();
    assert_eq!(node.endpoint, "unix:///var/run/docker.sock");
    assert!(!node.shares_gpus, "an administrator has to allow it");
    let one_of_several = load("[servers]\nlisten = '10.0.0.2:81'", &[], &Flags::default());
    assert_eq!(one_of_several.unwrap().first_node(), None, "others have other engines");
}

#[test]
fn passwords_that_look_like_numbers_stay_texts() {
    let config = load("", &[("BERTH_ADMIN_PASSWORD", "12345678")], &Flags::default()).unwrap();
    assert_eq!(config.admin_password.as_deref(), Some("12345678"));
    assert!(!format!("{config:?}").contains("12345678"));
}

#[test]
fn limits_and_measurements_are_read() {
    let file = "[limits]\nrequest_burst = 5\n[metrics]\ntoken = 'a-token-of-prometheus'";
    let variables = [("BERTH_METRICS_LISTEN", "127.0.0.1:9100")];
    let config = load(file, &variables, &Flags::default()).unwrap();
    assert_eq!((config.limits.request_burst, config.limits.streams_per_user), (5, 32));
    assert_eq!(config.metrics.listen.unwrap().port(), 9_100);
    assert!(!format!("{:?}", config.metrics).contains("prometheus"));
    assert!(!config.metrics.jobs && !config.rules().unmeasured);
    let variables = [("BERTH_METRICS_JOBS", "true"), ("BERTH_METRICS_TASKS", "false")];
    let config = load("", &variables, &Flags::default()).unwrap();
    assert!(config.metrics.jobs && config.rules().unmeasured);
    let variables = [("BERTH_LIMITS", "{ streams = 7 }")];
    assert_eq!(load("", &variables, &Flags::default()).unwrap().limits.streams, 7);
}

#[test]
fn storages_are_read() {
    let file = r#"
        [[storages]]
        name = "data"
        source = { path = "/mnt/ceph/data" }
        read_only = true
        default = true

        [[storages]]
        name = "team"
        source = { smb = { server = "files", share = "team", user = "berth", password = "hunter2" } }
        mount = "/team"
        own_folders = true
        groups = ["vision"]
    "#;
    let config = load(file, &[], &Flags::default()).unwrap();
    let [data, team] = config.storages.as_slice() else { panic!("{:?}", config.storages) };
    assert_eq!((data.target().as_str(), data.read_only, data.default), ("/mnt/data", true, true));
    assert_eq!((team.target().as_str(), team.own_folders), ("/team", true));
    assert_eq!(team.password().unwrap().0, "hunter2");
    let nfs = r#"[{name = "n", source = {nfs = {server = "10.0.0.5", path = "/export"}}}]"#;
    let config = load("", &[("BERTH_STORAGES", nfs)], &Flags::default()).unwrap();
    assert_eq!(config.storages[0].source.kind(), "nfs");
}

#[test]
fn the_key_is_the_data_folders_unless_another_one_is_given() {
    use control::KeyFile;

    let config = load("data = '/var/lib/berth'", &[], &Flags::default()).unwrap();
    assert_eq!(config.key(), KeyFile::Own("/var/lib/berth".into()));
    assert_eq!(config.key().path(), Path::new("/var/lib/berth/secret.key"));
    let variables = [("BERTH_KEY_FILE", "/run/secrets/berth")];
    let none: &[(&str, &str)] = &[];
    for (file, variables) in [("key_file = '/run/secrets/berth'", none), ("", &variables[..])] {
        let config = load(file, variables, &Flags::default()).unwrap();
        assert_eq!(config.key(), KeyFile::Given("/run/secrets/berth".into()));
    }
}

#[test]
fn mistakes_name_key_value_and_what_is_allowed() {
    let node = "name = 'a'\naddress = '1.1.1.1'\nendpoint = 'sim://a'\n";
    /// A file, variables, and the words of the mistake.
    type Case<'a> = (String, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: [Case<'_>; 22] = [
        ("[metrics]\ntoken = 'short'".into(), &[], &["metrics.token", "16 characters"]),
        ("[limits]\nrequests = 1".into(), &[], &["requests", "requests_per_second"]),
        ("[cors]\norigins = ['a.org']".into(), &[], &["cors.origins", "a.org", "https://HOST"]),
        ("[servers]\nlisten = '0.0.0.0:81'".into(), &[], &["servers.listen", "0.0.0.0:81"]),
        ("listne = 1".into(), &[], &["listne", "listen"]),
        ("listen = 'nowhere'".into(), &[], &["listen", "socket address"]),
        ("demo = 'perhaps'".into(), &[], &["demo", "perhaps", "boolean", "still"]),
        (format!("[[nodes]]\n{node}ports = '5-1'"), &[], &["nodes[0].ports", "5-1", "10000-31999"]),
        (
            format!("[[nodes]]\n{node}gpus = [{{type = 'A100', count = 2}}]\nlinks = [[0, 2]]"),
            &[],
            &["nodes[0].links[0]: there is no GPU 2", "from 0 to 1"],
        ),
        (format!("[[nodes]]\n{node}cpu = 1"), &[], &["cpu", "cpus"]),
        (format!("[[nodes]]\n{node}ports = 'all'"), &[], &["ports", "\"all\"", "FIRST-LAST"]),
        (
            "[[virtual_clusters]]\nname = 'v'\nshapes = [{type = 'A100', gpus = 0, count = 1}]"
                .into(),
            &[],
            &["virtual_clusters.v.shapes[0].gpus", "gpus is 0", "from 1 to 64"],
        ),
        (
            "[[nodes]]\nname='a'\naddress='1.1.1.1'\nendpoint='http://x'".into(),
            &[],
            &["nodes[0].endpoint", "http://x", "unix://"],
        ),
        (
            "[[nodes]]\nname='a'\naddress='1.1.1.1'\nendpoint='sim://'".into(),
            &[],
            &["nodes[0].endpoint", "\"sim://\"", "unix://"],
        ),
        (format!("[[nodes]]\n{node}[[nodes]]\n{node}"), &[], &["nodes", "\"a\"", "twice"]),
        (
            format!("[[nodes]]\n{node}[[nodes]]\n{}", node.replace("'a'", "'b'")),
            &[],
            &["b: endpoint \"sim://a\"", "engine of a already"],
        ),
        (
            "[servers]\nlisten='10.0.0.2:81'\n[[nodes]]\nname='a'\naddress='1.1.1.1'\n\
             endpoint='unix:///d.sock'"
                .into(),
            &[],
            &["nodes[0].endpoint", "unix:///d.sock", "ssh://"],
        ),
        (
            "[[storages]]\nname = 's'\nsource = { path = 'mnt' }".into(),
            &[],
            &["storages.s.source.path", "\"mnt\"", "such as /mnt/data"],
        ),
        (
            "[[storages]]\nname = 's'\nsource = { path = '/mnt' }\nreadonly = true".into(),
            &[],
            &["readonly", "read_only"],
        ),
        (
            "[[groups]]\nname = 'a'\n[[groups]]\nname = 'a'\n".into(),
            &[],
            &["groups", "\"a\"", "twice"],
        ),
        (String::new(), &[("BERTH_LISTN", "x")], &["BERTH_LISTN", "BERTH_LISTEN"]),
        (String::new(), &[("BERTH_ADMIN_PASSWORD", "short")], &["admin_password", "8 characters"]),
    ];
    for (file, variables, words) in cases {
        let error = load(&file, variables, &Flags::default()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

#[test]
fn classes_that_preempt_are_named_from_the_highest_on() {
    for (classes, words) in [
        ("['prod']", ["virtual_clusters", "preempts names prod, but not crit", "a list of crit"]),
        ("['test']", ["virtual_clusters", "preempts", "`crit` or `prod`"]),
        ("'crit'", ["virtual_clusters", "preempts", "a list of the classes crit and prod"]),
    ] {
        let file = format!("[[virtual_clusters]]\nname = 'v'\npreempts = {classes}");
        let error = load(&file, &[], &Flags::default()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

#[test]
fn what_kubernetes_says_of_a_service_of_our_name_is_nothing_of_ours() {
    let variables = [
        ("BERTH_SERVICE_HOST", "10.0.0.1"),
        ("BERTH_SERVICE_PORT", "80"),
        ("BERTH_SERVICE_PORT_HTTP", "80"),
        ("BERTH_PORT", "tcp://10.0.0.1:80"),
        ("BERTH_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("BERTH_PORT_80_TCP_PROTO", "tcp"),
        ("BERTH_PORT_80_TCP_PORT", "80"),
        ("BERTH_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("BERTH_WEB_PORT", "udp://10.0.0.2:53"),
        ("BERTH_DATA", "/kept"),
    ];
    let config = load("", &variables, &Flags::default()).unwrap();
    assert_eq!(config.data, Path::new("/kept"));
    for (name, text) in [("BERTH_PORT", "8080"), ("BERTH_HOST", "10.0.0.1")] {
        let error = load("", &[(name, text)], &Flags::default()).unwrap_err();
        assert!(error.contains(name), "{error}: somebody meant something by it");
    }
}

#[test]
fn a_missing_file_is_a_mistake() {
    let missing = Path::new("/nowhere/berth.toml");
    let error = Config::load(Some(missing), [], &Flags::default()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/berth.toml"));
}

#[test]
fn encryption_is_read_and_its_mistakes_are_told() {
    let file = "public_url = 'https://berth.example.org'\nhosts = ['gpu01.corp', '10.0.0.8']\n\
        [tls]\nhttp_redirect = '0.0.0.0:80'\n[tls.acme]\ndomains = ['berth.example.org']\n\
        contact = ['ops@example.org']\n[connections]\ntotal = 4096";
    let config = load(file, &[], &Flags::default()).unwrap();
    assert!(config.is_https() && config.tls.is_on());
    assert_eq!(config.tls.domains().collect::<Vec<_>>(), ["berth.example.org"]);
    let variables = [("BERTH_TLS_CERTIFICATE", "/c.pem"), ("BERTH_TLS_KEY", "/k.pem")];
    assert!(load("", &variables, &Flags::default()).unwrap().is_https());
    let cases: [(&str, &[&str]); 11] = [
        ("[tls]\ncertificate = '/c.pem'", &["tls.certificate", "/c.pem", "tls.key"]),
        ("[tls]\nkey = '/k.pem'", &["tls.key", "/k.pem", "tls.certificate"]),
        ("[tls]\nhttp_redirect = '0.0.0.0:80'", &["tls.http_redirect", "0.0.0.0:80", "tls.acme"]),
        ("[tls]\nhttp_redirect = '80'", &["tls.http_redirect", "socket address"]),
        ("[tls.acme]\ndomains = []", &["tls.acme.domains", "names users type"]),
        ("[tls.acme]\ndomains = ['*.a.b', '10.0.0.1']", &["\"*.a.b\"", "\"10.0.0.1\"", "files"]),
        ("[tls.acme]\ndomains = ['a.b']\ncontact = ['x']", &["tls.acme.contact", "\"x\""]),
        ("[tls.acme]\ndomains = ['a.b']\ndirectory = 'http://x'", &["tls.acme.directory", "https"]),
        (
            "public_url = 'http://x'\n[tls]\ncertificate = 'c'\nkey = 'k'",
            &["public_url", "http://x", "https://HOST"],
        ),
        ("hosts = ['https://x']", &["hosts", "https://x", "without scheme"]),
        ("[connections]\ntotal = 3", &["connections.total = 3", "16 or more"]),
    ];
    for (file, words) in cases {
        let error = load(file, &[], &Flags::default()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

#[test]
fn the_portal_is_where_it_listens_and_what_people_type() {
    let portal = |file: &str| load(file, &[], &Flags::default()).unwrap().portal();
    let plain = portal("listen = '10.0.0.1:80'");
    assert_eq!(plain.listen, ["10.0.0.1".parse::<std::net::IpAddr>().unwrap()]);
    assert_eq!((plain.host, plain.https, plain.tasks_allowed), (None, false, false));
    let named = portal("public_url = 'https://berth.example.org/'\nallow_tasks_at_portal = true");
    assert_eq!(named.host.as_deref(), Some("berth.example.org"));
    assert!(named.https && named.tasks_allowed);
}

#[test]
fn what_users_have_had_counts_half_after_a_week_unless_somebody_says_otherwise() {
    let half_life = |file: &str, variables: &[(&str, &str)]| {
        load(file, variables, &Flags::default()).unwrap().rules().half_life.to_string()
    };
    assert_eq!(half_life("", &[]), "1w");
    let file = "[scheduler]\nhalf_life = '36h'";
    assert_eq!(half_life(file, &[]), "36h");
    assert_eq!(half_life(file, &[("BERTH_SCHEDULER_HALF_LIFE", "0")]), "0");
    let cases: [(&str, &[&str]); 3] = [
        ("half_life = 7", &["scheduler.half_life", "7", "36h"]),
        ("half_life = '0d'", &["scheduler.half_life", "\"0d\"", "4w"]),
        ("half_lives = '7d'", &["scheduler", "half_lives", "half_life"]),
    ];
    for (file, words) in cases {
        let error = load(&format!("[scheduler]\n{file}"), &[], &Flags::default()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

#[test]
fn gpus_count_by_their_type_where_somebody_says_so() {
    let weight = |file: &str, variables: &[(&str, &str)], of: &str| {
        let weights = load(file, variables, &Flags::default()).unwrap().gpus().weights;
        weights.of(&of.parse().unwrap()).to_string()
    };
    assert_eq!(weight("", &[], "A100"), "1");
    let file = "[gpu_weights]\nA100 = 2.5\n'RTX*' = 0.5";
    assert_eq!(weight(file, &[], "A100"), "2.5");
    assert_eq!(weight(file, &[], "RTX2080Ti"), "0.5");
    assert_eq!(weight("", &[("BERTH_GPU_WEIGHTS", "{ A100 = 3 }")], "A100"), "3");
    for wrong in ["A100 = 0", "A100 = 1001", "A100 = -1", "A100 = 'much'"] {
        let error = load(&format!("[gpu_weights]\n{wrong}"), &[], &Flags::default()).unwrap_err();
        assert!(error.contains("gpu_weights"), "{error}");
    }
}

#[test]
fn records_are_kept_for_years_and_logs_for_months_unless_somebody_says_otherwise() {
    let kept = |file: &str, variables: &[(&str, &str)]| {
        let retention = load(file, variables, &Flags::default()).unwrap().rules().retention;
        let control::Retention { jobs, logs, metrics, events, audit } = retention;
        [jobs, logs, metrics, events, audit].map(|kept| kept.to_string()).join(" ")
    };
    assert_eq!(kept("", &[]), "5y 26w 26w 1y 5y");
    let file = "[retention]\njobs = '90d'\nlogs = '4w'\nmetrics = '8w'\naudit = 'forever'";
    assert_eq!(kept(file, &[]), "90d 4w 8w 90d forever");
    assert_eq!(kept("[retention]\njobs = '30d'", &[]), "30d 30d 30d 30d 5y", "they go with jobs");
    assert_eq!(kept(file, &[("BERTH_RETENTION_LOGS", "2w")]), "90d 2w 8w 90d forever");
    assert_eq!(kept(file, &[("BERTH_RETENTION_METRICS", "2w")]), "90d 4w 2w 90d forever");
    let cases: [(&str, &[&str]); 7] = [
        ("jobs = '90'", &["retention.jobs", "\"90\"", "26w", "forever"]),
        ("logs = 90", &["retention.logs", "90", "26w", "forever"]),
        ("events = '0d'", &["retention.events", "\"0d\"", "1d"]),
        ("readings = '90d'", &["retention", "readings", "metrics"]),
        ("metrics = '6y'", &["retention.metrics", "6y", "at most", "5y"]),
        ("jobs = '30d'\nlogs = 'forever'", &["retention.logs", "forever", "retention.jobs", "30d"]),
        ("events = '6y'", &["retention.events", "6y", "at most", "5y"]),
    ];
    for (file, words) in cases {
        let error = load(&format!("[retention]\n{file}"), &[], &Flags::default()).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error:?}");
        }
    }
}

#[test]
fn registries_are_hosts() {
    let named = [("BERTH_IMAGES_REGISTRIES", "[\"docker.io\", \"r.example.org:5000\"]")];
    let config = load("", &named, &Flags::default()).unwrap();
    assert_eq!(config.images.registries, ["docker.io", "r.example.org:5000"]);
    let file = "[images]\nregistries = ['https://r.example.org']";
    let error = load(file, &[], &Flags::default()).unwrap_err();
    for word in ["images.registries", "\"https://r.example.org\"", "docker.io"] {
        assert!(error.contains(word), "{word:?} is not in {error:?}");
    }
}
