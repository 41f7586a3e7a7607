// A client of Finderfee: signed sales, refunds and leads, every operation of an API key, and verification of webhooks.
export { Finderfee } from "./client.js";
export { ApiError, ConnectionFailed, FinderfeeError, InvalidSignature } from "./errors.js";
export { VERSION } from "./version.js";
export { verifyWebhook } from "./webhooks.js";
