'use strict';

const { text } = require('./input');
const { withMajor } = require('./money');
const { Refusal } = require('./refusal');

const AFFILIATE_ID = { key: 'affiliateId', label: 'Affiliate', help: 'Their newest payout.', foundBy: 'find_affiliate.id' };

/**
 * The four searches: each returns the exact matches of its fields, newest first, at most ten. `path` is the API's path; a
 * field with `narrows` is not sent to the API but filters its results.
 */
const SEARCHES = [
  {
    key: 'find_affiliate',
    label: 'Find Affiliate',
    noun: 'Affiliate',
    description: 'Finds an affiliate by email or by slug.',
    path: 'affiliates',
    fields: [
      { key: 'email', label: 'Email' },
      { key: 'slug', label: 'Slug', help: 'The slug of any of their links.' },
      { key: 'programId', label: 'Campaign', help: 'Only affiliates of this campaign; a person may be in several.', from: 'campaigns', narrows: true },
    ],
    sample: { id: '7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22', email: 'robin@example.com', fullName: 'Robin Vale', status: 'Approved' },
  },
  {
    key: 'find_campaign',
    label: 'Find Campaign',
    noun: 'Campaign',
    description: 'Finds a campaign by slug or by name.',
    path: 'campaigns',
    fields: [
      { key: 'slug', label: 'Slug' },
      { key: 'name', label: 'Name' },
    ],
    sample: { id: 'c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33', name: 'Partners', slug: 'partners', isActive: true },
  },
  {
    key: 'find_conversion',
    label: 'Find Conversion',
    noun: 'Conversion',
    description: 'Finds a conversion by your own id of it, or by its conversion id.',
    path: 'conversions',
    fields: [
      { key: 'externalEventId', label: 'External Event ID' },
      { key: 'id', label: 'Conversion ID' },
    ],
    sample: {
      id: '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11',
      amountCents: 4900,
      amount: '49.00',
      currency: 'USD',
      commissionCents: 980,
      commission: '9.80',
      status: 'Pending',
    },
  },
  {
    key: 'find_payout',
    label: 'Find Payout',
    noun: 'Payout',
    description: 'Finds a payout by its id, or an affiliate’s newest one.',
    path: 'payouts',
    fields: [{ key: 'id', label: 'Payout ID' }, AFFILIATE_ID],
    sample: { id: 'e95b3c7a-84d6-4f21-9c0e-5a4b3c2d1e44', amountCents: 12840, amount: '128.40', currency: 'USD', status: 'Paid' },
  },
];

/** Return the results of a search, with amounts also in major units. Throws Refusal if no field is filled in. */
async function runSearch({ path, fields }, api, input) {
  const searchable = fields.filter((field) => !field.narrows);
  const query = Object.fromEntries(searchable.map(({ key }) => [key, text(input[key])]));
  if (Object.values(query).every((value) => value === undefined)) {
    const message = `Fill in ${searchable.map((field) => field.label).join(' or ')}.`;
    throw new Refusal(message, { code: 'invalid_request' });
  }
  const rows = await api.get(`/api/v1/automation/search/${path}`, query);
  const filters = fields.filter(({ key, narrows }) => narrows && text(input[key]) !== undefined);
  return rows.filter((row) => filters.every(({ key }) => row[key] === input[key])).map((row) => withMajor(row));
}

module.exports = { SEARCHES, runSearch };
