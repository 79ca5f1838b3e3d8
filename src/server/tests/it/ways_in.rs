//! Signing in by a company's accounts, against the real providers.

mod odd;

use std::path::Path;
use std::sync::Arc;

use api::users::Means;
use control::{ProviderRights, SignInOptions};
use directory::{Directory, Ldap, Oidc};
use serde_json::{Value, json};
use server::state::StateOptions;

use crate::hall::Hall;
use crate::provider::{Browser, CLIENT, Provider, SECRET};
use crate::server::{Answer, Client, FORM, JSON};
use crate::slapd::Slapd;

fn rights(name: &str) -> SignInOptions {
    let rights =
        ProviderRights { admin_groups: vec!["gpu-admins".parse().unwrap()], create_accounts: true };
    SignInOptions {
        providers: [(name.parse().unwrap(), rights)].into(),
        ..SignInOptions::default()
    }
}

/// A server whose people come from a provider with pages of its own.
struct Company {
    hall: Hall,
    provider: Arc<Provider>,
    browser: Option<Browser>,
}

impl Company {
    async fn open(options: SignInOptions) -> Self {
        let provider = tokio::task::spawn_blocking(Provider::start).await.unwrap();
        let settings = json!({
            "name": "company", "title": "The Company", "issuer": provider.address,
            "client_id": CLIENT, "client_secret": SECRET
        });
        let oidc = Oidc::new(serde_json::from_value(settings).unwrap()).unwrap();
        let state = StateOptions { oidc: vec![Arc::new(oidc)], ..StateOptions::default() };
        let hall = Hall::signing_in(options, state).await;
        let (provider, base) = (Arc::new(provider), hall.client.base.clone());
        let known = Arc::clone(&provider);
        tokio::task::spawn_blocking(move || known.serve(&base, false)).await.unwrap();
        Self { hall, provider, browser: Some(Browser::new()) }
    }

    fn client(&self) -> &Client {
        &self.hall.client
    }

    /// Begins to sign in: the cookie, and the provider's address.
    async fn begin(&self, next: &str) -> (String, String) {
        let path = format!("/sign-in/oidc/company?next={next}");
        let answer = self.client().get(&path, &[]).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        (answer.cookie(), answer.header("location").to_owned())
    }

    /// Lets somebody sign in there, and gives the path that the browser comes back to.
    async fn there(&mut self, address: String, name: &'static str) -> String {
        let mut browser = self.browser.take().unwrap_or_else(Browser::new);
        let password = format!("password of {name}");
        let came = move || (browser.sign_in(&address, name, &password), browser);
        let (back, browser) = tokio::task::spawn_blocking(came).await.unwrap();
        self.browser = Some(browser);
        self.hall.local(&back).to_owned()
    }

    async fn sign_in(&mut self, name: &'static str, next: &str) -> Answer {
        let (cookie, address) = self.begin(next).await;
        let back = self.there(address, name).await;
        self.client().get(&back, &[("cookie", &cookie)]).await
    }

    /// Signs in anew: the provider's page asks again.
    async fn session(&mut self, name: &'static str) -> String {
        self.browser = None;
        let answer = self.sign_in(name, "/jobs").await;
        assert_eq!(answer.header("location"), "/jobs", "{answer:?}");
        session(&answer)
    }

    async fn put_into(&self, name: &'static str, groups: &'static str) {
        let provider = Arc::clone(&self.provider);
        tokio::task::spawn_blocking(move || provider.put_into(name, groups)).await.unwrap();
    }
}

/// The session's cookie among those of an answer.
fn session(answer: &Answer) -> String {
    let mut all =
        answer.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
    let found = all.rfind(|cookie| cookie.starts_with("berth_session="));
    found.unwrap_or_else(|| panic!("{answer:?}")).split(';').next().unwrap().to_owned()
}

/// What the server says of somebody.
async fn of(client: &Client, who: (&str, &str), name: &str) -> Value {
    let answer = client.get(&format!("/api/v2/users/{name}"), &[who]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn restrict(hall: &Hall) {
    let bearer = format!("Bearer {}", hall.token("admin"));
    let headers = [JSON, ("authorization", bearer.as_str())];
    let path = "/api/v2/virtual-clusters/lab";
    let answer = hall.client.send("PUT", path, &headers, r#"{"groups": ["vision"]}"#).await;
    assert_eq!(answer.status, 202, "{answer:?}");
}

fn uses_lab(user: &Value) -> bool {
    user["virtualCluster"].as_array().unwrap().contains(&json!("lab"))
}

#[tokio::test]
async fn groups_of_a_provider_give_rights_until_it_takes_them() {
    let mut company = Company::open(rights("company")).await;
    restrict(&company.hall).await;
    let cookie = company.session("ada").await;
    let ada = of(company.client(), ("cookie", &cookie), "ada").await;
    assert_eq!((&ada["admin"], &ada["source"]), (&json!(true), &json!("company")));
    assert_eq!(ada["grouplist"], json!(["gpu-admins", "vision"]));
    assert_eq!(ada["email"], "ada@example.org");
    assert!(uses_lab(&ada));
    let audit = company.client().get("/api/v2/audit", &[("cookie", &cookie)]).await;
    assert_eq!(audit.status, 200, "an administrator by her group");

    company.put_into("ada", "[]").await;
    let cookie = company.session("ada").await;
    let ada = of(company.client(), ("cookie", &cookie), "ada").await;
    assert_eq!((&ada["admin"], &ada["grouplist"]), (&json!(false), &json!([])));
    assert!(!uses_lab(&ada));
    let audit = company.client().get("/api/v2/audit", &[("cookie", &cookie)]).await;
    assert_eq!(audit.status, 403);
}

#[tokio::test]
async fn groups_and_tokens_of_a_provider_lapse_when_nobody_asks_it() {
    let hour = 3_600;
    let mut company = Company::open(SignInOptions {
        session_seconds: 0,
        token_seconds: hour,
        ..rights("company")
    })
    .await;
    let cookie = company.session("ada").await;
    let headers = [("cookie", cookie.as_str())];
    let answer = company.client().get("/api/v2/users", &headers).await;
    assert_eq!(answer.status, 401, "the session has had its time");
    let ada = "ada".parse().unwrap();
    let users = &company.hall.control.backend.users;
    let actor = users.actor(&ada).await.unwrap().unwrap();
    assert!(!actor.admin, "so have the groups");
    let token = users.create_token(&actor, &Means::Password, "long", None).await.unwrap().token;
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(company.client().get("/api/v2/users", &headers).await.status, 200);
}

#[tokio::test]
async fn a_token_dies_when_its_provider_is_not_asked_for_long() {
    let mut company = Company::open(SignInOptions { token_seconds: 0, ..rights("company") }).await;
    let cookie = company.session("ada").await;
    assert_eq!(company.client().get("/api/v2/jobs", &[("cookie", &cookie)]).await.status, 200);
    let users = &company.hall.control.backend.users;
    let actor = users.actor(&"ada".parse().unwrap()).await.unwrap().unwrap();
    let token = users.create_token(&actor, &Means::Password, "eternal", None).await.unwrap().token;
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(company.client().get("/api/v2/jobs", &headers).await.status, 401);
}

#[tokio::test]
async fn nobody_is_given_an_account_that_is_there() {
    let mut company = Company::open(rights("company")).await;
    // There is a local bob, and bob of the provider is somebody else.
    let answer = company.sign_in("bob", "/jobs").await;
    let to = answer.header("location");
    assert!(to.starts_with("/sign-in?error=ConflictUserError"), "{to}");
    assert!(
        !answer
            .headers
            .get_all("set-cookie")
            .iter()
            .any(|c| c.to_str().unwrap().starts_with("berth_session="))
    );
    let bearer = format!("Bearer {}", company.hall.token("admin"));
    let bob = of(company.client(), ("authorization", &bearer), "bob").await;
    assert_eq!(bob["source"], "local");
}

#[tokio::test]
async fn a_link_of_somebody_elses_signs_nobody_in() {
    let mut company = Company::open(rights("company")).await;
    let (cookie, address) = company.begin("/jobs").await;
    let back = company.there(address, "ada").await;
    let lost = "/sign-in?error=SignInLost";
    for cookies in
        [vec![], vec![("cookie", "berth_sign_in=e30")], vec![("cookie", "berth_sign_in=%")]]
    {
        let answer = company.client().get(&back, &cookies).await;
        assert!(answer.header("location").starts_with(lost), "{answer:?}");
    }
    let (other, _) = company.begin("/jobs").await;
    let answer = company.client().get(&back, &[("cookie", &other)]).await;
    assert!(answer.header("location").starts_with(lost), "another browser's: {answer:?}");
    let state_of_nobody = back.replace("state=", "state=x");
    let answer = company.client().get(&state_of_nobody, &[("cookie", &cookie)]).await;
    assert!(answer.header("location").starts_with(lost), "{answer:?}");
    let answer = company.client().get(&back, &[("cookie", &cookie)]).await;
    assert_eq!(answer.header("location"), "/jobs");
    let answer = company.client().get(&back, &[("cookie", &cookie)]).await;
    let to = answer.header("location");
    assert!(to.starts_with("/sign-in?error=ProviderRefused"), "a code is good once: {to}");
}

#[tokio::test]
async fn coming_back_from_a_provider_leads_to_our_pages_only() {
    let mut company = Company::open(rights("company")).await;
    for elsewhere in ["https://evil.example/", "//evil.example", "/%5Cevil.example", ""] {
        let answer = company.sign_in("ada", elsewhere).await;
        assert_eq!(answer.header("location"), "/", "{elsewhere}");
    }
}

#[tokio::test]
async fn a_planted_session_is_left_behind_at_a_providers_sign_in() {
    let mut company = Company::open(rights("company")).await;
    let planted = company.session("ada").await;
    let (pending, address) = company.begin("/jobs").await;
    let back = company.there(address, "ada").await;
    let both = format!("{pending}; {planted}");
    let answer = company.client().get(&back, &[("cookie", &both)]).await;
    assert_ne!(session(&answer), planted);
    let answer = company.client().get("/api/v2/jobs", &[("cookie", &planted)]).await;
    assert_eq!(answer.status, 401, "the old id is dead");
}

#[tokio::test]
async fn a_refusal_and_an_unknown_provider_are_explained() {
    let company = Company::open(rights("company")).await;
    let (cookie, address) = company.begin("/jobs").await;
    let state = address.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let back = format!("/sign-in/oidc/company/callback?error=access_denied&state={state}");
    let answer = company.client().get(&back, &[("cookie", &cookie)]).await;
    let to = answer.header("location");
    assert_eq!(to, "/sign-in?error=ProviderRefused&next=%2Fjobs&provider=company");
    let answer = company.client().get("/sign-in/oidc/other", &[]).await;
    assert!(answer.header("location").starts_with("/sign-in?error=NoProvider"), "{answer:?}");
    let page = company.client().get(to, &[]).await;
    assert!(page.text.contains("The provider did not sign you in"), "{}", page.text);
}

#[tokio::test]
async fn signing_out_says_that_the_provider_still_knows_the_browser() {
    let mut company = Company::open(rights("company")).await;
    let cookie = company.session("ada").await;
    let headers = [FORM, ("cookie", &cookie), ("sec-fetch-site", "same-origin")];
    let answer = company.client().send("POST", "/auth/sign-out", &headers, "").await;
    assert_eq!(answer.header("location"), "/sign-in?out=company");
    let answer = company.client().get("/sign-in/oidc/company/sign-out", &[]).await;
    let to = answer.header("location").to_owned();
    assert!(to.starts_with(&format!("{}/session/end?", company.provider.address)), "{to}");
}

#[tokio::test]
async fn openpais_clients_are_told_how_to_sign_in() {
    let company = Company::open(rights("company")).await;
    let answer = company.client().get("/api/v2/authn/info", &[]).await;
    assert_eq!(answer.json()["authn_type"], "OIDC");
    let answer = company.client().get("/api/v2/authn/oidc/login", &[]).await;
    assert_eq!(answer.header("location"), "/sign-in/oidc/company");
    for (query, to) in [
        ("redirect_uri=http%3A%2F%2Flocalhost%3A5000%2F", "/sign-in/oidc/company"),
        ("redirect_uri=//elsewhere.example&from=/jobs", "/sign-in/oidc/company?next=%2Fjobs"),
        ("redirect_uri=/jobs/ada/train", "/sign-in/oidc/company?next=%2Fjobs%2Fada%2Ftrain"),
    ] {
        let path = format!("/api/v2/authn/oidc/login?{query}");
        assert_eq!(company.client().get(&path, &[]).await.header("location"), to, "{query}");
    }
    for query in ["", "?redirect_uri=%2F", "?from=/jobs&sid=1"] {
        let path = format!("/api/v1/authn/oidc/logout{query}");
        let answer = company.client().get(&path, &[]).await;
        assert_eq!(answer.header("location"), "/sign-in/oidc/company/sign-out", "{query}");
    }
}

#[tokio::test]
async fn who_comes_back_where_openpai_had_its_door_begins_anew() {
    let company = Company::open(rights("company")).await;
    for (method, query, word) in [
        ("GET", "?code=x&state=y&session_state=z", "SignInLost"),
        ("GET", "?error=access_denied&next=//elsewhere.example", "ProviderRefused"),
        ("POST", "", "SignInLost"),
    ] {
        let path = format!("/api/v2/authn/oidc/return{query}");
        let answer = company.client().send(method, &path, &[FORM], "code=x&state=y").await;
        let to = format!("/sign-in?error={word}&next=%2F&provider=company");
        assert_eq!((answer.status, answer.header("location")), (303, &*to), "{method} {query}");
        assert_eq!(answer.header("set-cookie"), "", "{method} {query}");
    }
}

/// A server whose people come from a directory.
async fn with_directory(slapd: &Slapd, more: SignInOptions) -> Hall {
    let ldap = Ldap::new(serde_json::from_value(slapd.settings()).unwrap()).unwrap();
    let directories: Vec<Arc<dyn Directory>> = vec![Arc::new(ldap)];
    let options = SignInOptions { directories, ..more };
    Hall::signing_in(options, StateOptions::default()).await
}

async fn tried(hall: &Hall, name: &str, password: &str) -> Answer {
    let body = json!({ "username": name, "password": password }).to_string();
    hall.client.send("POST", "/auth/sign-in", &[JSON], &body).await
}

#[tokio::test]
async fn people_of_a_directory_sign_in_with_its_groups() {
    let slapd = Slapd::start();
    let hall = with_directory(&slapd, rights("staff")).await;
    restrict(&hall).await;
    let answer = tried(&hall, "ada", "password of ada").await;
    assert_eq!((answer.status, &answer.json()["admin"]), (200, &json!(true)), "{answer:?}");
    let cookie = session(&answer);
    let ada = of(&hall.client, ("cookie", &cookie), "ada").await;
    assert_eq!((&ada["source"], uses_lab(&ada)), (&json!("staff"), true));

    slapd.take_out("ada", "gpu-admins");
    slapd.take_out("ada", "vision");
    let answer = tried(&hall, "ada", "password of ada").await;
    let ada = of(&hall.client, ("cookie", &session(&answer)), "ada").await;
    assert_eq!((&ada["admin"], uses_lab(&ada)), (&json!(false), false));
}

#[tokio::test]
async fn a_directory_lets_nobody_in_by_tricks() {
    let slapd = Slapd::start();
    let hall = with_directory(&slapd, rights("staff")).await;
    for (name, password) in [
        ("ada", "wrong"),
        ("ada", ""),
        ("*)(uid=*", "password of ada"),
        ("*", "password of ada"),
        ("ada\0", "password of ada"),
        // A local name hides the one of the directory.
        ("bob", "password of bob"),
    ] {
        let answer = tried(&hall, name, password).await;
        let code = answer.json()["code"].clone();
        assert_eq!((answer.status, code), (400, json!("IncorrectPasswordError")), "{name:?}");
    }
    let users = hall.control.backend.users.list(&crate::hall::actor("admin")).await.unwrap();
    assert!(users.iter().all(|user| user.provider.is_none()), "{users:?}");
}

#[tokio::test]
async fn who_has_left_a_directory_has_left_here() {
    let slapd = Slapd::start();
    let hall = with_directory(&slapd, asked_often("staff")).await;
    let cookie = session(&tried(&hall, "ada", "password of ada").await);
    let users = &hall.control.backend.users;
    let actor = users.actor(&"ada".parse().unwrap()).await.unwrap().unwrap();
    let token = users.create_token(&actor, &Means::Password, "t", None).await.unwrap().token;
    let bearer = format!("Bearer {token}");

    slapd.take_out("ada", "gpu-admins");
    until(async || !users.actor(&actor.user).await.unwrap().is_some_and(|actor| actor.admin)).await;
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(hall.client.get("/api/v2/jobs", &headers).await.status, 200, "no group, no rights");
    assert_eq!(hall.client.get("/api/v2/audit", &headers).await.status, 403);

    slapd.remove("ada");
    until(async || users.actor(&actor.user).await.unwrap().is_none()).await;
    assert_eq!(hall.client.get("/api/v2/jobs", &headers).await.status, 401);
    assert_eq!(hall.client.get("/api/v2/jobs", &[("cookie", &cookie)]).await.status, 401);
}

/// Directories are asked again and again until it is so.
async fn until(so: impl AsyncFn() -> bool) {
    let waiting = async {
        while !so().await {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap();
}

fn asked_often(name: &str) -> SignInOptions {
    SignInOptions { refresh_seconds: 1, ..rights(name) }
}

#[tokio::test]
async fn passwords_of_here_can_be_left_to_administrators() {
    let slapd = Slapd::start();
    let hall = with_directory(&slapd, SignInOptions { local: false, ..rights("staff") }).await;
    assert_eq!(tried(&hall, "admin", "correct horse").await.status, 200, "always");
    let refused = tried(&hall, "alice", "correct horse").await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("ForbiddenUserError")));
    assert_eq!(tried(&hall, "alice", "wrong").await.status, 400);
    drop(slapd);
    assert_eq!(tried(&hall, "admin", "correct horse").await.status, 200, "the directory is down");
    assert_eq!(tried(&hall, "ada", "password of ada").await.status, 503);
}

#[tokio::test]
async fn a_provider_keeps_the_password_of_its_people() {
    let slapd = Slapd::start();
    let hall = with_directory(&slapd, rights("staff")).await;
    tried(&hall, "ada", "password of ada").await;
    let bearer = format!("Bearer {}", hall.token("admin"));
    let headers = [JSON, ("authorization", bearer.as_str())];
    let body = r#"{"newPassword": "a password of here"}"#;
    let answer = hall.client.send("PUT", "/api/v2/users/ada/password", &headers, body).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    for password in ["a password of here", "!", ""] {
        assert_eq!(tried(&hall, "ada", password).await.status, 400, "{password:?}");
    }
}

#[tokio::test]
async fn groups_that_are_written_here_give_rights() {
    let options =
        SignInOptions { admin_groups: vec!["wheel".parse().unwrap()], ..SignInOptions::default() };
    let hall = Hall::signing_in(options, StateOptions::default()).await;
    restrict(&hall).await;
    let token = |who| format!("Bearer {}", hall.token(who));
    let (alice, admin) = (token("alice"), token("admin"));
    let (as_alice, as_admin) =
        ([JSON, ("authorization", &*alice)], [JSON, ("authorization", &*admin)]);
    let put = async |headers: &[(&str, &str)], groups: Value| {
        let body = json!({ "grouplist": groups }).to_string();
        hall.client.send("PUT", "/api/v2/users/alice/grouplist", headers, &body).await
    };
    let answer = put(&as_alice, json!(["wheel"])).await;
    assert_eq!(answer.status, 403, "nobody makes himself an administrator: {answer:?}");
    assert!(!uses_lab(&of(&hall.client, as_alice[1], "alice").await));
    assert_eq!(put(&as_admin, json!(["vision"])).await.status, 201);
    let alices = of(&hall.client, as_alice[1], "alice").await;
    assert_eq!((uses_lab(&alices), &alices["admin"]), (true, &json!(false)));
    assert_eq!(put(&as_admin, json!(["wheel"])).await.status, 201);
    let alices = of(&hall.client, as_alice[1], "alice").await;
    assert_eq!(alices["admin"], true);
    assert_eq!(put(&as_admin, json!(["a,b"])).await.status, 400);
    let groups = hall.client.get("/api/v2/groups", &[as_admin[1]]).await.json();
    let names: Vec<_> = groups.as_array().unwrap().iter().map(|g| &g["groupname"]).collect();
    assert_eq!(names, ["vision", "wheel"]);
    assert_eq!(groups[0]["extension"]["acls"]["virtualClusters"], json!(["default", "lab"]));
    let members = hall.client.get("/api/v2/groups/wheel/userlist", &[as_admin[1]]).await.json();
    assert_eq!(members, json!([{ "username": "alice", "clusterAdmin": true, "source": "local" }]));
}

/// The settings of a whole file are read as they are written.
#[test]
fn settings_of_providers_are_checked_at_the_start() {
    let load = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("berth.toml");
        std::fs::write(&path, text).unwrap();
        let flags = server::config::Flags::default();
        let config = server::config::Config::load(Some(Path::new(&path)), [], &flags);
        config.and_then(|config| config.sign_in.providers().map(|_| ())).map_err(|e| e.to_string())
    };
    let oidc = "public_url = 'https://berth.example.org'\n[[sign_in.oidc]]\nname = 'company'\n\
                issuer = 'https://id.example.org'\nclient_id = 'berth'\n";
    let ldap = "[[sign_in.ldap]]\nname = 'staff'\nurl = 'ldaps://ldap.example.org'\n\
                base = 'dc=example,dc=org'\n";
    assert_eq!(load(oidc), Ok(()));
    assert_eq!(load(ldap), Ok(()));
    for (text, words) in [
        (oidc.replace("https://id", "http://id"), ["sign_in.oidc[0].issuer", "allowed is https"]),
        (oidc.replace("'company'", "'local'"), ["sign_in.oidc[0].name", "any other name"]),
        (oidc.replace("'company'", "'The Company'"), ["The Company", "a-z 0-9 -"]),
        (oidc.replace("public_url", "proxy.url"), ["public_url", "sign_in.oidc needs it"]),
        (format!("{oidc}claim = 'x'"), ["claim", "claims"]),
        (format!("{oidc}client_secret_file = '/nowhere'"), ["client_secret_file", "/nowhere"]),
        (format!("{oidc}ca = '/nowhere.pem'"), ["sign_in.oidc[0].ca", "/nowhere.pem"]),
        (ldap.replace("ldaps:", "ldap:"), ["sign_in.ldap[0].url", "start_tls"]),
        (format!("{ldap}filter = '(uid=*)'"), ["sign_in.ldap[0].filter", "(uid={user})"]),
        (format!("{oidc}{}", ldap.replace("staff", "company")), ["company", "twice"]),
        ("[sign_in]\nsession_hours = 0".to_owned(), ["session_hours = 0", "1 to 168"]),
        ("[sign_in]\ntoken_days = 365".to_owned(), ["token_days = 365", "1 to 90"]),
    ] {
        let error = load(&text).unwrap_err();
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
}
