'use strict';

/** What the API, or this package before it asks, says no to. `code` is stable, `message` is for people. */
class Refusal extends Error {
  /**
   * `status` is 0 where nothing was sent, `isRepeated` is true for an answer that the API kept of an earlier request,
   * `waitS` is how many seconds to wait after a 429.
   */
  constructor(message, { code = 'refused', status = 0, isRepeated = false, waitS = null } = {}) {
    super(message);
    this.name = 'Refusal';
    Object.assign(this, { code, status, isRepeated, waitS });
  }
}

const WAIT_S = 60;

/** Return the refusal that an answer is, null when it is none. `header(name)` gives a header or null, `text` the body. */
function refusalOf({ status, header, text, url }) {
  if (status >= 200 && status < 300) return null;
  const isRepeated = header('Idempotency-Replayed') === 'true';
  if (status >= 300 && status < 400) {
    const message = `${url} leads on to ${header('Location') || 'another address'}. Put the final address into the connection.`;
    return new Refusal(message, { code: 'redirected', status });
  }
  if (status === 401) {
    const message = 'The API key is not valid (any more), or the signing secret is not that of this key.';
    return new Refusal(message, { code: 'unauthorized', status });
  }
  if (status === 429) {
    const asked = header('Retry-After') || '';
    const waitS = /^[1-9][0-9]{0,3}$/.test(asked) ? Number(asked) : WAIT_S;
    return new Refusal(`Too many requests; try again in ${waitS} seconds.`, { code: 'rate_limited', status, waitS });
  }
  const said = parsed(text);
  return new Refusal(messageOf(said, status), { code: said.error || codeOf(status), status, isRepeated });
}

/** Return what the API answered, null for an empty answer. Throws Refusal for what is no answer of the API. */
function answerOf({ text, url }) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    const message = `What ${url} answers is not the API's. Is the base URL that of your Finderfee?`;
    throw new Refusal(message, { code: 'not_the_api', status: 502 });
  }
}

function messageOf(said, status) {
  if (typeof said.message === 'string' && said.message) return said.field ? `${said.message} (${said.field})` : said.message;
  const fields = said.errors && typeof said.errors === 'object' ? Object.entries(said.errors) : [];
  if (fields.length) return fields.map(([field, messages]) => `${field}: ${[].concat(messages).join(' ')}`).join(' · ');
  if (status === 404) return 'It is not there, or belongs to somebody else.';
  return said.title || `The API answered with status ${status}.`;
}

function codeOf(status) {
  if (status === 404) return 'not_found';
  return status === 400 ? 'invalid_request' : `status_${status}`;
}

function parsed(text) {
  try {
    const said = JSON.parse(text);
    return said && typeof said === 'object' ? said : {};
  } catch {
    return {};
  }
}

module.exports = { answerOf, Refusal, refusalOf };
