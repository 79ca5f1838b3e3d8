// What OpenPAI's own tests of its interface ask for, in our words, by its library for JavaScript, unchanged:
// node sdk_asked.cjs ADDRESS USER PASSWORD
"use strict";

const assert = require("assert");
const { PAIV2 } = require("@microsoft/openpai-js-sdk");

const [address, username, password] = process.argv.slice(2);
/** Of no server. */
const FOREIGN = "eyJhbGciOiJIUzI1NiJ9.eyJ1c2VybmFtZSI6Im5vYm9keSJ9.c2lnbmF0dXJl";
const APPLICATION = "Applications are not allowed to do this operation.";
const FIRST = "a quay of one's own";
const NOBODY = "nobody_here";

const client = new PAIV2.OpenPAIClient({ pai_uri: address, username, password });

/** By a token alone. */
function by(token) {
    return new PAIV2.OpenPAIClient({ pai_uri: address, username, token });
}

async function refused(asked, status, code, message) {
    await assert.rejects(asked, (error) => {
        assert.strictEqual(error.status, status, error.message);
        if (code !== undefined) assert.strictEqual(error.data.code, code);
        if (message !== undefined) assert.strictEqual(error.message, message);
        return true;
    });
}

function types(value, wanted) {
    for (const [name, type] of Object.entries(wanted)) {
        const seen = Array.isArray(value[name]) ? "array" : typeof value[name];
        assert.strictEqual(seen, type, `${name}: ${JSON.stringify(value[name])}`);
    }
}

async function tokens() {
    const { token } = await client.token.createApplicationToken();
    const listed = await client.token.getTokens();
    assert(listed.tokens.every((one) => typeof one === "string"));
    types(await client.token.deleteToken(token), { message: "string" });
    await refused(by(token).token.getTokens(), 401, "UnauthorizedUserError");
    await refused(by(FOREIGN).token.getTokens(), 401, "UnauthorizedUserError", "Your token is invalid.");
}

async function signingIn() {
    const entered = await client.authn.basicLogin(username, password);
    types(entered, { token: "string", user: "string", admin: "boolean" });
    // Of a name that nobody has the same is said: the one difference that is meant.
    for (const name of [username, NOBODY]) {
        const wrong = client.authn.basicLogin(name, "not the one");
        await refused(wrong, 400, "IncorrectPasswordError", "Password is incorrect.");
    }
    const { message } = await by(entered.token).authn.basicLogout();
    assert.strictEqual(message, "Logout successfully");
    await refused(by(FOREIGN).authn.basicLogout(), 401, "UnauthorizedUserError", "Your token is invalid.");
}

async function users() {
    const grace = { username: "grace", password: FIRST };
    const { token } = await client.token.createApplicationToken();
    const program = by(token);
    await refused(program.user.createUser(grace), 403, "ForbiddenUserError", APPLICATION);
    await client.user.createUser(grace);
    await refused(client.user.createUser(grace), 409, "ConflictUserError");
    const hers = by((await client.authn.basicLogin("grace", FIRST)).token);
    const changes = (one, user) => [
        () => one.user.updateUser({ username: user, email: "new@quay.example" }),
        () => one.user.updateUserGroup(user, "quayside"),
        () => one.user.deleteUserGroup(user, "quayside"),
        () => one.user.updateUserGrouplist(user, ["default"]),
        () => one.user.deleteUser(user),
    ];
    for (const asked of changes(program, "grace")) {
        await refused(asked, 403, "ForbiddenUserError", APPLICATION);
    }
    for (const asked of changes(hers, "grace")) await refused(asked, 403, "ForbiddenUserError");
    for (const asked of changes(client, NOBODY)) await refused(asked, 404, "NoUserError");

    await client.user.updateUser({ username: "grace", email: "one@quay.example" });
    const all = { username: "grace", email: "two@quay.example", virtualCluster: ["default"] };
    await client.user.updateUser({ ...all, admin: false, password: "another quay", extension: {} }, false);
    const seen = await client.user.getUser("grace");
    types(seen, {
        username: "string", admin: "boolean", virtualCluster: "array", storageConfig: "array",
        email: "string", extension: "object",
    });
    assert.strictEqual(seen.email, "two@quay.example");

    await client.group.createGroup({ groupname: "quayside" });
    await client.user.updateUserGroup("grace", "quayside");
    await client.user.deleteUserGroup("grace", "quayside");
    await client.user.updateUserGrouplist("grace", ["default"]);
    assert.deepStrictEqual((await client.user.getUser("grace")).grouplist, ["default"]);
    await client.group.deleteGroup("quayside");
    await client.user.deleteUser("grace");
    await client.token.deleteToken(token);
}

async function oneself() {
    await client.user.updateUserSelf({ username, email: "own@quay.example" });
    const again = { username, email: "own@berth.example", oldPassword: password, newPassword: password };
    await client.user.updateUserSelf(again, false);
    assert.strictEqual((await client.user.getUser(username)).email, "own@berth.example");
    const other = { username: NOBODY, email: "own@quay.example" };
    await refused(client.user.updateUserSelf(other), 403, "ForbiddenUserError");
}

async function groups() {
    await client.group.createGroup({ groupname: "harbour" });
    const change = { groupname: "harbour", description: "of the harbour" };
    await client.group.updateGroup({ data: change, patch: true });
    const seen = await client.group.getGroup("harbour");
    types(seen, { groupname: "string", description: "string", externalName: "string", extension: "object" });
    assert.strictEqual(seen.description, "of the harbour");
    const names = (await client.group.getAllGroup()).map((group) => group.groupname);
    assert(names.includes("harbour"), names.join());
    await client.group.deleteGroup("harbour");
}

async function theCluster() {
    const whole = await client.virtualCluster.getVirtualCluster("default");
    for (const which of ["resourcesUsed", "resourcesGuaranteed", "resourcesTotal"]) {
        for (const what of ["cpu", "vCores", "memory", "gpu", "GPUs"]) {
            assert(Number.isInteger(whole[which][what]), `${which}.${what}: ${whole[which][what]}`);
        }
    }
    types(whole, { capacity: "number", usedCapacity: "number", maxCapacity: "number" });
    assert.deepStrictEqual(await client.storage.getStorages(true), { storages: [] });
    await refused(client.storage.getStorage("nowhere"), 404, "NoStorageError");
    assert(Array.isArray((await client.kubernetes.getK8sPods()).items));
}

/** What a job is before anything has happened to it: all is asked for at once. */
async function aJobAtOnce() {
    const job = {
        protocolVersion: 2,
        name: "asked_at_once",
        type: "job",
        version: "1.0",
        contributor: "somebody",
        description: "# Serving\nwith words in *Markdown*\n",
        parameters: { path: "/tmp/model" },
        prerequisites: [{
            protocolVersion: 2, type: "dockerimage", uri: "berth/base:latest", name: "image",
            version: "1.0-r1.4", contributor: "somebody", description: "an image\n",
        }],
        taskRoles: {
            worker: {
                instances: 1,
                dockerImage: "image",
                resourcePerInstance: { cpu: 1, memoryMB: 256, gpu: 0, ports: { model_server: 1 } },
                commands: ["echo <% $parameters.path %>", "sleep 100000"],
            },
        },
    };
    const accepted = await client.job.createJob(job);
    types(accepted, { message: "string" });
    for (const attempt of [undefined, 0]) {
        const seen = await client.job.getJob(username, job.name, attempt);
        types(seen.jobStatus, {
            username: "string", virtualCluster: "string", state: "string", subState: "string",
            executionType: "string", retries: "number", attemptId: "number", attemptState: "string",
        });
        const [task] = seen.taskRoles.worker.taskStatuses;
        types(task, { taskIndex: "number", taskUid: "string", containerPorts: "object", containerLog: "string" });
        await refused(client.job.getJob(username, "none", attempt), 404, "NoJobError");
    }
    const [first] = await client.jobHistory.getJobAttempts(username, job.name);
    const zeroth = await client.jobHistory.getJobAttempt(username, job.name, 0);
    assert.deepStrictEqual([first.attemptIndex, zeroth.attemptIndex], [0, 0]);
    assert.deepStrictEqual(await client.job.getJobConfig(username, job.name), job);
    await refused(client.job.getJobConfig(username, "none"), 404);
    const rows = await client.job.listJobs();
    const page = await client.job.listJobs({ limit: 1, withTotalCount: true });
    assert.deepStrictEqual([rows.length, page.totalCount, page.data.length], [1, 1, 1]);
    types(rows[0], {
        name: "string", username: "string", state: "string", executionType: "string", tags: "array",
        retries: "number", retryDetails: "object", createdTime: "number", totalGpuNumber: "number",
    });
    types(await client.job.addTag(username, job.name, "testTag"), { message: "string" });
    types(await client.job.deleteTag(username, job.name, "testTag"), { message: "string" });
    for (const type of ["STOP", "START", "STOP"]) {
        const done = await client.job.updateJobExecutionType(username, job.name, type);
        types(done, { message: "string" });
    }
}

async function all() {
    await tokens();
    await signingIn();
    await users();
    await oneself();
    await groups();
    await theCluster();
    await aJobAtOnce();
    console.log("well");
}

all().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
