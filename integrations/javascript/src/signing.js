// HMAC-SHA256 of `<unix seconds>.<raw body>`, with the Web Crypto API of Node, Deno, Bun and workers.

const HMAC = { name: "HMAC", hash: "SHA-256" };
const text = new TextEncoder();

/** Return the secret as a key that can be used only for `uses`. */
export function importKey(secret, ...uses) {
  return crypto.subtle.importKey("raw", text.encode(secret), HMAC, false, uses);
}

/** Return the bytes that are signed. */
export function signedBytes(timestampS, body) {
  const head = text.encode(`${timestampS}.`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/**
 * Signs with one secret. The same body sent twice within a second is signed for two different seconds: a signature is
 * valid for one refund, so two intended refunds must not share one.
 */
export class Signer {
  #secret;
  #signed = new Map();

  constructor(secret) {
    this.#secret = secret;
  }

  /** Return the X-Service-Signature of a sale, refund or lead with this text as its body. */
  async header(body) {
    const timestampS = this.#freeSecond(body);
    const digest = await crypto.subtle.sign("HMAC", await importKey(this.#secret, "sign"), signedBytes(timestampS, text.encode(body)));
    const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `t=${timestampS},sig=${hex}`;
  }

  #freeSecond(body) {
    const nowS = Math.floor(Date.now() / 1000);
    for (const [known, at] of this.#signed) if (at < nowS) this.#signed.delete(known);
    const timestampS = this.#signed.has(body) ? this.#signed.get(body) + 1 : nowS;
    this.#signed.set(body, timestampS);
    return timestampS;
  }
}
