// Names of models stay whole where there is room, each has one mark on the whole page, and runs of other tasks are not
// shown as absent.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { almanac, evaluate, FOLDER, report, ROOT } from '../lib/errorbar.js';
import { open, settled } from '../lib/browser.js';

const NAMES = ['heron-long-context-instruct-2026-11-preview-awq-int4', 'magpie-7b-instruct-v0.3', 'wren-70b-chat-q4'];
/** @type {string} */
let named;
/** @type {string} */
let tasks;
/** @type {string} */
let counted;
before(() => {
  const folder = path.join(FOLDER, 'long names');
  mkdirSync(folder, { recursive: true });
  const logs = ['heron', 'magpie', 'wren'].map((model, at) => {
    const outputs = path.join(folder, `${NAMES[at]}.jsonl`);
    copyFileSync(path.join(ROOT, `examples/almanac/outputs/${model}.jsonl`), outputs);
    return evaluate(NAMES[at], 'examples/almanac/almanac.toml', outputs);
  });
  named = report('named', ...logs);
  const often = NAMES.slice(0, 2).map(name =>
    evaluate(`${name} thrice`, 'examples/almanac/almanac.toml', path.join(folder, `${name}.jsonl`), '--epochs', '3'));
  counted = report('counted', ...often);
  const sums = evaluate('sums', 'examples/sums/sums.toml', 'examples/sums/outputs/finch.jsonl');
  tasks = report('marked', almanac('heron'), almanac('magpie'), sums);
});

for (const width of [360, 820, 900, 1100, 1600])
  test(`names of models at ${width} px`, async () => {
    const page = await open(named, { width });
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, 'nothing is wider than the screen');
    const lines = await page.$$eval(':is(.est,.pairs,.legend,.plot) .name .any', found => found.filter(name => name.getClientRects().length)
      .map(name => /** @type {[string, number]} */ ([name.textContent ?? '', Math.round(name.getBoundingClientRect().height / parseFloat(getComputedStyle(name).lineHeight))])));
    assert.ok(lines.length > 12, `${lines.length} names`);
    for (const [name, count] of lines.filter(([text]) => text !== NAMES[0])) assert.equal(count, 1, name);
    // The lead is text, and its names are in one piece, too.
    const pieces = await page.$$eval('.lead b', found => found.map(name => name.getClientRects().length));
    assert.deepEqual(pieces.slice(1), [1, 1]);
  });

test('a table of choices leaves room for the choices', async () => {
  const page = await open(named, { width: 1100 });
  await settled(page);
  const widths = await page.$$eval('.chs thead th', found => found.map(cell => Math.round(cell.getBoundingClientRect().width)));
  assert.ok(widths[1] > 160, `${widths}`);
  assert.equal(await page.locator('.chs th.m .name').first().getAttribute('title'), NAMES[0]);
});

test('the count of right epochs stays in one piece beside a long name', async () => {
  const page = await open(counted, { width: 1100 });
  await settled(page);
  const lines = await page.$$eval('.ans h4 small', found => found.map(count => Math.round(count.getBoundingClientRect().height / parseFloat(getComputedStyle(count).lineHeight))));
  assert.deepEqual(lines, [1, 1]);
});

test('guessing is a dashed line with a name', async () => {
  const page = await open(named);
  assert.deepEqual(await page.locator('.reft').allTextContents(), ['chance 0.25', 'chance 0.25']);
  const at = await page.$eval('.est tbody .gl.ref', line => line.getAttribute('x1'));
  assert.equal(at, '25%');
  assert.match(await page.locator('#estimates .key').innerText(), /chance: guessing one of 4 choices/);
});

test('a model has one mark on a page of several tasks', async () => {
  const page = await open(tasks);
  /** @type {Record<string, Set<string>>} */
  const marks = {};
  for (const [name, mark] of await page.$$eval('main .name', found => found.map(node =>
    [node.querySelector('.any')?.textContent ?? '', `${node.querySelector('svg')?.getAttribute('class')} ${node.querySelector('use')?.getAttribute('href')}`])))
    (marks[name] ??= new Set()).add(mark);
  assert.deepEqual(Object.keys(marks).sort(), ['finch', 'heron', 'magpie']);
  for (const [name, found] of Object.entries(marks)) assert.equal(found.size, 1, `${name}: ${[...found]}`);
});

test('samples of several tasks have the runs and the scores of their task', async () => {
  const page = await open(tasks);
  const runs = () => page.locator('.ans h4 .any').allTextContents();
  assert.deepEqual(await runs(), ['heron', 'magpie']);
  assert.deepEqual(await page.locator('#list .row').first().locator('.v').count(), 6, 'two models, three epochs');
  await page.locator('select[aria-label=task]').selectOption('sums');
  await settled(page);
  await page.waitForFunction(() => document.querySelector('#det h3')?.textContent?.startsWith('sums/'));
  assert.deepEqual(await runs(), ['finch']);
  const verdicts = await page.$$eval('#list .row .v', found => found.map(square => square.className.split(' ').pop()));
  assert.ok(verdicts.length >= 40 && !verdicts.includes('A'), `${verdicts}`);
  const shown = await page.locator('select').filter({ hasText: 'all samples' }).locator('option').allTextContents();
  assert.ok(!shown.includes('absent in a run'), `${shown}`);
});
