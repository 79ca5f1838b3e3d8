//! Bytes that a browser transfers for `/`, brotli where the server gives it: the page, its styles,
//! its script and its code. The editor and the terminal are not among them: they come when needed.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::berth::Berth;
use super::figures::Measured;
use super::throughput;

/// What marks the list of the parts that are loaded later.
const LATER: &str = "id=\"assets\"";

pub(super) fn measure(binary: &Path) -> Result<Vec<Measured>> {
    let berth = Berth::start(binary, throughput::NODES)?;
    let cookie = sign_in(&berth)?;
    let html = String::from_utf8(fetch(&berth, "/", &cookie, "identity")?)?;
    let mut bytes = fetch(&berth, "/", &cookie, "br")?.len();
    let assets = assets(&html);
    if !assets.iter().any(|path| path.ends_with(".wasm")) {
        bail!("the page loads no code: {assets:?}");
    }
    for path in &assets {
        bytes += fetch(&berth, path, &cookie, "br")?.len();
    }
    let kilobytes = u32::try_from(bytes).map(f64::from)? / 1e3;
    Ok(vec![Measured { name: "first_page", value: kilobytes, unit: "kB" }])
}

/// The cookies of who has signed in: of his session, and of the device that he does it from.
pub(super) fn sign_in(berth: &Berth) -> Result<String> {
    let answer = berth
        .agent()
        .post(berth.url("/auth/sign-in"))
        .header("Origin", berth.url(""))
        .send_json(berth.credentials())?;
    let set = answer.headers().get_all("set-cookie").into_iter();
    let set = set.map(|cookie| Ok(cookie.to_str()?.split(';').next().unwrap_or_default()));
    let cookies = set.collect::<Result<Vec<_>>>()?.join("; ");
    ensure!(!cookies.is_empty(), "signing in set no cookie");
    Ok(cookies)
}

/// A body as it is transferred: ureq is built without brotli and so leaves it as it comes.
pub(super) fn fetch(berth: &Berth, path: &str, cookie: &str, encoding: &str) -> Result<Vec<u8>> {
    let mut answer = berth
        .agent()
        .get(berth.url(path))
        .header("Cookie", cookie)
        .header("Accept-Encoding", encoding)
        .call()?;
    if !answer.status().is_success() {
        bail!("{path}: {}", answer.status());
    }
    Ok(answer.body_mut().with_config().limit(100_000_000).read_to_vec()?)
}

/// Addresses of hashed files in the page, each once, those loaded later left out.
fn assets(html: &str) -> BTreeSet<&str> {
    let at_once = match html.split_once(LATER) {
        Some((before, after)) => {
            vec![before, after.split_once("</script>").map_or("", |(_, rest)| rest)]
        }
        None => vec![html],
    };
    at_once
        .into_iter()
        .flat_map(|part| part.match_indices("/pkg/").map(move |(start, _)| &part[start..]))
        .filter_map(|rest| rest.split(['"', '\'', '`', ' ', '<', '>', ')', '\\']).next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::assets;

    #[test]
    fn a_page_names_its_files_once_and_later_parts_do_not_count() {
        let html = r#"<link href="/pkg/main.1.css"><script id="assets">{"e":"/pkg/e.2.js"}</script>
            <script>import init from '/pkg/app.3.js'; init("/pkg/app.4.wasm")</script>
            <link href="/pkg/app.3.js">"#;
        let found: Vec<_> = assets(html).into_iter().collect();
        assert_eq!(found, ["/pkg/app.3.js", "/pkg/app.4.wasm", "/pkg/main.1.css"]);
    }
}
