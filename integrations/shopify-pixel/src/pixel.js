/*
 * Reports to Finderfee the visits that came to a store through links, and the link through which the browser of a
 * checkout came.
 *
 * It runs in Shopify's sandbox for web pixels, which provides events, storage and `fetch`, but no page. It sends no name,
 * email, cart or amount, and of a URL's parameters only their names. It never throws: it works without everything that
 * the sandbox refuses.
 */

const STORAGE_KEY = "finderfee_pixel";
// The longest slug at the start of a text, unless it is one of several words or the scheme of a URL.
const SLUG = /^(?=([a-z\d-]+(?:(?:\.|_+)[a-z\d-]+)*))\1(?!\s|:\/\/)/i;
const INVISIBLE = /[\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const MAX_SLUGS = 5;
const KEY = /^px_[\w-]{8,61}$/;
const DAY_MS = 864e5;
const DAYS = 30;

/**
 * Subscribe to the store's events. `browser` is the sandbox's storage; `settings` are those that Finderfee set for the
 * store's pixel: accountID (its public key), endpoint (a URL) and params (names separated by commas). Does nothing
 * without them.
 */
export function start({ analytics, browser, settings }) {
  const parsed = settingsOf(settings);
  if (!parsed) return;
  const { key, endpoint, params } = parsed;

  async function reportVisit(event) {
    const page = event?.context?.document ?? {};
    const address = String(page.location?.href ?? "");
    const referrer = referral(address, params);
    if (!referrer) return;
    for (const slug of referrer.slugs.slice(0, MAX_SLUGS)) {
      const answer = await post(`${endpoint}/api/v1/track/click`, {
        pixelKey: key,
        slug,
        subId: referrer.subId,
        url: withoutValues(address),
        referrer: String(page.referrer ?? "").split(/[?#]/)[0].slice(0, 8000) || undefined,
        visitorId: String(event.clientId ?? "").slice(0, 128) || undefined,
      });
      // Without a click, the link does not exist or earns nothing now.
      if (answer?.clickId) return store(browser, slug, referrer.subId, answer);
      if (!answer) return;
    }
  }

  async function reportCheckout(event) {
    const token = event?.data?.checkout?.token;
    if (typeof token !== "string" || !token || token.length > 128) return;
    const stored = await recall(browser);
    if (!stored) return;
    await post(`${endpoint}/api/v1/track/checkout`, {
      pixelKey: key,
      checkoutToken: token,
      slug: stored.slug,
      subId: stored.subId,
    });
  }

  // The store sends events one by one without waiting: process them in order, so that a visit is stored before its checkout.
  let last = Promise.resolve();
  const inOrder = (work) => (event) => (last = last.then(() => work(event)).catch(() => undefined));
  analytics.subscribe("page_viewed", inOrder(reportVisit));
  // Report a checkout at its start, before the order can exist, and at its end, for checkouts that start elsewhere.
  analytics.subscribe("checkout_started", inOrder(reportCheckout));
  analytics.subscribe("checkout_completed", inOrder(reportCheckout));
}

/** Return the parsed settings, or null if they are invalid. */
export function settingsOf(settings) {
  const key = String(settings?.accountID ?? "");
  const endpoint = String(settings?.endpoint ?? "").replace(/\/+$/, "");
  const params = String(settings?.params ?? "").split(",").map((name) => name.trim().toLowerCase()).filter(Boolean);
  return KEY.test(key) && /^https?:\/\/[^/?#\s]+/.test(endpoint) && params.length ? { key, endpoint, params } : null;
}

/**
 * Return the possible referrers in a URL as { slug, slugs, subId }, or null. `slugs` are the whole texts, which may be
 * tokens of a former affiliate system: in the order of these parameters, then the one in the path; `slug` is the first slug among them.
 */
export function referral(address, params) {
  const [beforeHash, hash = ""] = address.replace(/&(amp;|#0*38;)+/gi, "&").split("#", 2);
  const [path, query = ""] = beforeHash.split("?", 2);
  const values = new Map();
  for (const pair of `${query}&${hash.replace(/^.*\?/, "")}`.split("&")) {
    const [name, value = ""] = pair.split("=", 2).map(decode);
    const param = name.toLowerCase().replace(/^(amp;|#?0*38;)+/, "");
    if (!values.get(param)) values.set(param, value.trim());
  }
  const inPath = /\/via\/([^/?&#]+)/i.exec(`${path}#${hash}`)?.[1];
  const slugs = [...params.map((name) => values.get(name)), inPath].map((text) => readToken(text ?? "")).filter(Boolean);
  return slugs.length ? { slug: slugs.map(readSlug).find(Boolean) ?? null, slugs: [...new Set(slugs)], subId: cleanSubId(values.get("subid") || values.get("sub_id") || "") } : null;
}

/** Return the slug that a text begins with, in lower case, as Finderfee reads it; or null. */
export function readSlug(text) {
  const slug = SLUG.exec(readToken(text) ?? "")?.[0];
  return slug && slug.length <= 64 ? slug : null;
}

/** Return a text that may be a slug or a token of a former affiliate system, in lower case; or null. A URL is neither. */
export function readToken(text) {
  const token = decode(decode(text)).replace(INVISIBLE, "").trim();
  return token && token.length <= 190 && !/:\/\/|[\0-\x1f\x7f]/.test(token) ? token.toLowerCase() : null;
}

/** Return a URL without the values of its parameters: the names are enough to recognize an advertisement. */
export function withoutValues(address) {
  return address.split("#")[0].replace(/=[^&]*/g, "=1").slice(0, 8000);
}

function cleanSubId(text) {
  return text.toLowerCase().replace(/[^a-z0-9._-]/g, "").slice(0, 64) || undefined;
}

function decode(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return text;
  }
}

// Plain text needs no preflight request; keepalive lets the request outlive the page.
async function post(address, body) {
  const options = { method: "POST", body: JSON.stringify(body), keepalive: true, credentials: "omit" };
  const answer = await fetch(address, options);
  return answer.ok ? answer.json() : null;
}

async function store(browser, slug, subId, answer) {
  if (answer.attributionModel === "FirstTouch" && (await recall(browser))) return;
  const days = answer.cookieWindowDays || DAYS;
  const record = JSON.stringify({ slug: answer.slug ?? slug, subId, until: Date.now() + days * DAY_MS });
  const cookie = `${STORAGE_KEY}=${encodeURIComponent(record)}; path=/; max-age=${days * 86_400}; SameSite=Lax; Secure`;
  await ignoreErrors(() => browser.cookie.set(cookie));
  await ignoreErrors(() => browser.localStorage.setItem(STORAGE_KEY, record));
}

async function recall(browser) {
  const places = [
    async () => decode((await browser.cookie.get(STORAGE_KEY)) ?? ""),
    () => browser.localStorage.getItem(STORAGE_KEY),
  ];
  for (const place of places) {
    const record = await ignoreErrors(async () => JSON.parse(await place()));
    if (record && readSlug(String(record.slug)) === record.slug && record.until > Date.now()) return record;
  }
  return null;
}

async function ignoreErrors(work) {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
