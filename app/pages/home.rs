mod attention;
mod free;
mod mine;

use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::live::Live;
use crate::pages::home::attention::Attention;
use crate::pages::home::free::WhereFree;
use crate::pages::home::mine::MyJobs;
use crate::parts::page_header::PageHeader;
use crate::reading::{Reading, reading};
use crate::sending::Sending;
use crate::server_fns::home::{DismissFailed, HomeView, read_home};

/// What the parts of the page read.
type Home = Reading<HomeView>;

/// What happens to my jobs, where I can run now, what needs my attention.
#[component]
pub(crate) fn HomePage() -> impl IntoView {
    let live = Live::get();
    let (jobs, queue) = (live.own_jobs(), live.queue());
    let (nodes, cluster) = (live.nodes(), live.cluster());
    let dismiss = Sending::to::<DismissFailed>();
    let home: Home = reading(
        move || (jobs.get(), queue.get(), nodes.get(), cluster.get(), dismiss.version().get()),
        |_| read_home(),
    );
    view! {
        <PageHeader title=text(|t| t.nav.home)>
            <a class="button button--primary" href="/submit">{tr(|t| t.nav.submit)}</a>
        </PageHeader>
        <div class="home">
            <div class="stack home__main"><MyJobs home=home/></div>
            <div class="stack"><Attention home=home dismiss=dismiss/> <WhereFree home=home/></div>
        </div>
    }
}
