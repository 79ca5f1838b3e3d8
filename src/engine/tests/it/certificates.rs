//! An authority of a test's own and a certificate that is good for both sides, on 127.0.0.1.

use std::path::Path;
use std::process::Command;

/// Writes `ca.pem`, `cert.pem` and `key.pem` into a folder.
pub(crate) fn write(folder: &Path) {
    let uses = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
    std::fs::write(folder.join("uses"), uses).unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(folder, &format!("req -x509 {key} -days 2 -subj /CN=ca -keyout ca.key -out ca.pem"));
    openssl(folder, &format!("req {key} -subj /CN=node -keyout key.pem -out request.pem"));
    openssl(
        folder,
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
         -extfile uses -out cert.pem",
    );
}

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("no openssl here: apt-get install openssl");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {arguments}: {error}");
}
