use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

/// The service that may search, and its password.
pub(crate) const SERVICE: &str = "cn=berth,dc=example,dc=org";
pub(crate) const SERVICE_PASSWORD: &str = "password of berth";

/// An OpenLDAP server on a free port, with people and groups, in a folder of its own.
pub(crate) struct Slapd {
    pub(crate) port: u16,
    folder: tempfile::TempDir,
    process: Child,
}

const PEOPLE: &str = "\
dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: cn=berth,dc=example,dc=org
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: berth
userPassword: password of berth

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=org
objectClass: organizationalUnit
ou: groups

dn: uid=ada,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ada
cn: Ada (of Example)
sn: Lovelace
mail: ada@example.org
userPassword: password of ada

dn: uid=bob,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: bob
cn: Bob
sn: Builder
userPassword: password of bob

dn: cn=vision,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: vision
member: cn=berth,dc=example,dc=org
member: uid=ada,ou=people,dc=example,dc=org

dn: cn=gpu-admins,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: gpu-admins
member: cn=berth,dc=example,dc=org
member: uid=ada,ou=people,dc=example,dc=org
";

impl Slapd {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        certificates(folder.path());
        std::fs::create_dir(folder.path().join("people")).unwrap();
        let configuration = folder.path().join("slapd.conf");
        std::fs::write(&configuration, text(folder.path())).unwrap();
        let mut add = Command::new("/usr/sbin/slapadd");
        add.arg("-f").arg(&configuration);
        feed(&mut add, PEOPLE);
        let (port, process) = begin(&configuration);
        let mut slapd = Self { port, folder, process };
        while !slapd.answers() {
            // Somebody else has taken the port meanwhile.
            (slapd.port, slapd.process) = begin(&configuration);
        }
        slapd
    }

    /// Waits until it answers; `false`: it has ended.
    fn answers(&mut self) -> bool {
        let until = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(Instant::now() < until, "slapd does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.process.try_wait().unwrap().is_none()
    }

    /// What an administrator of Berth would write of it.
    pub(crate) fn settings(&self) -> serde_json::Value {
        serde_json::json!({
            "name": "staff",
            "url": format!("ldap://127.0.0.1:{}", self.port),
            "start_tls": true,
            "ca": self.folder.path().join("ca.pem"),
            "bind_dn": SERVICE,
            "bind_password": SERVICE_PASSWORD,
            "base": "ou=people,dc=example,dc=org",
            "groups": { "base": "ou=groups,dc=example,dc=org" },
        })
    }

    /// Takes somebody out of a group.
    pub(crate) fn take_out(&self, name: &str, group: &str) {
        self.change(&format!(
            "dn: cn={group},ou=groups,dc=example,dc=org\nchangetype: modify\ndelete: member\n\
             member: uid={name},ou=people,dc=example,dc=org\n"
        ));
    }

    /// Somebody has left.
    pub(crate) fn remove(&self, name: &str) {
        self.change(&format!("dn: uid={name},ou=people,dc=example,dc=org\nchangetype: delete\n"));
    }

    fn change(&self, text: &str) {
        let mut modify = Command::new("ldapmodify");
        modify.args(["-x", "-H", &format!("ldap://127.0.0.1:{}", self.port)]);
        modify.args(["-D", "cn=admin,dc=example,dc=org", "-w", "password of admin"]);
        feed(&mut modify, text);
    }
}

impl Drop for Slapd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn begin(configuration: &Path) -> (u16, Child) {
    let port = quiet_port();
    let process = Command::new("/usr/sbin/slapd")
        .args(["-d", "0", "-h", &format!("ldap://127.0.0.1:{port}")])
        .arg("-f")
        .arg(configuration)
        .stderr(Stdio::null())
        .spawn();
    (port, process.expect("slapd is installed"))
}

/// A free port that the kernel gives to nobody by itself: who asks again and again whether somebody listens at
/// one of those may be connected to himself, and then nobody else can listen there.
fn quiet_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + u16::try_from(std::process::id() % 8_000).unwrap();
    let mut ports = std::iter::repeat_with(|| first + NEXT.fetch_add(1, Ordering::Relaxed) % 4_000);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// Runs a program to its end, with this to read.
fn feed(program: &mut Command, text: &str) {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{program:?}");
}

fn text(folder: &Path) -> String {
    let folder = folder.display();
    let schemas = ["core", "cosine", "inetorgperson"];
    let schemas: String =
        schemas.iter().map(|name| format!("include /etc/ldap/schema/{name}.schema\n")).collect();
    format!(
        "{schemas}modulepath /usr/lib/ldap\nmoduleload back_mdb\n\
         TLSCACertificateFile {folder}/ca.pem\nTLSCertificateFile {folder}/cert.pem\n\
         TLSCertificateKeyFile {folder}/key.pem\n\
         database mdb\nmaxsize 10485760\nsuffix dc=example,dc=org\n\
         rootdn cn=admin,dc=example,dc=org\nrootpw \"password of admin\"\n\
         directory {folder}/people\n\
         access to attrs=userPassword by anonymous auth by * none\n\
         access to * by dn.exact={SERVICE} read by * none\n"
    )
}

/// An authority, and a certificate of it for this machine.
fn certificates(folder: &Path) {
    let key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&key).unwrap();
    std::fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.join("cert.pem"), leaf.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}
