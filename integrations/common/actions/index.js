'use strict';

/**
 * The nine actions, the same for every platform: their inputs (`fields`) and their code (`run(api, input)`).
 *
 * A field is text unless its `type` says `text` (several lines) or `list`; `choices` are the values to choose from, `from`
 * names a list of choices.js, `foundBy` the search that finds such a value.
 */
module.exports = [...require('./tracking'), ...require('./affiliates'), ...require('./rewards')];
