use std::sync::Arc;

use directory::{Answer, Error, Oidc, Started};
use protocol::ids::GroupName;
use protocol::person::Person;
use serde_json::{Value, json};

use crate::provider::{Browser, CLIENT, Provider, SECRET};

const HERE: &str = "http://127.0.0.1:9";
const BACK: &str = "http://127.0.0.1:9/sign-in/oidc/company/callback";

fn oidc(issuer: &str, more: Value) -> Arc<Oidc> {
    let mut settings = json!({
        "name": "company", "issuer": issuer, "client_id": CLIENT, "client_secret": SECRET
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Arc::new(Oidc::new(serde_json::from_value(settings).unwrap()).unwrap())
}

/// A value of an address's query.
fn query(address: &str, name: &str) -> Option<String> {
    let address = url::Url::parse(address).unwrap();
    address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Starts, and lets somebody sign in there.
async fn brought(oidc: &Arc<Oidc>, name: &'static str) -> (Started, Answer) {
    let started = oidc.start(BACK).await.unwrap();
    let address = started.address.clone();
    let password = format!("password of {name}");
    let back =
        tokio::task::spawn_blocking(move || Browser::new().sign_in(&address, name, &password));
    let back = back.await.unwrap();
    assert_eq!(query(&back, "state").as_ref(), Some(&started.state));
    let answer = Answer {
        code: query(&back, "code").unwrap_or_else(|| panic!("{back}")),
        issuer: query(&back, "iss"),
        nonce: started.nonce.clone(),
        verifier: started.verifier.clone(),
    };
    (started, answer)
}

async fn known(oidc: &Arc<Oidc>, name: &'static str) -> Result<Person, Error> {
    let (_, answer) = brought(oidc, name).await;
    oidc.finish(BACK, answer).await
}

fn groups(person: &Person) -> Vec<&str> {
    person.groups.iter().map(GroupName::as_str).collect()
}

async fn provider(quiet: bool) -> Provider {
    tokio::task::spawn_blocking(move || {
        let provider = Provider::start();
        provider.serve(HERE, quiet);
        provider
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn somebody_of_the_provider_is_known_with_groups() {
    for quiet in [false, true] {
        let provider = provider(quiet).await;
        let oidc = oidc(&provider.address, json!({}));
        let started = oidc.start(BACK).await.unwrap();
        for (name, value) in [
            ("response_type", "code"),
            ("code_challenge_method", "S256"),
            ("scope", "openid profile email"),
            ("redirect_uri", BACK),
        ] {
            assert_eq!(query(&started.address, name).as_deref(), Some(value), "{name}");
        }
        let ada = known(&oidc, "ada").await.unwrap();
        assert_eq!((ada.name.as_str(), ada.subject.as_str()), ("ada", "ada"), "quiet: {quiet}");
        assert_eq!(ada.issuer, provider.address);
        assert_eq!(ada.mail.as_deref(), Some("ada@example.org"));
        assert_eq!(groups(&ada), ["gpu-admins", "vision"]);
        provider.put_into("ada", r#"["vision"]"#);
        assert_eq!(groups(&known(&oidc, "ada").await.unwrap()), ["vision"]);
    }
}

#[tokio::test]
async fn a_code_without_what_belongs_to_it_is_worth_nothing() {
    let provider = provider(false).await;
    let oidc = oidc(&provider.address, json!({}));
    let other = oidc.start(BACK).await.unwrap();
    let spoilt: [fn(&mut Answer, &Started); 4] = [
        |answer, other| answer.nonce = other.nonce.clone(),
        |answer, other| answer.verifier = other.verifier.clone(),
        |answer, _| answer.issuer = Some("https://evil.example".into()),
        |answer, _| answer.code.push('x'),
    ];
    for (at, spoil) in spoilt.into_iter().enumerate() {
        let (_, mut answer) = brought(&oidc, "ada").await;
        spoil(&mut answer, &other);
        let refused = oidc.finish(BACK, answer).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{at}: {refused:?}");
    }
    let (_, answer) = brought(&oidc, "ada").await;
    assert!(oidc.finish(BACK, answer.clone()).await.is_ok());
    let again = oidc.finish(BACK, answer).await;
    assert!(matches!(again, Err(Error::Refused { .. })), "a code is good once: {again:?}");
}

#[tokio::test]
async fn only_allowed_groups_of_a_provider_come_in() {
    let provider = provider(false).await;
    let oidc = oidc(&provider.address, json!({ "allowed_groups": ["vision"] }));
    assert!(known(&oidc, "ada").await.is_ok());
    let refused = known(&oidc, "bob").await;
    assert!(matches!(refused, Err(Error::NotAllowed { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_provider_that_is_down_is_said_to_be_down() {
    let provider = provider(false).await;
    let oidc = oidc(&provider.address, json!({}));
    drop(provider);
    let refused = oidc.start(BACK).await;
    assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn people_can_be_signed_out_there_as_well() {
    let provider = provider(false).await;
    let oidc = oidc(&provider.address, json!({}));
    let back = format!("{HERE}/sign-in");
    let address = oidc.farewell(&back).await.unwrap().unwrap();
    assert!(address.starts_with(&format!("{}/session/end?", provider.address)), "{address}");
    assert_eq!(query(&address, "post_logout_redirect_uri"), Some(back));
    assert_eq!(query(&address, "client_id").as_deref(), Some(CLIENT));
}
