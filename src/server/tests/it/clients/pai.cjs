// OpenPAI's command line `pai`, unchanged, against the server: node pai.cjs ADDRESS USER TOKEN FOLDER
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");

const [address, user, token, folder] = process.argv.slice(2);
const program = path.join(__dirname, "node_modules/@microsoft/openpai-js-sdk/lib/src/cli.js");
/** Long enough for anything that happens at all. */
const PATIENCE = 120_000;

const FILE = `
protocolVersion: 2
name: from-a-file
type: job
prerequisites:
  - { type: dockerimage, uri: "berth/base:latest", name: image }
taskRoles:
  worker:
    instances: 1
    dockerImage: image
    resourcePerInstance: { cpu: 1, memoryMB: 256, gpu: 0 }
    commands: ["sleep 100000"]
`;

/** What it prints; it keeps its clusters in the home folder. */
function pai(...words) {
    const options = { env: { ...process.env, HOME: folder }, encoding: "utf8" };
    return execFileSync(process.execPath, [program, ...words], options);
}

async function all() {
    const file = path.join(folder, "job.yaml");
    fs.writeFileSync(file, FILE);
    pai("addc", address, user, token, "--alias", "quay");
    assert(pai("listc").includes("quay"));
    assert(pai("subj", "quay", file).includes("from-a-file"));
    const end = Date.now() + PATIENCE;
    let state = "";
    while (state !== "RUNNING") {
        assert(Date.now() < end, `the job is ${state}`);
        await new Promise((soon) => setTimeout(soon, 50));
        state = JSON.parse(pai("getj", "quay", "from-a-file")).jobStatus.state;
    }
    const [row] = pai("listj", "quay").split("\n").filter((line) => line.includes("from-a-file"));
    for (const word of [user, "RUNNING", "default"]) assert(row.includes(word), row);
    const way = pai("ssh", "quay", "from-a-file").trim();
    assert(/^ssh -oStrictHostKeyChecking=no -l root -p \d+ 10\.0\.0\.1$/.test(way), way);
    pai("delc", "quay");
    assert(!pai("listc").includes("quay"));
    console.log("well");
}

all().catch((error) => {
    console.error(error);
    process.exitCode = 1;
});
