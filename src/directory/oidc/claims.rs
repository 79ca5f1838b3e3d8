//! What a provider says, and the person it makes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::person::{self, Person};
use serde_json::{Map, Value};

use super::settings::{Claims, OidcSettings};
use crate::{Error, Result, in_allowed_group};

/// Names and values.
pub(super) type Said = Map<String, Value>;

/// What a token says. Its signature is checked before.
pub(super) fn of_token(token: &str) -> Option<Said> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&payload).ok()
}

/// Whether there may be more to ask for.
pub(super) fn lacks(said: &Said, claims: &Claims) -> bool {
    [&claims.name, &claims.mail, &claims.groups].iter().any(|name| find(said, name).is_none())
}

/// The person, if it is one who may sign in.
pub(super) fn person(settings: &OidcSettings, subject: String, said: &Said) -> Result<Person> {
    let provider = settings.name.clone();
    let Claims { name, mail, groups } = &settings.claims;
    let text = |claim| find(said, claim).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(name) = text(name) else {
        return Err(Error::Silent { provider, what: format!("the claim {name:?}") });
    };
    let groups = find(said, groups).map(texts).unwrap_or_default();
    let person = Person {
        issuer: settings.issuer.clone(),
        subject,
        name: name.to_owned(),
        mail: text(mail).map(str::to_owned),
        groups: person::groups_of(groups),
        provider,
    };
    let verified = said.get("email_verified") == Some(&Value::Bool(true));
    let domain = settings.allowed_domains.is_empty()
        || (verified && of_domain(person.mail.as_deref(), &settings.allowed_domains));
    if domain && in_allowed_group(&settings.allowed_groups, &person.groups) {
        return Ok(person);
    }
    Err(Error::NotAllowed { provider: person.provider, name: person.name })
}

fn of_domain(mail: Option<&str>, allowed: &[String]) -> bool {
    let domain = mail.and_then(|mail| mail.rsplit_once('@')).map(|(_, domain)| domain);
    domain.is_some_and(|domain| allowed.iter().any(|other| other.eq_ignore_ascii_case(domain)))
}

/// A claim of exactly that name (some have dots in them), or the one that the name leads to.
fn find<'a>(said: &'a Said, name: &str) -> Option<&'a Value> {
    said.get(name).or_else(|| {
        let mut names = name.split('.');
        let first = said.get(names.next()?)?;
        names.try_fold(first, |inside, name| inside.get(name))
    })
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use protocol::ids::GroupName;

    use super::*;

    fn settings(more: Value) -> OidcSettings {
        let mut whole = serde_json::json!({
            "name": "company", "issuer": "https://id.example.org", "client_id": "berth"
        });
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn said(value: Value) -> Said {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn claims_are_found_by_their_names() {
        let settings = settings(serde_json::json!({
            "claims": { "groups": "realm_access.roles", "mail": "https://example.org/mail" }
        }));
        let said = said(serde_json::json!({
            "preferred_username": "ada", "https://example.org/mail": "ada@example.org",
            "realm_access": { "roles": ["gpu", 7, "", "gpu"] }
        }));
        let person = person(&settings, "1".into(), &said).unwrap();
        assert_eq!((person.name.as_str(), person.subject.as_str()), ("ada", "1"));
        assert_eq!(person.mail.as_deref(), Some("ada@example.org"));
        assert_eq!(person.groups.iter().map(GroupName::as_str).collect::<Vec<_>>(), ["gpu"]);
    }

    #[test]
    fn only_those_who_are_allowed_are_taken() {
        let cases = [
            (serde_json::json!({}), true),
            (serde_json::json!({"allowed_groups": ["gpu"]}), true),
            (serde_json::json!({"allowed_groups": ["other"]}), false),
            (serde_json::json!({"allowed_domains": ["Example.org"]}), true),
            (serde_json::json!({"allowed_domains": ["ample.org"]}), false),
            (
                serde_json::json!({"allowed_domains": ["example.org"], "allowed_groups": ["x"]}),
                false,
            ),
        ];
        let ada = said(serde_json::json!({
            "preferred_username": "ada", "groups": "gpu", "email": "ada@example.org",
            "email_verified": true
        }));
        for (more, taken) in cases {
            let found = person(&settings(more.clone()), "1".into(), &ada);
            assert_eq!(found.is_ok(), taken, "{more}: {found:?}");
        }
        let mut unverified = ada;
        unverified.remove("email_verified");
        let strict = settings(serde_json::json!({"allowed_domains": ["example.org"]}));
        assert!(person(&strict, "1".into(), &unverified).is_err(), "anybody can say an address");
    }

    #[test]
    fn a_person_without_a_name_is_not_made_up() {
        let settings = settings(serde_json::json!({}));
        for nameless in [serde_json::json!({}), serde_json::json!({"preferred_username": 7})] {
            let error = person(&settings, "1".into(), &said(nameless)).unwrap_err();
            assert!(error.to_string().contains("preferred_username"), "{error}");
        }
    }
}
