'use strict';

/** Return a field of the common list as n8n describes one, shown where its operation is chosen. */
function property(operation, { key, label, help, required, type, choices, from, dependsOn }) {
  const made = {
    displayName: label,
    name: key,
    type: 'string',
    default: '',
    required: required === true,
    displayOptions: { show: { operation: [operation] } },
  };
  if (help) made.description = help;
  if (type === 'text') made.typeOptions = { rows: 4 };
  if (type === 'list') made.description = `${help} Separated by commas.`;
  if (choices) return { ...made, ...chosen(choices, required) };
  if (from) return { ...made, type: 'options', typeOptions: loaded(from, dependsOn) };
  return made;
}

function chosen(choices, required) {
  const options = Object.entries(choices).map(([value, name]) => ({ name, value }));
  const none = { name: '(None)', value: '' };
  return required ? { type: 'options', options, default: options[0].value } : { type: 'options', options: [none, ...options] };
}

function loaded(from, dependsOn) {
  return { loadOptionsMethod: from, ...(dependsOn ? { loadOptionsDependsOn: [dependsOn] } : {}) };
}

module.exports = { property };
