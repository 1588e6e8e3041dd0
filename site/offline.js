/* The service worker: what the site has sent is kept, and given again when there is no network. A page names what it
   loaded before this was there. */
self.onactivate = (event) => event.waitUntil(clients.claim());
self.onfetch = (event) => event.request.method === "GET" && event.respondWith(answer(event.request));
self.onmessage = (event) => event.waitUntil(keep(event.data).catch(() => {}));
const keep = async (urls) => (await caches.open("site")).addAll(urls);

async function answer(request) {
  const store = await caches.open("site");
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await store.put(request, fresh.clone());
    return fresh;
  } catch {
    return (await store.match(request, { ignoreSearch: true })) ?? Response.error();
  }
}
