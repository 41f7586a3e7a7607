'use strict';

const { isBlank, part, text, words } = require('../input');
const { Refusal } = require('../refusal');

const AFFILIATE = {
  key: 'affiliateId',
  label: 'Affiliate',
  help: 'The affiliate’s id, from a trigger or from Find Affiliate.',
  required: true,
  foundBy: 'find_affiliate.id',
};
const CAMPAIGN = { key: 'programId', label: 'Campaign', required: true, from: 'campaigns' };
const EMAIL = { key: 'email', label: 'Email', required: true };
const STATUSES = Object.fromEntries(['Pending', 'Approved', 'Rejected', 'Paused', 'Banned'].map((word) => [word, word]));
const SAMPLE = {
  id: '7b1f6a3c-52d4-4e8f-8a60-2c9d4e5b6f22',
  programId: 'c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33',
  email: 'robin@example.com',
  fullName: 'Robin Vale',
  status: 'Approved',
};

const createAffiliate = {
  key: 'create_affiliate',
  label: 'Create Affiliate',
  noun: 'Affiliate',
  description: 'Adds an affiliate to a campaign.',
  fields: [
    CAMPAIGN,
    EMAIL,
    { key: 'fullName', label: 'Name' },
    { key: 'status', label: 'Status', help: 'Approved when empty.', choices: STATUSES },
    { key: 'customAlias', label: 'Alias', help: 'The slug of their link: 3 to 64 of a-z, 0-9 and hyphen.' },
  ],
  sample: SAMPLE,

  run: (api, input) =>
    api.post('/api/v1/affiliates', {
      programId: text(input.programId),
      email: text(input.email),
      fullName: text(input.fullName),
      status: text(input.status),
      customAlias: text(input.customAlias),
    }),
};

const updateAffiliate = {
  key: 'update_affiliate',
  label: 'Update Affiliate',
  noun: 'Affiliate',
  description: 'Changes an affiliate. Empty fields are not changed.',
  fields: [
    AFFILIATE,
    { key: 'fullName', label: 'Name' },
    { key: 'tags', label: 'Tags', help: 'The complete list: it replaces the current tags.', type: 'list' },
    { key: 'notes', label: 'Notes', help: 'Only for you; the affiliate never sees them.', type: 'text' },
    {
      key: 'customCommissionType',
      label: 'Commission Type',
      help: 'For the affiliate’s own rate; set it together with the rate.',
      choices: { Percentage: 'Percentage', Fixed: 'Fixed' },
    },
    { key: 'customCommissionValue', label: 'Commission Rate', help: '12.5 for 12.5 percent, or major units of each sale’s currency.' },
    { key: 'status', label: 'Status', choices: STATUSES },
  ],
  sample: SAMPLE,

  run: (api, input) =>
    api.patch(`/api/v1/affiliates/${part(input.affiliateId)}`, {
      fullName: text(input.fullName),
      tags: words(input.tags),
      notes: text(input.notes),
      customCommissionType: text(input.customCommissionType),
      customCommissionValue: rate(input.customCommissionValue),
      status: text(input.status),
    }),
};

const approveOrReject = {
  key: 'approve_or_reject_affiliate',
  label: 'Approve or Reject Affiliate',
  noun: 'Affiliate',
  description: 'Approves or rejects an application.',
  fields: [
    AFFILIATE,
    { key: 'decision', label: 'Decision', required: true, choices: { approve: 'Approve', reject: 'Reject' } },
    { key: 'reason', label: 'Reason', help: 'The reason of a rejection, only for you.', type: 'text' },
  ],
  sample: SAMPLE,

  async run(api, input) {
    const path = `/api/v1/affiliates/${part(input.affiliateId)}`;
    if (input.decision === 'approve') return api.post(`${path}/approve`, {});
    if (input.decision === 'reject') return api.post(`${path}/reject`, { reason: text(input.reason) });
    throw new Refusal('The decision is "approve" or "reject".', { code: 'invalid_request' });
  },
};

const inviteAffiliate = {
  key: 'invite_affiliate',
  label: 'Invite Affiliate',
  noun: 'Invite',
  description: 'Invites a person by email, and returns the link to accept the invitation.',
  fields: [
    CAMPAIGN,
    EMAIL,
    { key: 'fullName', label: 'Name' },
    { key: 'slug', label: 'Slug', help: 'The slug that they get, if it is free when they accept.' },
    { key: 'note', label: 'Personal Note', help: 'Simple HTML: p, br, b, i, u, lists and links.', type: 'text' },
  ],
  sample: {
    id: '5d7e9f1a-3b5c-4d6e-8f70-1a2b3c4d5e77',
    programId: 'c4e2a9d0-1f37-45b8-b6c1-8d7e6f5a4b33',
    email: 'robin@example.com',
    state: 'Pending',
    acceptUrl: 'https://affiliates.example.com/invites/sample',
  },

  async run(api, input) {
    const { invite, acceptUrl } = await api.post('/api/affiliate-invites', {
      programId: text(input.programId),
      email: text(input.email),
      fullName: text(input.fullName),
      slug: text(input.slug),
      personalNoteHtml: text(input.note),
    });
    return { ...invite, acceptUrl };
  },
};

// A rate is a JSON number of at most six decimals: few enough digits for a number to hold them exactly as typed.
function rate(value) {
  if (isBlank(value)) return undefined;
  const typed = String(value).trim();
  if (!/^[0-9]{1,7}(\.[0-9]{1,6})?$/.test(typed)) {
    throw new Refusal(`"${typed}" is not a rate. Write digits and a point, as in 12.5.`, { code: 'rate_invalid' });
  }
  return Number(typed);
}

module.exports = [createAffiliate, updateAffiliate, approveOrReject, inviteAffiliate];
