import { Groups } from "./generated/operations.js";
import type * as records from "./generated/records.js";

export type * as records from "./generated/records.js";

export declare const VERSION: string;

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, including its waits between attempts. */
  signal?: AbortSignal | undefined;
}

/** Options of every call that changes something. */
export interface WriteOptions extends CallOptions {
  /** A request with the same key and body is executed once within an hour. If left out, every call has its own key. */
  idempotencyKey?: string | undefined;
}

export interface ClientOptions {
  /** The URL of the service, such as https://affiliates.example. */
  baseUrl: string;
  /** The brand's API key. */
  apiKey: string;
  /** The signing secret that was issued with the key, for sales, refunds and leads. */
  signingSecret?: string | undefined;
  /** The timeout of one attempt; 10,000 by default. */
  timeoutMs?: number | undefined;
  /** The number of retries after a 429, 502, 503 or 504 or a lost connection; 4 by default. */
  retries?: number | undefined;
  /** Replaces the platform's own fetch. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** One installation, called with one API key of a brand. Every call rejects with ApiError or ConnectionFailed. */
export declare class Finderfee extends Groups {
  constructor(options: ClientOptions);

  /**
   * Record a sale, signed. The same `externalEventId` again is `deduped`, forever: call as often as you like.
   * Amounts are integers in minor units; another amount rejects with TypeError before anything is sent.
   */
  sale(body: records.SaleBody, options?: WriteOptions): Promise<records.SaleAnswer>;

  /**
   * Refund a sale by its `externalEventId`, signed: all that remains, or `refundAmountCents` of it.
   * A refund has no id of its own. To repeat one from your own queue, give it an `idempotencyKey` that is the same each
   * time: within the hour it happens once.
   */
  refund(body: records.RefundBody, options?: WriteOptions): Promise<records.RefundAnswer>;

  /** Record a lead, signed. The same one again is `deduped`. */
  lead(body: records.LeadBody, options?: WriteOptions): Promise<records.LeadAnswer>;

  /** Call any other path of the service with this key; resolves to its response. */
  request(
    method: string,
    path: string,
    options?: WriteOptions & { query?: Record<string, string | number | boolean | null | undefined>; body?: unknown },
  ): Promise<unknown>;
}

/** The base class of all errors of this package. */
export declare class FinderfeeError extends Error {}

/** The service refused the request. */
export declare class ApiError extends FinderfeeError {
  /** The HTTP status. */
  readonly status: number;
  /** The stable code, such as `affiliate_not_found`; null for 401, 429 and malformed requests. */
  readonly code: string | null;
  /** For people; it may change. */
  readonly reason: string;
  /** The invalid input, if there is one. */
  readonly field: string | null;
  /** The errors by field. */
  readonly errors: Record<string, unknown>;
  /** The id of the request in the service's log. */
  readonly requestId: string | null;
  /** The number of seconds to wait, from Retry-After. */
  readonly retryAfterS: number | null;
  /** The whole response if it is JSON, else null. */
  readonly body: unknown;
}

/** No attempt got a response. The service may have processed the request; it is safe to repeat the same call. */
export declare class ConnectionFailed extends FinderfeeError {}

/** The webhook is not authentic: respond with 400 and do nothing else. */
export declare class InvalidSignature extends FinderfeeError {}

/** The event that the Test action of an endpoint sends. It is in no list of events and reports no real change. */
export interface TestEvent {
  id: string;
  type: "test";
  createdAt: string;
  organizationId: string;
  data: Record<string, unknown>;
}

export interface VerifyOptions {
  /** The maximum difference between the signature's time and now, in seconds; 300 by default. */
  tolerance?: number | undefined;
  /** The current time in unix seconds; by default from the clock. */
  now?: number | undefined;
}

/**
 * Verify a webhook and resolve to its event; rejects with InvalidSignature.
 *
 * The body is the raw one, byte by byte as received. Headers are those of a Request or of node:http. Pass several secrets
 * while one replaces another. An event may be delivered more than once: store its `id`.
 */
export declare function verifyWebhook(
  body: string | ArrayBuffer | ArrayBufferView,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string | readonly string[],
  options?: VerifyOptions,
): Promise<records.WebhookEvent | TestEvent>;
