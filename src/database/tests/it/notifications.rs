use database::notifications::{self, NewEntry, Way};
use database::users::{self, UserRecord};
use protocol::notifications::{Notice, Occasion, Wishes};

use crate::stage::{at, on_both, user, write};

fn entry(name: &str, way: Way, due: i64) -> NewEntry {
    let job = format!("{name}~train").parse().unwrap();
    let notice = Notice { job, occasion: Occasion::Failed, detail: "exit code 1".to_owned() };
    NewEntry { user: user(name), way, notice, at: at(1), due: at(due) }
}

on_both! {
    async fn what_is_due_leaves_the_outbox_once_it_was_sent(stage) {
        let new = [entry("alice", Way::Mail, 7), entry("bob", Way::Webhook, 5),
            entry("alice", Way::Webhook, 9)];
        write!(stage, |tx| notifications::put(&tx, &new));
        write!(stage, |tx| notifications::put(&tx, &[]));
        let conn = stage.db.read();
        assert_eq!(notifications::count(conn).await?, 3);
        let by = async |way, now, most| notifications::due(conn, way, at(now), most).await;
        assert_eq!(by(Way::Webhook, 4, 10).await?, []);
        let mails = by(Way::Mail, 8, 10).await?;
        let told: Vec<_> = mails.iter().map(|entry| (entry.tries, entry.new.clone())).collect();
        assert_eq!(told, [(0, new[0].clone())], "one way waits for no other");
        let due = by(Way::Webhook, 9, 10).await?;
        let told: Vec<_> = due.iter().map(|entry| entry.new.clone()).collect();
        assert_eq!(told, [new[1].clone(), new[2].clone()]);
        assert_eq!(by(Way::Webhook, 9, 1).await?, due[..1]);
        write!(stage, |tx| notifications::put_off(&tx, &[due[0].id], at(20), 2));
        write!(stage, |tx| notifications::remove(&tx, &[mails[0].id]));
        assert_eq!(by(Way::Mail, 20, 10).await?, []);
        let later = by(Way::Webhook, 20, 10).await?;
        let told: Vec<_> = later.iter().map(|entry| entry.tries).collect();
        assert_eq!(told, [0, 2]);
        assert_eq!(later[1].new.user, user("bob"));
    }

    async fn what_a_user_wants_to_be_told_goes_with_him(stage) {
        let alice = UserRecord {
            name: user("alice"),
            password_hash: "$argon2id$…".to_owned(),
            admin: false,
            created_at: at(1),
            password_changed_at: at(1),
            password_temporary: false,
        };
        write!(stage, |tx| users::insert(&tx, &alice));
        let mut wishes = Wishes { mail: true, ..Wishes::default() };
        write!(stage, |tx| notifications::save(&tx, &alice.name, &wishes));
        wishes.occasions.insert(Occasion::Idle);
        write!(stage, |tx| notifications::save(&tx, &alice.name, &wishes));
        let known = notifications::list(stage.db.read()).await?;
        assert_eq!(known, [(alice.name.clone(), wishes)].into());
        assert!(write!(stage, |tx| users::remove(&tx, &alice.name, at(9))));
        assert_eq!(notifications::list(stage.db.read()).await?.len(), 0);
    }
}
