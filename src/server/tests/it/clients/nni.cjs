// What NNI runs its trials on OpenPAI with, unchanged, against the server:
// node nni.cjs NNI ADDRESS USER TOKEN STORAGE
"use strict";

const assert = require("assert");
const path = require("path");

const [nni, host, username, token, storage] = process.argv.slice(2);
const part = (name) => require(path.join(nni, name));
const { OpenPaiEnvironmentService } = part("training_service/reusable/environments/openPaiEnvironmentService");
const { EnvironmentInformation } = part("training_service/reusable/environment");
/** Long enough for anything that happens at all. */
const PATIENCE = 120_000;

// It writes a log of its own, which nobody reads here.
global.logFile = { write() {} };

const trainingService = {
    platform: "openpai",
    host,
    username,
    token,
    dockerImage: "berth/base:latest",
    trialCpuNumber: 1,
    trialGpuNumber: 0,
    trialMemorySize: "256mb",
    storageConfigName: storage,
    localStorageMountPoint: "/nowhere",
    containerStorageMountPoint: `/mnt/${storage}`,
};
const service = new OpenPaiEnvironmentService({ trainingService }, { experimentId: "quay" });

/** An environment of this name that runs a command. */
async function begin(name, command) {
    const environment = new EnvironmentInformation(name, name, name);
    environment.command = command;
    await service.startEnvironment(environment);
    return environment;
}

async function until(environment, status) {
    const end = Date.now() + PATIENCE;
    while (environment.status !== status) {
        assert(Date.now() < end, `it is ${environment.status}, not ${status}`);
        await new Promise((soon) => setTimeout(soon, 50));
        await service.refreshEnvironmentsStatus([environment]);
    }
}

async function all() {
    const trial = await begin("nni_exp_quay_env_1", "sleep 100000");
    assert(trial.command.startsWith(`cd /mnt/${storage}/quay && `));
    await until(trial, "RUNNING");
    const page = await fetch(trial.trackingUrl, { redirect: "manual" });
    const leads = [page.status, page.headers.get("location")];
    assert.deepStrictEqual(leads, [307, `/jobs/${username}/nni_exp_quay_env_1`]);
    await service.stopEnvironment(trial);
    await until(trial, "USER_CANCELED");
    await until(await begin("nni_exp_quay_env_2", "true"), "SUCCEEDED");
    await assert.rejects(begin("nni_exp_quay_env_2", "true"));
    const broken = await begin("nni_exp_quay_env_3", "exit 3");
    await assert.rejects(until(broken, "SUCCEEDED"), (error) => /env_3 is failed/.test(error));
    assert.strictEqual(broken.status, "FAILED");
    console.log("well");
}

all().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
