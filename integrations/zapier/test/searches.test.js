'use strict';

const assert = require('node:assert/strict');
const { randomUUID } = require('node:crypto');
const test = require('node:test');

const { App, act } = require('./support/platform');
const { campaignWithAffiliate, orderNumber } = require('../../testing/service');

const ids = (rows) => rows.map(({ id }) => id);

test('each search finds a record by each of its fields', async () => {
  const { program, affiliate, slug } = await campaignWithAffiliate();
  const externalEventId = orderNumber();
  await act('record_sale', { externalEventId, affiliateSlug: slug, amount: '12.5', currency: 'KWD' });

  const queries = [
    ['find_affiliate', { email: affiliate.email.toUpperCase() }, affiliate.id],
    ['find_affiliate', { slug, email: '' }, affiliate.id],
    ['find_campaign', { slug: program.slug }, program.id],
    ['find_campaign', { name: program.name }, program.id],
  ];
  for (const [search, input, id] of queries) assert.deepEqual(ids(await act(search, input)), [id], search);

  const [conversion] = await act('find_conversion', { externalEventId });
  assert.deepEqual([conversion.affiliateId, conversion.amount, conversion.currency], [affiliate.id, '12.500', 'KWD']);
  assert.deepEqual(ids(await act('find_conversion', { id: conversion.id })), [conversion.id]);
});

test('a search without match returns an empty list, and one without input is refused', async () => {
  const nothing = {
    find_affiliate: { email: `${randomUUID()}@example.com` },
    find_campaign: { slug: 'unknown-slug' },
    find_conversion: { externalEventId: 'unknown & co / ü?' },
    find_payout: { id: randomUUID() },
  };
  for (const [search, input] of Object.entries(nothing)) {
    assert.deepEqual(await act(search, input), [], search);
    const fields = App.searches[search].operation.inputFields.map(({ key }) => [key, ' ']);
    await assert.rejects(act(search, Object.fromEntries(fields)), { code: 'invalid_request' }, search);
  }
  assert.deepEqual(await act('find_payout', { affiliateId: randomUUID() }), []);
});

test('find or create creates an affiliate who is not found', async () => {
  const { program } = await campaignWithAffiliate();
  const { search, create } = App.searchOrCreates.find_affiliate;
  const input = { email: `${randomUUID()}@example.com`, programId: program.id, fullName: 'Kim' };
  assert.deepEqual(await act(search, input), []);
  const created = await act(create, input);
  assert.deepEqual(ids(await act(search, input)), [created.id]);
});

test('an affiliate of another campaign is not found in this campaign', async () => {
  const { affiliate, program } = await campaignWithAffiliate();
  const { program: other } = await campaignWithAffiliate();
  const { email } = affiliate;
  assert.deepEqual(ids(await act('find_affiliate', { email, programId: program.id })), [affiliate.id]);
  assert.deepEqual(await act('find_affiliate', { email, programId: other.id }), []);
  await assert.rejects(act('find_affiliate', { programId: other.id }), { code: 'invalid_request', message: 'Fill in Email or Slug.' });
});
