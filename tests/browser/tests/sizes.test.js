// Reports that leave things out, and say so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { almanac, report } from '../lib/errorbar.js';
import { counts, open } from '../lib/browser.js';

test('without samples nothing of them is in the file', async () => {
  const file = report('bare', almanac('heron'), '--no-samples');
  const text = readFileSync(file, 'utf8');
  for (const word of ['id="samples-index"', 'id="samples-details', 'Ostrick']) assert.ok(!text.includes(word), word);
  const page = await open(file);
  assert.equal(await page.locator('#br').count(), 0);
  assert.deepEqual(page.problems, []);
});

test('a small file leaves out messages first and says so', async () => {
  const whole = readFileSync(report('whole', almanac('heron'))).length;
  const file = report('small', almanac('heron'), '--max-size', String(whole - 1000));
  assert.ok(readFileSync(file).length <= whole - 1000);
  const page = await open(file);
  await counts(page, '144 samples');
  assert.match(await page.locator('#omit').innerText(), /To keep this page small, messages are left out/);
  assert.equal(await page.locator('details.conversation').count(), 0);
  assert.deepEqual(page.problems, []);
});
