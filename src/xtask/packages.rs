//! Debian packages: what is missing is installed with apt-get.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{as_root, find_program, output};
use crate::progress::step;

/// A Debian package and the file or program by which it is known to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Package {
    name: &'static str,
    proof: &'static str,
}

const fn package(name: &'static str, proof: &'static str) -> Package {
    Package { name, proof }
}

/// What a Docker engine needs.
pub(crate) const ENGINE: [Package; 2] =
    [package("docker.io", "dockerd"), package("iptables", "iptables")];

/// The client, where the engine's package comes without it.
pub(crate) const CLIENT: [Package; 1] = [package("docker-cli", "docker")];

/// What makes the base image where no registry answers.
pub(crate) const BASE_IMAGE: [Package; 1] = [package("debootstrap", "debootstrap")];

/// What installs packages of Python.
pub(crate) const PYTHON: [Package; 1] = [package("python3-venv", "python3")];

/// What takes a binary apart.
pub(crate) const SYMBOLS: [Package; 1] = [package("binutils", "objcopy")];

/// What finds the libraries that a binary needs, for a package of it.
pub(crate) const DEB: [Package; 1] = [package("dpkg-dev", "dpkg-shlibdeps")];

/// What links static programs for 64-bit ARM on another machine, and the library that is put into them.
pub(crate) const FOR_ARM: [Package; 2] = [
    package("gcc-aarch64-linux-gnu", "aarch64-linux-gnu-gcc"),
    package("libc6-dev-arm64-cross", "/usr/aarch64-linux-gnu/lib/libc.a"),
];

/// As [`FOR_ARM`], for x86-64.
pub(crate) const FOR_INTEL: [Package; 2] = [
    package("gcc-x86-64-linux-gnu", "x86_64-linux-gnu-gcc"),
    package("libc6-dev-amd64-cross", "/usr/x86_64-linux-gnu/lib/libc.a"),
];

/// What the tests run beside the engines.
pub(crate) const TESTS: [Package; 17] = [
    package("git", "git"),
    package("postgresql", "/usr/lib/postgresql"),
    package("chromium", "chromium"),
    package("openssh-client", "ssh"),
    package("openssh-server", "sshd"),
    package("busybox-static", "busybox"),
    package("podman", "podman"),
    package("rsync", "rsync"),
    package("python3-paramiko", "/usr/lib/python3/dist-packages/paramiko"),
    package("iproute2", "ip"),
    package("curl", "curl"),
    package("wget", "wget"),
    package("docker-registry", "docker-registry"),
    package("python3-venv", "python3"),
    package("slapd", "/usr/sbin/slapd"),
    package("ldap-utils", "ldapmodify"),
    package("pebble", "pebble"),
];

/// Installs those of the packages that are not there.
pub(crate) fn ensure(wanted: &[Package]) -> Result<()> {
    let missing: Vec<&str> =
        wanted.iter().filter(|package| !present(package)).map(|package| package.name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if find_program("apt-get").is_none() {
        bail!("this machine has no apt-get: install by its own means what Debian calls {list}");
    }
    step(&format!("Debian packages: {list}"), || {
        let advice = || format!("install them yourself: apt-get install {list}");
        output(as_root("apt-get")?.args(["-q", "update"])).with_context(advice)?;
        let mut install = as_root("env")?;
        install.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "install", "-y"]);
        install.arg("--no-install-recommends").args(&missing);
        output(&mut install).map(drop).with_context(advice)
    })
}

fn present(package: &Package) -> bool {
    if package.proof.starts_with('/') {
        Path::new(package.proof).exists()
    } else {
        find_program(package.proof).is_some()
    }
}

/// The addresses of the distribution's packages that this machine is set up to use.
pub(crate) fn mirrors() -> Result<Vec<String>> {
    let mut apt = Command::new("apt-get");
    apt.args(["indextargets", "--format", "$(SITE)", "Created-By: Packages"]);
    let sites = output(&mut apt).context("apt cannot tell which mirror this machine uses")?;
    let sites: BTreeSet<&str> =
        sites.lines().map(str::trim).filter(|site| !site.is_empty()).collect();
    let mirrors: Vec<String> =
        sites.into_iter().filter(|site| !site.contains("security")).map(str::to_owned).collect();
    if mirrors.is_empty() {
        bail!("apt on this machine is set up with no mirror");
    }
    Ok(mirrors)
}
