// Fetches a part of the application, again and again while no network carries it: a page that has
// lost a part is dead. A part that is gone has been replaced by a newer version's: the page is
// loaded anew, once.
async function fetchPart(url) {
  const gone = `part gone: ${url.pathname}`;
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    try {
      const answer = await fetch(url);
      // Read whole, for the network can go in the middle, too.
      if (answer.ok) return await answer.arrayBuffer();
      if (answer.status === 404 && !sessionStorage.getItem(gone)) {
        sessionStorage.setItem(gone, "reloaded");
        location.reload();
      }
    } catch (error) {
      console.warn(`${url.pathname} is fetched again`, error);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}

// What has been linked, by the numbers of the pieces.
const linked = new Map();

// Links those pieces of a part that have not come with another. Its file begins with numbers of four
// bytes, the least first: how many pieces there are, then of each its own number and its length.
function link(file) {
  const numbers = new DataView(file);
  const count = numbers.getUint32(0, true);
  const pieces = [];
  let from = 4 + 8 * count;
  for (let at = 4; pieces.length < count; at += 8) {
    const piece = numbers.getUint32(at, true);
    const length = numbers.getUint32(at + 4, true);
    if (!linked.has(piece)) {
      const code = new Uint8Array(file, from, length);
      linked.set(piece, WebAssembly.instantiate(code, getSharedImports()));
    }
    pieces.push(linked.get(piece));
    from += length;
  }
  return Promise.all(pieces);
}

// What loads a part, once, and with it those that come before it: in one file, where there is one with
// all of them and none was asked for yet.
function load(file, before, whole) {
  const fetched = (file) => fetchPart(new URL(file, import.meta.url)).then(link);
  const part = () => {
    const all = part.all();
    if (whole && !all.some((one) => one.loading)) {
      const loading = fetched(whole);
      for (const one of all) one.loading = loading;
    }
    part.loading ??= Promise.all([...before().map((one) => one()), fetched(file)]);
    return part.loading;
  };
  part.all = () => [part, ...before().flatMap((one) => one.all())];
  return part;
}

