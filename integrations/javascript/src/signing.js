// HMAC-SHA256 of `<unix seconds>.<raw body>`, by the Web Crypto that Node, Deno, Bun and workers have in common.

const HMAC = { name: "HMAC", hash: "SHA-256" };
const text = new TextEncoder();

/** Return the key that a secret is. Only what `uses` names can be done with it. */
export function key(secret, ...uses) {
  return crypto.subtle.importKey("raw", text.encode(secret), HMAC, false, uses);
}

/** Return the bytes that a signature is of. */
export function signed(timestampS, body) {
  const head = text.encode(`${timestampS}.`);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

/**
 * Signs with one secret. The same body twice within a second is signed for two seconds: a signature is good for one
 * refund, so two that are both meant must not have the same.
 */
export class Signer {
  #secret;
  #signed = new Map();

  constructor(secret) {
    this.#secret = secret;
  }

  /** Return the X-Service-Signature of a signed sale, refund or lead, of which this is the text. */
  async header(body) {
    const timestampS = this.#moment(body);
    const digest = await crypto.subtle.sign("HMAC", await key(this.#secret, "sign"), signed(timestampS, text.encode(body)));
    const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `t=${timestampS},sig=${hex}`;
  }

  #moment(body) {
    const nowS = Math.floor(Date.now() / 1000);
    for (const [known, at] of this.#signed) if (at < nowS) this.#signed.delete(known);
    const timestampS = this.#signed.has(body) ? this.#signed.get(body) + 1 : nowS;
    this.#signed.set(body, timestampS);
    return timestampS;
  }
}
