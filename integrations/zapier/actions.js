'use strict';

const ACTIONS = require('./common/actions');
const { inputField } = require('./lib/fields');
const { perform } = require('./lib/http');

/** The nine actions. */
const creates = ACTIONS.map(({ key, noun, label, description, fields, sample, run }) => ({
  key,
  noun,
  display: { label, description },
  operation: { inputFields: fields.map(inputField), perform: perform(run), sample },
}));

module.exports = Object.fromEntries(creates.map((create) => [create.key, create]));
