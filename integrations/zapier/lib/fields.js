'use strict';

const { CHOICES } = require('../common/choices');
const { apiOf } = require('./http');

/** Return a common field as a Zapier input field. */
function inputField({ key, label, help, required, type, choices, from, dependsOn, foundBy }) {
  const field = { key, label, required: required === true, type: type === 'text' ? 'text' : 'string' };
  if (help) field.helpText = help;
  if (type === 'list') field.list = true;
  if (choices) field.choices = choices;
  if (foundBy) field.search = foundBy;
  if (from) field.choices = { perform: dropDown(from) };
  if (dependsOn) field.dependsOn = [dependsOn];
  return field;
}

function dropDown(from) {
  return async (z, bundle) => {
    const page = await CHOICES[from](apiOf(z, bundle), bundle.inputData ?? {}, bundle.meta?.paging_token);
    return { results: page.choices, paging_token: page.cursor };
  };
}

module.exports = { inputField };
