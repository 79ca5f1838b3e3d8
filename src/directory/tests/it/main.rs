//! Providers of people, against the real ones: `slapd` and npm's `oidc-provider`.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod ldap;
mod oidc;
mod provider;
mod slapd;
