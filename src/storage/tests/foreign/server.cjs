// A WebHDFS server that is not ours: the requests are understood, checked, redirected and refused by
// the package webhdfs-proxy, written for Hadoop 2.4's clients; the files are in the folder that is
// given. Prints the port it serves at.
"use strict";

const fs = require("fs");
const net = require("net");
const nodePath = require("path");
const { createServer, WebHDFSAPIError } = require("webhdfs-proxy");

const root = process.argv[2];
const at = (path) => nodePath.join(root, nodePath.posix.normalize("/" + path));

function status(file, name) {
    const found = fs.statSync(file);
    return {
        accessTime: Math.floor(found.atimeMs),
        blockSize: found.isFile() ? 134217728 : 0,
        group: "supergroup",
        length: found.isFile() ? found.size : 0,
        modificationTime: Math.floor(found.mtimeMs),
        owner: "someone",
        pathSuffix: name,
        permission: "755",
        replication: found.isFile() ? 1 : 0,
        type: found.isFile() ? "FILE" : "DIRECTORY",
    };
}

function answer(response, value) {
    const text = Buffer.from(JSON.stringify(value));
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.end(text);
}

function receive(request, response, file, flags, code) {
    const writing = fs.createWriteStream(file, { flags });
    request.pipe(writing);
    writing.on("finish", () => {
        response.writeHead(code, { "content-length": 0 });
        response.end();
    });
}

const operations = {
    getfilestatus: (path, params, request, response) =>
        answer(response, { FileStatus: status(at(path), "") }),
    liststatus: (path, params, request, response) => {
        const folder = at(path);
        const names = fs.statSync(folder).isFile() ? [""] : fs.readdirSync(folder);
        const found = names.map((name) => status(nodePath.join(folder, name), name));
        answer(response, { FileStatuses: { FileStatus: found } });
    },
    mkdirs: (path, params, request, response) => {
        fs.mkdirSync(at(path), { recursive: true });
        answer(response, { boolean: true });
    },
    rename: (path, params, request, response) => {
        const target = at(String(params.destination));
        const free = !fs.existsSync(target) && fs.existsSync(nodePath.dirname(target));
        if (free) fs.renameSync(at(path), target);
        answer(response, { boolean: free });
    },
    delete: (path, params, request, response) => {
        const there = fs.existsSync(at(path));
        if (there && params.recursive) fs.rmSync(at(path), { recursive: true });
        else if (there && fs.statSync(at(path)).isFile()) fs.unlinkSync(at(path));
        else if (there) fs.rmdirSync(at(path));
        answer(response, { boolean: there });
    },
    create: (path, params, request, response) => {
        fs.mkdirSync(nodePath.dirname(at(path)), { recursive: true });
        receive(request, response, at(path), params.overwrite ? "w" : "wx", 201);
    },
    append: (path, params, request, response) => {
        fs.statSync(at(path));
        receive(request, response, at(path), "a", 200);
    },
    open: (path, params, request, response) => {
        const size = fs.statSync(at(path)).size;
        const start = Math.min(params.offset || 0, size);
        const end = Math.min(params.length === undefined ? size : start + params.length, size);
        response.writeHead(200, {
            "content-type": "application/octet-stream",
            "content-length": end - start,
        });
        if (end === start) response.end();
        else fs.createReadStream(at(path), { start, end: end - 1 }).pipe(response);
    },
};

function handle(error, path, operation, params, request, response, next) {
    if (error) return next(error);
    const decoded = decodeURIComponent(path);
    try {
        operations[operation](decoded, params, request, response);
    } catch (failure) {
        const missing = failure.code === "ENOENT";
        const exception = missing ? "FileNotFoundException" : "RuntimeException";
        next(new WebHDFSAPIError(exception, { path: decoded, message: failure.message }));
    }
}

const probe = net.createServer().listen(0, "127.0.0.1", () => {
    const port = probe.address().port;
    probe.close(() => {
        createServer({ host: "127.0.0.1", http: { port } }, handle, (error) => {
            if (error) throw error;
            console.log(port);
        });
    });
});
