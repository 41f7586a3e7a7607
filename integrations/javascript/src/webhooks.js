// Verification of a webhook: its signature over the raw body, and its age.
import { InvalidSignature } from "./errors.js";
import { importKey, signedBytes } from "./signing.js";

const TOLERANCE_S = 300;

export async function verifyWebhook(body, headers, secret, { tolerance = TOLERANCE_S, now = Date.now() / 1000 } = {}) {
  const raw = bytes(body);
  const { timestampS, digests } = parseSignature(findHeader(headers, "x-service-signature"));
  if (!(Math.abs(now - timestampS) <= tolerance)) {
    throw new InvalidSignature("The signature is too old, or its time is in the future.");
  }
  const message = signedBytes(timestampS, raw);
  const secrets = (Array.isArray(secret) ? secret : [secret]).filter(Boolean);
  const keys = await Promise.all(secrets.map((one) => importKey(one, "verify")));
  // All pairs are compared, in constant time, so that the duration does not reveal which one matches.
  const checks = keys.flatMap((one) => digests.map((digest) => crypto.subtle.verify("HMAC", one, digest, message)));
  const results = await Promise.all(checks);
  if (!results.includes(true)) {
    throw new InvalidSignature("The signature does not match this body and secret.");
  }
  return JSON.parse(new TextDecoder().decode(raw));
}

function bytes(body) {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("verifyWebhook needs the raw body, as bytes or text, not the parsed body");
}

function findHeader(headers, name) {
  const pairs = typeof headers?.entries === "function" ? [...headers.entries()] : Object.entries(headers ?? {});
  const pair = pairs.find(([key]) => key.toLowerCase() === name);
  if (pair?.[1] === undefined) throw new InvalidSignature("The request has no X-Service-Signature.");
  return String(pair[1]); // a list becomes its values separated by commas, as in HTTP
}

/** Return the unix second and each v1 of `t=<unix seconds>,v1=<hex>`; unknown tags are ignored. */
function parseSignature(header) {
  const pairs = header.split(",").map((part) => part.trim().match(/^([^=]*)=?(.*)$/s).slice(1));
  const times = pairs.filter(([tag]) => tag === "t").map(([, value]) => value);
  const digests = pairs.filter(([tag, value]) => tag === "v1" && /^[0-9a-f]{64}$/.test(value)).map(([, hex]) => unhex(hex));
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(times[0]) || digests.length === 0) {
    throw new InvalidSignature("The X-Service-Signature is malformed.");
  }
  return { timestampS: Number(times[0]), digests };
}

function unhex(hex) {
  return Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));
}
