// The sample browser of a report on three models, three epochs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { almanac, report } from '../lib/errorbar.js';
import { counts, listed, open, settled, shownId } from '../lib/browser.js';

/** @type {string} */
let file;
before(() => {
  file = report('almanac', almanac('heron'), almanac('magpie'), almanac('wren'));
});

test('renders the first sample without errors and without the network', async () => {
  const page = await open(file);
  assert.equal(await page.locator('#count').textContent(), '144 samples');
  assert.equal(await shownId(page), 'geo-1-a');
  assert.equal(await page.locator('#det .ans > div').count(), 3);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests.filter(url => !url.startsWith('file:')), []);
  assert.equal(page.requests.length, 1);
});

test('only the rows in view are in the page', async () => {
  const page = await open(file);
  const rows = await page.locator('#list .row').count();
  assert.ok(rows > 5 && rows < 60, `${rows} rows`);
  await page.locator('#list').evaluate(list => { list.scrollTop = list.scrollHeight; });
  await page.waitForFunction(() => [...document.querySelectorAll('#list .row .id')].some(id => id.textContent === 'spo-8-c'));
  assert.equal(await page.locator('#list .row[aria-selected=true]').count(), 1);
});

test('searches ids, questions and answers', async () => {
  const page = await open(file);
  await page.fill('#q', 'GEO-4');
  await counts(page, '3 of 144');
  assert.deepEqual(await listed(page), ['geo-4-a', 'geo-4-b', 'geo-4-c']);
  // Words that only answers have are found once the texts are read.
  await page.fill('#q', 'agrees with the passage');
  await page.waitForFunction(() => /^\d+ of 144$/.test(document.querySelector('#count')?.textContent ?? '')
    && document.querySelector('#count')?.textContent !== '0 of 144');
  assert.match(await page.locator('#det .ans').innerText(), /agrees with the passage/);
  await page.fill('#q', 'no such words <b>');
  await counts(page, '0 of 144');
  assert.match(await page.locator('#list').innerText(), /No sample fits “no such words <b>”/);
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await counts(page, '144 samples');
  assert.deepEqual(page.problems, []);
});

test('filters by group, verdict, model and disagreement', async () => {
  const page = await open(file);
  await page.getByLabel('category', { exact: true }).selectOption('history');
  await counts(page, '24 of 144');
  await page.selectOption('#fshow', 'disagree');
  const some = Number((await page.locator('#count').textContent())?.split(' ')[0]);
  assert.ok(some > 0 && some < 24, String(some));
  await page.click('#fmore');
  await page.getByLabel('verdict', { exact: true }).selectOption({ label: 'no answer found' });
  await page.getByLabel('model', { exact: true }).selectOption('wren');
  const squares = await page.$$eval('#list .row', rows => rows.map(row => row.querySelector('.vs .m3 .N') !== null));
  assert.ok(squares.length > 0 && squares.every(Boolean), String(squares));
  await page.click('#fclear');
  await counts(page, '144 samples');
});

test('sorts by difficulty, disagreement and id', async () => {
  const page = await open(file);
  const right = () => page.$$eval('#list .row', rows => rows.slice(0, 10).map(row => row.querySelectorAll('.v.C').length));
  await page.selectOption('#fsort', 'hard');
  const hardest = await right();
  assert.deepEqual(hardest, [...hardest].sort((a, b) => a - b));
  assert.ok(hardest[0] < 2);
  await page.selectOption('#fsort', 'easy');
  assert.deepEqual(new Set(await right()), new Set([9]));
  await page.selectOption('#fsort', 'id');
  assert.equal((await listed(page))[0], 'bio-1-a');
});

test('is used by keys alone', async () => {
  const page = await open(file);
  await page.keyboard.press('/');
  await page.keyboard.type('geo-2');
  await counts(page, '3 of 144');
  await page.keyboard.press('Enter');
  await page.keyboard.press('j');
  assert.equal(await shownId(page), 'geo-2-b');
  await page.keyboard.press('ArrowDown');
  assert.equal(await shownId(page), 'geo-2-c');
  await page.keyboard.press('ArrowDown');
  assert.equal(await shownId(page), 'geo-2-c', 'the last stays');
  await page.keyboard.press('k');
  assert.equal(await shownId(page), 'geo-2-b');
  const active = await page.evaluate(() => document.getElementById(document.querySelector('#list')?.getAttribute('aria-activedescendant') ?? '')?.textContent);
  assert.match(active ?? '', /^geo-2-b/);
  await page.keyboard.press('Escape');
  await counts(page, '144 samples');
  assert.equal(await shownId(page), 'geo-2-b', 'the sample stays selected');
  await page.keyboard.press('End');
  assert.equal(await shownId(page), 'spo-8-c');
  await page.keyboard.press('Home');
  assert.equal(await shownId(page), 'geo-1-a');
  await page.keyboard.press('d');
  assert.equal(await shownId(page), 'geo-1-b', 'the next on which models disagree');
  await page.keyboard.press('m');
  await page.waitForSelector('details.conversation[open] dl');
  await page.keyboard.press('m');
  assert.equal(await page.locator('details.conversation[open]').count(), 0);
  await page.keyboard.press('?');
  assert.ok(await page.locator('#keys').isVisible());
  await page.getByLabel('single letters are keys').uncheck();
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('#keys').isVisible()));
  await page.keyboard.press('j');
  assert.equal(await shownId(page), 'geo-1-b', 'letters are switched off');
  assert.deepEqual(page.problems, []);
});

test('every control is reached by Tab', async () => {
  const page = await open(file);
  await page.locator('#q').focus();
  const reached = [];
  for (let i = 0; i < 12; i++) {
    reached.push(await page.evaluate(() => document.activeElement?.id));
    await page.keyboard.press('Tab');
  }
  for (const id of ['q', 'fshow', 'fsort', 'fmore', 'fcsv', 'list']) assert.ok(reached.includes(id), `${id} is not in ${reached}`);
});

test('links restore filter, order and sample', async () => {
  const page = await open(file);
  await page.getByLabel('category', { exact: true }).selectOption('physics');
  await page.selectOption('#fshow', 'epochs');
  await page.selectOption('#fsort', 'hard');
  await page.fill('#q', 'what');
  await page.locator('#list').focus();
  await page.keyboard.press('End');
  const [id, count] = [await shownId(page), await page.locator('#count').textContent()];
  await page.waitForFunction(wanted => location.hash.includes(`id=${wanted}`), id);
  const hash = new URL(page.url()).hash;
  const again = await open(file, { hash });
  await counts(again, count ?? '');
  assert.equal(await shownId(again), id);
  assert.equal(await again.inputValue('#q'), 'what');
  assert.equal(await again.inputValue('#fsort'), 'hard');
  // A link in the page is followed without loading it again.
  await again.evaluate(() => { location.hash = '#samples?a=heron:1&b=wren:wrong'; });
  await again.waitForSelector('#fpair:not([hidden])');
  const found = await again.$$eval('#list .row', rows => rows.map(row => row.querySelectorAll('.m1 .C').length * 10 + row.querySelectorAll('.m3 .C').length));
  assert.ok(found.length > 0 && found.every(n => n === 30 || n === 31), String(found));
  await again.click('#fpair');
  await counts(again, '144 samples');
  // A sample that is not there is not replaced in silence.
  await again.evaluate(() => { location.hash = '#samples?id=nowhere'; });
  await counts(again, 'no sample nowhere here');
});

test('shows choices, votes, answers and messages of a sample', async () => {
  const page = await open(file, { hash: '#samples?id=geo-4-b' });
  const target = page.locator('#det .chs tr.tg');
  assert.match(await target.innerText(), /A bloom of algae/);
  assert.equal(await target.locator('.m1 .v.C').count(), 3);
  assert.equal(await target.locator('.m2 .v.C').count(), 2);
  assert.equal(await page.locator('#det .ans .m2 .ep .v.I').count(), 1);
  await page.getByText('Messages', { exact: true }).click();
  await page.waitForSelector('.conversation dl');
  assert.match(await page.locator('.conversation').innerText(), /You answer questions about short passages/);
  await page.getByLabel('Messages of').selectOption({ label: 'wren, epoch 2' });
  assert.match(await page.locator('.conversation').innerText(), /Answer: B/);
});

test('compares two answers word by word', async () => {
  const page = await open(file, { hash: '#samples?id=geo-4-b' });
  await page.getByText('Difference of two answers').click();
  await page.waitForSelector('.diff');
  await page.getByLabel('first answer').selectOption({ label: 'heron, epoch 1' });
  await page.getByLabel('second answer').selectOption({ label: 'magpie, epoch 1' });
  const text = async (/** @type {string} */ selector) => (await page.locator(selector).allTextContents()).join('|');
  assert.equal(await text('.diff del'), 'B');
  assert.match(await text('.diff ins'), /Only option D agrees with the passage\..*D$/s);
  await page.getByLabel('second answer').selectOption({ label: 'heron, epoch 1' });
  assert.match(await page.locator('.diff .note').innerText(), /The answers are the same/);
});

test('saves what is shown as CSV', async () => {
  const page = await open(file, { hash: '#samples?q=geo-4' });
  await counts(page, '3 of 144');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#fcsv')]);
  assert.equal(download.suggestedFilename(), 'samples.csv');
  const lines = readFileSync(await download.path(), 'utf8').trim().split('\r\n');
  assert.equal(lines.length, 4);
  assert.equal(lines[0].split(',').length, 2 + 2 + 9);
  assert.match(lines[0], /^id,question,category,passage,heron choice epoch 1,/);
  assert.equal(lines[2], 'geo-4-b,What makes the lake green?,geography,geo-4,C,C,C,I,C,C,C,C,C');
  assert.deepEqual(page.problems, []);
});

test('a narrow screen has list and sample one below the other', async () => {
  const page = await open(file, { width: 390, height: 800 });
  await page.locator('#list .row').nth(2).click();
  await settled(page);
  assert.equal(await shownId(page), 'geo-1-c');
  await page.getByRole('button', { name: 'back to the list' }).click();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'list');
  const [wide, view] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= view, `${wide} px wide on ${view}`);
});
