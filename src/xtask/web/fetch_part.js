// Fetches a part of the application, again and again while no network carries it: a page that has
// lost a part is dead. A part that is gone has been replaced by a newer version's: the page is
// loaded anew, once.
async function fetchPart(url) {
  const gone = `part gone: ${url.pathname}`;
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    try {
      const answer = await fetch(url);
      if (answer.ok) {
        // Read whole, for the network can go in the middle, too.
        const code = await answer.arrayBuffer();
        return new Response(code, { headers: { "Content-Type": "application/wasm" } });
      }
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

