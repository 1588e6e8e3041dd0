/* The service worker: what the site has sent is kept, and given again when there is no network. */
const keep = async () => caches.open("site");
self.onactivate = (event) => event.waitUntil(clients.claim());
self.onfetch = (event) => event.request.method === "GET" && event.respondWith(answer(event.request));

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
