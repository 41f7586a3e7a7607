'use strict';

/** Return whether a field was left empty. */
function isBlank(value) {
  if (Array.isArray(value)) return value.every(isBlank);
  return value === undefined || value === null || String(value).trim() === '';
}

/** Return the input as text; undefined for an empty field, which JSON leaves out. */
function text(value) {
  return isBlank(value) ? undefined : String(value);
}

/** Return a list of words from a list or a comma-separated text; undefined for an empty field. */
function words(value) {
  if (isBlank(value)) return undefined;
  const parts = Array.isArray(value) ? value : String(value).split(',');
  return parts.filter((part) => !isBlank(part)).map((part) => String(part).trim());
}

/** Return an id encoded as a path segment. */
function part(id) {
  return encodeURIComponent(String(id ?? '').trim());
}

module.exports = { isBlank, part, text, words };
