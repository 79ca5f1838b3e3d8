//! OpenID Connect: the authorization-code flow with PKCE.

mod claims;
mod settings;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreJwsSigningAlgorithm,
    CoreTokenResponse,
};
use openidconnect::{
    AccessTokenHash, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret,
    CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, LogoutRequest, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, Scope, SyncHttpClient, TokenResponse,
};
use protocol::ids::ProviderName;
use protocol::person::Person;
use tokio::sync::Semaphore;
use url::Url;

use crate::http::Http;
use crate::secret::{self, Secret};
use crate::{Error, Result, trust};

pub use settings::{Claims, OidcSettings};

/// How long what a provider says about itself, its keys among it, is believed without asking.
const FRESH: Duration = Duration::from_secs(3_600);
/// Keys that are not known are asked for so often at most.
const KEYS: Duration = Duration::from_secs(30);
/// A provider that failed is left alone for so long.
const REST: Duration = Duration::from_secs(3);
/// How many may ask a provider at the same time; the others wait.
const AT_ONCE: usize = 8;
/// How long they wait.
const TURN: Duration = Duration::from_secs(15);

/// A provider of OpenID Connect.
pub struct Oidc {
    settings: OidcSettings,
    secret: Option<Secret>,
    http: Http,
    known: Mutex<Known>,
    turns: Semaphore,
}

/// What the provider said about itself.
#[derive(Default)]
struct Known {
    metadata: Option<(Arc<ProviderMetadataWithLogout>, Instant)>,
    failed: Option<(Error, Instant)>,
}

/// Where a browser is to be sent, and what must be known when it comes back.
#[derive(Clone)]
pub struct Started {
    /// The provider's page.
    pub address: String,
    /// What comes back with the browser.
    pub state: String,
    /// What comes back in the token.
    pub nonce: String,
    /// What proves that the code was asked for by us.
    pub verifier: String,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").finish_non_exhaustive()
    }
}

/// What a browser brought back, and what was kept for it.
#[derive(Clone)]
pub struct Answer {
    /// The code.
    pub code: String,
    /// Who says that it is the issuer, if anybody does.
    pub issuer: Option<String>,
    /// [`Started::nonce`].
    pub nonce: String,
    /// [`Started::verifier`].
    pub verifier: String,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

impl fmt::Debug for Oidc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oidc").field("settings", &self.settings).finish_non_exhaustive()
    }
}

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

impl Oidc {
    /// A provider by its settings; it is not asked yet, so that one that is down stops nothing.
    ///
    /// # Errors
    /// [`Error::Settings`] when a file of the settings cannot be read.
    pub fn new(settings: OidcSettings) -> Result<Self> {
        let file = settings.client_secret_file.as_deref();
        let secret = secret::read("client_secret", settings.client_secret.as_ref(), file)?;
        let http = Http::new(settings.ca.as_deref())?;
        let (known, turns) = (Mutex::default(), Semaphore::new(AT_ONCE));
        Ok(Self { settings, secret, http, known, turns })
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &ProviderName {
        &self.settings.name
    }

    /// What people call it.
    #[must_use]
    pub fn title(&self) -> &str {
        let OidcSettings { title, name, .. } = &self.settings;
        if title.is_empty() { name.as_str() } else { title }
    }

    /// Begins to sign somebody in, who will come back to `redirect`.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn start(self: &Arc<Self>, redirect: &str) -> Result<Started> {
        let redirect = redirect.to_owned();
        self.ask(move |provider| provider.started(redirect)).await
    }

    /// Finds out who has come back to `redirect`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn finish(self: &Arc<Self>, redirect: &str, answer: Answer) -> Result<Person> {
        let redirect = redirect.to_owned();
        self.ask(move |provider| provider.person(redirect, answer)).await
    }

    /// Where the provider signs people out who come back to `back` then, if it does that.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn farewell(self: &Arc<Self>, back: &str) -> Result<Option<String>> {
        let back = back.to_owned();
        self.ask(move |provider| provider.signed_out(back)).await
    }

    /// Runs what waits for the provider where it keeps nobody else waiting.
    async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = tokio::time::timeout(TURN, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(self.unavailable("too many are asking it")) };
        let provider = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || question(&provider)).await;
        asked.map_err(|error| self.unavailable(error))?
    }

    fn started(&self, redirect: String) -> Result<Started> {
        let metadata = self.metadata(FRESH)?;
        let client = self.client(&metadata, redirect)?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let mut request = client.authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        );
        for scope in self.settings.scopes.iter().filter(|scope| *scope != "openid") {
            request = request.add_scope(Scope::new(scope.clone()));
        }
        let (address, state, nonce) = request.set_pkce_challenge(challenge).url();
        Ok(Started {
            address: address.into(),
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
        })
    }

    fn person(&self, redirect: String, answer: Answer) -> Result<Person> {
        let Answer { code, issuer, nonce, verifier } = answer;
        if issuer.is_some_and(|issuer| issuer != self.settings.issuer) {
            return Err(self.refused("the answer names another issuer"));
        }
        let metadata = self.metadata(FRESH)?;
        let client = self.client(&metadata, redirect)?;
        let request = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| self.unavailable(error))?
            .set_pkce_verifier(PkceCodeVerifier::new(verifier));
        let tokens = request.request(&self.http).map_err(|error| self.not_exchanged(error))?;
        let subject = self.verified(&client, &tokens, &Nonce::new(nonce))?;
        let token = tokens.id_token().map(ToString::to_string).unwrap_or_default();
        let mut said = claims::of_token(&token).unwrap_or_default();
        if claims::lacks(&said, &self.settings.claims) {
            for (name, value) in self.user_info(&metadata, &tokens, &subject) {
                said.entry(name).or_insert(value);
            }
        }
        claims::person(&self.settings, subject, &said)
    }

    /// Who the token is about, once all of it is checked.
    fn verified(
        &self,
        client: &Client,
        tokens: &CoreTokenResponse,
        nonce: &Nonce,
    ) -> Result<String> {
        let token = tokens.id_token().ok_or_else(|| self.refused("there is no id token"))?;
        match self.subject(client, token, tokens, nonce) {
            // The provider may have other keys since it was asked for them.
            Err(ClaimsVerificationError::SignatureVerification(_)) => {
                let redirect = "https://localhost/".to_owned();
                let metadata = self.metadata(KEYS)?;
                let client = self.client(&metadata, redirect)?;
                self.subject(&client, token, tokens, nonce).map_err(|error| self.refused(error))
            }
            subject => subject.map_err(|error| self.refused(error)),
        }
    }

    fn subject(
        &self,
        client: &Client,
        token: &CoreIdToken,
        tokens: &CoreTokenResponse,
        nonce: &Nonce,
    ) -> std::result::Result<String, ClaimsVerificationError> {
        // Secrets that are shared, and no signature at all, prove nothing here.
        let verifier = client.id_token_verifier().set_allowed_algs(SIGNATURES);
        let claims = token.claims(&verifier, nonce)?;
        if let Some(expected) = claims.access_token_hash() {
            let other =
                |error: &dyn fmt::Display| ClaimsVerificationError::Other(error.to_string());
            let algorithm = token.signing_alg().map_err(|error| other(&error))?;
            let key = token.signing_key(&verifier).map_err(|error| other(&error))?;
            let hash = AccessTokenHash::from_token(tokens.access_token(), algorithm, key)
                .map_err(|error| other(&error))?;
            if hash != *expected {
                return Err(other(&"the access token is not the one that was issued"));
            }
        }
        Ok(claims.subject().to_string())
    }

    /// What the provider says beside the token. What it says of somebody else counts for nothing.
    fn user_info(
        &self,
        metadata: &ProviderMetadataWithLogout,
        tokens: &CoreTokenResponse,
        subject: &str,
    ) -> claims::Said {
        let Some(address) = metadata.userinfo_endpoint() else { return claims::Said::new() };
        let bearer = format!("Bearer {}", tokens.access_token().secret());
        let said = ureq::http::Request::get(address.as_str())
            .header("authorization", bearer)
            .body(Vec::new())
            .map_err(|error| error.to_string())
            .and_then(|request| self.http.call(request).map_err(|error| error.to_string()))
            .and_then(|answer| {
                serde_json::from_slice::<claims::Said>(answer.body()).map_err(|e| e.to_string())
            });
        match said {
            Ok(said) if said.get("sub").and_then(|sub| sub.as_str()) == Some(subject) => said,
            Ok(_) => {
                tracing::warn!(provider = %self.name(), "its user info is about somebody else");
                claims::Said::new()
            }
            Err(error) => {
                tracing::warn!(provider = %self.name(), %error, "its user info cannot be read");
                claims::Said::new()
            }
        }
    }

    fn signed_out(&self, back: String) -> Result<Option<String>> {
        let metadata = self.metadata(FRESH)?;
        let Some(end) = metadata.additional_metadata().end_session_endpoint.clone() else {
            return Ok(None);
        };
        let back = PostLogoutRedirectUrl::new(back).map_err(|error| self.unavailable(error))?;
        let request = LogoutRequest::from(end)
            .set_client_id(ClientId::new(self.settings.client_id.clone()))
            .set_post_logout_redirect_uri(back);
        Ok(Some(request.http_get_url().into()))
    }

    fn client(&self, metadata: &ProviderMetadataWithLogout, redirect: String) -> Result<Client> {
        let redirect = RedirectUrl::new(redirect).map_err(|error| self.unavailable(error))?;
        let id = ClientId::new(self.settings.client_id.clone());
        let secret = self.secret.as_ref().map(|secret| ClientSecret::new(secret.text().to_owned()));
        let client = CoreClient::from_provider_metadata(metadata.clone(), id, secret);
        let basic = metadata
            .token_endpoint_auth_methods_supported()
            .is_none_or(|methods| methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
        let auth = if basic { AuthType::BasicAuth } else { AuthType::RequestBody };
        Ok(client.set_auth_type(auth).set_redirect_uri(redirect))
    }

    /// What the provider says about itself, no older than this. What was said before is better
    /// than nothing.
    fn metadata(&self, fresh: Duration) -> Result<Arc<ProviderMetadataWithLogout>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((metadata, at)) = &known.metadata
            && at.elapsed() < fresh
        {
            return Ok(Arc::clone(metadata));
        }
        let recent = known.failed.clone().filter(|(_, at)| at.elapsed() < REST);
        let found = match recent {
            Some((error, _)) => Err(error),
            None => self.discover(),
        };
        match found {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                *known =
                    Known { metadata: Some((Arc::clone(&metadata), Instant::now())), failed: None };
                Ok(metadata)
            }
            Err(error) => {
                tracing::warn!(provider = %self.name(), %error, "a sign-in provider is not there");
                known.failed = Some((error.clone(), Instant::now()));
                let before = known.metadata.as_ref().map(|(metadata, _)| Arc::clone(metadata));
                before.ok_or(error)
            }
        }
    }

    fn discover(&self) -> Result<ProviderMetadataWithLogout> {
        let issuer = IssuerUrl::new(self.settings.issuer.clone());
        let issuer = issuer.map_err(|error| self.unavailable(error))?;
        let metadata = ProviderMetadataWithLogout::discover(&issuer, &self.http)
            .map_err(|error| self.unavailable(chain(&error)))?;
        let page = Url::parse(metadata.authorization_endpoint().as_str());
        if !page.is_ok_and(|page| trust::is_private(&page)) {
            return Err(self.unavailable("its page for signing in is not reached by https"));
        }
        Ok(metadata)
    }

    fn not_exchanged<E: std::error::Error + 'static>(&self, error: E) -> Error {
        self.refused(chain(&error))
    }

    fn unavailable(&self, detail: impl fmt::Display) -> Error {
        Error::Unavailable { provider: self.name().clone(), detail: detail.to_string() }
    }

    fn refused(&self, detail: impl fmt::Display) -> Error {
        Error::Refused { provider: self.name().clone(), detail: detail.to_string() }
    }
}

/// Signatures that only the provider can make.
const SIGNATURES: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// An error with all its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
