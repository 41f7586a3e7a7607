'use strict';

const { toMajor, withMajor } = require('./money');

/** The nine trigger events, as people choose them. `caution` is a hint against a common misunderstanding. */
const EVENTS = [
  {
    type: 'conversion.created',
    label: 'New Conversion',
    noun: 'Conversion',
    description: 'Triggers when a sale, a lead, a paid click or a bonus is credited to an affiliate.',
    caution:
      'Leads, clicks and recruiters’ shares are conversions too, and most have an amount of 0. To leave out conversions without commission, filter on commissionCents, not on amountCents.',
  },
  {
    type: 'conversion.refunded',
    label: 'Conversion Refunded',
    noun: 'Refund',
    description: 'Triggers when a conversion is refunded, in part or whole.',
    caution: 'It is sent once for each refund, and once more for a recruiter’s share. isFullRefund is true if nothing remains.',
  },
  {
    type: 'affiliate.created',
    label: 'New Affiliate',
    noun: 'Affiliate',
    description: 'Triggers when a person applies to your program, or when you add an affiliate.',
    caution: 'This includes applications: check status.',
  },
  {
    type: 'affiliate.approved',
    label: 'Affiliate Approved',
    noun: 'Affiliate',
    description: 'Triggers when an affiliate is approved.',
    caution: 'autoApproved means that no person reviewed the application.',
  },
  {
    type: 'payout.created',
    label: 'New Payout',
    noun: 'Payout',
    description: 'Triggers when a payout to an affiliate is created.',
    caution: 'A retried payout triggers again, with the same payoutId.',
  },
  {
    type: 'payout.paid',
    label: 'Payout Paid',
    noun: 'Payout',
    description: 'Triggers when a payout has reached the affiliate.',
    caution: 'It has one reference: that of the payment method used.',
  },
  {
    type: 'payout.failed',
    label: 'Payout Failed',
    noun: 'Payout',
    description: 'Triggers when a payout could not be paid.',
    caution: 'failureReason is for people and may change: don’t compare it.',
  },
  {
    type: 'campaign_coupon.created',
    label: 'New Campaign Coupon',
    noun: 'Campaign Coupon',
    description: 'Triggers when a coupon is created for a campaign.',
    caution: 'discountValue is a percentage, or minor units of discountCurrency if there is one.',
  },
  {
    type: 'affiliate_coupon.created',
    label: 'New Coupon Code',
    noun: 'Coupon Code',
    description: 'Triggers when an affiliate gets a code.',
    caution: 'source is self_minted if the affiliate created the code.',
  },
];

/** Return the event type with underscores, for platforms that allow no dots in keys. */
function keyOf(type) {
  return type.replaceAll('.', '_');
}

/**
 * Return a webhook's envelope as one flat record: `id` (the same for every delivery of an event), `createdAt`,
 * `organizationId` and the fields of the data; each `…Cents` also in major units.
 */
function flattenEvent({ id, createdAt, organizationId, data }) {
  const record = { ...withMajor(data), id, createdAt, organizationId };
  const discount = toMajor(data.discountValue, data.discountCurrency);
  return discount === null ? record : { ...record, discount };
}

module.exports = { EVENTS, flattenEvent, keyOf };
