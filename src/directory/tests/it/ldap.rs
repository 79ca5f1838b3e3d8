use directory::{Directory, Error, Ldap};
use protocol::ids::GroupName;
use serde_json::{Value, json};

use crate::slapd::Slapd;

fn ldap(settings: Value) -> Ldap {
    Ldap::new(serde_json::from_value(settings).unwrap()).unwrap()
}

fn with(slapd: &Slapd, key: &str, value: Value) -> Ldap {
    let mut settings = slapd.settings();
    settings[key] = value;
    ldap(settings)
}

#[tokio::test]
async fn somebody_of_the_directory_is_known_with_groups() {
    let slapd = Slapd::start();
    let ldap = ldap(slapd.settings());
    let ada = ldap.check("ada", "password of ada").await.unwrap().unwrap();
    assert_eq!((ada.name.as_str(), ada.mail.as_deref()), ("ada", Some("ada@example.org")));
    assert_eq!(ada.provider.as_str(), "staff");
    assert_eq!(ada.subject.len(), 36, "an entryUUID: {}", ada.subject);
    let groups: Vec<_> = ada.groups.iter().map(GroupName::as_str).collect();
    assert_eq!(groups, ["gpu-admins", "vision"]);
    let other = ldap.check("ADA", "password of ada").await.unwrap().unwrap();
    assert_eq!(other, ada, "the directory says what somebody is called");
    let bob = ldap.check("bob", "password of bob").await.unwrap().unwrap();
    assert_eq!((bob.groups.len(), bob.mail), (0, None));
}

#[tokio::test]
async fn wrong_and_empty_passwords_open_no_directory_account() {
    let slapd = Slapd::start();
    let ldap = ldap(slapd.settings());
    for (user, password) in [
        ("ada", "password of bob"),
        ("ada", ""),
        ("ada", "\0"),
        ("ada", "password of ada\0"),
        ("", ""),
        ("nobody", "password of ada"),
        ("", "password of ada"),
    ] {
        let found = ldap.check(user, password).await.unwrap();
        assert_eq!(found, None, "{user:?} {password:?}");
    }
}

#[tokio::test]
async fn what_is_typed_is_no_filter() {
    let slapd = Slapd::start();
    let ldap = ldap(slapd.settings());
    for typed in [
        "*)(uid=*",
        "*",
        "a*",
        "ada)(objectClass=*",
        "ada)(|(uid=ada",
        "\\61da",
        "uid=ada,ou=people,dc=example,dc=org",
        "ada\0",
        "{dn}",
    ] {
        assert_eq!(ldap.check(typed, "password of ada").await.unwrap(), None, "{typed:?}");
    }
}

#[tokio::test]
async fn groups_and_people_are_looked_up_again_by_what_never_changes() {
    let slapd = Slapd::start();
    let ldap = ldap(slapd.settings());
    let ada = ldap.check("ada", "password of ada").await.unwrap().unwrap();
    assert_eq!(ldap.find(&ada.subject).await.unwrap(), Some(ada.clone()));
    slapd.take_out("ada", "gpu-admins");
    let later = ldap.find(&ada.subject).await.unwrap().unwrap();
    let groups: Vec<_> = later.groups.iter().map(GroupName::as_str).collect();
    assert_eq!(groups, ["vision"]);
    assert_eq!(ldap.find("*").await.unwrap(), None, "a subject is no pattern");
    slapd.remove("ada");
    assert_eq!(ldap.find(&ada.subject).await.unwrap(), None);
    assert_eq!(ldap.check("ada", "password of ada").await.unwrap(), None);
}

#[tokio::test]
async fn only_allowed_groups_of_a_directory_come_in() {
    let slapd = Slapd::start();
    let ldap = with(&slapd, "allowed_groups", json!(["vision"]));
    assert!(ldap.check("ada", "password of ada").await.unwrap().is_some());
    let refused = ldap.check("bob", "password of bob").await;
    assert!(matches!(refused, Err(Error::NotAllowed { .. })), "{refused:?}");
    assert_eq!(ldap.check("bob", "wrong").await.unwrap(), None, "only bob himself is told");
}

#[tokio::test]
async fn a_directory_with_a_certificate_of_nobody_we_know_is_told_nothing() {
    let slapd = Slapd::start();
    let ldap = with(&slapd, "ca", Value::Null);
    let refused = ldap.check("ada", "password of ada").await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_directory_that_is_down_is_said_to_be_down() {
    let slapd = Slapd::start();
    let ldap = ldap(slapd.settings());
    drop(slapd);
    let refused = ldap.check("ada", "password of ada").await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_service_that_is_refused_is_no_wrong_password() {
    let slapd = Slapd::start();
    let ldap = with(&slapd, "bind_password", json!("wrong"));
    let refused = ldap.check("ada", "password of ada").await.unwrap_err().to_string();
    assert!(refused.contains("bind_dn"), "{refused}");
}
