// The errors of a call or a webhook. Branch on `code`; the message is for people and may change.

const MESSAGES = {
  401: "The API key or the signature is not accepted; check the signing secret, the exact bytes and the clock.",
  429: "Too many requests.",
};

export class FinderfeeError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class ApiError extends FinderfeeError {
  constructor(status, { body = null, requestId = null, retryAfterS = null } = {}) {
    const payload = isRecord(body) ? body : {};
    const errors = isRecord(payload.errors) ? payload.errors : {};
    const field = payload.field ?? Object.keys(errors)[0] ?? null;
    const message = payload.message ?? payload.title ?? MESSAGES[status] ?? "The request was refused.";
    const parts = [status, payload.error, message, field && `(field ${field})`, requestId && `(request ${requestId})`];
    super(parts.filter(Boolean).join(" "));
    this.status = status;
    this.code = payload.error ?? null;
    this.reason = message;
    this.field = field;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
    this.body = body;
  }
}

export class ConnectionFailed extends FinderfeeError {}

export class InvalidSignature extends FinderfeeError {}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
