'use strict';

/** Return a common field as an n8n property, displayed only for its operation. */
function property(operation, { key, label, help, required, type, choices, from, dependsOn }) {
  const base = {
    displayName: label,
    name: key,
    type: 'string',
    default: '',
    required: required === true,
    displayOptions: { show: { operation: [operation] } },
  };
  if (help) base.description = help;
  if (type === 'text') base.typeOptions = { rows: 4 };
  if (type === 'list') base.description = `${help} Separated by commas.`;
  if (choices) return { ...base, ...optionsOf(choices, required) };
  if (from) return { ...base, type: 'options', typeOptions: loaderOf(from, dependsOn) };
  return base;
}

function optionsOf(choices, required) {
  const options = Object.entries(choices).map(([value, name]) => ({ name, value }));
  const none = { name: '(None)', value: '' };
  return required ? { type: 'options', options, default: options[0].value } : { type: 'options', options: [none, ...options] };
}

function loaderOf(from, dependsOn) {
  return { loadOptionsMethod: from, ...(dependsOn ? { loadOptionsDependsOn: [dependsOn] } : {}) };
}

module.exports = { property };
