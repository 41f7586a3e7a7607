'use strict';

const { createHash } = require('node:crypto');

// How many idempotency keys are tried for a request if the API has stored refusals under the earlier ones.
const MAX_KEYS = 5;

/**
 * The API as the actions and searches use it: methods return the parsed response, or throw the error of `send`.
 *
 * The platform provides `send({ method, path, query, body, key })`; `body` is text. `owner` identifies the Zap or
 * workflow, `input` is its input: the same input of the same owner has the same Idempotency-Key, so a repeated run
 * within an hour does nothing twice.
 */
class Api {
  constructor({ send, owner, input }) {
    Object.assign(this, { send, owner, input });
  }

  get(path, query) {
    return this.send({ method: 'GET', path, query });
  }

  delete(path) {
    return this.send({ method: 'DELETE', path });
  }

  /** Send a change. It has no key, since the same change sent again later must be applied again. */
  patch(path, body) {
    return this.send({ method: 'PATCH', path, body: JSON.stringify(body) });
  }

  /** Post something that the API itself does only once per target, however often it is sent, and again after it was undone. */
  postWithoutKey(path, body) {
    return this.send({ method: 'POST', path, body: JSON.stringify(body) });
  }

  /**
  * Post something once. The API stores refusals too. If the user fixes the cause and runs again, the stored refusal is
   * skipped: the request is sent with the next key. The keys are the same in every run.
   */
  async post(path, body) {
    const text = JSON.stringify(body);
    const key = `${this.owner}-${digest([path, text, this.input])}`;
    for (let nth = 1; ; nth += 1) {
      try {
        return await this.send({ method: 'POST', path, body: text, key: nth === 1 ? key : `${key}-${nth}` });
      } catch (error) {
        if (!error.isRepeated || nth === MAX_KEYS) throw error;
      }
    }
  }
}

function digest(value) {
  return createHash('sha256').update(JSON.stringify(sortKeys(value))).digest('hex');
}

// Platforms may pass the keys of the same input in any order.
function sortKeys(value) {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sortKeys(value[name])]));
}

module.exports = { Api };
