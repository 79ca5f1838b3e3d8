//! Files: sftp, both kinds of scp, rsync, paramiko as PyCharm uses such a library.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::guest::{Guest, Plan, needed, noise, succeed, text, with_input};

/// A folder with what one has in folders.
pub(crate) fn make_tree(path: &Path) {
    fs::create_dir_all(path.join("sub/empty")).unwrap();
    fs::write(path.join("a b"), "a\n").unwrap();
    fs::write(path.join("sub/large"), noise(5 << 20)).unwrap();
    fs::write(path.join("sub/run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(path.join("sub/run"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(path.join(OsStr::from_bytes(b"not \xff UTF-8")), "x").unwrap();
}

/// The same folders, files and permissions; with times too if they were to be kept.
pub(crate) fn assert_same(one: &Path, other: &Path, times: bool) {
    let mut names: Vec<_> = fs::read_dir(one).unwrap().map(|entry| entry.unwrap()).collect();
    names.sort_by_key(fs::DirEntry::file_name);
    assert_eq!(names.len(), fs::read_dir(other).unwrap().count(), "{}", other.display());
    for entry in names {
        let (here, there) = (entry.path(), other.join(entry.file_name()));
        let (known, found) = (fs::metadata(&here).unwrap(), fs::metadata(&there).unwrap());
        assert_eq!(known.mode(), found.mode(), "{}", there.display());
        if times {
            assert_eq!(known.mtime(), found.mtime(), "{}", there.display());
        }
        if known.is_dir() {
            assert_same(&here, &there, times);
        } else {
            assert!(fs::read(&here).unwrap() == fs::read(&there).unwrap(), "{}", there.display());
        }
    }
}

fn there_and_back(guest: &Guest, copy: impl Fn(&[&str])) {
    let mine = guest.path("mine");
    make_tree(&mine.join("tree"));
    copy(&["tree", "worker-0:copy"]);
    assert_same(&mine.join("tree"), &guest.path("home/copy"), true);
    copy(&["worker-0:copy", "back"]);
    assert_same(&mine.join("tree"), &mine.join("back"), true);
}

#[test]
fn scp_copies_over_sftp() {
    let guest = Plan::waiting().serve();
    there_and_back(&guest, |words| {
        succeed(guest.openssh("scp").arg("-rp").args(words));
    });
}

#[test]
fn scp_copies_in_the_older_way_with_our_own_program_at_the_other_end() {
    let plan = Plan::waiting();
    let path = crate::client::without_ssh(&plan);
    let guest = plan.variable("PATH", &path).serve();
    assert_eq!(guest.says("command -v scp"), guest.path("berth/bin/scp").to_str().unwrap());
    there_and_back(&guest, |words| {
        succeed(guest.openssh("scp").arg("-Orp").args(words));
    });
    let one = guest.openssh("scp").args(["-O", "worker-0:missing", "x"]).output().unwrap();
    assert!(text(&one.stderr).contains("missing") && !one.status.success());
    let mine = guest.path("mine/tree/sub/large");
    succeed(guest.openssh("scp").arg("-O").arg(&mine).arg("worker-0:"));
    assert!(fs::read(guest.path("home/large")).unwrap() == fs::read(mine).unwrap());
}

#[test]
fn rsync_copies() {
    let guest = Plan::waiting().serve();
    needed("rsync", "rsync");
    there_and_back(&guest, |words| {
        let shell = format!("ssh -F {}", guest.path("home/.ssh/config").display());
        // What ends in a slash is what lies in it.
        let words = [format!("{}/", words[0]), words[1].to_owned()];
        let mut rsync = Command::new("rsync");
        succeed(rsync.current_dir(guest.path("mine")).args(["-a", "-e", &shell]).args(words));
    });
}

#[test]
fn sftp_does_what_people_type() {
    let guest = Plan::waiting().serve();
    let data = noise(64 << 20);
    fs::write(guest.path("mine/up"), &data).unwrap();
    let script = "mkdir d\nput up d/one\nrename d/one d/two\nln -s two d/link\nchmod 640 d/two\n\
        ls -l d\nget d/link down\nrm d/link\nln d/two d/hard\nrm d/two\ndf d\n-rmdir d\npwd\n\
        put up d/hard\nreput up d/hard\n";
    let mut sftp = guest.openssh("sftp");
    let output = with_input(sftp.args(["-b", "-", "worker-0"]), script.as_bytes());
    let said = text(&output.stdout);
    assert!(output.status.success() || text(&output.stderr).contains("statvfs"), "{said}");
    assert!(said.contains("-rw-r-----") && said.contains("link"), "{said}");
    assert!(fs::read(guest.path("mine/down")).unwrap() == data);
    assert!(fs::read(guest.path("home/d/hard")).unwrap() == data);
}

/// Deployment and a remote interpreter's files, call by call.
const PARAMIKO: &str = r#"
import os, paramiko, stat, sys
transport = paramiko.Transport(("127.0.0.1", int(sys.argv[1])))
transport.connect(username="root", pkey=paramiko.Ed25519Key.from_private_key_file(sys.argv[2]))
sftp = paramiko.SFTPClient.from_transport(transport)
home = sftp.normalize(".")
print(os.path.basename(home))
sftp.mkdir("project", 0o755)
sftp.chdir("project")
data = os.urandom(3_000_000)
open("local", "wb").write(data)
print(sftp.put("local", "main.py").st_size)
sftp.get("main.py", "again")
print(open("again", "rb").read() == data)
print(sorted(sftp.listdir(".")), [stat.S_ISREG(a.st_mode) for a in sftp.listdir_attr(".")])
sftp.chmod("main.py", 0o600); sftp.utime("main.py", (1000000000, 1100000000))
found = sftp.stat("main.py")
print(oct(found.st_mode), found.st_atime, found.st_mtime, found.st_uid)
sftp.truncate("main.py", 10); print(sftp.stat("main.py").st_size)
sftp.symlink("main.py", "link"); print(sftp.readlink("link"), stat.S_ISLNK(sftp.lstat("link").st_mode))
sftp.rename("main.py", "b.py"); sftp.posix_rename("b.py", "link"); print(sftp.listdir("."))
with sftp.open("log", "a") as log: log.write("one\n")
with sftp.open("log", "a") as log: log.write("two\n")
with sftp.open("log") as log: print(log.read()); log.seek(4); print(log.read(3))
for wrong in (lambda: sftp.stat("missing"), lambda: sftp.rmdir("/project-none"),
              lambda: sftp.open("log", "x"), lambda: sftp.mkdir(home), lambda: sftp.remove(home)):
    try: print("done", wrong())
    except FileNotFoundError: print("missing")
    except IOError: print("refused")
sftp.remove("log"); sftp.remove("link"); sftp.chdir(None); sftp.rmdir(home + "/project")
print(len([sftp.open("f%d" % i, "w").close() for i in range(300)]), len(sftp.listdir(".")) >= 300)
print(sftp.normalize("/etc/../etc/./hostname"), sftp.normalize("new"). endswith("/new"))
"#;

#[test]
fn paramiko_deploys() {
    let guest = Plan::waiting().serve();
    let expected = "home\n3000000\nTrue\n['main.py'] [True]\n\
        0o100600 1000000000 1100000000 0\n10\nmain.py True\n['link']\nb'one\\ntwo\\n'\nb'two'\n\
        missing\nmissing\nrefused\nrefused\nrefused\n300 True\n/etc/hostname True";
    assert_eq!(guest.paramiko(PARAMIKO), expected);
}

#[test]
fn a_link_is_followed_and_told_as_such() {
    let guest = Plan::waiting().serve();
    fs::write(guest.path("home/file"), "x").unwrap();
    symlink("file", guest.path("home/link")).unwrap();
    let mut sftp = guest.openssh("sftp");
    let output = with_input(sftp.args(["-b", "-", "worker-0"]), b"ls -l\nget link\n");
    assert!(text(&output.stdout).contains("lrwxrwxrwx"), "{}", text(&output.stdout));
    assert_eq!(fs::read_to_string(guest.path("mine/link")).unwrap(), "x");
}
