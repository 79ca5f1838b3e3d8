//! Images that have next to nothing: made of a folder that becomes the root.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::guest::{Guest, Plan, needed, place, program, succeed, text, until, with_input};

/// What is in an image beside our own program.
struct Image(Plan);

impl Image {
    /// With the only program that there is, at these places.
    fn with_busybox(command: &str, places: &[&str]) -> Self {
        let image = Self(Plan::new(command));
        let root = image.0.folder.path();
        copy(&needed("busybox", "busybox-static"), &root.join("image/busybox"));
        for place in places {
            copy(&root.join("image/busybox"), &root.join("image").join(place));
        }
        fs::remove_file(root.join("image/busybox")).unwrap();
        image
    }

    fn file(self, place: &str, content: &str) -> Self {
        let path = self.0.path("image").join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Runs the guest in it.
    fn plan(mut self) -> Plan {
        let root = self.0.path("image");
        fs::create_dir_all(root.join(".berth")).unwrap();
        place(&root.join(".berth/bin/guest"));
        copy_libraries(&root);
        fs::create_dir_all(root.join("root")).unwrap();
        fs::write(root.join(".berth/task.json"), serde_json::to_vec(&self.0.config).unwrap())
            .unwrap();
        fs::copy(self.0.path("berth/authorized_keys"), root.join(".berth/authorized_keys"))
            .unwrap();
        let root = root.to_string_lossy().into_owned();
        let unshare = needed("unshare", "util-linux").to_string_lossy().into_owned();
        let words = ["--user", "--map-root-user", "--root", &root, "/.berth/bin/guest", "run"];
        self.0.wrapper = std::iter::once(unshare).chain(words.map(str::to_owned)).collect();
        self.0.variable("HOME", "/root").variable("PATH", "/bin:/app")
    }

    fn serve(self) -> Guest {
        self.plan().serve()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

/// What the program under test needs unless it is static: no shell and nothing that could be one.
fn copy_libraries(root: &Path) {
    let output = Command::new("ldd").arg(program()).output().unwrap();
    let said = text(&output.stdout);
    for path in said.split_whitespace().filter(|word| word.starts_with('/')) {
        copy(Path::new(path), &root.join(path.trim_start_matches('/')));
    }
}

/// OpenSSH in the folder of the image's user.
fn ssh(guest: &Guest, words: &[&str]) -> Command {
    let mut ssh = Command::new(needed("ssh", "openssh-client"));
    ssh.args(options(guest)).args(["-p", &guest.port.to_string(), "root@127.0.0.1"]).args(words);
    ssh
}

fn options(guest: &Guest) -> Vec<String> {
    let job = guest.path("job").to_string_lossy().into_owned();
    let settings = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o"];
    let settings = settings.map(str::to_owned).into_iter();
    let last = ["UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i", &job];
    settings.chain(last.map(str::to_owned)).collect()
}

fn files_work(guest: &Guest) {
    fs::write(guest.path("mine/up"), "content").unwrap();
    let mut sftp = Command::new(needed("sftp", "openssh-client"));
    sftp.args(options(guest)).args(["-P", &guest.port.to_string(), "-b", "-", "root@127.0.0.1"]);
    sftp.current_dir(guest.path("mine"));
    let output =
        with_input(&mut sftp, b"put up /root/x\nrename /root/x /root/y\nget /root/y down\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(guest.path("mine/down")).unwrap(), "content");
}

#[test]
fn with_nothing_but_a_small_shell_everything_works() {
    let image =
        Image::with_busybox("echo a | busybox tr a b; sleep 1000", &["bin/sh", "bin/busybox"]);
    symlink("busybox", image.0.path("image/bin/sleep")).unwrap();
    let mut guest = image.serve();
    assert_eq!(guest.line(), "b");
    let output = ssh(&guest, &["echo c | busybox tr c d; exit 3"]).output().unwrap();
    assert_eq!((text(&output.stdout), output.status.code()), ("d".into(), Some(3)));
    let output = with_input(&mut ssh(&guest, &["-T"]), b"echo $SHELL; exit 4\n");
    assert_eq!((text(&output.stdout), output.status.code()), ("/bin/sh".into(), Some(4)));
    files_work(&guest);
}

#[test]
fn a_shell_of_another_name_is_found() {
    let image = Image::with_busybox("echo $0 | busybox cat; exit 0", &["bin/busybox"]);
    let mut guest = image.plan().start();
    assert_eq!(guest.line(), "sh");
    assert!(guest.end().success());

    let image =
        Image::with_busybox("for x in a b; do echo $x; done; read x < /go", &["opt/odd/ash"]);
    let image = image.file("etc/passwd", "root:x:0:0:root:/root:/opt/odd/ash\n");
    assert!(Command::new("mkfifo").arg(image.0.path("image/go")).status().unwrap().success());
    let mut guest = image.serve();
    assert_eq!((guest.line(), guest.line()), ("a".into(), "b".into()));
    let output = succeed(&mut ssh(&guest, &["for x in c d; do echo $x; done"]));
    assert_eq!(text(&output.stdout), "c\nd");
    files_work(&guest);
    fs::write(guest.path("image/go"), "\n").unwrap();
    assert!(guest.end().success());
}

#[test]
fn without_any_shell_a_program_runs_and_files_are_served() {
    let places = ["app/echo", "app/sleep", "app/false"];
    let mut guest = Image::with_busybox("/app/sleep 1000", &places).serve();
    let output = succeed(&mut ssh(&guest, &["echo 'a  b' \"c\\\"d\""]));
    assert_eq!(text(&output.stdout), "a  b c\"d");
    assert_eq!(ssh(&guest, &["/app/false"]).output().unwrap().status.code(), Some(1));
    let output = ssh(&guest, &["echo a | cat"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("no shell, and the command needs one: `|`"));
    let output = ssh(&guest, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("this image has no shell"), "{}", text(&output.stderr));
    files_work(&guest);
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(143));
}

#[test]
fn without_a_shell_the_exit_code_is_the_programs_or_tells_why_there_is_none() {
    for (command, code, said) in [
        ("/app/echo done", 0, ""),
        ("/app/false", 1, ""),
        ("/app/echo a && /app/echo b", 127, "no shell, and the command needs one: `&`"),
        ("A=1 /app/echo", 127, "only a shell can set the variable"),
        ("/app/missing", 127, "cannot start /app/missing"),
        ("missing", 127, "missing: not found in this image"),
        ("/app/text", 126, "cannot start /app/text"),
    ] {
        let image = Image::with_busybox(command, &["app/echo", "app/false"]);
        let mut guest = image.file("app/text", "x").plan().start();
        assert_eq!(guest.end().code(), Some(code), "{command}: {}", guest.errors());
        assert!(guest.errors().contains(said), "{command}: {}", guest.errors());
        let exit = fs::read_to_string(guest.path("image/.berth/exit.json")).unwrap();
        assert!(exit.contains(&format!("\"code\":{code},")), "{exit}");
    }
}

#[test]
fn a_command_that_cannot_be_started_is_kept_as_well() {
    let mut image = Image::with_busybox("/app/missing", &["app/echo"]);
    image.0.config.keep_on_failure_secs = Some(3600);
    let mut guest = image.serve();
    assert_eq!(text(&succeed(&mut ssh(&guest, &["/app/echo here"])).stdout), "here");
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(127));
}

#[test]
fn a_task_whose_server_has_no_place_for_its_names_still_runs() {
    let image = Image::with_busybox("/app/sleep 1000", &["app/sleep"]);
    let image = image.file("root/.ssh", "not a folder");
    let guest = image.plan().start();
    until("it is told", || guest.errors().contains("cannot be reached by name"));
}
