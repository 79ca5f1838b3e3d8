//! What people are told of their jobs when they are not looking.

use std::sync::Arc;
use std::time::Duration;

use api::Actor;
use api::jobs::Submission;
use api::notifications::TestResult;
use api::users::NewUser;
use async_trait::async_trait;
use control::{Control, Notifying, Options};
use database::notifications::Way;
use post::{Call, Error, Letter, Post, Simulated};
use protocol::notifications::{Occasion, Tongue, Wishes};
use protocol::person::Profile;
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

/// A control whose letters stay in the house.
async fn start(house: &House, post: &Arc<Simulated>, hourly: u32) -> Control {
    let notifying = Notifying {
        post: post.clone(),
        portal: Some("https://berth.example.org".to_owned()),
        gathered_for: Duration::from_millis(50),
        hourly,
        ..Notifying::default()
    };
    let options = Options { notifying, ..house.options(house.database().await) };
    control::start(options).await.unwrap()
}

/// One for which a job soon waits for long.
async fn start_impatient(house: &House, post: &Arc<Simulated>) -> Control {
    let notifying = Notifying {
        post: post.clone(),
        gathered_for: Duration::from_millis(50),
        patience: Duration::from_millis(200),
        ..Notifying::default()
    };
    let options = Options { notifying, ..house.options(house.database().await) };
    control::start(options).await.unwrap()
}

/// Mail arrives, and webhooks never answer.
#[derive(Debug, Default)]
struct Stuck(Simulated);

#[async_trait]
impl Post for Stuck {
    fn has_mail(&self) -> bool {
        true
    }

    fn refusal(&self, url: &str) -> Option<String> {
        self.0.refusal(url)
    }

    async fn mail(&self, letter: &Letter) -> post::Result<()> {
        self.0.mail(letter).await
    }

    async fn call(&self, call: &Call) -> post::Result<()> {
        self.0.call(call).await?;
        std::future::pending().await
    }
}

async fn has_address(control: &Control) {
    let mail = Some("admin@example.org".to_owned());
    let profile = Profile { mail, ..Profile::default() };
    control.backend.users.set_profile(&admin(), &admin().user, profile).await.unwrap();
}

fn wishes(occasions: &[Occasion]) -> Wishes {
    Wishes {
        occasions: occasions.iter().copied().collect(),
        mail: true,
        webhook: Some("https://example.org/hook".to_owned()),
        language: Tongue::Chinese,
    }
}

/// Until it has come about.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let waited = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.unwrap_or_else(|_| panic!("never: {what}"));
}

fn subjects(post: &Simulated) -> Vec<String> {
    post.letters().into_iter().map(|letter| letter.subject).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_wants_to_be_told_is_told_and_of_nothing_else() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let control = start(&house, &post, 100).await;
    has_address(&control).await;
    let notifications = &control.backend.notifications;
    let view = notifications.set(&admin(), wishes(&[Occasion::Failed])).await.unwrap();
    assert_eq!((view.mail_set_up, view.address.as_deref()), (true, Some("admin@example.org")));
    submit(&control.backend, job("well", 1, 0, "exit 0", "")).await;
    until_state(&control.backend, "well", State::Succeeded).await;
    submit(&control.backend, job("ill", 1, 0, "exit 1", "")).await;
    until_state(&control.backend, "ill", State::Failed).await;
    until("a mail and a call", || post.letters().len() + post.calls().len() >= 2).await;
    assert_eq!(subjects(&post), ["作业 admin~ill 已失败"]);
    assert_eq!(post.letters()[0].to, "admin@example.org");
    assert!(post.letters()[0].text.contains("https://berth.example.org/jobs/admin/ill"));
    let calls = post.calls();
    let [call] = calls.as_slice() else { panic!("{calls:?}") };
    assert_eq!(Some(&call.key), view.signing_key.as_ref());
    let body: serde_json::Value = serde_json::from_str(&call.body).unwrap();
    let told = &body["notifications"][0];
    assert_eq!(told["job"], "admin~ill");
    assert_eq!(told["occasion"], "failed");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_says_itself_of_what_a_mail_is_sent() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let control = start(&house, &post, 100).await;
    has_address(&control).await;
    let more = r#""extras": {"jobStatusChangeNotification": {"succeeded": true}},"#;
    submit(&control.backend, job("says", 1, 0, "exit 0", more)).await;
    until("a mail", || !post.letters().is_empty()).await;
    assert_eq!(subjects(&post), ["Job admin~says has succeeded"]);
    assert!(post.calls().is_empty());
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_mail_a_job_that_asks_for_one_is_taken_and_told_so() {
    let house = House::new(1);
    let control = house.start().await;
    let more = r#""extras": {"jobStatusChangeNotification": {"failed": true}},"#;
    let checked = control.backend.jobs.check(&admin(), &job("asks", 1, 0, "exit 0", more)).await;
    let said = "no mail is set up here: extras.jobStatusChangeNotification is not used";
    assert_eq!(checked.unwrap().warnings, [said]);
    submit(&control.backend, job("asks", 1, 0, "exit 0", more)).await;
    until_state(&control.backend, "asks", State::Succeeded).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_stored_before_a_crash_is_sent_after_it() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    post.fail(Some(Error::Unavailable("nobody answers".to_owned())));
    let control = start(&house, &post, 100).await;
    has_address(&control).await;
    let wished = Wishes { webhook: None, ..wishes(&[Occasion::Succeeded]) };
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    submit(&control.backend, job("done", 1, 0, "exit 0", "")).await;
    until_state(&control.backend, "done", State::Succeeded).await;
    until("a try in vain", || control.posted().failed > 0).await;
    close(&control).await;
    drop(control);
    post.fail(None);
    // As after the pause that follows a try in vain.
    let database = house.database().await;
    let later = protocol::time::Timestamp(i64::MAX);
    let left = database::notifications::due(database.read(), Way::Mail, later, 10).await.unwrap();
    let ids: Vec<i64> = left.iter().map(|entry| entry.id).collect();
    assert_eq!((ids.len(), left[0].tries), (1, 1));
    let transaction = database.begin().await.unwrap();
    let at_once = protocol::time::Timestamp(0);
    database::notifications::put_off(&transaction, &ids, at_once, 1).await.unwrap();
    transaction.commit().await.unwrap();
    drop(database);
    let control = start(&house, &post, 100).await;
    until("the mail", || !post.letters().is_empty()).await;
    assert_eq!(subjects(&post), ["作业 admin~done 已成功"]);
    until("it is known as sent", || control.posted().sent == 1).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_waits_for_long_is_told_of_once() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let control = start_impatient(&house, &post).await;
    has_address(&control).await;
    let wished = Wishes { webhook: None, ..wishes(&[Occasion::Waiting]) };
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    // What waits already when it is looked for the first time is no news.
    let looked = async {
        let told = || database::settings::get(control.database().read(), "told of waiting");
        while told().await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.unwrap();
    submit(&control.backend, job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(&control.backend, "holds", State::Running).await;
    submit(&control.backend, job("waits", 1, 8, "exit 0", "")).await;
    let waits = "作业 admin~waits 等待时间过长";
    until("a mail", || subjects(&post).iter().any(|subject| subject == waits)).await;
    submit(&control.backend, job("waits-too", 1, 8, "exit 0", "")).await;
    let waits_too = "作业 admin~waits-too 等待时间过长";
    until("another", || subjects(&post).iter().any(|subject| subject == waits_too)).await;
    assert_eq!(subjects(&post).iter().filter(|subject| *subject == waits).count(), 1);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_jobs_is_no_flood_of_mails() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let control = start(&house, &post, 2).await;
    has_address(&control).await;
    let notifications = &control.backend.notifications;
    notifications.set(&admin(), wishes(&[])).await.unwrap();
    // The hour may end in between: then as much again.
    let mut taken = 0;
    for _ in 0..10 {
        if let Ok(tested) = notifications.test(&admin()).await {
            let well = Some(TestResult { sent: true, problem: None });
            assert_eq!((&tested.mail, &tested.webhook), (&well, &well));
            taken += 1;
        }
    }
    assert!((2..=4).contains(&taken), "{taken}");
    assert_eq!(post.letters().len(), taken);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_no_webhook_is_refused() {
    let house = House::new(1);
    let control = house.start().await;
    let notifications = &control.backend.notifications;
    for url in ["http://example.org/", "https://10.0.0.1/", "https://[::1]:8080/x", "x"] {
        let wished = Wishes { webhook: Some(url.to_owned()), ..Wishes::default() };
        let refused = notifications.set(&admin(), wished).await.unwrap_err();
        assert_eq!(refused.problems[0].path, "webhook", "{url}");
    }
    let view = notifications.get(&admin()).await.unwrap();
    assert_eq!((view.wishes, view.signing_key), (Wishes::default(), None));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_waits_for_nobodys_webhook() {
    let (house, post) = (House::new(1), Arc::<Stuck>::default());
    let gathered_for = Duration::from_millis(50);
    let notifying = Notifying { post: post.clone(), gathered_for, ..Notifying::default() };
    let options = Options { notifying, ..house.options(house.database().await) };
    let control = control::start(options).await.unwrap();
    has_address(&control).await;
    let wished = wishes(&[Occasion::Succeeded]);
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    for name in ["first", "second"] {
        submit(&control.backend, job(name, 1, 0, "exit 0", "")).await;
        let said = format!("作业 admin~{name} 已成功");
        until("a mail", || subjects(&post.0).contains(&said)).await;
        until("a call", || !post.0.calls().is_empty()).await;
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_is_not_due_again_at_once() {
    let (house, post) = (House::new(1), Arc::<Stuck>::default());
    let gathered_for = Duration::from_millis(50);
    let notifying = Notifying { post: post.clone(), gathered_for, ..Notifying::default() };
    let options = Options { notifying, ..house.options(house.database().await) };
    let control = control::start(options).await.unwrap();
    let wished = Wishes { mail: false, ..wishes(&[Occasion::Succeeded]) };
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    submit(&control.backend, job("done", 1, 0, "exit 0", "")).await;
    until("a call", || !post.0.calls().is_empty()).await;
    // Nobody knows what comes of it, as after a crash.
    let ever = protocol::time::Timestamp(i64::MAX);
    let reader = control.database().read();
    let left = database::notifications::due(reader, Way::Webhook, ever, 10).await.unwrap();
    let [entry] = left.as_slice() else { panic!("{left:?}") };
    assert!(entry.new.due.0 >= entry.new.at.0 + 60_000, "{entry:?}");
    assert_eq!(entry.tries, 0);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_sent_for_long_is_given_up() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let notifying = Notifying {
        post: post.clone(),
        gathered_for: Duration::from_millis(50),
        hourly: 0,
        kept_for: Duration::ZERO,
        ..Notifying::default()
    };
    let options = Options { notifying, ..house.options(house.database().await) };
    let control = control::start(options).await.unwrap();
    has_address(&control).await;
    let wished = Wishes { webhook: None, ..wishes(&[Occasion::Succeeded]) };
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    submit(&control.backend, job("done", 1, 0, "exit 0", "")).await;
    until("it is given up", || control.posted().dropped == 1).await;
    assert_eq!(subjects(&post), [""; 0]);
    let left = database::notifications::count(control.database().read()).await.unwrap();
    assert_eq!(left, 0);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_left_is_told_nothing_any_more() {
    let (house, post) = (House::new(1), Arc::<Simulated>::default());
    let control = start(&house, &post, 100).await;
    let backend = &control.backend;
    let bob = Actor { user: "bob".parse().unwrap(), admin: false };
    let password = "a horse that is correct".into();
    let new = NewUser { name: bob.user.clone(), password, admin: false, temporary: false };
    backend.users.create(&admin(), new).await.unwrap();
    let to = |url: &str| Wishes {
        occasions: Occasion::ALL.into(),
        webhook: Some(url.to_owned()),
        ..Wishes::default()
    };
    let (his, ours) = ("https://bob.example.org/", "https://example.org/");
    backend.notifications.set(&bob, to(his)).await.unwrap();
    let text = job("runs", 1, 0, "sleep 1000", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    let runs = backend.jobs.submit(&bob, submission).await.unwrap().key;
    until("he is told", || post.calls().iter().any(|call| call.url == his)).await;
    let told = post.calls().len();
    backend.users.remove(&admin(), &bob.user).await.unwrap();
    let stopped = async {
        while !backend.jobs.get(&admin(), &runs).await.unwrap().summary.state.is_final() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, stopped).await.unwrap();
    backend.notifications.set(&admin(), to(ours)).await.unwrap();
    submit(backend, job("later", 1, 0, "exit 0", "")).await;
    until_state(backend, "later", State::Succeeded).await;
    until("another is told", || post.calls().iter().any(|call| call.url == ours)).await;
    let calls = post.calls();
    assert!(calls[told..].iter().all(|call| call.url == ours), "{calls:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_who_wants_nothing_are_in_nobodys_way() {
    let (house, post) = (House::new(0), Arc::<Simulated>::default());
    let control = start_impatient(&house, &post).await;
    let told = async || {
        let told = database::settings::get(control.database().read(), "told of waiting").await;
        told.unwrap().map(|told| told.parse::<i64>().unwrap())
    };
    // It is wanted, and there is no way to say it.
    let wished = Wishes { occasions: [Occasion::Waiting].into(), ..Wishes::default() };
    control.backend.notifications.set(&admin(), wished).await.unwrap();
    submit(&control.backend, job("waits", 1, 0, "exit 0", "")).await;
    let detail = control.backend.jobs.get(&admin(), &key("waits")).await.unwrap();
    let submitted = detail.summary.submitted_at.0;
    let passed = async {
        while told().await.is_none_or(|told| told < submitted) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, passed).await.unwrap();
    assert_eq!(subjects(&post), [""; 0]);
    close(&control).await;
}
