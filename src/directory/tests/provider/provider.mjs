// An OpenID provider for tests: a real one, with two people, on a free port of this machine.
//
// It prints its address. `POST /test/client` with `redirects`, `logouts` and `quiet` (say nothing
// in the token that can be asked for) makes it ready; `POST /test/person` with `name` and `groups`
// says in which groups somebody is from then on.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const people = new Map([
  ["ada", { groups: ["vision", "gpu-admins"] }],
  ["bob", { groups: [] }],
]);

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
// Whoever started it has gone: nobody else will stop it.
process.stdin.on("end", () => process.exit()).resume();

let provider;
let callback;

server.on("request", async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  try {
    if (request.method === "POST" && pathname === "/test/client") {
      start(JSON.parse(await body(request)));
      response.end("{}");
    } else if (request.method === "POST" && pathname === "/test/person") {
      const { name, groups } = JSON.parse(await body(request));
      people.set(name, { groups });
      response.end("{}");
    } else if (pathname.startsWith("/interaction/")) {
      await interact(request, response);
    } else {
      callback(request, response);
    }
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
});

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

function start({ redirects, logouts = [], quiet = false }) {
  provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    clients: [
      {
        client_id: "berth",
        client_secret: "a secret of the quay",
        redirect_uris: redirects,
        post_logout_redirect_uris: logouts,
      },
    ],
    pkce: { required: () => true },
    claims: {
      openid: ["sub"],
      profile: ["preferred_username", "groups"],
      email: ["email", "email_verified"],
    },
    conformIdTokenClaims: quiet,
    cookies: { keys: ["for tests alone"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => {
      const person = people.get(id);
      return (
        person && {
          accountId: id,
          claims: () => ({
            sub: `subject-of-${id}`,
            preferred_username: id,
            email: `${id}@example.org`,
            email_verified: true,
            groups: person.groups,
          }),
        }
      );
    },
    // Whoever signs in agrees to what is asked for.
    async loadExistingGrant(context) {
      const { client, session, params } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      });
      grant.addOIDCScope(params.scope);
      await grant.save();
      return grant;
    },
  });
  callback = provider.callback();
}

const page = `<!doctype html><title>Company</title><h1>Sign in to the company</h1>
<form method="post"><label>Name <input name="login"></label>
<label>Password <input name="password" type="password"></label><button>Sign in</button></form>`;

async function interact(request, response) {
  if (request.method !== "POST") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
    return;
  }
  const form = new URLSearchParams(await body(request));
  const [name, password] = [form.get("login"), form.get("password")];
  const result =
    people.has(name) && password === `password of ${name}`
      ? { login: { accountId: name } }
      : { error: "access_denied", error_description: "the password is wrong" };
  await provider.interactionFinished(request, response, result);
}
