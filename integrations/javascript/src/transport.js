// One call: builds and sends the request, retries it, and reads the response.
import { ApiError, ConnectionFailed } from "./errors.js";
import { Signer } from "./signing.js";
import { VERSION } from "./version.js";

// Temporary errors: too many requests, and a service or proxy that is not ready.
const TEMPORARY = new Set([429, 502, 503, 504]);
const FIRST_WAIT_S = 0.5;
const MAX_WAIT_S = 8;
// The maximum of all waits of one call. A signature is valid for 300 seconds and is made once for all attempts.
const MAX_TOTAL_WAIT_S = 60;

export class Transport {
  #baseUrl;
  #apiKey;
  #signer;
  #timeoutMs;
  #retries;
  #fetch;

  constructor({ baseUrl, apiKey, signingSecret, timeoutMs = 10_000, retries = 4, fetch = globalThis.fetch }) {
    if (!/^https?:\/\//.test(baseUrl ?? "")) throw new TypeError("baseUrl must begin with https://");
    if (!apiKey) throw new TypeError("apiKey is required");
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#apiKey = apiKey;
    this.#signer = signingSecret ? new Signer(signingSecret) : null;
    this.#timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#fetch = fetch;
  }

  async call({ method, path, values = {}, query = [], body, isSigned = false, options = {} }) {
    const raw = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${this.#apiKey}`, Accept: "application/json" };
    headers["User-Agent"] = `finderfee-javascript/${VERSION}`;
    if (raw) headers["Content-Type"] = "application/json";
    if (["POST", "PUT", "PATCH"].includes(method)) {
      headers["Idempotency-Key"] = options.idempotencyKey ?? crypto.randomUUID();
    }
    if (isSigned) headers["X-Service-Signature"] = await this.#signature(raw);
    const params = Object.fromEntries(query.map((name) => [name, options[name]]));
    const url = this.#baseUrl + buildPath(path, values, params);
    return this.#sendWithRetries(url, { method, headers, body: raw, redirect: "manual" }, options.signal);
  }

  #signature(raw) {
    if (!this.#signer) throw new TypeError("a signed call needs signingSecret, which was issued with the API key");
    return this.#signer.header(raw);
  }

  async #sendWithRetries(url, request, signal) {
    let waitedS = 0;
    for (let attempt = 0; ; attempt += 1) {
      const { answer, failure } = await this.#attempt(url, request, signal);
      if (!failure) return answer;
      if (failure instanceof ApiError && !isTemporary(failure, attempt)) throw failure;
      const waitS = waitOf(failure, attempt);
      if (attempt >= this.#retries || waitedS + waitS > MAX_TOTAL_WAIT_S) throw failure;
      await pause(waitS, signal);
      waitedS += waitS;
    }
  }

  async #attempt(url, request, signal) {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#fetch(url, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
      const body = new Uint8Array(await response.arrayBuffer());
      return response.ok ? { answer: readBody(response, body) } : { failure: errorOf(response, body) };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { failure: new ConnectionFailed(`${request.method} ${url}: ${error.message}`, { cause: error }) };
    }
  }
}

function isTemporary(error, attempt) {
  // The first attempt, whose response was lost, may still be running under the same key.
  return TEMPORARY.has(error.status) || (attempt > 0 && error.code === "idempotency_conflict");
}

function waitOf(failure, attempt) {
  if (failure instanceof ApiError && failure.retryAfterS !== null) return failure.retryAfterS;
  return Math.min(MAX_WAIT_S, FIRST_WAIT_S * 2 ** attempt) * (0.5 + Math.random() / 2);
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

function buildPath(path, values, params) {
  for (const [name, value] of Object.entries(values)) {
    // Without a value, the path would be that of another operation.
    if (value === undefined || value === null || ["", ".", ".."].includes(value)) throw new TypeError(`${name} is required`);
    path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const present = Object.entries(params).filter(([, value]) => value !== undefined && value !== null);
  return present.length ? `${path}?${new URLSearchParams(present.map(([name, value]) => [name, String(value)]))}` : path;
}

function readBody(response, body) {
  if (body.length === 0) return undefined;
  if (isJson(response)) return JSON.parse(text(body));
  return (response.headers.get("content-type") ?? "").startsWith("text/") ? text(body) : body;
}

function errorOf(response, body) {
  const after = response.headers.get("retry-after");
  return new ApiError(response.status, {
    body: isJson(response) ? parseJson(body) : null,
    requestId: response.headers.get("x-request-id"),
    retryAfterS: /^[0-9]+$/.test(after ?? "") ? Number(after) : null,
  });
}

function text(bytes) {
  return new TextDecoder().decode(bytes);
}

function isJson(response) {
  return (response.headers.get("content-type") ?? "").includes("json");
}

function parseJson(body) {
  try {
    return JSON.parse(text(body));
  } catch {
    return null;
  }
}
