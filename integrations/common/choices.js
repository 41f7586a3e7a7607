'use strict';

const { isBlank, part } = require('./input');

const TAKE = 100;

/** For each list that a field can offer: a function that returns a page of `{ id, label }` and the next cursor or null. */
const CHOICES = {
  async campaigns(api, _input, cursor) {
    return pageOf(await api.get('/api/v1/programs', { take: TAKE, cursor }));
  },

  async coupons(api, input, cursor) {
    if (isBlank(input.affiliateId)) return { choices: [], cursor: null };
    const { programId } = await api.get(`/api/v1/affiliates/${part(input.affiliateId)}`);
    const page = await api.get(`/api/v1/campaigns/${part(programId)}/coupons`, { take: TAKE, cursor });
    return pageOf(page, (coupon) => coupon.isActive);
  },
};

function pageOf({ items, nextCursor }, isOffered = () => true) {
  const choices = items.filter(isOffered).map(({ id, name }) => ({ id, label: name }));
  return { choices, cursor: nextCursor ?? null };
}

module.exports = { CHOICES };
