//! Accounts: names that are given once, tokens that end, passwords, and what of all that is
//! written down.

use std::collections::BTreeSet;

use api::audit::{AuditAction, AuditEntry};
use api::files::{FilePart, FilePath, WriteMode, Writing};
use api::jobs::Submission;
use api::logs::TaskRef;
use api::users::{Means, NewUser, PasswordChange};
use api::{Actor, Backend, Error, ErrorCode};
use control::{Control, Options, Rules, TokenRules};
use futures::StreamExt;
use protocol::ids::JobKey;
use protocol::state::State;

use crate::house::{House, admin, close, job};

const PASSWORD: &str = "a horse that is correct";

fn actor(name: &str) -> Actor {
    Actor { user: name.parse().unwrap(), admin: name == "admin" }
}

async fn add(backend: &Backend, name: &str) -> Result<(), Error> {
    let user = NewUser {
        name: name.parse().unwrap(),
        password: PASSWORD.into(),
        admin: false,
        temporary: false,
    };
    backend.users.create(&admin(), user).await
}

async fn submit(backend: &Backend, who: &str, text: String) -> Result<JobKey, Error> {
    let submission = Submission { text, cloned_from: None, expected_name: None };
    Ok(backend.jobs.submit(&actor(who), submission).await?.key)
}

async fn audit(control: &Control) -> Vec<AuditEntry> {
    control.backend.audit.list(&admin(), None, 500).await.unwrap()
}

async fn until_final(backend: &Backend, key: &JobKey) -> State {
    let mut changes = backend.changes.subscribe(&admin());
    loop {
        let state = backend.jobs.get(&admin(), key).await.unwrap().summary.state;
        if state.is_final() {
            return state;
        }
        changes.next().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_users_name_is_never_given_again() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "Carol").await.unwrap();
    for name in ["carol", "CAROL", "Carol", "ADMIN"] {
        let refused = add(backend, name).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ConflictUserError, "{name}");
    }
    let carol = actor("Carol");
    let token = backend.users.create_token(&carol, &Means::Password, "x", None).await.unwrap();
    let secret = r#"{"jobName": "old", "image": "berth/base", "taskRoles": [{"name": "worker",
        "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": "sleep 1000"}]}"#;
    let key = submit(backend, "Carol", secret.to_owned()).await.unwrap();
    let waits = submit(backend, "Carol", job("wide", 1, 8, "sleep 1000", "")).await.unwrap();
    backend.users.remove(&admin(), &carol.user).await.unwrap();
    for name in ["carol", "Carol"] {
        let refused = add(backend, name).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ConflictUserError);
        assert!(refused.message.contains("removed"), "{refused}");
    }
    assert_eq!(backend.users.token_actor(&token.token).await.unwrap(), None);
    for key in [&key, &waits] {
        assert_eq!(until_final(backend, key).await, State::Stopped, "{key}");
    }
    let detail = backend.jobs.get(&admin(), &key).await.unwrap();
    assert_eq!(detail.summary.key.user, carol.user, "administrators still reach what he left");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_leaves_no_jobs_behind() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "dave").await.unwrap();
    let submitting = async |number: u32| {
        submit(backend, "dave", job(&format!("j{number}"), 1, 0, "sleep 1000", "")).await
    };
    let mut removed = None;
    let (answers, _) =
        futures::future::join(futures::future::join_all((0..20).map(submitting)), async {
            removed = Some(backend.users.remove(&admin(), &actor("dave").user).await);
        })
        .await;
    removed.unwrap().unwrap();
    for key in answers.into_iter().flatten() {
        assert_eq!(until_final(backend, &key).await, State::Stopped, "{key}");
    }
    let late = submit(backend, "dave", job("late", 1, 0, "true", "")).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::NoUserError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_outlives_nothing_that_made_it() {
    let house = House::new(0);
    let control = house.start().await;
    let users = &control.backend.users;
    add(&control.backend, "alice").await.unwrap();
    let alice = actor("alice");
    let make = async |by: &Means, seconds| users.create_token(&alice, by, "x", seconds).await;
    let short = make(&Means::Password, Some(60)).await.unwrap();
    let by_short = Means::Token(short.view.id);
    let child = make(&by_short, None).await.unwrap();
    assert_eq!(child.view.expires_at, short.view.expires_at, "it inherits the end");
    let child = make(&by_short, Some(90 * 86_400)).await.unwrap();
    assert_eq!(child.view.expires_at, short.view.expires_at);
    users.revoke_token(&alice, short.view.id).await.unwrap();
    assert_eq!(users.token_actor(&child.token).await.unwrap(), None);
    assert!(!users.token_lasts(&alice.user, child.view.id).await.unwrap());
    let late = make(&by_short, None).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::UnauthorizedUserError);
    let long = make(&Means::Password, None).await.unwrap();
    let days = long.view.expires_at.unwrap().since(long.view.created_at) / 86_400_000;
    assert_eq!(days, 90);
    let longer = make(&Means::Password, Some(91 * 86_400)).await.unwrap_err();
    assert_eq!(longer.code, ErrorCode::InvalidParametersError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_has_only_so_many_tokens() {
    let house = House::new(0);
    let control = house.start().await;
    let users = &control.backend.users;
    let by = Means::Session("s".into());
    for _ in 0..50 {
        users.create_token(&admin(), &by, "x", None).await.unwrap();
    }
    let refused = users.create_token(&admin(), &by, "x", None).await.unwrap_err();
    assert!(refused.message.contains("50"), "{refused}");
    let first = users.create_token(&admin(), &Means::Password, "x", None).await.unwrap();
    for _ in 0..50 {
        users.create_token(&admin(), &Means::Password, "x", None).await.unwrap();
    }
    assert_eq!(users.token_actor(&first.token).await.unwrap(), None, "the oldest made place");
    assert_eq!(users.tokens(&admin()).await.unwrap().len(), 100);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_without_end_are_an_administrators_decision() {
    let house = House::new(0);
    let start = async |without_end| {
        let tokens = TokenRules { without_end, ..TokenRules::default() };
        let rules = Rules { tokens, ..Rules::default() };
        let options = house.options(house.database().await);
        control::start(Options { rules, ..options }).await.unwrap()
    };
    let control = start(true).await;
    let users = &control.backend.users;
    let made = users.create_token(&admin(), &Means::Password, "x", None).await.unwrap();
    assert_eq!(made.view.expires_at, None);
    close(&control).await;
    drop(control);
    let control = start(false).await;
    let tokens = control.backend.users.tokens(&admin()).await.unwrap();
    assert!(tokens[0].expires_at.is_some(), "it ends since that is not allowed any more");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_set_by_somebody_else_is_good_for_choosing_another_one_alone() {
    let house = House::new(0);
    let control = house.start().await;
    let users = &control.backend.users;
    let alice = actor("alice");
    let (first, own) = (PASSWORD.to_owned(), "chosen by herself");
    let user = NewUser {
        name: alice.user.clone(),
        password: first.clone(),
        admin: false,
        temporary: true,
    };
    users.create(&admin(), user).await.unwrap();
    let code = |refused: Result<Actor, Error>| refused.unwrap_err().code;
    let choose = async |old: &str, new: &str| users.choose_password("alice", old, new).await;
    assert_eq!(code(users.sign_in("alice", &first).await), ErrorCode::TemporaryPasswordError);
    assert_eq!(code(choose("a guess", own).await), ErrorCode::IncorrectPasswordError);
    for bad in [first.as_str(), "short", "alice1234"] {
        assert_eq!(code(choose(&first, bad).await), ErrorCode::InvalidParametersError, "{bad}");
    }
    assert_eq!(code(users.sign_in("alice", &first).await), ErrorCode::TemporaryPasswordError);
    assert_eq!(choose(&first, own).await.unwrap(), alice);
    assert_eq!(users.sign_in("alice", own).await.unwrap(), alice);
    assert_eq!(code(users.sign_in("alice", &first).await), ErrorCode::IncorrectPasswordError);

    let token = users.create_token(&alice, &Means::Password, "x", None).await.unwrap().token;
    let user = alice.user.clone();
    let reset = PasswordChange { user, old: None, new: first.clone(), keep: None, temporary: true };
    users.set_password(&admin(), reset).await.unwrap();
    assert_eq!(users.token_actor(&token).await.unwrap(), None);
    assert_eq!(code(users.sign_in("alice", &first).await), ErrorCode::TemporaryPasswordError);
    let nobody = users.choose_password("nobody-here", &first, own).await;
    assert_eq!(code(nobody), ErrorCode::IncorrectPasswordError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_accounts_are_written_down() {
    let house = House::new(0);
    let control = house.start().await;
    let (backend, users) = (&control.backend, &control.backend.users);
    add(backend, "alice").await.unwrap();
    let alice = actor("alice");
    let change = |user: &str, old: Option<&str>, new: &str| PasswordChange {
        user: user.parse().unwrap(),
        old: old.map(str::to_owned),
        new: new.into(),
        keep: None,
        temporary: false,
    };
    users.set_password(&admin(), change("alice", None, "another long one")).await.unwrap();
    let own = change("alice", Some("another long one"), PASSWORD);
    users.set_password(&alice, own).await.unwrap();
    let by = Means::Session("s".into());
    let token = users.create_token(&alice, &by, "laptop", None).await.unwrap();
    users.revoke_token(&alice, token.view.id).await.unwrap();
    users.set_admin(&admin(), &alice.user, true).await.unwrap();
    users.set_admin(&admin(), &alice.user, false).await.unwrap();
    users.end_access(&admin(), &alice.user).await.unwrap();
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a";
    let key = backend.ssh.add_public_key(&alice, "laptop", key).await.unwrap();
    backend.ssh.remove_public_key(&alice, key.id).await.unwrap();
    users.remove(&admin(), &alice.user).await.unwrap();
    let entries = audit(&control).await;
    let written: BTreeSet<&str> = entries.iter().map(|entry| entry.action.as_str()).collect();
    let wanted = [
        AuditAction::UserAdded,
        AuditAction::PasswordReset,
        AuditAction::PasswordChanged,
        AuditAction::TokenMade,
        AuditAction::TokenRevoked,
        AuditAction::UserPromoted,
        AuditAction::UserDemoted,
        AuditAction::AccessEnded,
        AuditAction::PublicKeyAdded,
        AuditAction::PublicKeyRemoved,
        AuditAction::UserRemoved,
    ];
    assert_eq!(written, wanted.iter().map(|action| action.as_str()).collect());
    assert!(entries.iter().all(|entry| entry.object == "alice"), "{entries:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_administrator_does_to_others_jobs_is_written_down() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    let key = submit(backend, "alice", job("train", 1, 0, "sleep 1000", "")).await.unwrap();
    let task =
        TaskRef { job: key.clone(), attempt: None, role: "worker".parse().unwrap(), index: 0 };
    for _ in 0..5 {
        // Whether there is one already does not matter.
        let _log = backend.logs.tail(&admin(), &task, 10).await;
        let _own = backend.logs.tail(&actor("alice"), &task, 10).await;
        let _keys = backend.ssh.access(&admin(), &key).await;
    }
    backend.jobs.stop(&admin(), &key).await.unwrap();
    let (files, notes) = (&backend.files, FilePath::new("/alice/notes"));
    for who in ["alice", "admin"] {
        let writing = Writing { mode: WriteMode::Replace, length: None };
        let content = futures::stream::empty().boxed();
        files.write(&actor(who), &notes, writing, content).await.unwrap();
        files.read(&actor(who), &notes, FilePart::default()).await.unwrap();
    }
    let mut entries = audit(&control).await;
    entries.retain(|entry| entry.action != AuditAction::UserAdded);
    let of = |action| entries.iter().filter(|entry| entry.action == action).count();
    for action in [
        AuditAction::LogRead,
        AuditAction::KeyRead,
        AuditAction::JobStopped,
        AuditAction::FilesRead,
        AuditAction::FilesChanged,
    ] {
        assert_eq!(of(action), 1, "{action:?}: {entries:?}");
    }
    assert!(entries.iter().all(|entry| entry.actor.as_str() == "admin"), "{entries:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_no_address_of_anothers_job() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    add(backend, "bob").await.unwrap();
    for name in ["alice~train", "ALICE~train", "bob~train"] {
        let refused = submit(backend, "bob", job(name, 1, 0, "true", "")).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidParametersError, "{name}");
        let report = backend.jobs.check(&actor("bob"), &job(name, 1, 0, "true", "")).await;
        assert_eq!(report.unwrap().problems[0].path, "jobName", "{name}");
    }
    submit(backend, "bob", job("x~y", 1, 0, "true", "")).await.unwrap();
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_jobs_of_one_name_one_is_taken() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    let submitting = (0..40).map(|_| submit(backend, "alice", job("one", 1, 0, "true", "")));
    let answers = futures::future::join_all(submitting).await;
    let refused: Vec<Error> = answers.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 39, "{refused:?}");
    assert!(refused.iter().all(|one| one.code == ErrorCode::ConflictJobError), "{refused:?}");
    close(&control).await;
}

/// A job with a secret, under a name.
fn sealed(name: &str, secret: &str) -> String {
    format!(
        "protocolVersion: 2\nname: {name}\ntype: job\nsecrets:\n  token: '{secret}'\n{}",
        "prerequisites:\n  - {type: dockerimage, uri: berth/base, name: image}\n\
         taskRoles:\n  main:\n    dockerImage: image\n    \
         resourcePerInstance: {gpu: 0, cpu: 1, memoryMB: 128}\n    \
         commands: ['echo <% $secrets.token %>']\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_cloned_by_their_owner_alone() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    add(backend, "bob").await.unwrap();
    let original = submit(backend, "alice", sealed("original", "s3cret")).await.unwrap();
    let clone = async |who: &str, cloned_from: Option<JobKey>| {
        let text = sealed("clone", "******");
        let submission = Submission { text, cloned_from, expected_name: None };
        backend.jobs.submit(&actor(who), submission).await
    };
    let refused = clone("bob", Some(original.clone())).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "{refused}");
    let refused = clone("bob", None).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidParametersError, "{refused}");
    clone("alice", Some(original)).await.unwrap();
    close(&control).await;
}

/// A job with a value that is not for everybody, in its variables and its command.
fn secretive() -> String {
    let more = r#""jobEnvs": {"HF_TOKEN": "hf_0123", "EPOCHS": "3"}, // HF_TOKEN=hf_0123"#;
    job("train", 1, 0, "export API_KEY=sk_4567; sleep 1000", &format!("{more}\n"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_do_not_see_what_names_say_is_secret() {
    use api::jobs::ConfigForm;
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    add(backend, "bob").await.unwrap();
    let key = submit(backend, "alice", secretive()).await.unwrap();
    for form in [ConfigForm::Written, ConfigForm::Json, ConfigForm::Yaml] {
        let read =
            async |who: &str| backend.jobs.config(&actor(who), &key, form).await.unwrap().text;
        for who in ["alice", "admin"] {
            let text = read(who).await;
            assert!(text.contains("hf_0123") && text.contains("sk_4567"), "{who}: {text}");
        }
        let text = read("bob").await;
        assert!(!text.contains("hf_0123") && !text.contains("sk_4567"), "{text}");
        assert!(text.contains("******") && text.contains("EPOCHS"), "{text}");
    }
    let seen = backend.jobs.get(&actor("bob"), &key).await.unwrap();
    assert_eq!(seen.roles[0].command, "export API_KEY=******; sleep 1000");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_masked_of_anothers_job_is_never_a_value() {
    use api::jobs::ConfigForm;
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    add(backend, "bob").await.unwrap();
    let key = submit(backend, "alice", secretive()).await.unwrap();
    let seen = backend.jobs.config(&actor("bob"), &key, ConfigForm::Written).await.unwrap().text;
    let variable = r#""jobEnvs": {"HF_TOKEN": "******"},"#;
    for masked in [
        seen,
        job("one", 1, 0, "sleep 1000", variable),
        job("two", 1, 0, "export API_KEY=******; sleep 1000", ""),
    ] {
        let refused = submit(backend, "bob", masked.clone()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidParametersError, "{masked}");
        assert!(refused.message.contains("masked"), "{}", refused.message);
    }
    let stars = job("stars", 1, 0, "echo ****** && sleep 1000", "");
    submit(backend, "bob", stars).await.unwrap();
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_jobs_are_their_owners() {
    use api::jobs::ConfigForm;
    let house = House::new(1);
    let rules = Rules { private_jobs: true, ..Rules::default() };
    let options = house.options(house.database().await);
    let control = control::start(Options { rules, ..options }).await.unwrap();
    let backend = &control.backend;
    add(backend, "alice").await.unwrap();
    add(backend, "bob").await.unwrap();
    let key = submit(backend, "alice", secretive()).await.unwrap();
    let bob = actor("bob");
    let refused = backend.jobs.config(&bob, &key, ConfigForm::Json).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    let refused = backend.jobs.events(&bob, &key).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    let seen = backend.jobs.get(&bob, &key).await.unwrap();
    assert_eq!(seen.roles[0].command, "******");
    backend.jobs.config(&actor("alice"), &key, ConfigForm::Json).await.unwrap();
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_do_not_see_how_nodes_are_reached() {
    let house = House::new(1);
    let control = house.start().await;
    let nodes = &control.backend.nodes;
    assert!(nodes.list(&admin()).await.unwrap()[0].endpoint.starts_with("sim://"));
    let seen = nodes.list(&actor("bob")).await.unwrap();
    assert_eq!((seen[0].endpoint.as_str(), seen[0].simulated), ("", true));
    assert_eq!(nodes.get(&actor("bob"), &seen[0].name).await.unwrap().endpoint, "");
    close(&control).await;
}
