// A company with an OpenID provider, a directory, and a Berth whose people come from both.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { PASSWORD, binary, freePort, site, stop, untilReady } from "./server";

export interface Company {
  url: string;
  /** Says in which groups somebody of the provider is from now on. */
  putInto(name: string, groups: string[]): Promise<void>;
  /** Takes somebody of the directory out of a group. */
  takeOut(name: string, group: string): void;
  close(): Promise<void>;
}

export async function company(): Promise<Company> {
  const folder = mkdtempSync(join(tmpdir(), "berth-company-"));
  const [provider, issuer] = await startProvider();
  const [slapd, directory] = await startDirectory(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await tell(issuer, "client", { redirects: [`${url}/sign-in/oidc/company/callback`], logouts: [`${url}/sign-in`] });
  const config = join(folder, "berth.toml");
  writeFileSync(config, settings(url, issuer, directory));
  const berth = spawn(
    binary,
    ["serve", "--listen", `127.0.0.1:${port}`, "--data", join(folder, "data"), "--config", config],
    { env: { ...process.env, BERTH_SITE: site, BERTH_ADMIN_PASSWORD: PASSWORD }, stdio: "ignore" },
  );
  await untilReady(berth, url);
  return {
    url,
    putInto: (name, groups) => tell(issuer, "person", { name, groups }),
    takeOut(name, group) {
      const change = `dn: cn=${group},dc=example,dc=org\nchangetype: modify\ndelete: member\nmember: uid=${name},dc=example,dc=org\n`;
      run("ldapmodify", ["-x", "-H", directory, "-D", "cn=admin,dc=example,dc=org", "-w", "secret"], change);
    },
    async close() {
      for (const child of [berth, provider, slapd]) await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// One simulated node: what is tested is the way in, and what it opens.
function settings(url: string, issuer: string, directory: string): string {
  return `public_url = "${url}"
[[nodes]]
name = "quay"
address = "10.0.0.1"
endpoint = "sim://quay"
cpus = 16
memory_mb = 65536
gpus = []
[[virtual_clusters]]
name = "lab"
groups = ["vision"]
[sign_in]
admin_groups = ["gpu-admins"]
[[sign_in.oidc]]
name = "company"
title = "The Company"
issuer = "${issuer}"
client_id = "berth"
client_secret = "a secret of the quay"
[[sign_in.ldap]]
name = "staff"
url = "${directory}"
base = "dc=example,dc=org"
bind_dn = "cn=admin,dc=example,dc=org"
bind_password = "secret"
groups = { base = "dc=example,dc=org" }
`;
}

async function startProvider(): Promise<[ChildProcess, string]> {
  const cwd = resolve("../src/directory/tests/provider");
  const provider = spawn("node", ["provider.mjs"], { cwd, stdio: ["pipe", "pipe", "ignore"] });
  const [issuer] = (await once(createInterface(provider.stdout), "line")) as [string];
  return [provider, issuer];
}

async function tell(issuer: string, what: string, said: object) {
  const answer = await fetch(`${issuer}/test/${what}`, { method: "POST", body: JSON.stringify(said) });
  if (!answer.ok) throw new Error(`the provider does not understand: ${await answer.text()}`);
}

async function startDirectory(folder: string): Promise<[ChildProcess, string]> {
  const address = `ldap://127.0.0.1:${await freePort()}`;
  const config = join(folder, "slapd.conf");
  mkdirSync(join(folder, "people"));
  const schemas = ["core", "cosine", "inetorgperson"].map((name) => `include /etc/ldap/schema/${name}.schema\n`);
  writeFileSync(
    config,
    `${schemas.join("")}modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
maxsize 10485760
suffix dc=example,dc=org
rootdn cn=admin,dc=example,dc=org
rootpw secret
directory ${folder}/people
`,
  );
  run("/usr/sbin/slapadd", ["-f", config], PEOPLE);
  const slapd = spawn("/usr/sbin/slapd", ["-d", "0", "-h", address, "-f", config], { stdio: "ignore" });
  return [slapd, address];
}

const PEOPLE = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: uid=eve,dc=example,dc=org
objectClass: inetOrgPerson
uid: eve
cn: Eve
sn: Example
userPassword: password of eve

dn: cn=vision,dc=example,dc=org
objectClass: groupOfNames
cn: vision
member: cn=admin,dc=example,dc=org
member: uid=eve,dc=example,dc=org
`;

function run(program: string, options: string[], input: string) {
  const done = spawnSync(program, options, { input, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${program}: ${done.error ?? done.stderr}`);
}
