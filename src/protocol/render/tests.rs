mod any;

use crate::parse::parse;
use crate::render::{to_json, to_yaml};
use crate::spec::JobSpec;

const EXAMPLES: [(&str, &str); 5] = [
    ("qizhi", include_str!("../fixtures/qizhi.json")),
    ("pai", include_str!("../fixtures/pai.json")),
    ("earliest", include_str!("../fixtures/earliest.json")),
    ("scm", include_str!("../fixtures/scm.json")),
    ("v2", include_str!("../fixtures/v2.yaml")),
];

/// Reads both renderings and compares.
fn check(spec: &JobSpec) {
    for text in [to_json(spec), to_yaml(spec)] {
        let parsed = parse(&text).unwrap_or_else(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{}\n{text}", problems.join("\n"))
        });
        let back = JobSpec { dialect: spec.dialect, ..parsed.spec };
        assert_eq!(&back, spec, "{text}");
        let names: Vec<&str> = parsed.secrets.names().collect();
        assert_eq!(names, spec.secrets);
        assert!(parsed.secrets.iter().all(|(_, value)| value == "******"));
    }
}

#[test]
fn the_examples_survive_both_notations() {
    for (name, text) in EXAMPLES {
        let spec = parse(text).unwrap().spec;
        check(&spec);
        insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("{name}_json"), to_json(&spec));
            insta::assert_snapshot!(format!("{name}_yaml"), to_yaml(&spec));
        });
    }
}
