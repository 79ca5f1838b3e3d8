// OpenPAI's library for JavaScript, unchanged, against the server: node sdk.cjs ADDRESS USER PASSWORD
"use strict";

const assert = require("assert");
const { PAIV1, PAIV2 } = require("@microsoft/openpai-js-sdk");

const [address, username, password] = process.argv.slice(2);
/** Long enough for anything that happens at all. */
const PATIENCE = 120_000;

const job = {
    protocolVersion: 2,
    name: "quay",
    type: "job",
    prerequisites: [{ type: "dockerimage", uri: "berth/base:latest", name: "image" }],
    taskRoles: {
        worker: {
            instances: 2,
            dockerImage: "image",
            resourcePerInstance: { cpu: 1, memoryMB: 256, gpu: 0 },
            commands: ["sleep 100000"],
        },
    },
};

const client = new PAIV2.OpenPAIClient({ pai_uri: address, username, password });

/** Asks until the job is so, and each of its tasks as well: a job runs when the first of them does. */
async function until(state) {
    const end = Date.now() + PATIENCE;
    for (;;) {
        const seen = await client.job.getJob(username, job.name);
        const tasks = Object.values(seen.taskRoles).flatMap((role) => role.taskStatuses);
        if ([seen.jobStatus.state, ...tasks.map((task) => task.taskState)].every((one) => one === state)) return seen;
        assert(Date.now() < end, `the job is ${seen.jobStatus.state}, not ${state}`);
        await new Promise((soon) => setTimeout(soon, 50));
    }
}

async function refused(status, asked) {
    await assert.rejects(asked, (error) => error.status === status && error.data.message !== "");
}

async function theCluster() {
    const info = await client.api.getClusterInfo();
    assert.deepStrictEqual([info.launcherType, info.authnMethod], ["k8s", "basic"]);
    const clusters = await client.virtualCluster.listVirtualClusters();
    assert.deepStrictEqual(Object.keys(clusters), ["default"]);
    await client.virtualCluster.getVirtualCluster("default");
    await client.virtualCluster.getVirtualClusterSkuTypes("default");
    await refused(404, client.virtualCluster.getVirtualCluster("nowhere"));
    assert.deepStrictEqual(await client.storage.getStorages(), { storages: [] });
    const nodes = await client.kubernetes.getK8sNodes();
    assert.deepStrictEqual(nodes.items.map((node) => node.metadata.name), ["n1"]);
}

async function aJob() {
    await client.job.createJob(job);
    await refused(409, client.job.createJob(job));
    const running = await until("RUNNING");
    const tasks = running.taskRoles.worker.taskStatuses;
    assert.deepStrictEqual(tasks.map((task) => task.taskState), ["RUNNING", "RUNNING"]);
    assert.notStrictEqual(tasks[0].containerPorts.ssh, tasks[1].containerPorts.ssh);
    assert.deepStrictEqual(await client.job.getJobConfig(username, job.name), job);
    const listed = await client.job.listJobs({ username, keyword: "qua" });
    assert.deepStrictEqual(listed.map((one) => [one.name, one.state]), [["quay", "RUNNING"]]);
    assert.deepStrictEqual(await client.job.listJobs({ username: "nobody" }), []);
    const events = await client.job.listEvents(username, job.name, { type: "Normal" });
    assert.strictEqual(events.data.length, events.totalCount);
    assert(events.data.every((event) => event.type === "Normal"));
    await refused(404, client.job.getJob(username, "none"));

    await client.job.addTag(username, job.name, "nightly");
    const tagged = async (tag) => (await client.job.listJobs({ tagsContain: tag })).length;
    assert.deepStrictEqual([await tagged("nightly"), await tagged("weekly")], [1, 0]);
    await client.job.deleteTag(username, job.name, "nightly");
    assert.strictEqual(await tagged("nightly"), 0);
}

async function itsAttempts() {
    assert.strictEqual(await client.jobHistory.getJobAttemptsHealthz(username, job.name), "ok");
    const [attempt] = await client.jobHistory.getJobAttempts(username, job.name);
    assert.strictEqual(attempt.isLatest, true);
    const { attemptIndex } = attempt;
    const one = await client.jobHistory.getJobAttempt(username, job.name, attemptIndex);
    assert.deepStrictEqual(Object.keys(one.taskRoles), ["worker"]);
    const whole = await client.job.getJob(username, job.name, attemptIndex);
    assert.strictEqual(whole.jobStatus.attemptId, attemptIndex);
    const task = await client.job.getTask(username, job.name, attemptIndex, "worker", 1);
    assert.strictEqual(task.attempts.length, 1);
    const run = task.attempts[0].attemptId;
    for (const tailMode of [undefined, true]) {
        const place = [username, job.name, attemptIndex, "worker", 1, run, tailMode];
        const { locations } = await client.job.getTaskLogs(...place);
        const headers = { authorization: `Bearer ${await client.getToken()}` };
        const log = await fetch(new URL(locations[0].uri, address), { headers });
        assert.strictEqual(log.status, 200);
        assert((await log.text()).includes("sleep 100000"), "a simulated task's log is its command");
    }
}

async function itsEnd() {
    await client.job.updateJobExecutionType(username, job.name, "STOP");
    const stopped = await until("STOPPED");
    assert.strictEqual(stopped.jobStatus.executionType, "STOP");
}

async function people() {
    const ada = { username: "ada", password: "correct horse", email: "ada@quay.example" };
    await client.user.createUser({ ...ada, admin: false });
    await refused(409, client.user.createUser({ ...ada, admin: false }));
    const names = (await client.user.getAllUser()).map((user) => user.username);
    assert.deepStrictEqual(names.sort(), ["ada", username]);
    await client.user.updateUser({ username: "ada", email: "ada@berth.example" });
    assert.strictEqual((await client.user.getUser("ada")).email, "ada@berth.example");

    const vision = { groupname: "vision", description: "who sees", externalName: "", extension: {} };
    await client.group.createGroup(vision);
    await client.user.updateUserGroup("ada", "vision");
    const members = await client.group.getGroupMembers("vision");
    assert.deepStrictEqual(members.map((member) => member.username), ["ada"]);
    await client.user.deleteUserGroup("ada", "vision");
    assert.deepStrictEqual(await client.group.getGroupMembers("vision"), []);
    await client.group.deleteGroup("vision");
    await refused(404, client.group.getGroup("vision"));

    const hers = new PAIV2.OpenPAIClient({ pai_uri: address, username: "ada", password: ada.password });
    await refused(403, hers.group.createGroup(vision));
    await client.user.deleteUser("ada");
    await refused(404, client.user.getUser("ada"));
    await refused(401, hers.job.listJobs());
}

async function tokens() {
    const { token, application } = await client.token.createApplicationToken();
    assert.strictEqual(application, true);
    const program = new PAIV2.OpenPAIClient({ pai_uri: address, username, token });
    assert.strictEqual((await program.job.listJobs()).length, 1);
    await program.token.deleteToken(token);
    await refused(401, program.job.listJobs());
    assert((await client.token.getTokens()).tokens.length >= 1);
    await client.authn.basicLogout();
    await refused(401, client.job.listJobs());
}

/** A job of version 1 comes as a form. */
async function theOlderClient() {
    const older = new PAIV1.OpenPAIClient({
        rest_server_uri: `${address}/rest-server`, username, password,
    });
    const { token } = await client.authn.basicLogin(username, password);
    const role = { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 256, gpuNumber: 0, command: "echo hello" };
    const config = { jobName: "older", image: "berth/base:latest", taskRoles: [role] };
    await older.job.submit(username, config, token);
    const seen = new PAIV2.OpenPAIClient({ pai_uri: address, username, token });
    const { taskRoles } = await seen.job.getJobConfig(username, "older");
    assert.deepStrictEqual(taskRoles.main.commands, ["echo hello"]);
}

async function all() {
    await theCluster();
    await aJob();
    await itsAttempts();
    await itsEnd();
    await people();
    await tokens();
    await theOlderClient();
    console.log("well");
}

all().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
