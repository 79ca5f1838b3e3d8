//! By what an engine is told from all others.

/// Engines of one machine may tell one ID (before Docker 23 it lies in `/etc/docker`), and so do machines that
/// were copied from one: they differ in where their data are, or in the machine's name.
pub(super) fn of(id: Option<String>, name: Option<String>, root: Option<String>) -> Option<String> {
    let id = id.filter(|id| !id.is_empty())?;
    Some(format!("{id} {} {}", name.unwrap_or_default(), root.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_of_one_id_are_told_apart() {
        let some = |text: &str| Some(text.to_owned());
        let one = of(some("QWER"), some("a"), some("/var/lib/docker"));
        assert_eq!(one, of(some("QWER"), some("a"), some("/var/lib/docker")));
        for other in [
            of(some("QWER"), some("b"), some("/var/lib/docker")),
            of(some("QWER"), some("a"), some("/data")),
            of(some("ASDF"), some("a"), some("/var/lib/docker")),
            of(some("QWER"), None, None),
        ] {
            assert!(other.is_some() && other != one, "{other:?}");
        }
        assert_eq!([of(None, some("a"), some("/")), of(some(""), None, None)], [None, None]);
    }
}
