//! Who may enter.

use std::fs;
use std::path::Path;

use russh::keys::{Algorithm, PublicKey};

/// Whether the file has the key. It is read anew each time.
pub(super) fn is_known(file: &Path, key: &PublicKey, algorithm: &Algorithm) -> bool {
    // A signature by SHA-1 proves nothing any more.
    let weak = matches!(algorithm, Algorithm::Rsa { hash: None } | Algorithm::Dsa);
    !weak && fs::read_to_string(file).is_ok_and(|text| has(&text, key))
}

fn has(text: &str, key: &PublicKey) -> bool {
    text.lines().filter_map(parse).any(|known| known.key_data() == key.key_data())
}

/// A line's key. What stands before it, OpenSSH's options, is for OpenSSH: a line that limits its
/// key lets nobody in here.
fn parse(line: &str) -> Option<PublicKey> {
    PublicKey::from_openssh(line.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    #[test]
    fn a_key_is_found_among_others_whatever_its_remark() {
        let key = PublicKey::from_openssh(ONE).unwrap();
        let text = format!("# ours\n\n{OTHER} a b c\nbroken\n  {ONE} me@home\n");
        assert!(has(&text, &key));
        assert!(!has(OTHER, &key) && !has("", &key));
        assert!(!has(&format!("command=\"true\" {ONE}"), &key), "a limited key is no key");
    }
}
