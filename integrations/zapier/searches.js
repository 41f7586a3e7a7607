'use strict';

const { runSearch, SEARCHES } = require('./common/searches');
const { inputField } = require('./lib/fields');
const { perform } = require('./lib/http');

/** The four searches. */
const searches = SEARCHES.map((search) => ({
  key: search.key,
  noun: search.noun,
  display: { label: search.label, description: search.description },
  operation: {
    inputFields: search.fields.map(inputField),
    perform: perform((api, input) => runSearch(search, api, input)),
    sample: search.sample,
  },
}));

module.exports = Object.fromEntries(searches.map((search) => [search.key, search]));
