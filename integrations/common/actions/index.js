'use strict';

/**
 * The nine actions, for every platform alike: what to ask for (`fields`) and what to do (`run(api, input)`).
 *
 * A field is text unless its `type` says `text` (several lines) or `list`; `choices` are words to choose from, `from`
 * names a list of choices.js, `found` the search that finds such a value.
 */
module.exports = [...require('./tracking'), ...require('./affiliates'), ...require('./rewards')];
