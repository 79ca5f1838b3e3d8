//! A directory that answers and does not say enough.

use std::sync::Arc;

use control::SignInOptions;
use directory::Directory;
use protocol::ids::ProviderName;
use protocol::person::Person;
use server::state::StateOptions;

use super::{asked_often, tried, until};
use crate::hall::Hall;

/// A directory that lets everybody in, says too little of ada from then on, and knows nobody else.
#[derive(Debug)]
struct Odd(ProviderName);

#[async_trait::async_trait]
impl Directory for Odd {
    fn name(&self) -> &ProviderName {
        &self.0
    }

    async fn check(&self, user: &str, _password: &str) -> directory::Result<Option<Person>> {
        Ok(Some(Person {
            provider: self.0.clone(),
            issuer: "odd".into(),
            subject: user.into(),
            name: user.into(),
            mail: None,
            groups: Vec::new(),
        }))
    }

    async fn find(&self, subject: &str) -> directory::Result<Option<Person>> {
        if subject == "ada" {
            let (provider, what) = (self.0.clone(), "who that is".into());
            return Err(directory::Error::Silent { provider, what });
        }
        Ok(None)
    }
}

#[tokio::test]
async fn of_whom_nothing_is_said_keeps_nobody_else_here() {
    let odd: Arc<dyn Directory> = Arc::new(Odd("odd".parse().unwrap()));
    let options = SignInOptions { directories: vec![odd], ..asked_often("odd") };
    let hall = Hall::signing_in(options, StateOptions::default()).await;
    for name in ["ada", "zoe"] {
        assert_eq!(tried(&hall, name, "whatever it is").await.status, 200, "{name}");
    }
    let users = &hall.control.backend.users;
    until(async || users.actor(&"zoe".parse().unwrap()).await.unwrap().is_none()).await;
    assert!(users.actor(&"ada".parse().unwrap()).await.unwrap().is_some(), "she has not left");
}
