'use strict';

const { toMajor, withMajor } = require('./money');

/** The nine events that start something, as people choose them. `caution` is what is easily taken for something else. */
const EVENTS = [
  {
    type: 'conversion.created',
    label: 'New Conversion',
    noun: 'Conversion',
    description: 'Triggers when a sale, a lead, a paid click or a bonus is credited to an affiliate.',
    caution:
      'Leads, clicks and recruiters’ shares are conversions, too, and most have an amount of 0. To leave out what earns nothing, filter on commissionCents, not on amountCents.',
  },
  {
    type: 'conversion.refunded',
    label: 'Conversion Refunded',
    noun: 'Refund',
    description: 'Triggers when a conversion is refunded, in part or whole.',
    caution: 'It comes once for each refund, and once more for the share of a recruiter. isFullRefund says when nothing is left.',
  },
  {
    type: 'affiliate.created',
    label: 'New Affiliate',
    noun: 'Affiliate',
    description: 'Triggers when somebody applies, or is added by you.',
    caution: 'Applications are among them: look at status.',
  },
  {
    type: 'affiliate.approved',
    label: 'Affiliate Approved',
    noun: 'Affiliate',
    description: 'Triggers when an affiliate is approved.',
    caution: 'autoApproved means that nobody has looked at the application.',
  },
  {
    type: 'payout.created',
    label: 'New Payout',
    noun: 'Payout',
    description: 'Triggers when a payout to an affiliate is made.',
    caution: 'A payout that is tried again triggers again, with the same payoutId.',
  },
  {
    type: 'payout.paid',
    label: 'Payout Paid',
    noun: 'Payout',
    description: 'Triggers when a payout has reached the affiliate.',
    caution: 'It carries one reference, that of the way it was paid.',
  },
  {
    type: 'payout.failed',
    label: 'Payout Failed',
    noun: 'Payout',
    description: 'Triggers when a payout could not be paid.',
    caution: 'failureReason is written for people and may change: don’t compare it.',
  },
  {
    type: 'campaign_coupon.created',
    label: 'New Campaign Coupon',
    noun: 'Campaign Coupon',
    description: 'Triggers when a coupon is made for a campaign.',
    caution: 'discountValue is a percentage, or minor units of discountCurrency where there is one.',
  },
  {
    type: 'affiliate_coupon.created',
    label: 'New Coupon Code',
    noun: 'Coupon Code',
    description: 'Triggers when an affiliate gets a code.',
    caution: 'source is self_minted when the affiliate made the code.',
  },
];

/** Return the name of an event where points may not stand. */
function keyOf(type) {
  return type.replaceAll('.', '_');
}

/**
 * Return a webhook's envelope as one flat record: `id` (the same for every delivery of an event), `createdAt`,
 * `organizationId` and the fields of the data, each `…Cents` in major units as well.
 */
function flattened({ id, createdAt, organizationId, data }) {
  const record = { ...withMajor(data), id, createdAt, organizationId };
  const discount = toMajor(data.discountValue, data.discountCurrency);
  return discount === null ? record : { ...record, discount };
}

module.exports = { EVENTS, flattened, keyOf };
