'use strict';

const { createHash } = require('node:crypto');

// How often a request is named anew after refusals that the API kept under its earlier names.
const MOST_NAMES = 5;

/**
 * The API as the actions and searches see it: parsed answers, or what `send` throws.
 *
 * `send({ method, path, query, body, key })` is the platform's; `body` is text. `owner` names the Zap or workflow and
 * `input` is what it gave: the same input of the same owner has the same Idempotency-Key, so a repeated run does
 * nothing twice for an hour.
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

  /** Change something. It has no key: to say the same again later has to count again. */
  patch(path, body) {
    return this.send({ method: 'PATCH', path, body: JSON.stringify(body) });
  }

  /** Post what the API itself does once, however often it is asked, and again after it was undone. */
  postAgain(path, body) {
    return this.send({ method: 'POST', path, body: JSON.stringify(body) });
  }

  /**
   * Post something once. The API keeps refusals as well; who has mended what was wrong and runs again is not told the
   * old one: the request goes under the next name, and those names are the same in every run.
   */
  async post(path, body) {
    const text = JSON.stringify(body);
    const key = `${this.owner}-${digest([path, text, this.input])}`;
    for (let name = 1; ; name += 1) {
      try {
        return await this.send({ method: 'POST', path, body: text, key: name === 1 ? key : `${key}-${name}` });
      } catch (error) {
        if (!error.isRepeated || name === MOST_NAMES) throw error;
      }
    }
  }
}

function digest(value) {
  return createHash('sha256').update(JSON.stringify(sorted(value))).digest('hex');
}

// Platforms give the same input in any order.
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

module.exports = { Api };
