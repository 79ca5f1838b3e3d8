//! The code that parts of the application share is cut into hundreds of pieces, one for each set of parts
//! that need it. A part goes with all its pieces into one file: opening a page takes one request.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::application::{Application, Parts};

/// Fetches parts and links them.
const LOAD_PART: &str = include_str!("load_part.js");

/// Parts that are often opened by their own addresses, and large with those before them: then all of it
/// comes in one file, which is a tenth smaller than theirs together. They are few, for the program holds
/// such a file beside the others.
const WHOLE: [&str; 2] = ["job_logs_one", "submit_form"];

/// What the splitter's own loader says after what is needed of it here.
const ITS_LOADING: &str = "function makeLoad(";

/// Packs the parts, and lets the loader take them from their files, which it gives.
pub(super) fn parts(application: &Application) -> Result<Vec<PathBuf>> {
    let loader = fs::read_to_string(&application.loader)?;
    let (linking, _) =
        loader.split_once(ITS_LOADING).context("the loader of parts is not what it was")?;
    let mut loader = format!("{linking}{LOAD_PART}");
    let mut files = Vec::new();
    for part in application.parts.keys() {
        let mut add = |name: &str, pieces: &BTreeSet<&String>| {
            let file = application.loader.with_file_name(name);
            fs::write(&file, packed(&application.loader, &application.parts, pieces)?)?;
            files.push(file);
            anyhow::Ok(())
        };
        let own: BTreeSet<&String> = application.parts[part].iter().collect();
        let known = known(&application.parts, part);
        add(&format!("part_{part}.wasm"), &(&own - &known))?;
        let mut whole = String::new();
        if WHOLE.contains(&plain(part)) {
            let name = format!("part_{part}_whole.wasm");
            add(&name, &(&own | &known))?;
            whole = format!(", \"./{name}\"");
        }
        let before = before(&application.parts, part);
        let before = before.map(|before| format!("part_{before}")).unwrap_or_default();
        // Writing to a text never fails.
        let _written = write!(
            loader,
            "const part_{part} = load(\"./part_{part}.wasm\", () => [{before}]{whole});\n\
             export const __wasm_split_load_{part} = wrapAsyncCb(part_{part});\n"
        );
    }
    fs::write(&application.loader, loader)?;
    Ok(files)
}

/// The pieces of the parts before a part.
fn known<'a>(parts: &'a Parts, part: &str) -> BTreeSet<&'a String> {
    iter::successors(before(parts, part), |part| before(parts, part))
        .flat_map(|before| &parts[before])
        .collect()
}

/// Pieces of parts as `load_part.js` reads them.
fn packed(beside: &Path, parts: &Parts, pieces: &BTreeSet<&String>) -> Result<Vec<u8>> {
    let numbers: BTreeSet<&String> = parts.values().flatten().collect();
    let numbers: BTreeMap<_, _> = numbers.into_iter().zip(0_u32..).collect();
    let mut head = Vec::new();
    let mut code = Vec::new();
    for piece in pieces {
        let content = fs::read(beside.with_file_name(format!("{piece}.wasm")))
            .with_context(|| format!("cannot read {piece}"))?;
        head.extend(numbers[*piece].to_le_bytes());
        head.extend(u32::try_from(content.len())?.to_le_bytes());
        code.extend(content);
    }
    let count = u32::try_from(head.len() / 8)?;
    Ok([count.to_le_bytes().as_slice(), &head, &code].concat())
}

/// The part that another one's name goes on, the longest: whoever opens `job_logs` has opened `job`, or
/// does.
fn before<'a>(parts: &'a Parts, part: &str) -> Option<&'a str> {
    let goes_on = |other: &&str| {
        let rest = plain(part).strip_prefix(plain(other));
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    parts.keys().map(String::as_str).filter(goes_on).max_by_key(|other| plain(other).len())
}

/// A part's name without the number that makes it the only one of the name.
fn plain(part: &str) -> &str {
    part.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_comes_in_one_file_with_what_it_shares() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("parts.js"), "let shared;\nfunction makeLoad(fetcher, deps) {}\n").unwrap();
        fs::write(path("chunk_1.wasm"), [1; 3]).unwrap();
        fs::write(path("chunk_2.wasm"), [2; 2]).unwrap();
        for (own, byte) in [
            ("split_job_77", 3_u8),
            ("split_job_logs_88", 4),
            ("split_job_logs_one_66", 5),
            ("split_jobs_99", 6),
        ] {
            fs::write(path(&format!("{own}.wasm")), [byte]).unwrap();
        }
        let pieces = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let application = Application {
            glue: path("app.js"),
            wasm: path("app.wasm"),
            loader: path("parts.js"),
            pieces: Vec::new(),
            parts: BTreeMap::from([
                ("job_77".to_owned(), pieces(&["chunk_1", "split_job_77"])),
                ("job_logs_88".to_owned(), pieces(&["chunk_1", "chunk_2", "split_job_logs_88"])),
                (
                    "job_logs_one_66".to_owned(),
                    pieces(&["chunk_1", "chunk_2", "split_job_logs_one_66"]),
                ),
                ("jobs_99".to_owned(), pieces(&["chunk_1", "split_jobs_99"])),
            ]),
        };
        let files = parts(&application).unwrap();
        let names =
            ["job_77", "job_logs_88", "job_logs_one_66", "job_logs_one_66_whole", "jobs_99"];
        assert_eq!(files, names.map(|name| path(&format!("part_{name}.wasm"))));
        let numbers = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let file = |head: &[u32], code: &[u8]| {
            let head: Vec<u8> = numbers(head);
            [head.as_slice(), code].concat()
        };
        let content = |at: usize| fs::read(&files[at]).unwrap();
        assert_eq!(content(0), file(&[2, 0, 3, 2, 1], &[1, 1, 1, 3]));
        assert_eq!(content(1), file(&[2, 1, 2, 3, 1], &[2, 2, 4]), "job has the first piece");
        assert_eq!(content(2), file(&[1, 4, 1], &[5]), "job_logs has the second one");
        let whole = file(&[5, 0, 3, 1, 2, 2, 1, 3, 1, 4, 1], &[1, 1, 1, 2, 2, 3, 4, 5]);
        assert_eq!(content(3), whole, "all that whoever begins with it needs");
        assert_eq!(content(4), file(&[2, 0, 3, 5, 1], &[1, 1, 1, 6]));
        let loader = fs::read_to_string(path("parts.js")).unwrap();
        assert!(loader.starts_with("let shared;\n") && !loader.contains("makeLoad"), "{loader}");
        for line in [
            "const part_job_77 = load(\"./part_job_77.wasm\", () => []);\n",
            "const part_job_logs_88 = load(\"./part_job_logs_88.wasm\", () => [part_job_77]);\n",
            "load(\"./part_job_logs_one_66.wasm\", () => [part_job_logs_88], \
             \"./part_job_logs_one_66_whole.wasm\");\n",
            "export const __wasm_split_load_jobs_99 = wrapAsyncCb(part_jobs_99);\n",
        ] {
            assert!(loader.contains(line), "{line}");
        }
    }
}
