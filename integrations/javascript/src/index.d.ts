import { Groups } from "./generated/operations.js";
import type * as records from "./generated/records.js";

export type * as records from "./generated/records.js";

export declare const VERSION: string;

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its waits between attempts included. */
  signal?: AbortSignal | undefined;
}

/** What every call takes that changes something. */
export interface WriteOptions extends CallOptions {
  /** The same key with the same body happens once within the hour. Left out, every call has one of its own. */
  idempotencyKey?: string | undefined;
}

export interface ClientOptions {
  /** Where the service is, such as https://affiliates.example. */
  baseUrl: string;
  /** The brand's API key. */
  apiKey: string;
  /** What came with the key, for sales, refunds and leads. */
  signingSecret?: string | undefined;
  /** How long one attempt waits; 10,000 unless given. */
  timeoutMs?: number | undefined;
  /** How many attempts more, after 429, 503 or a lost connection; 4 unless given. */
  retries?: number | undefined;
  /** Sends in place of the platform's own. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** One installation, called with one API key of a brand. Every call rejects with ApiError or ConnectionFailed. */
export declare class Finderfee extends Groups {
  constructor(options: ClientOptions);

  /**
   * Record a sale, signed. The same `externalEventId` again is `deduped`, for ever: call as often as you like.
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

  /** What any other address of the service answers to this key. */
  request(
    method: string,
    path: string,
    options?: WriteOptions & { query?: Record<string, string | number | boolean | null | undefined>; body?: unknown },
  ): Promise<unknown>;
}

/** Everything that this package rejects with for a call or a webhook. */
export declare class FinderfeeError extends Error {}

/** The service said no. */
export declare class ApiError extends FinderfeeError {
  /** The HTTP status. */
  readonly status: number;
  /** The stable code, such as `affiliate_not_found`; null for 401, 429 and malformed requests. */
  readonly code: string | null;
  /** For people; it may change. */
  readonly reason: string;
  /** The input at fault, where there is one. */
  readonly field: string | null;
  /** What is malformed, by field. */
  readonly errors: Record<string, unknown>;
  /** Names the request in the service's log. */
  readonly requestId: string | null;
  /** The seconds that the service asked to wait. */
  readonly retryAfterS: number | null;
  /** The whole answer where it is JSON, else null. */
  readonly body: unknown;
}

/** No answer came, in none of the attempts. What was sent may have been taken; the same call again is safe. */
export declare class ConnectionFailed extends FinderfeeError {}

/** A webhook that must not be believed: answer 400 and do nothing else. */
export declare class InvalidSignature extends FinderfeeError {}

/** What the Test action of an endpoint sends. It is in no list of events, and nothing happened. */
export interface TestEvent {
  id: string;
  type: "test";
  createdAt: string;
  organizationId: string;
  data: Record<string, unknown>;
}

export interface VerifyOptions {
  /** How many seconds the signature's time may lie from now, either side; 300 unless given. */
  tolerance?: number | undefined;
  /** Unix seconds; the clock's unless given. */
  now?: number | undefined;
}

/**
 * The event that a webhook carries, once it is known to be the service's; rejects with InvalidSignature.
 *
 * The body is the raw one, byte by byte as it came. Headers are those of a Request or of node:http. Several secrets serve
 * while one takes the place of another. Deliveries may come more than once: remember the event's `id`.
 */
export declare function verifyWebhook(
  body: string | ArrayBuffer | ArrayBufferView,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string | readonly string[],
  options?: VerifyOptions,
): Promise<records.WebhookEvent | TestEvent>;
