//! `berth/base:latest`: the small image that a first job runs in.
//!
//! Where a registry answers it is built from its Dockerfile; else a minimal Debian is made from the
//! machine's own mirror. Either way it is kept as one archive that any number of engines can load.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::docker::Engine;
use crate::packages;
use crate::process::{as_root, output, succeeds_within};
use crate::progress::{note, step};
use crate::workspace::Workspace;

/// The image's name.
pub(crate) const IMAGE: &str = "berth/base:latest";

/// What the image has beyond a minimal system, as in its Dockerfile.
const INCLUDED: &str = "bash,ca-certificates,openssh-client,python3";

/// How long a registry and the mirrors may take for the build from the Dockerfile.
const BUILD_LIMIT: Duration = Duration::from_secs(300);

/// What is only ballast in a container.
const BALLAST: [&str; 6] = [
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
];

/// The archive of the image; made, with the help of the engine, when it is not there.
pub(crate) fn ensure_archive(workspace: &Workspace, engine: &Engine) -> Result<PathBuf> {
    if let Some(archive) = archive(workspace) {
        return Ok(archive);
    }
    let archive = archive_path(workspace);
    step(&format!("the base image {IMAGE}"), || make(workspace, engine, &archive))?;
    Ok(archive)
}

/// Makes sure that the engine has the image.
pub(crate) fn ensure_loaded(workspace: &Workspace, engine: &Engine) -> Result<()> {
    if engine.has_image(IMAGE)? {
        return Ok(());
    }
    let archive = ensure_archive(workspace, engine)?;
    if engine.has_image(IMAGE)? {
        return Ok(());
    }
    step(&format!("{IMAGE} into the engine"), || engine.load(&archive))
}

/// The archive of the image, if it was made before.
pub(crate) fn archive(workspace: &Workspace) -> Option<PathBuf> {
    Some(archive_path(workspace)).filter(|path| path.is_file())
}

fn archive_path(workspace: &Workspace) -> PathBuf {
    workspace.target.join("base-image/berth-base.tar")
}

fn make(workspace: &Workspace, engine: &Engine, archive: &Path) -> Result<()> {
    let folder = archive.parent().context("the archive's path has a folder by construction")?;
    fs::create_dir_all(folder)?;
    if !engine.has_image(IMAGE)? && !build_from_dockerfile(workspace, engine)? {
        bootstrap(engine, &folder.join("root"))?;
    }
    let unfinished = folder.join("berth-base.tar.part");
    output(engine.client()?.arg("save").arg("--output").arg(&unfinished).arg(IMAGE))?;
    fs::rename(&unfinished, archive)?;
    Ok(())
}

/// Builds the image from its Dockerfile; `false`: it cannot be done here, mostly because no
/// registry answers.
fn build_from_dockerfile(workspace: &Workspace, engine: &Engine) -> Result<bool> {
    let folder = workspace.root.join("Dockerfiles");
    let mut docker = engine.client()?;
    docker.args(["build", "--network", "host", "--tag", IMAGE, "--file"]);
    docker.arg(folder.join("Dockerfile.base")).arg(&folder);
    let built = succeeds_within(&mut docker, BUILD_LIMIT);
    if !built {
        note("no registry gives its parent image here; making it from Debian's packages");
    }
    Ok(built)
}

/// Makes a minimal Debian in a folder and imports it.
fn bootstrap(engine: &Engine, root: &Path) -> Result<()> {
    packages::ensure(&packages::BASE_IMAGE)?;
    let suite = codename()?;
    let mirrors = packages::mirrors()?;
    let mirror = mirrors.first().context("a mirror is there, or `mirrors` fails")?;
    output(as_root("rm")?.arg("-rf").arg(root))?;
    note(&format!("debootstrap of {suite}, about half a minute"));
    let mut debootstrap = as_root("debootstrap")?;
    debootstrap.arg("--variant=minbase").arg(format!("--include={INCLUDED}"));
    output(debootstrap.arg(&suite).arg(root).arg(mirror)).context(
        "debootstrap needs root, a mirror of Debian and the right to make device files; \
         or load an image of your own: docker tag YOUR_IMAGE berth/base:latest",
    )?;
    import(engine, root)?;
    output(as_root("rm")?.arg("-rf").arg(root)).map(drop)
}

/// Gives the folder to the engine as an image.
fn import(engine: &Engine, root: &Path) -> Result<()> {
    let mut tar = as_root("tar")?;
    tar.arg("--directory").arg(root).args(["--create", "--numeric-owner", "--one-file-system"]);
    tar.args(BALLAST.map(|path| format!("--exclude=./{path}/*")));
    let mut archive = tar.arg(".").stdout(Stdio::piped()).spawn()?;
    let stream = archive.stdout.take().context("tar's output was not piped")?;
    let mut docker = engine.client()?;
    docker.args(["import", "--change", "CMD [\"bash\"]", "--change", "WORKDIR /root"]);
    docker.args(["--change", "ENV LANG=C.UTF-8", "--change", PATH_OF_THE_IMAGE]);
    let imported = docker.args(["-", IMAGE]).stdin(stream).stdout(Stdio::null()).status()?;
    let packed = archive.wait()?;
    if !imported.success() || !packed.success() {
        bail!("`tar | docker import` failed (tar: {packed}; docker: {imported})");
    }
    Ok(())
}

const PATH_OF_THE_IMAGE: &str =
    "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The distribution's code name, which is what debootstrap calls a suite.
fn codename() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("there is no /etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.context("/etc/os-release names no VERSION_CODENAME")?.trim_matches('"').to_owned())
}
