// Makes WebAssembly small, each of the files that are named: `node shrink.mjs FILE...`. All processors work
// at it; a process for each file would take most of its time for the start.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker, isMainThread, parentPort } from "node:worker_threads";

if (isMainThread) {
  const files = process.argv.slice(2);
  const give = (worker) => {
    const file = files.shift();
    if (file === undefined) void worker.terminate();
    else worker.postMessage(file);
  };
  for (let workers = Math.min(availableParallelism(), files.length); workers > 0; workers--) {
    const worker = new Worker(new URL(import.meta.url));
    worker.on("message", () => give(worker));
    worker.on("error", (error) => {
      throw error;
    });
    give(worker);
  }
} else {
  const { default: binaryen } = await import("binaryen");
  const { Features } = binaryen;
  // What rustc's WASM target uses and every current browser understands; the code itself does not say
  // so once it is stripped. All features would be too many: browsers lack some of them.
  const features =
    Features.BulkMemory |
    Features.BulkMemoryOpt |
    Features.Multivalue |
    Features.MutableGlobals |
    Features.NontrappingFPToInt |
    Features.ReferenceTypes |
    Features.SignExt;
  // As `wasm-opt -Oz`.
  binaryen.setOptimizeLevel(2);
  binaryen.setShrinkLevel(2);
  // In the lowest kilobyte lies only what the stack never comes down to.
  binaryen.setLowMemoryUnused(true);
  // What is transferred counts, and compressed: functions of one generic one are alike as long as nothing is
  // built into them, and are found to be where they stand beside each other. In small pieces there are few.
  const LARGE = 50_000;
  parentPort.on("message", (file) => {
    const before = readFileSync(file);
    const isLarge = before.length > LARGE;
    const code = binaryen.readBinary(before);
    code.setFeatures(features);
    forgetStreams(binaryen, code);
    binaryen.setOneCallerInlineMaxSize(isLarge ? 0 : -1);
    code.optimize();
    if (isLarge) code.runPasses(["reorder-functions-by-name"]);
    // What the tools before said to each other, in each of hundreds of pieces.
    code.runPasses(["strip-producers", "strip-target-features"]);
    writeFileSync(file, code.emitBinary());
    code.dispose();
    parentPort.postMessage("done");
  });
}

// A library that is linked for what it reads gives scripts streams, too, and keeps all code for that because
// a script might ask. None does: nothing here makes such streams.
function forgetStreams(binaryen, code) {
  for (let at = code.getNumExports() - 1; at >= 0; at--) {
    const { name } = binaryen.getExportInfo(code.getExportByIndex(at));
    if (/^(__wbg_)?intounderlying/.test(name)) code.removeExport(name);
  }
}
