//! The site's folder while it is made.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use brotli::enc::BrotliEncoderParams;
use sha2::{Digest, Sha256};

use super::at_once::at_once;
use super::form::Form;
use super::inputs::files;

/// The folder of the files that carry a hash in their name.
const HASHED: &str = "pkg";

/// What shrinks; pictures and fonts are compressed in themselves.
const COMPRESSIBLE: [&str; 10] =
    ["css", "html", "js", "json", "map", "md", "svg", "txt", "wasm", "yaml"];

/// A file smaller than this fits one packet anyway.
const WORTH_COMPRESSING: u64 = 512;

/// A site that becomes visible only when it is whole.
#[derive(Debug)]
pub(super) struct Site {
    folder: PathBuf,
    manifest: BTreeMap<String, String>,
}

impl Site {
    /// Begins with an empty folder.
    pub(super) fn begin(folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder.join(HASHED))?;
        Ok(Self { folder: folder.to_owned(), manifest: BTreeMap::new() })
    }

    /// Takes a file under a logical name (`app.js`).
    pub(super) fn add(&mut self, logical: &str, file: &Path) -> Result<()> {
        let name = self.add_part(logical, file)?;
        self.name(logical.to_owned(), &name);
        Ok(())
    }

    /// Takes a file that only another one names; gives its name in the site, which carries its hash.
    pub(super) fn add_part(&self, logical: &str, file: &Path) -> Result<String> {
        let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = hashed_name(logical, &content);
        fs::write(self.folder.join(HASHED).join(&name), content)?;
        Ok(name)
    }

    /// Takes a file whose name has a hash already.
    pub(super) fn add_hashed(&mut self, file: &Path) -> Result<()> {
        let name = file.file_name().context("a listed file has a name")?;
        fs::copy(file, self.folder.join(HASHED).join(name))?;
        Ok(())
    }

    /// Says under which logical name a file with a hash is known.
    pub(super) fn name(&mut self, logical: String, file: &str) {
        self.manifest.insert(logical, format!("{HASHED}/{file}"));
    }

    /// Copies a folder as it is.
    pub(super) fn copy_tree(&mut self, from: &Path, to: &Path) -> Result<()> {
        for file in files(from)? {
            let copy = self.folder.join(to).join(file.strip_prefix(from)?);
            fs::create_dir_all(copy.parent().context("a file lies in a folder")?)?;
            fs::copy(&file, &copy)?;
        }
        Ok(())
    }

    /// Leaves of each file that shrinks its brotli form alone, `.br`: a server makes the others of it.
    pub(super) fn compress(&self, form: Form) -> Result<()> {
        let quality = match form {
            Form::Quick => 4,
            Form::Small => 11,
        };
        at_once(files(&self.folder)?.iter(), |file| compress(file, quality))
    }

    /// Writes the manifest and puts the new site in the place of the old one.
    pub(super) fn finish(self, place: &Path) -> Result<()> {
        let manifest = serde_json::to_string_pretty(&self.manifest)?;
        fs::write(self.folder.join("manifest.json"), manifest + "\n")?;
        if place.exists() {
            fs::remove_dir_all(place)?;
        }
        fs::rename(&self.folder, place)
            .with_context(|| format!("cannot put the site at {}", place.display()))
    }
}

fn compress(file: &Path, quality: i32) -> Result<()> {
    let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    if !COMPRESSIBLE.contains(&extension) || fs::metadata(file)?.len() < WORTH_COMPRESSING {
        return Ok(());
    }
    let content = fs::read(file)?;
    let parameters = BrotliEncoderParams { quality, ..Default::default() };
    brotli::BrotliCompress(&mut content.as_slice(), &mut beside(file, "br")?, &parameters)?;
    Ok(fs::remove_file(file)?)
}

/// `app_bg.wasm` becomes `app_bg.0123456789.wasm`.
fn hashed_name(logical: &str, content: &[u8]) -> String {
    let hash = hex::encode(Sha256::digest(content));
    let hash = &hash[..10];
    match logical.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{hash}.{extension}"),
        None => format!("{logical}.{hash}"),
    }
}

fn beside(file: &Path, extension: &str) -> Result<File> {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    File::create(&name).with_context(|| format!("cannot write {}", name.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hashed_name_keeps_its_extension_and_follows_the_content() {
        let first = hashed_name("app_bg.wasm", b"one");
        assert!(first.starts_with("app_bg.") && first.ends_with(".wasm"), "{first}");
        assert_eq!(first, hashed_name("app_bg.wasm", b"one"));
        assert_ne!(first, hashed_name("app_bg.wasm", b"two"));
    }

    #[test]
    fn what_shrinks_is_there_in_one_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join("site").join(name);
        let site = Site::begin(&folder.path().join("site")).unwrap();
        let text = "let a = 1;\n".repeat(100);
        for (name, content) in
            [("a.js", text.as_str()), ("short.js", "1"), ("a.woff2", text.as_str())]
        {
            fs::write(path(name), content).unwrap();
        }
        site.compress(Form::Quick).unwrap();
        let there = |name: &str| path(name).is_file();
        assert!(there("a.js.br") && !there("a.js") && there("short.js") && there("a.woff2"));
        assert!(!there("short.js.br") && !there("a.woff2.br"));
        let (packed, mut plain) = (fs::read(path("a.js.br")).unwrap(), Vec::new());
        brotli::BrotliDecompress(&mut packed.as_slice(), &mut plain).unwrap();
        assert_eq!(plain, text.as_bytes());
    }
}
