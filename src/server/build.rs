//! Tells Cargo when the embedded front end has changed.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=BERTH_SITE");
    println!("cargo::rerun-if-env-changed=BERTH_GUEST_PACKED");
    if env::var_os("CARGO_FEATURE_EMBED").is_none() {
        return;
    }
    if env::var_os("BERTH_GUEST_PACKED").is_none_or(|guest| !Path::new(&guest).is_file()) {
        println!(
            "cargo::error=the feature embed needs BERTH_GUEST_PACKED, the absolute path of the built \
             guest, compressed by brotli"
        );
    }
    match env::var_os("BERTH_SITE") {
        Some(site) if Path::new(&site).join("manifest.json").exists() => {
            println!(
                "cargo::rerun-if-changed={}",
                Path::new(&site).join("manifest.json").display()
            );
        }
        Some(site) => println!(
            "cargo::error=BERTH_SITE={} has no manifest.json: build the front end first",
            site.display()
        ),
        None => println!(
            "cargo::error=the feature embed needs BERTH_SITE, the absolute path of the built front end"
        ),
    }
}
