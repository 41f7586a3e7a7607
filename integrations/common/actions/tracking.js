'use strict';

const { isBlank, text } = require('../input');
const { toMinor, withMajor } = require('../money');
const { Refusal } = require('../refusal');

const EVENT_ID = {
  key: 'externalEventId',
  label: 'External Event ID',
  help: 'Your own id of the order or payment. The same id is never recorded twice.',
  required: true,
};
const SLUG = {
  key: 'affiliateSlug',
  label: 'Affiliate Slug',
  help: 'The slug of the affiliate’s link, as in ?via=slug.',
  required: true,
};

const recordSale = {
  key: 'record_sale',
  label: 'Record Sale',
  noun: 'Sale',
  description: 'Records a sale of an affiliate. A sale that is already recorded counts as success.',
  fields: [
    EVENT_ID,
    SLUG,
    { key: 'amount', label: 'Amount', help: 'In major units: 49.90 for 49 dollars and 90 cents.', required: true },
    { key: 'currency', label: 'Currency', help: 'Three letters. US dollars if empty.' },
    { key: 'customerId', label: 'Customer ID', help: 'One stable id per customer; renewals count from their first payment.' },
    { key: 'customerEmail', label: 'Customer Email' },
    { key: 'subId', label: 'Sub ID', help: 'The channel tag of the visit.' },
  ],
  sample: { ok: true, deduped: false, conversionId: '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11', externalEventId: 'order_10482' },

  async run(api, input) {
    const currency = text(input.currency) ?? 'USD';
    const answer = await api.post('/api/tracking/s2s', {
      externalEventId: text(input.externalEventId),
      affiliateSlug: text(input.affiliateSlug),
      amountCents: toMinor(input.amount ?? '', currency),
      currency,
      customerId: text(input.customerId),
      customerEmail: text(input.customerEmail),
      subId: text(input.subId),
    });
    return resultOf(answer, { conversionId: answer.conversionId ?? null, externalEventId: input.externalEventId });
  },
};

const recordLead = {
  key: 'record_lead',
  label: 'Record Lead',
  noun: 'Lead',
  description: 'Records a person who signed up through an affiliate. A person who is already recorded counts as success.',
  fields: [
    SLUG,
    { key: 'email', label: 'Email', help: 'A later sale is matched by this email.', required: true },
    { key: 'name', label: 'Name' },
    { ...EVENT_ID, help: 'Your own id of the signup. If empty, one person is one lead.', required: false },
    { key: 'programId', label: 'Campaign', help: 'Needed if the slug belongs to several campaigns.', from: 'campaigns' },
  ],
  sample: { ok: true, deduped: false, leadId: '9f3c1a7e-5b2d-4e60-8c14-7d6e5f4a3b99', email: 'kim@example.com' },

  async run(api, input) {
    const answer = await api.post('/api/tracking/lead', {
      affiliateSlug: text(input.affiliateSlug),
      email: text(input.email),
      name: text(input.name),
      externalEventId: text(input.externalEventId),
      programId: text(input.programId),
    });
    return resultOf(answer, { leadId: answer.leadId ?? null, email: input.email });
  },
};

const refundSale = {
  key: 'refund_sale',
  label: 'Refund Sale',
  noun: 'Refund',
  description: 'Refunds a sale in whole or in part, and reverses its commission.',
  fields: [
    { ...EVENT_ID, help: 'The External Event ID under which the sale was recorded.' },
    {
      key: 'refundAmount',
      label: 'Refund Amount',
      help: 'In major units of the sale’s currency. **If empty, all that remains is refunded.**',
    },
    {
      key: 'reference',
      label: 'Refund Reference',
      help: 'Your own id of this refund. Two equal refunds of a sale within an hour count as one, unless their references differ.',
    },
  ],
  sample: {
    ok: true,
    conversionId: '0d8f5d2e-6c1b-4c0e-9a57-3f0c5f1f7a11',
    currency: 'USD',
    refundedAmountCents: 1960,
    refundedAmount: '19.60',
    cumulativeRefundedAmountCents: 1960,
    cumulativeRefundedAmount: '19.60',
    isFullRefund: false,
  },

  async run(api, input) {
    const externalEventId = text(input.externalEventId);
    const isWhole = isBlank(input.refundAmount);
    const currency = externalEventId === undefined ? null : await currencyOf(api, externalEventId);
    if (currency === null && !isWhole) {
      const message = `No sale has the external event id "${externalEventId ?? ''}".`;
      throw new Refusal(message, { code: 'conversion_not_found', status: 404 });
    }
    const refundAmountCents = isWhole ? undefined : toMinor(input.refundAmount, currency);
    const answer = await api.post('/api/tracking/refund', { externalEventId, refundAmountCents });
    return withMajor({ ...answer, currency });
  },
};

/**
 * Return the currency of a sale, which the refund amount is in; null if there is no such sale.
 * A lead or an imported conversion may have the same external event id; only a sale sent to the API can be refunded, and
 * such a sale has no attribution method.
 */
async function currencyOf(api, externalEventId) {
  const rows = await api.get('/api/v1/automation/search/conversions', { externalEventId });
  const sales = rows.filter((row) => row.externalEventId === externalEventId && row.amountCents > 0);
  const sent = sales.filter((row) => !row.attributionMethod);
  const currencies = new Set((sent.length ? sent : sales).map((row) => row.currency));
  if (currencies.size > 1) {
    const message = `Several sales have the external event id "${externalEventId}", in different currencies.`;
    throw new Refusal(message, { code: 'currency_ambiguous' });
  }
  return [...currencies][0] ?? null;
}

function resultOf(answer, fields) {
  return { ok: true, deduped: answer.deduped === true, ...fields };
}

module.exports = [recordSale, recordLead, refundSale];
