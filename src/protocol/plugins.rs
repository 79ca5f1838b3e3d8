//! What OpenPAI's runtime plugins, which lie in a job's `extras`, say that means something here.
//!
//! Of `ssh` it is `userssh.value`: public keys that may enter. Its `jobssh` changes nothing: tasks
//! always enter each other, by a server that no image need bring.

use serde_json::Value;

use crate::environment::stripped;
use crate::ids::RoleName;
use crate::spec::JobSpec;

/// Where they lie in `extras`.
const PLUGINS: &str = "com.microsoft.pai.runtimeplugin";

/// The public keys that the job gives for the tasks of a role, one a line as written; nothing is
/// known yet of whether they are any. `None`: of all roles.
#[must_use]
pub fn user_keys<'a>(spec: &'a JobSpec, role: Option<&RoleName>) -> Vec<&'a str> {
    let plugins = spec.extras.get(PLUGINS).and_then(Value::as_array);
    let ssh = plugins.into_iter().flatten().filter(|plugin| {
        plugin["plugin"] == "ssh" && role.is_none_or(|role| holds_for(plugin, role))
    });
    let values = ssh.filter_map(|plugin| plugin["parameters"]["userssh"]["value"].as_str());
    values.flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty()).collect()
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
        user_keys(&spec(plugins), Some(&role)).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn keys_of_the_ssh_plugin_are_found() {
        let plugin = |parameters: &str, more: &str| {
            format!(r#"[{{"plugin": "ssh", "parameters": {parameters}{more}}}]"#)
        };
        let given = r#"{"jobssh": true, "userssh": {"type": "custom", "value": "ssh-rsa A a\n\nssh-rsa B"}}"#;
        assert_eq!(keys(&plugin(given, "")), ["ssh-rsa A a", "ssh-rsa B"]);
        assert_eq!(keys(&plugin(given, r#", "taskroles": ["psserver"]"#)).len(), 2);
        assert_eq!(keys(&plugin(given, r#", "taskroles": ["worker"]"#)), Vec::<String>::new());
        for none in ["{}", r#"{"jobssh": false}"#, r#"{"userssh": {"type": "none"}}"#] {
            assert_eq!(keys(&plugin(none, "")), Vec::<String>::new(), "{none}");
        }
        for strange in ["{}", "[]", "[7]", r#"[{"plugin": "cmd"}]"#] {
            assert_eq!(keys(strange), Vec::<String>::new(), "{strange}");
        }
    }
}
