use crate::parse::{Parsed, parse};
use crate::problem::Problem;

/// A job of two roles with these plugins and this among its prerequisites.
fn job(prerequisite: &str, plugins: &str) -> String {
    let role = |name: &str, more: &str| {
        format!(
            "  {name}:\n    dockerImage: i\n{more}    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: \
             0}}\n    commands: [run {name}]\n"
        )
    };
    format!(
        "protocolVersion: 2\nname: a\ntype: job\nprerequisites:\n- {{name: i, type: dockerimage, uri: \
         u/i}}\n{prerequisite}parameters: {{where: /mnt}}\nsecrets: {{key: s3cret}}\ntaskRoles:\n{}{}\
         extras:\n  com.microsoft.pai.runtimeplugin:\n{plugins}",
        role("ps_server", if prerequisite.is_empty() { "" } else { "    prerequisites: [p]\n" }),
        role("worker", ""),
    )
}

fn read(text: &str) -> Parsed {
    parse(text).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"))
}

fn commands(text: &str) -> [String; 2] {
    let roles = read(text).spec.roles;
    [roles[0].command.clone(), roles[1].command.clone()]
}

fn problems(text: &str) -> Vec<Problem> {
    parse(text).map(|parsed| parsed.spec).expect_err("a file with a mistake in it")
}

const AFTER: &str = "berth_code=$?\n[ $berth_code = 0 ] || exit $berth_code";

#[test]
fn commands_of_plugins_stand_around_those_of_their_roles() {
    let text = job(
        "",
        "  - plugin: cmd\n    parameters: {preCommands: [\"ls <% $parameters.where %>\", use <% \
         $secrets.key %>], postCommands: [bye]}\n    taskroles: [psserver]\n  - plugin: cmd\n    \
         failurePolicy: ignore\n    parameters:\n      callbacks:\n      - {event: taskStarts, \
         commands: [hello]}\n",
    );
    let ps = format!(
        "set -e\nls /mnt\nuse <% $secrets.key %>\nset +e\nhello\n:\n(\nrun ps_server\n)\n{AFTER}\nset \
         -e\nbye\nset +e"
    );
    assert_eq!(commands(&text), [ps, "hello\n:\nrun worker".to_owned()]);
    let spec = read(&text).spec;
    assert!(spec.extras.is_empty(), "they are in the commands: {:?}", spec.extras);
    for written in [crate::render::to_json(&spec), crate::render::to_yaml(&spec)] {
        assert_eq!(read(&written).spec.roles, spec.roles, "{written}");
    }
}

#[test]
fn commands_of_a_prerequisite_stand_around_those_of_who_needs_it() {
    let prerequisite = "- {name: p, type: data, plugin: com.microsoft.pai.runtimeplugin.cmd, \
                        preCommands: [mount], postCommands: [umount]}\n";
    let text = job(prerequisite, "  - {plugin: cmd, parameters: {preCommands: [then]}}\n");
    let ps = format!(
        "set -e\nmount\nset +e\nset -e\nthen\nset +e\n(\nrun ps_server\n)\n{AFTER}\nset -e\numount\nset \
         +e"
    );
    assert_eq!(commands(&text), [ps, "set -e\nthen\nset +e\nrun worker".to_owned()]);
    let other = text.replace("runtimeplugin.cmd", "runtimeplugin.nfs");
    assert_eq!(problems(&other)[0].message, "the plugin \"nfs\" is not available here");
    let ignored = other.replace("preCommands: [mount]", "failurePolicy: ignore");
    assert!(read(&ignored).warnings[0].contains("prerequisites[1].plugin"));
}

#[test]
fn version_1_has_plugins_as_well() {
    let plugin = r#"{"com.microsoft.pai.runtimeplugin": [{"plugin": "cmd",
        "parameters": {"preCommands": ["hello <% $x %>"]}}]}"#;
    let text = super::mistakes::SCM.replace("\"extras\": {}", &format!("\"extras\": {plugin}"));
    let command = &read(&text).spec.roles[0].command;
    assert_eq!(command, "set -e\nhello <% $x %>\nset +e\nnvidia-smi");
}

#[test]
fn what_no_plugin_does_here_is_refused_by_its_name_unless_it_may_be_left_out() {
    let place = "extras[\"com.microsoft.pai.runtimeplugin\"][0]";
    for (plugin, name) in [
        ("{plugin: nfs, parameters: {server: x}}", "nfs"),
        ("{plugin: unheard, failurePolicy: fail}", "unheard"),
    ] {
        let found = problems(&job("", &format!("  - {plugin}\n")));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].message, format!("the plugin {name:?} is not available here"));
        assert_eq!(found[0].path, format!("{place}.plugin"));
    }
    let ignored = job("", "  - {plugin: unheard, failurePolicy: ignore}\n");
    assert_eq!(read(&ignored).warnings, [format!("not used here: {place}")]);
}

#[test]
fn a_task_waits_until_all_others_can_be_entered() {
    let plugin =
        "  - {plugin: ssh, taskroles: [worker], parameters: {jobssh: true, sshbarrier: true";
    let parsed = read(&job("", &format!("{plugin}, sshbarrierTimeout: 2}}}}\n")));
    assert_eq!(parsed.warnings, Vec::<String>::new());
    let [ps, worker] = parsed.spec.roles.as_slice() else { panic!("two roles") };
    assert_eq!(ps.command, "run ps_server");
    let begun = "set -e\n( berth_until=$(( $(date +%s) + 120 )); for berth_task in $(echo \
                 \"$PAI_TASK_ROLE_INSTANCES\" | tr ',:' ' -'); do until ssh -q -n ";
    assert!(worker.command.starts_with(begun), "{}", worker.command);
    assert!(worker.command.ends_with("done; done )\nset +e\nrun worker"), "{}", worker.command);
    let kept = &parsed.spec.extras["com.microsoft.pai.runtimeplugin"][0]["parameters"];
    assert_eq!(kept.to_string(), r#"{"jobssh":true}"#, "it is not to be done twice");
    for written in [crate::render::to_json(&parsed.spec), crate::render::to_yaml(&parsed.spec)] {
        assert_eq!(read(&written).spec.roles, parsed.spec.roles, "{written}");
    }
    let without = commands(&job("", &plugin.replace("barrier: true", "barrier: false}}\n")));
    assert_eq!(without[1], "run worker");
    let long = commands(&job("", &format!("{plugin}}}}}\n")));
    assert!(long[1].contains("+ 18000 ))"), "five hours, as there: {}", long[1]);
}

#[test]
fn what_a_plugin_is_told_and_does_not_know_is_named() {
    let place = "extras[\"com.microsoft.pai.runtimeplugin\"][0].parameters";
    let other = read(&job("", "  - {plugin: cmd, parameters: {preCommands: [a], shell: zsh}}\n"));
    assert_eq!(other.warnings, [format!("not used here: {place}.shell")]);
    for (parameters, key, near) in [
        ("{plugin: cmd, parameters: {preCommand: [a]}}", "preCommand", "preCommands"),
        ("{plugin: git, parameters: {repo_uri: u, cloneDir: a}}", "cloneDir", "clone_dir"),
        ("{plugin: ssh, parameters: {jobSsh: true}}", "jobSsh", "jobssh"),
        (
            "{plugin: teamwise_storage, parameters: {storageConfigName: [a]}}",
            "storageConfigName",
            "storageConfigNames",
        ),
    ] {
        let found = problems(&job("", &format!("  - {parameters}\n")));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, format!("{place}.{key}"));
        let message = format!("the key {key:?} is not known here; did you mean {near:?}?");
        assert_eq!(found[0].message, message);
    }
    let prerequisite = "- {name: p, type: data, plugin: com.microsoft.pai.runtimeplugin.cmd, \
                        preCommands: [mount], require: [q]}\n";
    let required = read(&job(prerequisite, "    []\n"));
    assert_eq!(required.warnings, ["not used here: prerequisites[1].require"]);
}

#[test]
fn a_repository_is_cloned_before_the_commands() {
    let text = job(
        "",
        "  - plugin: git\n    taskroles: [worker]\n    parameters: {repo_uri: \"https://<% $secrets.key \
         %>@h/it's.git\", options: [--depth=1, -b main], clone_dir: <% $parameters.where %>/code}\n",
    );
    let [ps, worker] = commands(&text);
    assert_eq!(ps, "run ps_server");
    let clone = "git clone --depth=1 -b main -- 'https://<% $secrets.key %>@h/it'\\''s.git' \
                 \"/mnt/code\"; do";
    assert!(worker.contains(clone), "{worker}");
    assert!(worker.starts_with("set -e\n[ -e \"/mnt/code\"/.git ] || ( "), "{worker}");
    assert!(worker.ends_with(" )\nset +e\nrun worker"), "{worker}");
    let plain = commands(&job("", "  - {plugin: git, parameters: {repo_uri: u}}\n"));
    assert!(plain[0].contains("until git clone -- 'u'; do"), "{}", plain[0]);
}

#[test]
fn tensorboard_runs_beside_the_first_roles_first_task() {
    let text = job("", "  - {plugin: tensorboard, parameters: {port: 9, logdir: {path: /logs}}}\n");
    let parsed = read(&text);
    let port = "extras[\"com.microsoft.pai.runtimeplugin\"][0].parameters.port";
    assert_eq!(parsed.warnings, [format!("not used here: {port}")]);
    let [ps, worker] = parsed.spec.roles.as_slice() else { panic!("two roles") };
    assert!(ps.command.starts_with("set -e\nif [ \"$PAI_TASK_INDEX\" = 0 ]; then "));
    let begun = "tensorboard --bind_all --logdir=\"/logs\" --port=\
                 \"$PAI_CONTAINER_HOST_tensorboard_PORT_LIST\" > /dev/null 2>&1 & fi\nset +e\n";
    assert!(ps.command.contains(begun), "{}", ps.command);
    assert_eq!((worker.command.as_str(), worker.ports.len()), ("run worker", 0));
    let labels: Vec<_> = ps.ports.iter().map(|port| port.label.as_str()).collect();
    assert_eq!(labels, ["tensorboard"]);
    for written in [crate::render::to_json(&parsed.spec), crate::render::to_yaml(&parsed.spec)] {
        assert_eq!(read(&written).spec.roles, parsed.spec.roles, "{written}");
    }
    let two = "  - {plugin: tensorboard, parameters: {logdir: {a: /a, b: /b}}}\n";
    assert!(commands(&job("", two))[0].contains("--logdir_spec=\"a:/a,b:/b\""));
    let other = "  - {plugin: tensorboard, taskroles: [worker], parameters: {logdir: {a: /a}}}\n";
    let other = read(&job("", other));
    assert_eq!((other.warnings.len(), other.spec.roles[0].ports.len()), (1, 0));
}

#[test]
fn what_is_wrong_in_a_plugin_is_told_at_its_place() {
    let begin = "extras[\"com.microsoft.pai.runtimeplugin\"]";
    for (plugins, path, message) in [
        ("    x: 1\n", "", "com.microsoft.pai.runtimeplugin is an object, not a list"),
        (
            "  - {plugin: cmd, taskroles: [other]}\n",
            "[0].taskroles[0]",
            "there is no task role \"other\"",
        ),
        ("  - {parameters: {}}\n", "[0].plugin", "plugin is missing"),
        ("  - {plugin: git}\n", "[0].parameters", "parameters is missing"),
        (
            "  - {plugin: git, parameters: {clone_dir: a}}\n",
            "[0].parameters.repo_uri",
            "repo_uri is missing",
        ),
        (
            "  - {plugin: tensorboard, parameters: {logdir: {}}}\n",
            "[0].parameters.logdir",
            "logdir is empty",
        ),
        (
            "  - {plugin: cmd, failurePolicy: maybe}\n",
            "[0].failurePolicy",
            "\"maybe\" is not a failure policy",
        ),
        (
            "  - {plugin: cmd, parameters: {preCommands: [a], callbacks: []}}\n",
            "[0].parameters.callbacks",
            "callbacks are given beside preCommands or postCommands",
        ),
        (
            "  - {plugin: cmd, parameters: {callbacks: [{event: taskFails, commands: [a]}]}}\n",
            "[0].parameters.callbacks[0].event",
            "\"taskFails\" is not an event",
        ),
        (
            "  - {plugin: cmd, parameters: {preCommands: [<% $secrets.kay %>]}}\n",
            "[0].parameters.preCommands[0]",
            "the reference $secrets.kay is not known; did you mean $secrets.key?",
        ),
    ] {
        let found = problems(&job("", plugins));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, format!("{begin}{path}"));
        assert!(found[0].message.ends_with(message), "{}", found[0]);
    }
}

#[test]
fn tasks_that_are_to_start_one_by_one_are_refused_unless_there_is_but_one() {
    let text = job("", "    []\n  gangAllocation: false\n");
    let found = problems(&text);
    assert_eq!((found.len(), found[0].path.as_str()), (1, "extras.gangAllocation"), "{found:?}");
    let end = text.find("  worker:").unwrap()..text.find("extras:").unwrap();
    let one = [&text[..end.start], &text[end.end..]].concat();
    let one = read(&one);
    assert_eq!((one.warnings.len(), one.spec.roles.len()), (0, 1));
    assert_eq!(one.spec.extras["gangAllocation"], false);
    let text = job("", "    []\n  gangAllocation: true\n  storages: [{name: nfs}]\n");
    assert_eq!(read(&text).warnings, Vec::<String>::new());
}

#[test]
fn the_cause_is_told_and_not_what_follows_from_it() {
    let text = job("", "    []\n").replace("[run worker]", "[<% $data.uri %>]");
    let found = problems(&text);
    assert_eq!(found.len(), 1, "that the command is then empty is no mistake: {found:?}");
    assert_eq!(found[0].message, "the reference $data.uri is not known");
    let text = job("", "    []\n").replace("uri: u/i", "uri: \"u i\"");
    let found = problems(&text);
    assert_eq!((found.len(), found[0].path.as_str()), (1, "prerequisites[0].uri"), "{found:?}");
    let text = job("", "    []\n").replace("type: dockerimage", "type: image");
    let found = problems(&text);
    assert_eq!((found.len(), found[0].path.as_str()), (1, "prerequisites[0].type"), "{found:?}");
}

#[test]
fn the_only_data_of_a_job_is_that_of_each_role() {
    let text = job("- {name: d, type: data, uri: [/mnt/d]}\n", "    []\n");
    let text = text.replace("    prerequisites: [p]\n", "");
    let text = text.replace("[run worker]", "[\"ls <% $data.uri[0] %>\"]");
    assert_eq!(commands(&text)[1], "ls /mnt/d");
    let two = text.replace("parameters:", "- {name: e, type: data, uri: [/mnt/e]}\nparameters:");
    assert!(problems(&two)[0].message.starts_with("the reference $data.uri[0] is not known"));
}
