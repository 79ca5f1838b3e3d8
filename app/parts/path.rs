use leptos::prelude::*;

/// A path or an address: where it has to, it breaks behind a slash, and nowhere else if its steps have room.
pub(crate) fn path(text: &str) -> AnyView {
    let shown = steps(text).into_iter().map(|step| view! { {step.to_owned()} <wbr/> });
    shown.collect_view().into_any()
}

/// The text, cut behind slashes that do not begin it and that no other one follows.
fn steps(text: &str) -> Vec<&str> {
    let (mut steps, mut rest, mut length) = (Vec::new(), text, 0);
    for part in text.split_inclusive('/') {
        length += part.len();
        let (step, behind) = rest.split_at(length);
        let names = step.contains(|c: char| c != '/');
        if names && !behind.is_empty() && part.ends_with('/') && !behind.starts_with('/') {
            steps.push(step);
            (rest, length) = (behind, 0);
        }
    }
    steps.push(rest);
    steps
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn a_path_is_cut_behind_its_slashes_only() {
        let cases: [(&str, &[&str]); 5] = [
            ("nfs://10.9.0.1/export/vision", &["nfs://", "10.9.0.1/", "export/", "vision"]),
            ("/mnt/ceph/data-sets", &["/mnt/", "ceph/", "data-sets"]),
            ("/mnt/data/", &["/mnt/", "data/"]),
            ("数据/a", &["数据/", "a"]),
            ("/", &["/"]),
        ];
        for (text, cut) in cases {
            assert_eq!(steps(text), cut, "{text}");
        }
    }
}
