//! What OpenPAI's runtime plugins, as far as they stay in a job's `extras`, say when a task is made.
//!
//! Of `ssh` it is `userssh.value`: public keys that may enter. Its `jobssh` changes nothing: tasks
//! always enter each other, by a server that no image need bring. What other plugins do is part of the
//! roles' commands from the reading of the file on.

use serde_json::Value;

use crate::environment::stripped;
use crate::fields::PLUGINS;
use crate::ids::RoleName;
use crate::secrets::{Secrets, fill};
use crate::spec::JobSpec;

/// The public keys that the job gives for the tasks of a role, one a line as written, its secrets put
/// in; nothing is known yet of whether they are any. `None`: of all roles.
#[must_use]
pub fn user_keys(spec: &JobSpec, role: Option<&RoleName>, secrets: &Secrets) -> Vec<String> {
    let filled = values(spec, role).map(|value| fill(value, secrets));
    let filled: Vec<String> = filled.collect();
    let lines = filled.iter().flat_map(|value| value.lines()).map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Whether its secrets are needed to know who may enter.
#[must_use]
pub fn keys_have_secrets(spec: &JobSpec) -> bool {
    !spec.secrets.is_empty() && values(spec, None).any(|value| value.contains("$secrets."))
}

fn values<'a>(spec: &'a JobSpec, role: Option<&'a RoleName>) -> impl Iterator<Item = &'a str> {
    let plugins = spec.extras.get(PLUGINS).and_then(Value::as_array);
    let ssh = plugins.into_iter().flatten().filter(move |plugin| {
        plugin["plugin"] == "ssh" && role.is_none_or(|role| holds_for(plugin, role))
    });
    ssh.filter_map(|plugin| plugin["parameters"]["userssh"]["value"].as_str())
}

/// Whether a plugin is for this role: for all, unless it names some.
fn holds_for(plugin: &Value, role: &RoleName) -> bool {
    let Some(roles) = plugin["taskroles"].as_array() else { return true };
    let own = stripped(role.as_str());
    roles.iter().filter_map(Value::as_str).any(|named| stripped(named) == own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn spec(plugins: &str) -> JobSpec {
        let text = format!(
            r#"{{"protocolVersion": 2, "name": "j", "type": "job",
                "prerequisites": [{{"name": "i", "type": "dockerimage", "uri": "u"}}],
                "taskRoles": {{"ps_server": {{"instances": 1, "dockerImage": "i",
                    "resourcePerInstance": {{"cpu": 1, "memoryMB": 100, "gpu": 0}},
                    "commands": ["true"]}}}},
                "extras": {{"com.microsoft.pai.runtimeplugin": {plugins}}}}}"#
        );
        parse(&text).unwrap().spec
    }

    fn keys(plugins: &str) -> Vec<String> {
        let role = "ps_server".parse().unwrap();
        user_keys(&spec(plugins), Some(&role), &Secrets::default())
    }

    #[test]
    fn keys_of_the_ssh_plugin_are_found() {
        let plugin = |parameters: &str, more: &str| {
            format!(r#"[{{"plugin": "ssh", "parameters": {parameters}{more}}}]"#)
        };
        let given = r#"{"jobssh": true, "userssh": {"type": "custom", "value": "ssh-rsa A a\n\nssh-rsa B"}}"#;
        assert_eq!(keys(&plugin(given, "")), ["ssh-rsa A a", "ssh-rsa B"]);
        assert_eq!(keys(&plugin(given, r#", "taskroles": ["psserver"]"#)).len(), 2);
        let other = "worker".parse().unwrap();
        let of_other = user_keys(
            &spec(&plugin(given, r#", "taskroles": ["psserver"]"#)),
            Some(&other),
            &Secrets::default(),
        );
        assert_eq!(of_other, Vec::<String>::new());
        for none in ["{}", r#"{"jobssh": false}"#, r#"{"userssh": {"type": "none"}}"#] {
            assert_eq!(keys(&plugin(none, "")), Vec::<String>::new(), "{none}");
        }
        for strange in ["[]", r#"[{"plugin": "cmd"}]"#] {
            assert_eq!(keys(strange), Vec::<String>::new(), "{strange}");
        }
    }

    #[test]
    fn keys_come_out_of_secrets_and_parameters() {
        let text = "protocolVersion: 2\nname: j\ntype: job\nprerequisites:\n- {name: i, type: \
            dockerimage, uri: u}\nparameters: {kind: ssh-rsa}\nsecrets: {one: 'A a', two: \"B\\n\
            ssh-rsa C\"}\ntaskRoles:\n  w:\n    dockerImage: i\n    resourcePerInstance: {cpu: 1, \
            memoryMB: 100, gpu: 0}\n    commands: [run]\nextras:\n  \
            com.microsoft.pai.runtimeplugin:\n  - plugin: ssh\n    parameters: {userssh: {value: \
            \"<% $parameters.kind %> <% $secrets.one %>\\n<% $parameters.kind %> <% $secrets.two \
            %>\"}}\n";
        let parsed = parse(text).unwrap();
        assert!(keys_have_secrets(&parsed.spec));
        let keys = user_keys(&parsed.spec, None, &parsed.secrets);
        assert_eq!(keys, ["ssh-rsa A a", "ssh-rsa B", "ssh-rsa C"]);
        let unknown = parse(&text.replace("$secrets.one", "$secrets.three"));
        let problems = unknown.map(|parsed| parsed.spec).expect_err("a secret that is not there");
        assert!(problems[0].message.starts_with("the reference $secrets.three is not known"));
        assert!(problems[0].path.ends_with("[0].parameters.userssh.value"), "{}", problems[0]);
    }
}
