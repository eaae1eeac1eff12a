// Pages of `errorbar view` while runs begin, go on and end.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { FOLDER, errorbar } from '../lib/errorbar.js';
import { counts, open, settled } from '../lib/browser.js';
import { endAll, startEval, startModel, view, writeTask } from '../lib/view.js';

afterEach(endAll);

// Every other answer `yes` is right.
const questions = Array.from({ length: 6 }, (_, at) => ({ id: `q${at}`, input: `${at}?`, target: at % 2 ? 'no' : 'yes' }));
const quiz = writeTask('live', 'quiz', questions);

/** @param {string} name @returns {string} an empty folder for logs */
function emptyFolder(name) {
  const folder = path.join(FOLDER, name);
  mkdirSync(folder);
  return folder;
}

/** @param {import('playwright-core').Page} page @param {string} selector @param {string} text waits until an element has the text */
const says = (page, selector, text) => page.waitForFunction(([where, wanted]) =>
  document.querySelector(where)?.textContent?.includes(wanted), [selector, text]);

/** @param {string} folder the estimate of the only log, by `score` */
function scored(folder) {
  const [log] = readdirSync(folder).filter(file => file.endsWith('.eval'));
  const [{ estimates }] = [JSON.parse(errorbar('score', path.join(folder, log), '--format', 'json'))].flat();
  return estimates.find((/** @type {any} */ one) => one.metric === 'accuracy');
}

/** @param {import('playwright-core').Page} page @param {string} selector @param {{value: number, stderr: number}} estimate */
async function assertShows(page, selector, { value, stderr }) {
  const [number, error] = (await page.locator(`${selector} .pmv`).innerText()).split('±').map(Number);
  assert.ok(Math.abs(number - value) <= 0.005 && Math.abs(error - stderr) <= 0.005, `${number} ± ${error}, not ${value} ± ${stderr}`);
}

test('a run is followed from an empty folder to its end', async () => {
  const folder = emptyFolder('followed');
  const [server, model] = [await view(folder), await startModel(2)];
  const page = await open(server.url);
  await says(page, '#nologs', 'No logs in');
  // One sample after the other: the first two are one right and one wrong.
  const run = startEval(quiz, '--model', 'openai/slow', '--base-url', model.url, '--max-samples', '1', '--log-dir', folder);
  await says(page, '.live', '2 of 6 answers');
  await says(page, '.live', 'so far');
  await says(page, '.live', 'of the samples that finished first');
  await assertShows(page, '.live', scored(folder));
  const bar = page.getByRole('progressbar');
  assert.equal(await bar.getAttribute('aria-valuenow'), '2');
  await page.waitForFunction(() => document.querySelector('#nologs') === null);
  await says(page, '.top', '1 running.');

  model.allow(2);
  await says(page, '.live', '4 of 6 answers');
  await assertShows(page, '.live', scored(folder));
  const opened = await open(new URL(await page.locator('.live a').getAttribute('href') ?? '', server.url).href);
  await counts(opened, '4 samples');
  assert.deepEqual(opened.problems, []);

  model.allow(2);
  const { code, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  await page.waitForSelector('#logs tr[data-status=done]');
  await page.waitForFunction(() => document.querySelector('.live') === null);
  await assertShows(page, '#logs tr[data-status=done]', scored(folder));
  assert.match(await page.locator('.top').innerText(), /^Logs\s+1 log of 1 task\./);
  await counts(page, '1 log');
  await page.fill('#q', 'nothing');
  await counts(page, '0 of 1 log');
  await page.fill('#q', '');
  await page.locator('#logs a').click();
  await settled(page);
  await counts(page, '6 samples');
  assert.deepEqual(page.problems, []);
  model.close();
  assert.equal(await server.stop(), 0);
});

test('what was chosen, searched and ordered stays when logs are added', async () => {
  const folder = emptyFolder('added');
  const added = async (/** @type {string} */ model) => {
    const { code, stderr } = await startEval(quiz, '--model', model, '--log-dir', folder).ended;
    assert.equal(code, 0, stderr);
  };
  await added('mock/yes');
  await added('mock/no');
  const server = await view(folder);
  const page = await open(server.url);
  await page.getByRole('columnheader', { name: 'model' }).getByRole('button').click();
  await page.fill('#q', 'mock');
  await page.getByRole('checkbox', { name: 'choose mock/yes to compare' }).check();
  await added('mock/maybe');
  await added('mock/perhaps');
  await counts(page, '4 logs');
  assert.deepEqual(await page.$$eval('#logs tr[data-q]', rows => rows.map(row => row.getAttribute('data-name'))), ['maybe', 'no', 'perhaps', 'yes']);
  assert.equal(await page.inputValue('#q'), 'mock');
  assert.ok(await page.getByRole('checkbox', { name: 'choose mock/yes to compare' }).isChecked());
  assert.match(await page.locator('#chosen').innerText(), /^yes chosen/);
  assert.match(await page.locator('.top').innerText(), /4 logs of 1 task\./);
  assert.deepEqual(page.problems, []);
  assert.equal(await server.stop(), 0);
});

test('a run that is cancelled is in the list as such', async () => {
  const folder = emptyFolder('cancelled');
  const [server, model] = [await view(folder), await startModel(3)];
  const page = await open(server.url);
  const run = startEval(quiz, '--model', 'openai/slow', '--base-url', model.url, '--max-connections', '1', '--log-dir', folder);
  await says(page, '.live', '3 of 6 answers');
  run.interrupt();
  assert.notEqual((await run.ended).code, 0);
  await page.waitForSelector('#logs tr[data-status=cancelled]');
  assert.equal(await page.locator('#logs .scored').last().innerText(), '3 of 6');
  assert.equal(await page.locator('.live').count(), 0);
  assert.deepEqual(page.problems, []);
  model.close();
  assert.equal(await server.stop(), 0);
});

test('a page whose server ends says that it is not connected', async () => {
  const server = await view(emptyFolder('ended'));
  const page = await open(server.url);
  await page.waitForFunction(() => document.querySelector('#lost')?.textContent === '');
  assert.equal(await server.stop(), 0);
  await says(page, '#lost', 'not connected');
});
