//! The code that pages share is cut into many small parts, dozens of which one page needs. Those go
//! together in one file, from which each is taken.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::wasm::Application;

/// A part below so many bytes goes with the others.
const SMALL: usize = 9_000;

/// The file of the small parts. Its name ends as those of the parts: it is compressed as they are.
const PACK: &str = "small.wasm";

/// Takes parts out of the pack, which is fetched once; when that fails, again for whoever asks next.
const TAKE: &str = r#"
let pack;
function fromPack(from, to) {
    pack ??= fetch(new URL("./small.wasm", import.meta.url)).then((answer) => {
        if (!answer.ok) throw new Error(`the parts: ${answer.status}`);
        return answer.arrayBuffer();
    });
    pack.catch(() => { pack = undefined; });
    const headers = { "content-type": "application/wasm" };
    return pack.then((bytes) => new Response(bytes.slice(from, to), { headers }));
}
"#;

/// Puts the small parts into one file and lets the loader take them from there.
pub(super) fn small_parts(application: &mut Application) -> Result<()> {
    let mut loader = fs::read_to_string(&application.loader)?;
    let mut bytes = Vec::new();
    let mut alone = Vec::new();
    for part in std::mem::take(&mut application.parts) {
        let content = fs::read(&part)?;
        let name = part.file_name().and_then(OsStr::to_str).context("a part has a name")?;
        let from = bytes.len();
        match packed(&loader, name, from, from + content.len()) {
            Some(packed) if content.len() < SMALL => {
                loader = packed;
                bytes.extend(content);
            }
            Some(_) | None => alone.push(part),
        }
    }
    if !bytes.is_empty() {
        let pack: PathBuf = application.loader.with_file_name(PACK);
        fs::write(&pack, bytes)?;
        fs::write(&application.loader, loader + TAKE)?;
        alone.push(pack);
    }
    application.parts = alone;
    Ok(())
}

/// The loader with a part taken from the pack; `None`: it does not fetch the part by itself.
fn packed(loader: &str, name: &str, from: usize, to: usize) -> Option<String> {
    let fetched = format!("fetch(new URL(\"./{name}\", import.meta.url))");
    loader.contains(&fetched).then(|| loader.replace(&fetched, &format!("fromPack({from}, {to})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_are_taken_from_one_file_and_large_ones_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let line = |name: &str| format!("fetch(new URL(\"./{name}\", import.meta.url));\n");
        let names = ["a.wasm", "large.wasm", "b.wasm"];
        fs::write(path("parts.js"), names.map(line).concat()).unwrap();
        fs::write(path("a.wasm"), [1; 10]).unwrap();
        fs::write(path("large.wasm"), [2; SMALL]).unwrap();
        fs::write(path("b.wasm"), [3; 5]).unwrap();
        let mut application = Application {
            glue: path("app.js"),
            wasm: path("app.wasm"),
            loader: path("parts.js"),
            parts: names.map(path).to_vec(),
        };
        small_parts(&mut application).unwrap();
        assert_eq!(application.parts, ["large.wasm", PACK].map(path));
        let loader = fs::read_to_string(path("parts.js")).unwrap();
        let large = line("large.wasm");
        assert!(loader.starts_with(&format!("fromPack(0, 10);\n{large}fromPack(10, 15);\n")));
        assert!(loader.contains(&format!("./{PACK}")));
        assert_eq!(fs::read(path(PACK)).unwrap(), [[1; 10].as_slice(), &[3; 5]].concat());
    }
}
