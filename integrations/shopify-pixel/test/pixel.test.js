// The pixel in a test sandbox: Shopify's events as input, the requests as output. Only this machine is called.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";

import { readSlug, referral, settingsOf, start, withoutValues } from "../src/pixel.js";

const CLICK = { ok: true, clickId: "c1", slug: "ann", cookieWindowDays: 30, attributionModel: "LastTouch" };
let service, endpoint, sent, answer;

before(async () => {
  service = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      sent.push({ method: request.method, path: request.url, type: request.headers["content-type"], body: JSON.parse(body) });
      if (answer === "cut") return request.socket.destroy();
      response.writeHead(answer.status ?? 200, { "Content-Type": "application/json" });
      response.end(answer.raw ?? JSON.stringify(answer));
    });
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${service.address().port}`;
});
after(() => service.close());
beforeEach(() => {
  sent = [];
  answer = CLICK;
});

/** Start the pixel in a sandbox; return functions that send the store's events, and the stored values. */
function sandbox({ settings = {}, cookies = true, storage = true } = {}) {
  const listeners = {}, jar = new Map(), local = new Map();
  const refuse = async () => {
    throw new Error("not in this sandbox");
  };
  const browser = {
    cookie: {
      get: cookies ? async (name) => jar.get(name) ?? "" : refuse,
      set: cookies ? async (text) => jar.set(...text.split(";")[0].split("=")) : refuse,
    },
    localStorage: {
      getItem: storage ? async (name) => local.get(name) ?? null : refuse,
      setItem: storage ? async (name, value) => void local.set(name, value) : refuse,
    },
  };
  const analytics = { subscribe: (name, listener) => (listeners[name] = listener) };
  start({ analytics, browser, settings: { accountID: "px_abcdefgh", endpoint, params: "friend,via,ref", ...settings } });
  const emit = (name, event) => listeners[name]?.(event);
  return {
    listeners, jar, local,
    view: (href, more = {}) =>
      emit("page_viewed", { clientId: "v-1", context: { document: { location: { href }, referrer: "https://blog.test/a?b=c", ...more } } }),
    begin: (token) => emit("checkout_started", { data: { checkout: { token, totalPrice: { amount: 118 }, email: "a@b.test" } } }),
    complete: (token) => emit("checkout_completed", { data: { checkout: { token, order: { id: "1" }, totalPrice: { amount: 118 } } } }),
  };
}

test("a visit through a link is reported with only the names of its parameters", async () => {
  const shop = sandbox();
  await shop.view("https://mugs.test/?via=ann&email=secret%40x.test&subId=Mail!#top");

  assert.deepEqual(sent, [{
    method: "POST", path: "/api/v1/track/click", type: "text/plain;charset=UTF-8",
    body: {
      pixelKey: "px_abcdefgh", slug: "ann", subId: "mail", url: "https://mugs.test/?via=1&email=1&subId=1",
      referrer: "https://blog.test/a", visitorId: "v-1",
    },
  }]);
});

test("a page view without a link is not reported", async () => {
  const shop = sandbox();
  for (const href of ["https://mugs.test/", "https://mugs.test/?q=via", "https://mugs.test/?via=", "https://mugs.test/?via=%00", "", undefined]) {
    await shop.view(href);
  }
  await shop.listeners.page_viewed(undefined);
  await shop.listeners.page_viewed({});

  assert.deepEqual(sent, []);
});

test("a checkout is reported with the link of its browser and without amounts", async () => {
  const shop = sandbox();
  await shop.view("https://mugs.test/?via=ann&subId=mail");
  await shop.begin("tok-1");
  await shop.complete("tok-1");

  const report = { pixelKey: "px_abcdefgh", checkoutToken: "tok-1", slug: "ann", subId: "mail" };
  assert.deepEqual(sent.slice(1).map(({ path, body }) => [path, body]), [
    ["/api/v1/track/checkout", report],
    ["/api/v1/track/checkout", report],
  ]);
});

test("a checkout before the response to the visit waits for it", async () => {
  const shop = sandbox();
  shop.view("https://mugs.test/?via=ann");
  await shop.begin("tok-1");

  assert.deepEqual(sent.map(({ path }) => path), ["/api/v1/track/click", "/api/v1/track/checkout"]);
});

test("a checkout without a referred visit or without a token is not reported", async () => {
  const shop = sandbox();
  await shop.begin("tok-1");
  await shop.view("https://mugs.test/?via=ann");
  for (const token of [undefined, null, "", 7, "x".repeat(200)]) await shop.complete(token);
  await shop.listeners.checkout_completed(undefined);

  assert.equal(sent.length, 1);
});

test("a link that does not exist or earns nothing is not stored", async () => {
  for (const response of [{ ok: true }, { status: 429 }, { status: 500 }, { raw: "<html>" }, "cut"]) {
    const shop = sandbox();
    answer = response;
    await shop.view("https://mugs.test/?via=ann");
    await shop.begin("tok-1");
    assert.deepEqual([shop.jar.size, shop.local.size], [0, 0], JSON.stringify(response));
  }
  assert.deepEqual([...new Set(sent.map(({ path }) => path))], ["/api/v1/track/click"]);
});

test("the pixel works without cookies, storage or both", async () => {
  for (const lack of [{ cookies: false }, { storage: false }]) {
    sent = [];
    const shop = sandbox(lack);
    await shop.view("https://mugs.test/?via=ann");
    await shop.begin("tok-1");
    assert.equal(sent.length, 2, JSON.stringify(lack));
  }
  const shop = sandbox({ cookies: false, storage: false });
  await shop.view("https://mugs.test/?via=ann");
  await shop.begin("tok-1");
  assert.equal(sent.length, 3);
});

test("the first link counts with FirstTouch, the last one otherwise", async () => {
  for (const [model, credited] of [["FirstTouch", "ann"], ["LastTouch", "ben"]]) {
    sent = [];
    const shop = sandbox();
    for (const slug of ["ann", "ben"]) {
      answer = { ...CLICK, slug, attributionModel: model };
      await shop.view(`https://mugs.test/?via=${slug}`);
    }
    await shop.begin("tok-1");
    assert.equal(sent.at(-1).body.slug, credited);
  }
});

test("a stored referral expires with the campaign's window", async () => {
  const shop = sandbox();
  const record = (until) => JSON.stringify({ slug: "ann", until });
  shop.local.set("finderfee_pixel", record(Date.now() - 1));
  shop.jar.set("finderfee_pixel", "%7Bnonsense");
  await shop.begin("tok-1");
  assert.equal(sent.length, 0);

  shop.local.set("finderfee_pixel", record(Date.now() + 1000));
  await shop.begin("tok-1");
  assert.equal(sent.length, 1);
});

test("the pixel does not start with invalid settings", () => {
  const valid = { accountID: "px_abcdefgh", endpoint: "https://api.test/", params: "via, Ref" };
  assert.deepEqual(settingsOf(valid), { key: "px_abcdefgh", endpoint: "https://api.test", params: ["via", "ref"] });
  const wrong = [undefined, {}, { ...valid, accountID: "" }, { ...valid, accountID: "x" }, { ...valid, endpoint: "ftp://x" }, { ...valid, params: "" }];
  for (const settings of wrong) assert.equal(settingsOf(settings), null);
  assert.deepEqual(sandbox({ settings: { accountID: "another's" } }).listeners, {});
});

test("the slugs of a URL are tried until one is known", async () => {
  const shop = sandbox();
  answer = { ok: true };
  await shop.view("https://mugs.test/via/ben?ref=missing&via=unknown");
  assert.deepEqual(sent.map(({ body }) => body.slug), ["unknown", "missing", "ben"]);

  sent = [];
  answer = CLICK;
  await shop.view("https://mugs.test/?via=ann&ref=ben");
  assert.deepEqual(sent.map(({ body }) => body.slug), ["ann"]);
});

test("a slug is read regardless of the characters around it", () => {
  const forms = [
    "{}/", "{}.", "{})", "{},", "{}).", "{}\u200b", "\u200b{}", "\ufeff{} ", "{}&amp;utm_source=x", "{}&#038;utm_source=x",
    "{}?utm_source=x", "{}#top", "{}%2F", "{}%E2%80%8B", "{}\u2026", "{}_",
  ];
  for (const form of forms) {
    const text = form.replace("{}", "Ann-Lee");
    assert.equal(readSlug(text), "ann-lee", form);
    for (const address of [`?x=1&via=${encodeURIComponent(text)}`, `via/${encodeURIComponent(text)}`]) {
      assert.equal(referral(`https://m.test/${address}`, ["via"])?.slug, "ann-lee", address);
    }
  }
  for (const text of ["", "two words", "https://m.test/", "/ann", "\u200b", "x".repeat(65)]) assert.equal(readSlug(text), null, text);
  for (const address of ["?x=1&amp;via=ann", "?x=1&#038;via=ann", "?x=1&amp%3Bvia=ann", "#/via/ann", "VIA/ann)."]) {
    assert.equal(referral(`https://m.test/${address}`, ["via"])?.slug, "ann", address);
  }
});

test("the referrer is read like in the loader", () => {
  const params = ["friend", "via", "ref"];
  const slug = (address) => referral(address, params)?.slug ?? null;
  const expected = [
    ["https://m.test/?ref=ben&via=ann", "ann"],
    ["https://m.test/?ref=ben&via=ann&friend=cleo", "cleo"],
    ["https://m.test/?VIA=ann", "ann"],
    ["https://m.test/?via=&via=ann", "ann"],
    ["https://m.test/?via=an%20n&ref=ben", "ben"],
    ["https://m.test/?via=%E0%A4%A", null],
    ["https://m.test/#via=ann", "ann"],
    ["https://m.test/#/home?via=ann", "ann"],
    ["https://m.test/via/ann/mugs", "ann"],
    ["https://m.test/via/%2e%2f", null],
    [`https://m.test/?via=${"x".repeat(65)}`, null],
  ];
  assert.deepEqual(expected.map(([address]) => slug(address)), expected.map(([, expectedSlug]) => expectedSlug));
  assert.equal(withoutValues("https://m.test/?a=1&b=two=3#c=4"), "https://m.test/?a=1&b=1");
});
