use database::public_keys::{self, PublicKeyRecord};
use database::saved_views::{self, SavedViewRecord};
use database::sessions::{self, SessionRecord};
use database::tokens::{self, NewToken};
use database::users::{self, UserRecord};
use database::{
    Error, bearers, group_settings, groups, profiles, provider_accounts, settings, trials,
    user_names,
};
use protocol::ids::{GroupName, JobKey, UserName};
use protocol::person::{GroupSettings, Person, Profile, Source};

use crate::stage::{Stage, at, on_both, user, write};

fn account(name: &str, admin: bool) -> UserRecord {
    UserRecord {
        name: user(name),
        password_hash: "$argon2id$…".to_owned(),
        admin,
        created_at: at(1),
        password_changed_at: at(1),
        password_temporary: false,
    }
}

fn token(hash: &str, of: &str, ends: Option<i64>) -> NewToken {
    NewToken {
        hash: hash.to_owned(),
        user: user(of),
        label: format!("for {hash}"),
        created_at: at(2),
        expires_at: ends.map(at),
        made_by: None,
        by_sign_in: false,
    }
}

fn session(id: &str, of: Option<&str>, ends: i64) -> SessionRecord {
    let data = vec![0, 159, 146, 150, 255];
    SessionRecord { id: id.to_owned(), data, expires_at: at(ends), user: of.map(user) }
}

async fn add_users(stage: &Stage) -> anyhow::Result<(UserName, UserName)> {
    write!(stage, |tx| users::insert(&tx, &account("bob", false)));
    write!(stage, |tx| users::insert(&tx, &account("alice", true)));
    Ok((user("alice"), user("bob")))
}

fn person(subject: &str) -> Person {
    Person {
        provider: "company".parse().unwrap(),
        issuer: "https://id.example.org".to_owned(),
        subject: subject.to_owned(),
        name: "alice".to_owned(),
        mail: Some("alice@example.org".to_owned()),
        groups: Vec::new(),
    }
}

on_both! {
    async fn a_source_says_anew_what_it_said_of_a_users_groups(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let company: Source = "company".parse()?;
        let names = |names: &[&str]| -> Vec<GroupName> {
            names.iter().map(|name| name.parse().unwrap()).collect()
        };
        write!(stage, |tx| groups::set(&tx, &alice, &Source::Local, &names(&["x", "x", "a b"])));
        write!(stage, |tx| groups::set(&tx, &alice, &company, &names(&["x", "y"])));
        write!(stage, |tx| groups::set(&tx, &bob, &company, &names(&["y"])));
        write!(stage, |tx| groups::set(&tx, &alice, &company, &names(&["z"])));
        let said = |all: Vec<groups::Membership>| -> Vec<String> {
            let said = |one: groups::Membership| format!("{} {} {}", one.user, one.source, one.group);
            all.into_iter().map(said).collect()
        };
        let of_alice = said(groups::of_user(stage.db.read(), &alice).await?);
        assert_eq!(of_alice, ["alice company z", "alice local a b", "alice local x"]);
        assert_eq!(groups::list(stage.db.read()).await?.len(), 4);
        assert!(write!(stage, |tx| users::remove(&tx, &bob, at(9))));
        write!(stage, |tx| groups::remove_all_of(&tx, &alice));
        assert_eq!(groups::list(stage.db.read()).await?, []);
    }

    async fn what_is_written_of_groups_and_users_is_kept_until_they_go(stage) {
        let (alice, _bob) = add_users(&stage).await?;
        let vision: GroupName = "vision".parse()?;
        let mut settings = GroupSettings::new(vision.clone());
        write!(stage, |tx| group_settings::save(&tx, &settings));
        settings.admin = true;
        settings.extension.insert("team".to_owned(), 7.into());
        write!(stage, |tx| group_settings::save(&tx, &settings));
        let conn = stage.db.read();
        assert_eq!(group_settings::get(conn, &vision).await?, Some(settings.clone()));
        assert_eq!(group_settings::list(conn).await?, [settings]);
        assert_eq!(group_settings::of_administrators(conn).await?, [vision.clone()].into());
        write!(stage, |tx| groups::set(&tx, &alice, &Source::Local, std::slice::from_ref(&vision)));
        write!(stage, |tx| groups::set(&tx, &alice, &"company".parse()?, std::slice::from_ref(&vision)));
        write!(stage, |tx| groups::dissolve(&tx, &vision));
        let left = groups::of_user(stage.db.read(), &alice).await?;
        assert_eq!(left.iter().map(|one| one.source.to_string()).collect::<Vec<_>>(), ["company"]);
        write!(stage, |tx| group_settings::remove(&tx, &vision));
        assert_eq!(group_settings::get(stage.db.read(), &vision).await?, None);
        let mut profile = Profile { mail: Some("a@example.org".to_owned()), ..Profile::default() };
        write!(stage, |tx| profiles::save(&tx, &alice, &profile));
        profile.extension.insert("theme".to_owned(), "dark".into());
        write!(stage, |tx| profiles::save(&tx, &alice, &profile));
        assert_eq!(profiles::get(stage.db.read(), &alice).await?, profile);
        assert_eq!(profiles::list(stage.db.read()).await?, [(alice.clone(), profile)].into());
        assert!(write!(stage, |tx| users::remove(&tx, &alice, at(9))));
        assert_eq!(profiles::list(stage.db.read()).await?.len(), 0, "it goes with its user");
    }

    async fn a_person_has_one_account(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let conn = stage.db.read();
        assert_eq!(provider_accounts::of_person(conn, &person("1")).await?, None);
        write!(stage, |tx| provider_accounts::insert(&tx, &alice, &person("1"), at(5)));
        let tx = stage.begin().await?;
        let again = provider_accounts::insert(&tx, &bob, &person("1"), at(6)).await.unwrap_err();
        assert!(matches!(again, Error::Conflict { .. }), "{again}");
        tx.rollback().await?;
        let found = provider_accounts::of_person(stage.db.read(), &person("1")).await?.unwrap();
        assert_eq!((found.user.clone(), found.confirmed_at), (alice.clone(), Some(at(5))));
        let elsewhere = Person { issuer: "https://other.example.org".into(), ..person("1") };
        assert_eq!(provider_accounts::of_person(stage.db.read(), &elsewhere).await?, None);
        write!(stage, |tx| provider_accounts::confirm(&tx, &alice, &person("1"), at(9)));
        let found = provider_accounts::get(stage.db.read(), &alice).await?.unwrap();
        assert_eq!(found.confirmed_at, Some(at(9)));
        write!(stage, |tx| provider_accounts::deny(&tx, &alice));
        let company = "company".parse()?;
        let all = provider_accounts::of_provider(stage.db.read(), &company).await?;
        assert_eq!(all.iter().map(|one| one.confirmed_at).collect::<Vec<_>>(), [None]);
        assert_eq!(provider_accounts::list(stage.db.read()).await?, all);
    }

    async fn users_come_and_go(stage) {
        assert_eq!(users::count(stage.db.read()).await?, 0);
        let (alice, bob) = add_users(&stage).await?;
        let conn = stage.db.read();
        assert_eq!(users::list(conn).await?, [account("alice", true), account("bob", false)]);
        assert_eq!(users::get(conn, &alice).await?, Some(account("alice", true)));
        assert_eq!(users::count(conn).await?, 2);
        let tx = stage.begin().await?;
        let error = users::insert(&tx, &account("bob", true)).await.unwrap_err();
        assert_eq!(error.to_string(), "user bob exists already");
        assert!(matches!(error, Error::Conflict { .. }));
        tx.rollback().await?;
        assert!(write!(stage, |tx| users::remove(&tx, &bob, at(9))));
        assert!(!write!(stage, |tx| users::remove(&tx, &bob, at(9))));
        assert_eq!(users::get(stage.db.read(), &bob).await?, None);
    }

    async fn a_new_password_replaces_the_old_one_of_one_user(stage) {
        let (alice, bob) = add_users(&stage).await?;
        assert!(write!(stage, |tx| users::set_password(&tx, &alice, ("new", true), at(9))));
        assert!(!write!(stage, |tx| users::set_password(&tx, &user("eve"), ("new", true), at(9))));
        let found = users::get(stage.db.read(), &alice).await?.unwrap();
        assert_eq!((found.password_hash.as_str(), found.password_changed_at), ("new", at(9)));
        assert_eq!((found.created_at, found.admin), (at(1), true));
        assert!(found.password_temporary);
        assert!(write!(stage, |tx| users::set_password(&tx, &alice, ("own", false), at(10))));
        let found = users::get(stage.db.read(), &alice).await?.unwrap();
        assert!(!found.password_temporary);
        assert_eq!(users::get(stage.db.read(), &bob).await?, Some(account("bob", false)));
    }

    async fn tokens_are_found_by_hash_until_they_expire(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let lasting = write!(stage, |tx| tokens::insert(&tx, &token("h1", "alice", None)));
        let short = write!(stage, |tx| tokens::insert(&tx, &token("h2", "alice", Some(10))));
        write!(stage, |tx| tokens::insert(&tx, &token("h3", "bob", Some(11))));
        let conn = stage.db.read();
        let found = bearers::by_hash(conn, "h2", at(9)).await?.unwrap();
        assert_eq!((found.account, found.memberships), (None, Vec::new()));
        assert_eq!(found.user, account("alice", true));
        let found = found.token;
        assert_eq!((found.id, &found.user, found.label.as_str()), (short, &alice, "for h2"));
        assert_eq!((found.created_at, found.expires_at), (at(2), Some(at(10))));
        assert_eq!(bearers::by_hash(conn, "h2", at(10)).await?, None, "expired");
        assert_eq!(bearers::by_hash(conn, "h", at(0)).await?, None);
        let ids: Vec<_> = tokens::list_of(conn, &alice).await?.iter().map(|t| t.id).collect();
        assert_eq!(ids, [short, lasting], "newest first");
        assert_eq!(write!(stage, |tx| tokens::delete_expired(&tx, at(10))), 1);
        assert!(bearers::by_hash(stage.db.read(), "h1", at(i64::MAX)).await?.is_some());
        assert!(bearers::by_hash(stage.db.read(), "h3", at(10)).await?.is_some());
        assert!(!write!(stage, |tx| tokens::remove(&tx, &bob, lasting)), "it is not bob's");
        assert!(write!(stage, |tx| tokens::remove(&tx, &alice, lasting)));
        assert_eq!(tokens::list_of(stage.db.read(), &alice).await?, []);
    }

    async fn with_a_token_all_is_read_of_whose_it_is(stage) {
        let (alice, bob) = add_users(&stage).await?;
        for name in ["alice", "bob"] {
            write!(stage, |tx| tokens::insert(&tx, &token(name, name, None)));
        }
        let names: Vec<GroupName> = vec!["y".parse()?, "x".parse()?];
        write!(stage, |tx| groups::set(&tx, &alice, &Source::Local, &names));
        write!(stage, |tx| groups::set(&tx, &alice, &"company".parse()?, &names[..1]));
        write!(stage, |tx| groups::set(&tx, &bob, &Source::Local, &names[1..]));
        write!(stage, |tx| provider_accounts::insert(&tx, &alice, &person("1"), at(5)));
        write!(stage, |tx| provider_accounts::deny(&tx, &alice));
        for (name, in_groups, has_account) in [(&alice, 3, true), (&bob, 1, false)] {
            let conn = stage.db.read();
            let found = bearers::by_hash(conn, name.as_str(), at(0)).await?.unwrap();
            assert_eq!(found.token.user, *name);
            assert_eq!(Some(found.user), users::get(conn, name).await?);
            assert_eq!(found.account, provider_accounts::get(conn, name).await?);
            assert_eq!(found.account.is_some(), has_account);
            assert_eq!(found.memberships, groups::of_user(conn, name).await?);
            assert_eq!(found.memberships.len(), in_groups, "{name}");
        }
    }

    async fn public_keys_are_their_users_and_each_is_there_once(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let key = |fingerprint: &str| PublicKeyRecord {
            id: 0,
            fingerprint: fingerprint.to_owned(),
            line: format!("ssh-ed25519 {fingerprint} me"),
            label: "laptop".to_owned(),
            created_at: at(3),
        };
        let first = write!(stage, |tx| public_keys::insert(&tx, &alice, &key("one")));
        let second = write!(stage, |tx| public_keys::insert(&tx, &alice, &key("two")));
        write!(stage, |tx| public_keys::insert(&tx, &bob, &key("one")));
        let expected = [(first, key("one")), (second, key("two"))];
        let expected = expected.map(|(id, key)| PublicKeyRecord { id, ..key });
        assert_eq!(public_keys::list_of(stage.db.read(), &alice).await?, expected);
        let tx = stage.begin().await?;
        let error = public_keys::insert(&tx, &alice, &key("one")).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        let tx = stage.begin().await?;
        let error = public_keys::insert(&tx, &user("nobody"), &key("one")).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        tx.rollback().await?;
        assert!(!write!(stage, |tx| public_keys::remove(&tx, &bob, first)), "it is not bob's");
        assert!(write!(stage, |tx| public_keys::remove(&tx, &alice, first)));
        assert_eq!(public_keys::list_of(stage.db.read(), &alice).await?.len(), 1);
        write!(stage, |tx| users::remove(&tx, &alice, at(9)));
        assert_eq!(public_keys::list_of(stage.db.read(), &alice).await?, []);
    }

    async fn saved_views_are_their_users_and_have_a_name_of_their_own(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let view = |name: &str, words: &str| SavedViewRecord {
            name: name.to_owned(),
            words: words.to_owned(),
            everybody: true,
            sort: String::new(),
        };
        for (name, words) in [("a", "x"), ("b", ""), ("a", "y")] {
            write!(stage, |tx| saved_views::save(&tx, &alice, &view(name, words)));
        }
        write!(stage, |tx| saved_views::save(&tx, &bob, &view("a", "")));
        let expected = [view("a", "y"), view("b", "")];
        assert_eq!(saved_views::list_of(stage.db.read(), &alice).await?, expected);
        let tx = stage.begin().await?;
        let error = saved_views::rename(&tx, &alice, "a", "b").await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        assert!(write!(stage, |tx| saved_views::rename(&tx, &alice, "a", "c")));
        assert!(!write!(stage, |tx| saved_views::rename(&tx, &alice, "a", "d")), "it is c now");
        assert!(!write!(stage, |tx| saved_views::remove(&tx, &bob, "c")), "it is not bob's");
        assert!(!write!(stage, |tx| saved_views::remove(&tx, &alice, "c\0")), "none is called so");
        assert!(!write!(stage, |tx| saved_views::rename(&tx, &alice, "c\0", "d")));
        assert!(write!(stage, |tx| saved_views::remove(&tx, &alice, "c")));
        assert_eq!(saved_views::list_of(stage.db.read(), &alice).await?, [view("b", "")]);
        write!(stage, |tx| users::remove(&tx, &alice, at(9)));
        assert_eq!(saved_views::list_of(stage.db.read(), &alice).await?, []);
        assert_eq!(saved_views::list_of(stage.db.read(), &bob).await?.len(), 1);
    }

    async fn jobs_that_try_nodes_have_their_time(stage) {
        let (alice, _) = add_users(&stage).await?;
        let key = |name: &str| JobKey { user: alice.clone(), name: name.parse().unwrap() };
        for (name, until) in [("soon", 9), ("later", 7), ("later", 20), ("never", 5_000)] {
            write!(stage, |tx| trials::begin(&tx, &key(name), at(until)));
        }
        assert_eq!(trials::over(stage.db.read(), at(8), at(5_000)).await?, []);
        assert_eq!(trials::over(stage.db.read(), at(9), at(5_000)).await?, [key("soon")]);
        // Nobody was given so long: the clock was set back.
        let over = trials::over(stage.db.read(), at(9), at(100)).await?;
        assert_eq!(over, [key("soon"), key("never")]);
        write!(stage, |tx| trials::end(&tx, &key("soon")));
        assert_eq!(trials::over(stage.db.read(), at(9), at(100)).await?, [key("never")]);
        write!(stage, |tx| users::remove(&tx, &alice, at(9)));
        assert_eq!(trials::over(stage.db.read(), at(9), at(0)).await?, []);
    }

    async fn a_token_needs_its_user_and_a_hash_of_its_own(stage) {
        add_users(&stage).await?;
        write!(stage, |tx| tokens::insert(&tx, &token("h1", "alice", None)));
        let tx = stage.begin().await?;
        let error = tokens::insert(&tx, &token("h1", "bob", None)).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        let tx = stage.begin().await?;
        let error = tokens::insert(&tx, &token("h2", "eve", None)).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
    }

    async fn sessions_are_stored_replaced_and_expire(stage) {
        let first = session("s1", None, 10);
        write!(stage, |tx| sessions::create(&tx, &first));
        let tx = stage.begin().await?;
        let error = sessions::create(&tx, &first).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        assert_eq!(sessions::load(stage.db.read(), "s1", at(9)).await?, Some(first));
        let mut changed = session("s1", Some("alice"), 20);
        changed.data = Vec::new();
        write!(stage, |tx| sessions::save(&tx, &changed));
        write!(stage, |tx| sessions::save(&tx, &session("s2", Some("bob"), 15)));
        let conn = stage.db.read();
        assert_eq!(sessions::load(conn, "s1", at(19)).await?, Some(changed));
        assert_eq!(sessions::load(conn, "s1", at(20)).await?, None, "expired");
        assert_eq!(write!(stage, |tx| sessions::delete_expired(&tx, at(15))), 1);
        assert!(!write!(stage, |tx| sessions::delete(&tx, "s2")));
        assert!(write!(stage, |tx| sessions::delete(&tx, "s1")));
        assert_eq!(sessions::load(stage.db.read(), "s1", at(0)).await?, None);
    }

    async fn a_user_leaves_with_all_tokens_and_sessions(stage) {
        let (alice, bob) = add_users(&stage).await?;
        for name in ["alice", "bob"] {
            write!(stage, |tx| tokens::insert(&tx, &token(name, name, None)));
            write!(stage, |tx| sessions::create(&tx, &session(name, Some(name), 10)));
        }
        assert!(write!(stage, |tx| users::remove(&tx, &alice, at(9))));
        let conn = stage.db.read();
        assert_eq!(bearers::by_hash(conn, "alice", at(0)).await?, None);
        assert_eq!(sessions::load(conn, "alice", at(0)).await?, None);
        assert!(bearers::by_hash(conn, "bob", at(0)).await?.is_some());
        assert_eq!(write!(stage, |tx| sessions::delete_of_user(&tx, &bob)), 1);
        assert_eq!(sessions::load(stage.db.read(), "bob", at(0)).await?, None);
    }

    async fn a_name_is_given_once(stage) {
        let (_alice, bob) = add_users(&stage).await?;
        let conn = stage.db.read();
        let given = |name: &str, removed_at| user_names::GivenName { name: user(name), removed_at };
        assert_eq!(user_names::find(conn, &user("BOB")).await?, Some(given("bob", None)));
        for name in ["Bob", "bob"] {
            let tx = stage.begin().await?;
            let error = users::insert(&tx, &account(name, true)).await.unwrap_err();
            assert!(matches!(error, Error::Conflict { .. }), "{error}");
            tx.rollback().await?;
        }
        assert!(write!(stage, |tx| users::remove(&tx, &bob, at(9))));
        let left = user_names::find(stage.db.read(), &user("bOb")).await?;
        assert_eq!(left, Some(given("bob", Some(at(9)))));
        for name in ["Bob", "bob"] {
            let tx = stage.begin().await?;
            let error = users::insert(&tx, &account(name, true)).await.unwrap_err();
            assert!(matches!(error, Error::Conflict { .. }), "{error}");
            tx.rollback().await?;
        }
        assert_eq!(user_names::find(stage.db.read(), &user("carol")).await?, None);
    }

    async fn tokens_go_with_what_made_them(stage) {
        let (alice, bob) = add_users(&stage).await?;
        let insert = async |hash: &str, made_by| -> anyhow::Result<i64> {
            let token = NewToken { made_by, ..token(hash, "alice", Some(50)) };
            Ok(write!(stage, |tx| tokens::insert(&tx, &token)))
        };
        let first = insert("first", None).await?;
        let second = insert("second", Some(first)).await?;
        let third = insert("third", Some(second)).await?;
        let other = insert("other", None).await?;
        assert!(write!(stage, |tx| tokens::remove(&tx, &alice, first)));
        assert_eq!(tokens::get(stage.db.read(), &alice, third, at(3)).await?, None);
        assert!(tokens::get(stage.db.read(), &alice, other, at(3)).await?.is_some());
        assert!(tokens::get(stage.db.read(), &bob, other, at(3)).await?.is_none(), "not bob's");
        let made = insert("made", Some(other)).await?;
        assert_eq!(write!(stage, |tx| tokens::remove_of(&tx, &alice, Some(made))), 1);
        assert_eq!(tokens::keys_of(stage.db.read(), &alice, false, at(3)).await?, [made]);
        assert_eq!(write!(stage, |tx| tokens::end_by(&tx, at(20))), 1);
        assert!(tokens::get(stage.db.read(), &alice, made, at(20)).await?.is_none());
        assert_eq!(write!(stage, |tx| tokens::remove_of(&tx, &alice, None)), 1);
    }

    async fn a_setting_is_set_once(stage) {
        assert_eq!(settings::get(stage.db.read(), "cluster").await?, None);
        assert_eq!(write!(stage, |tx| settings::set_once(&tx, "cluster", "c1")), "c1");
        assert_eq!(write!(stage, |tx| settings::set_once(&tx, "cluster", "c2")), "c1");
        assert_eq!(settings::get(stage.db.read(), "cluster").await?.as_deref(), Some("c1"));
    }
}
