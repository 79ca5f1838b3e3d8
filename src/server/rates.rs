//! How often one may ask: each user, and each neighbourhood of addresses for those who are not
//! signed in. People and scripts do not notice; a loop without end does.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use api::{Actor, ErrorCode};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use protocol::ids::UserName;

use crate::failure::Failure;
use crate::limits::{Limits, Rate};

/// How many neighbourhoods are told apart. Which share a place nobody can foresee, so that memory
/// has a bound and nobody can aim at somebody else's place.
const PLACES: u64 = 65_536;

/// The requests of the last moments.
pub(crate) struct Rates<C: Clock = DefaultClock> {
    users: Option<Paced<UserName, C>>,
    guests: Option<Paced<u64, C>>,
    places: RandomState,
    clock: C,
}

type Paced<K, C> = RateLimiter<K, DashMapStateStore<K>, C, NoOpMiddleware<<C as Clock>::Instant>>;

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self::with(limits, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Rates<C> {
    fn with(limits: &Limits, clock: C) -> Self {
        let users =
            quota(limits.user()).map(|quota| RateLimiter::dashmap_with_clock(quota, clock.clone()));
        let guests = quota(limits.guest())
            .map(|quota| RateLimiter::dashmap_with_clock(quota, clock.clone()));
        Self { users, guests, places: RandomState::new(), clock }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// 429: too many.
    pub(crate) fn admit(&self, actor: Option<&Actor>, address: IpAddr) -> Result<(), Failure> {
        let passed = match actor {
            Some(actor) => self.user(&actor.user),
            None => self.guest(address),
        };
        passed.map_err(too_many)
    }

    /// Counts a request of a user.
    ///
    /// # Errors
    /// Too many: how long to wait.
    fn user(&self, user: &UserName) -> Result<(), Duration> {
        let Some(users) = &self.users else { return Ok(()) };
        users.check_key(user).map_err(|until| until.wait_time_from(self.clock.now()))
    }

    /// Counts a request of somebody who is not signed in.
    ///
    /// # Errors
    /// Too many: how long to wait.
    fn guest(&self, address: IpAddr) -> Result<(), Duration> {
        let Some(guests) = &self.guests else { return Ok(()) };
        let place = self.places.hash_one(neighbourhood(address)) % PLACES;
        guests.check_key(&place).map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

/// Requests come at once up to the burst and then with the rate; nothing is counted where one of
/// them is 0.
fn quota(rate: Rate) -> Option<Quota> {
    let per_second = NonZeroU32::new(rate.per_second)?;
    Some(Quota::per_second(per_second).allow_burst(NonZeroU32::new(rate.burst)?))
}

/// A household has a whole network of IPv6 addresses: its first half tells it from others.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

fn too_many(wait: Duration) -> Failure {
    let seconds = wait.as_secs() + 1;
    let message = format!("too many requests at once: try again after {seconds} s");
    let mut failure = Failure::new(ErrorCode::TooManyRequestsError, message);
    failure.retry_after = Some(seconds);
    failure
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn paced(per_second: u32, burst: u32) -> (Rates<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        let limits = Limits {
            requests_per_second: per_second,
            request_burst: burst,
            guest_requests_per_second: per_second,
            guest_request_burst: burst,
            ..Limits::default()
        };
        (Rates::with(&limits, clock.clone()), clock)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let (rates, clock) = paced(10, 50);
        let [ada, bob] = ["ada", "bob"].map(|name| name.parse::<UserName>().unwrap());
        let passed = (0..80).filter(|_| rates.user(&ada).is_ok()).count();
        assert_eq!(passed, 50);
        assert!(rates.user(&bob).is_ok(), "others are not concerned");
        assert!(rates.user(&ada).unwrap_err() <= Duration::from_millis(100));
        clock.advance(Duration::from_secs(1));
        let passed = (0..80).filter(|_| rates.user(&ada).is_ok()).count();
        assert_eq!(passed, 10);
    }

    #[test]
    fn a_network_of_addresses_is_one_guest() {
        let (rates, _) = paced(1, 5);
        let passed = |prefix: &str| {
            let addresses = (0..20).map(|n| ip(&format!("{prefix}:{n:x}::1")));
            addresses.filter(|address| rates.guest(*address).is_ok()).count()
        };
        assert_eq!(passed("2001:db8:1:1"), 5, "one network");
        let (rates, _) = paced(1, 5);
        assert!((0..20).all(|n| rates.guest(ip(&format!("10.0.0.{n}"))).is_ok()), "twenty hosts");
        assert_eq!(neighbourhood(ip("::ffff:10.0.0.1")), ip("10.0.0.1"));
    }

    #[test]
    fn strangers_take_a_bounded_memory() {
        let (rates, _) = paced(1, 5);
        for n in 0..200_000_u32 {
            let _ =
                rates.guest(IpAddr::V6(((0x2001_0db8_u128 << 96) | (u128::from(n) << 64)).into()));
        }
        assert!(rates.guests.unwrap().len() as u64 <= PLACES);
    }

    #[test]
    fn nothing_is_counted_where_the_limit_is_off() {
        let (rates, _) = paced(0, 0);
        assert!((0..10_000).all(|_| rates.guest(ip("10.0.0.1")).is_ok()));
    }
}
