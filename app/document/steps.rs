use protocol::edit::Step;

/// Takes a path apart: `a.b[0]["odd key"]`.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let Some((key, after)) = quoted.split_once("\"]") else { break };
            steps.push(Step::Key(key.replace("\\\"", "\"").replace("\\\\", "\\")));
            rest = after;
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let Some((index, after)) = bracket.split_once(']') else { break };
            let Ok(index) = index.parse() else { break };
            steps.push(Step::Index(index));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    steps
}
