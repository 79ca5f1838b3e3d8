//! Copying files and folders over SFTP.

use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::arguments::Options;
use super::{Server, told};
use crate::note::note;
use crate::sftp::wire::Attributes;

/// The kind of a file among its permissions, and that of a folder.
const KIND: (u32, u32) = (0o170_000, 0o040_000);

/// Where a source goes: into the target if that is a folder, else it becomes the target.
pub(super) fn within(target: &Path, source: &Path, into: bool) -> PathBuf {
    match source.file_name() {
        Some(name) if into => target.join(name),
        Some(_) | None => target.to_owned(),
    }
}

/// Whether the server has a folder there.
pub(super) fn is_folder_there(server: &mut Server, path: &Path) -> io::Result<bool> {
    Ok(server.attributes(path)?.is_some_and(|found| is_folder(&found)))
}

fn is_folder(attributes: &Attributes) -> bool {
    attributes.permissions.is_some_and(|mode| mode & KIND.0 == KIND.1)
}

/// Copies to the server; whether everything was copied.
pub(super) fn up(
    server: &mut Server,
    source: &Path,
    target: &Path,
    options: &Options,
) -> io::Result<bool> {
    let attributes = Attributes::from(&fs::metadata(source)?);
    if is_folder(&attributes) {
        return folder_up(server, source, target, &attributes, options);
    }
    let file = File::open(source)?;
    let handle = server.create(target, &mode(&attributes))?;
    server.upload(&handle, file)?;
    server.close(handle)?;
    keep_there(server, target, &attributes, options)?;
    Ok(true)
}

fn folder_up(
    server: &mut Server,
    source: &Path,
    target: &Path,
    attributes: &Attributes,
    options: &Options,
) -> io::Result<bool> {
    if !options.recursive {
        note(format_args!("scp: {}: not a regular file", source.display()));
        return Ok(false);
    }
    if !is_folder_there(server, target)? {
        // Until its files are in it, we must be able to write to it.
        let open = Attributes {
            permissions: mode(attributes).permissions.map(|mode| mode | 0o700),
            ..Attributes::default()
        };
        server.make_folder(target, &open)?;
    }
    let mut whole = true;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let copied = up(server, &entry.path(), &target.join(entry.file_name()), options);
        whole &= told(&entry.path(), copied);
    }
    keep_there(server, target, attributes, options)?;
    Ok(whole)
}

fn keep_there(
    server: &mut Server,
    target: &Path,
    attributes: &Attributes,
    options: &Options,
) -> io::Result<()> {
    if options.preserve {
        let kept = Attributes { times: attributes.times, ..mode(attributes) };
        server.change(target, &kept)?;
    }
    Ok(())
}

fn mode(attributes: &Attributes) -> Attributes {
    let permissions = attributes.permissions.map(|mode| mode & 0o7777);
    Attributes { permissions, ..Attributes::default() }
}

/// Copies from the server; whether everything was copied.
pub(super) fn down(
    server: &mut Server,
    source: &Path,
    target: &Path,
    options: &Options,
) -> io::Result<bool> {
    let attributes = server.attributes(source)?.ok_or(io::ErrorKind::NotFound)?;
    if is_folder(&attributes) {
        return folder_down(server, source, target, &attributes, options);
    }
    let permissions = attributes.permissions.unwrap_or(0o666) & 0o777;
    let mut file = OpenOptions::new();
    let file = file.write(true).create(true).truncate(true).mode(permissions).open(target)?;
    let handle = server.open(source)?;
    server.download(&handle, &file)?;
    server.close(handle)?;
    keep_here(&file, &attributes, options)?;
    Ok(true)
}

fn folder_down(
    server: &mut Server,
    source: &Path,
    target: &Path,
    attributes: &Attributes,
    options: &Options,
) -> io::Result<bool> {
    if !options.recursive {
        note(format_args!("scp: {}: not a regular file", source.display()));
        return Ok(false);
    }
    if !target.is_dir() {
        let permissions = attributes.permissions.unwrap_or(0o777) & 0o777 | 0o700;
        DirBuilder::new().mode(permissions).create(target)?;
    }
    let mut whole = true;
    for (name, _) in server.list(source)? {
        if name.as_encoded_bytes().contains(&b'/') {
            return Err(io::Error::other("the server names a file outside of its folder"));
        }
        let path = source.join(&name);
        let copied = down(server, &path, &target.join(&name), options);
        whole &= told(&path, copied);
    }
    keep_here(&File::open(target)?, attributes, options)?;
    Ok(whole)
}

/// Gives a file here times and permissions of one there.
pub(super) fn keep_here(file: &File, attributes: &Attributes, options: &Options) -> io::Result<()> {
    if !options.preserve {
        return Ok(());
    }
    if let Some(permissions) = attributes.permissions {
        file.set_permissions(Permissions::from_mode(permissions & 0o7777))?;
    }
    if let Some((access, change)) = attributes.times {
        let at = |seconds: u32| UNIX_EPOCH + Duration::from_secs(seconds.into());
        file.set_times(FileTimes::new().set_accessed(at(access)).set_modified(at(change)))?;
    }
    Ok(())
}
