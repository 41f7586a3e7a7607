/*
 * Tells Finderfee of visits that links brought to a store, and by which link the browser of a checkout had come.
 *
 * It runs in Shopify's sandbox for web pixels, which gives it events, storage and `fetch`, and no page. It sends no
 * name, no email, no cart and no money, and of a page's address only the names of its parameters. It never throws: what
 * the sandbox refuses is done without.
 */

const KEPT = "finderfee_pixel";
// The longest run that can be a slug, unless it is a word of several or the scheme of an address.
const SLUG = /^(?=([a-z\d-]+(?:(?:\.|_+)[a-z\d-]+)*))\1(?!\s|:\/\/)/i;
const INVISIBLE = /[\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const MOST_SLUGS = 5;
const KEY = /^px_[\w-]{8,61}$/;
const DAY_MS = 864e5;
const DAYS = 30;

/**
 * Begin to listen. `browser` is the sandbox's storage, `settings` what Finderfee gave the store's pixel: accountID (its
 * public key), endpoint (an address) and params (names with commas between them). Does nothing without them.
 */
export function start({ analytics, browser, settings }) {
  const asked = settingsOf(settings);
  if (!asked) return;
  const { key, endpoint, params } = asked;

  async function visited(event) {
    const page = event?.context?.document ?? {};
    const address = String(page.location?.href ?? "");
    const came = referral(address, params);
    if (!came) return;
    for (const slug of came.slugs.slice(0, MOST_SLUGS)) {
      const answer = await post(`${endpoint}/api/v1/track/click`, {
        pixelKey: key,
        slug,
        subId: came.subId,
        url: withoutValues(address),
        referrer: String(page.referrer ?? "").split(/[?#]/)[0].slice(0, 8000) || undefined,
        visitorId: String(event.clientId ?? "").slice(0, 128) || undefined,
      });
      // Without a click the link is nobody's, or earns nothing now.
      if (answer?.clickId) return keep(browser, slug, came.subId, answer);
      if (!answer) return;
    }
  }

  async function checkedOut(event) {
    const token = event?.data?.checkout?.token;
    if (typeof token !== "string" || !token || token.length > 128) return;
    const kept = await recall(browser);
    if (!kept) return;
    await post(`${endpoint}/api/v1/track/checkout`, {
      pixelKey: key,
      checkoutToken: token,
      slug: kept.slug,
      subId: kept.subId,
    });
  }

  // The store tells events one by one and waits for none: a visit is kept before its checkout is looked at.
  let before = Promise.resolve();
  const inTurn = (work) => (event) => (before = before.then(() => work(event)).catch(() => undefined));
  analytics.subscribe("page_viewed", inTurn(visited));
  // Told when it begins, before the order can be there; and when it is done, for those that begin elsewhere.
  analytics.subscribe("checkout_started", inTurn(checkedOut));
  analytics.subscribe("checkout_completed", inTurn(checkedOut));
}

/** Return the settings as they are used, or null where they are not ours. */
export function settingsOf(settings) {
  const key = String(settings?.accountID ?? "");
  const endpoint = String(settings?.endpoint ?? "").replace(/\/+$/, "");
  const params = String(settings?.params ?? "").split(",").map((name) => name.trim().toLowerCase()).filter(Boolean);
  return KEY.test(key) && /^https?:\/\/[^/?#\s]+/.test(endpoint) && params.length ? { key, endpoint, params } : null;
}

/**
 * Return who may have sent the visitor of an address, as { slug, slugs, subId } with the first of the slugs, in the order of these parameters, then what its
 * path says; or null.
 */
export function referral(address, params) {
  const [beforeHash, hash = ""] = address.replace(/&(amp;|#0*38;)+/gi, "&").split("#", 2);
  const [path, query = ""] = beforeHash.split("?", 2);
  const found = new Map();
  for (const pair of `${query}&${hash.replace(/^.*\?/, "")}`.split("&")) {
    const [name, value = ""] = pair.split("=", 2).map(decoded);
    const known = name.toLowerCase().replace(/^(amp;|#?0*38;)+/, "");
    if (!found.get(known)) found.set(known, value.trim());
  }
  const inPath = /\/via\/([^/?&#]+)/i.exec(`${path}#${hash}`)?.[1];
  const slugs = [...params.map((name) => found.get(name)), inPath].map((text) => readSlug(text ?? "")).filter(Boolean);
  return slugs.length ? { slug: slugs[0], slugs: [...new Set(slugs)], subId: tidy(found.get("subid") || found.get("sub_id") || "") } : null;
}

/** Return the slug that a text begins with, in lower case, as Finderfee reads it; or null. */
export function readSlug(text) {
  const read = decoded(decoded(text)).replace(INVISIBLE, "").trim();
  const slug = SLUG.exec(read)?.[0];
  return slug && slug.length <= 64 ? slug.toLowerCase() : null;
}

/** Return an address whose parameters have lost their values: the name alone tells an advertisement. */
export function withoutValues(address) {
  return address.split("#")[0].replace(/=[^&]*/g, "=1").slice(0, 8000);
}

function tidy(text) {
  return text.toLowerCase().replace(/[^a-z0-9._-]/g, "").slice(0, 64) || undefined;
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, " "));
  } catch {
    return text;
  }
}

// A text needs no leave of the service before it is sent; what is on its way outlives the page.
async function post(address, body) {
  const sent = { method: "POST", body: JSON.stringify(body), keepalive: true, credentials: "omit" };
  const answer = await fetch(address, sent);
  return answer.ok ? answer.json() : null;
}

async function keep(browser, slug, subId, answer) {
  if (answer.attributionModel === "FirstTouch" && (await recall(browser))) return;
  const days = answer.cookieWindowDays || DAYS;
  const kept = JSON.stringify({ slug: answer.slug ?? slug, subId, until: Date.now() + days * DAY_MS });
  const cookie = `${KEPT}=${encodeURIComponent(kept)}; path=/; max-age=${days * 86_400}; SameSite=Lax; Secure`;
  await tried(() => browser.cookie.set(cookie));
  await tried(() => browser.localStorage.setItem(KEPT, kept));
}

async function recall(browser) {
  const places = [
    async () => decoded((await browser.cookie.get(KEPT)) ?? ""),
    () => browser.localStorage.getItem(KEPT),
  ];
  for (const place of places) {
    const found = await tried(async () => JSON.parse(await place()));
    if (found && readSlug(String(found.slug)) === found.slug && found.until > Date.now()) return found;
  }
  return null;
}

async function tried(work) {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
