// `errorbar view` as a process, over a folder of logs, in a real browser.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { violations } from '../lib/axe.js';
import { FOLDER, almanac, errorbar, report } from '../lib/errorbar.js';
import { browser, counts, listed, open, settled, shownId } from '../lib/browser.js';
import { endAll, startEval, startModel, view, writeTask } from '../lib/view.js';

const LOGS = path.join(FOLDER, 'viewed');
const MODELS = /** @type {const} */ (['heron', 'magpie', 'wren']);
const HOSTILE_TASK = '"><img src=x onerror="window.hit = \'task\'"></script><script>window.hit = "task"</script>\u202e';
const HOSTILE_MODEL = 'mock/<svg onload="window.hit = 1"><style>*{display:none}<!-- \' onmouseover=\'window.hit=2';

/** @type {import('../lib/view.js').Viewer} */
let viewer;
/** @type {import('../lib/view.js').Model} */
let model;

const questions = Array.from({ length: 8 }, (_, at) => ({ id: `q${at}`, input: `${at}?`, target: at < 6 ? 'yes' : 'no' }));

/** @param {string} task @param {string} name @param {string[]} args */
const evaluated = async (task, name, ...args) => {
  const { code, stderr } = await startEval(task, '--model', name, '--log-dir', LOGS, '--base-url', model.url, ...args).ended;
  return { code, stderr };
};

before(async () => {
  mkdirSync(LOGS, { recursive: true });
  for (const name of MODELS) copyFileSync(almanac(name), path.join(LOGS, path.basename(almanac(name))));
  model = await startModel(questions.length);
  const quiz = writeTask('quiz', 'quiz', questions);
  const prices = path.join(FOLDER, 'prices.toml');
  writeFileSync(prices, '["openai/swift"]\ninput = 1000\noutput = 2000\n');
  for (const [task, name, ...args] of [
    [quiz, 'openai/swift', '--prices', prices],
    [quiz, 'mock/no'],
    [writeTask('hostile', HOSTILE_TASK, questions), HOSTILE_MODEL],
  ]) {
    const { code, stderr } = await evaluated(task, name, ...args);
    assert.equal(code, 0, stderr);
  }
  const refused = await evaluated(writeTask('refused', 'quiz', [{ id: 'q0', input: 'refuse', target: 'yes' }]), 'openai/crow', '--fail-on-error');
  assert.equal(refused.code, 1, refused.stderr);
  writeFileSync(path.join(LOGS, 'broken.eval'), 'no archive');
  model.allow(2);
  // It stays in progress.
  startEval(quiz, '--model', 'openai/slow', '--base-url', model.url, '--max-connections', '1', '--log-dir', LOGS);
  viewer = await view(LOGS);
});

after(endAll);

/** The list, once the run in progress has its two answers. @param {Parameters<typeof open>[1]} [options] */
async function openList(options) {
  const page = await open(viewer.url, options);
  await page.waitForFunction(() => document.querySelector('.live')?.textContent?.includes('2 of 8 answers'));
  return page;
}

/** @param {import('playwright-core').Page} page the names of the rows that are shown, from the top */
const names = page => page.$$eval('#logs tr[data-q]', rows =>
  rows.flatMap(row => (row instanceof HTMLElement && row.offsetParent !== null ? [row.dataset.name ?? ''] : [])));

/** @param {import('playwright-core').Page} page @param {string} name the row of a model */
const row = (page, name) => page.locator('#logs tr[data-q]', { has: page.locator('b', { hasText: new RegExp(`^${name}`) }) });

/** Whether a number as text is the other one, rounded. @param {string} text @param {number} number */
function isRounded(text, number) {
  const decimals = text.split('.')[1]?.length ?? 0;
  return text.trim() !== '' && Math.abs(Number(text) - number) <= 0.5 * 10 ** -decimals + 1e-12;
}

/** The files that are logs. */
const readable = () => readdirSync(LOGS).filter(file => file.endsWith('.eval') && file !== 'broken.eval').map(file => path.join(LOGS, file));

/** @param {string} url */
const origin = url => new URL(url).origin;

/** @param {import('../lib/browser.js').WatchedPage} page nothing was reported, and nothing came from elsewhere */
function assertQuiet(page) {
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests.filter(url => origin(url) !== origin(viewer.url)), []);
}

test('the figures of the list are those of `log list` and `score`', async () => {
  const page = await openList();
  const logs = JSON.parse(errorbar('log', 'list', ...readable(), '--format', 'json')).filter((/** @type {any} */ log) => log.status !== 'started');
  assert.equal(logs.length, 7);
  for (const log of logs) {
    const line = page.locator('#logs tr', { has: page.locator(`a[title=${JSON.stringify(path.basename(log.log))}]`) });
    const { value, stderr, lower, upper } = log.headline;
    const shown = await line.evaluate(element => ({ .../** @type {HTMLElement} */ (element).dataset }));
    assert.equal(shown.status, log.status === 'success' ? 'done' : log.status);
    const text = await line.locator('.va').innerText();
    if (value === null) {
      assert.equal(shown.v, '');
      assert.equal(text, 'undefined');
      continue;
    }
    assert.equal(Number(shown.v), value);
    // Equal scores say nothing of their error.
    const [number, error] = text.split('±').map(part => part.trim());
    assert.ok(isRounded(number, value) && (stderr === 0 ? error === '?' : isRounded(error, stderr)), `${text}: ${value} ± ${stderr}`);
    // Both scales go from 0 to 1.
    const ends = await line.locator('line.ci').evaluate(end => [end.getAttribute('x1'), end.getAttribute('x2')]);
    [lower, upper].forEach((end, at) => assert.ok(Math.abs(parseFloat(ends[at] ?? '') / 100 - end) <= 0.0001, `${ends} ${end}`));
    const [{ estimates, results }] = [JSON.parse(errorbar('score', log.log, '--format', 'json'))].flat();
    const { scorer, metric } = results.headline;
    const estimate = estimates.find((/** @type {any} */ one) => one.scorer === scorer && one.metric === metric && one.group === null);
    assert.ok(Math.abs(estimate.value - value) < 1e-12 && Math.abs(estimate.stderr - stderr) < 1e-12);
  }
  assert.match(await page.locator('.top').innerText(), /7 logs of 3 tasks, 1 running, 1 unreadable\./);
  assert.equal(await row(page, 'swift').locator('.tk').innerText(), '120');
  // 8 times 12 tokens at 1000 a million, and 3 at 2000.
  assert.equal(await row(page, 'swift').locator('.co').innerText(), '0.1440');
  assertQuiet(page);
});

test('a search and a status narrow the list', async () => {
  const page = await openList();
  await counts(page, '8 logs');
  await page.keyboard.press('/');
  await page.keyboard.type('ALMANAC wren');
  await counts(page, '1 of 8 logs');
  assert.deepEqual(await names(page), ['wren']);
  await page.fill('#q', 'almanac');
  await counts(page, '3 of 8 logs');
  assert.deepEqual(await page.locator('#logs tr.grp:visible span').allInnerTexts(), ['almanac']);
  await page.selectOption('#fs', 'error');
  await counts(page, '0 of 8 logs');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await counts(page, '8 logs');
  for (const [status, found] of [['error', ['crow']], ['unreadable', ['broken.eval']], ['cancelled', []]]) {
    await page.selectOption('#fs', String(status));
    assert.deepEqual(await names(page), found);
  }
  await page.selectOption('#fs', 'error');
  assert.match(await row(page, 'crow').innerText(), /no such question; nothing was scored/);
  assertQuiet(page);
});

test('rows are put in order within their task, what is unknown last', async () => {
  const page = await openList();
  await page.fill('#q', 'quiz');
  const head = (/** @type {string} */ name) => page.getByRole('columnheader', { name });
  const by = async (/** @type {string} */ name) => {
    await head(name).getByRole('button').click();
    return [await head(name).getAttribute('aria-sort'), ...await names(page)];
  };
  assert.deepEqual(await by('model'), ['ascending', 'crow', 'no', 'swift']);
  assert.deepEqual(await by('model'), ['descending', 'swift', 'no', 'crow']);
  assert.deepEqual(await by('estimate'), ['descending', 'swift', 'no', 'crow']);
  assert.deepEqual(await by('estimate'), ['ascending', 'no', 'swift', 'crow']);
  assert.equal(await head('model').getAttribute('aria-sort'), 'none');
  assert.deepEqual((await by('cost')).slice(0, 2), ['descending', 'swift']);
  await page.fill('#q', 'almanac');
  await head('estimate').getByRole('button').click();
  assert.deepEqual(await names(page), ['heron', 'magpie', 'wren']);
  await head('estimate').getByRole('button').focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await names(page), ['wren', 'magpie', 'heron']);
});

test('a log opens in its report, and samples are loaded when they are opened', async () => {
  const page = await openList();
  await row(page, 'heron').getByRole('link').click();
  await settled(page);
  assert.match(page.url(), /\/logs\/\d+\/$/);
  await counts(page, '144 samples');
  const asked = () => page.requests.filter(url => url.includes('/sample.json')).map(url => new URL(url).searchParams.get('id'));
  assert.deepEqual(asked(), ['geo-1-a']);
  await page.locator('#list').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.waitForFunction(() => document.querySelector('#det h3')?.textContent === 'geo-1-b');
  await settled(page);
  // The one between may have been passed before it was asked for.
  assert.deepEqual([...new Set(asked())].filter(id => id !== 'geo-1-c'), ['geo-1-a', 'geo-1-b']);
  const [{ estimates }] = [JSON.parse(errorbar('score', almanac('heron'), '--format', 'json'))].flat();
  const shown = await page.$$eval('[data-run][data-value]', found => found.map(one => ({ .../** @type {HTMLElement} */ (one).dataset })));
  const accuracy = estimates.find((/** @type {any} */ one) => one.metric === 'accuracy' && one.group === null);
  assert.ok(shown.some(one => Number(one.value) === accuracy.value && Number(one.stderr) === accuracy.stderr));
  await page.keyboard.press('/');
  await page.keyboard.type('geo-4');
  await counts(page, '3 of 144');
  assert.deepEqual(await listed(page), ['geo-4-a', 'geo-4-b', 'geo-4-c']);
  await page.locator('#list .row').nth(1).click();
  await page.waitForFunction(() => document.querySelector('#det h3')?.textContent === 'geo-4-b');
  await settled(page);
  assert.equal(await shownId(page), 'geo-4-b');
  assertQuiet(page);
});

test('a served page searches whole texts as a file does', async () => {
  const page = await openList();
  await row(page, 'heron').getByRole('link').click();
  await settled(page);
  const file = await open(report('heron-searched', almanac('heron')));
  // The end of a passage, a choice, what a model answered; none of them is in the list. The last is nowhere.
  for (const text of ['TOO STEEP for lorries', 'Mules are faster', 'ANSWER: B', '<img src=x onerror="window.hit = 3">']) {
    const found = [];
    for (const one of [file, page]) {
      await one.fill('#q', text);
      await one.waitForFunction(() => !document.querySelector('#q')?.hasAttribute('aria-busy'));
      found.push(await one.locator('#count').innerText());
    }
    assert.equal(found[1], found[0], text);
    assert.equal(found[0] === '0 of 144', text.startsWith('<'), text);
  }
  // A link to what was found shows it again.
  await page.fill('#q', 'mules are faster');
  await page.waitForFunction(() => location.hash.includes('mules'));
  const [again, count] = [await open(page.url()), await page.locator('#count').innerText()];
  await counts(again, count);
  assertQuiet(page);
  assertQuiet(again);
});

test('a run has one name: in the list, on its page and in a report', async () => {
  const page = await openList();
  assert.ok((await names(page)).includes('heron'));
  await row(page, 'heron').getByRole('link').click();
  await settled(page);
  const file = await open(report('heron-named', almanac('heron')));
  for (const one of [page, file]) {
    assert.match(await one.locator('.lead').innerText(), /^heron has an accuracy/);
    assert.match((await one.locator('table.logs').textContent()) ?? '', /replay\/examples\/almanac\/outputs\/heron\.jsonl/, 'the full id is under the logs');
  }
});

test('two logs are chosen and compared', async () => {
  const page = await openList();
  assert.ok(!(await page.locator('#tray').isVisible()));
  await row(page, 'heron').getByRole('checkbox').check();
  assert.match(await page.locator('#chosen').innerText(), /heron chosen; choose another of almanac/);
  assert.ok(!(await page.locator('#go').isVisible()));
  const other = row(page, 'swift').getByRole('checkbox');
  assert.ok(await other.isDisabled());
  assert.equal(await other.getAttribute('title'), 'only logs of one task can be compared');
  await row(page, 'wren').getByRole('checkbox').check();
  assert.match(await page.locator('#chosen').innerText(), /2 logs of almanac/);
  await page.locator('#unsel').click();
  assert.ok(!(await page.locator('#tray').isVisible()) && await other.isEnabled());
  await row(page, 'wren').getByRole('checkbox').check();
  await row(page, 'heron').getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await settled(page);
  assert.match(page.url(), /\/logs\/\d+-\d+\/$/);
  const { comparisons } = JSON.parse(errorbar('compare', almanac('heron'), almanac('wren'), '--format', 'json'));
  /** @type {Record<string, string | undefined>[]} */
  const shown = await page.$$eval('[data-base][data-other]', found => found.map(one => ({
    .../** @type {HTMLElement} */ (one).dataset, heading: one.querySelector('th')?.textContent ?? '',
  })));
  // All samples, and six categories.
  assert.equal(shown.length, 7);
  assert.equal(comparisons.length, 7);
  for (const [at, { base, other, value, stderr, heading }] of shown.entries()) {
    const same = comparisons[at];
    assert.ok(heading?.includes(same.group ?? ''), `${heading}: ${same.group}`);
    // A run is named by the last part of its model.
    const [from, to] = [base, other].map(name => path.parse(name ?? '').name);
    assert.deepEqual([from, to].sort(), ['heron', 'wren']);
    assert.equal(Number(value), from === same.base ? same.difference : -same.difference, heading);
    assert.equal(Number(stderr), same.stderr, heading);
  }
  assert.equal(await page.locator('#det .ans > div').count(), 2);
  assertQuiet(page);
});

test('names of tasks and models are text, whatever they are', async () => {
  const page = await openList();
  await page.fill('#q', 'onerror');
  await counts(page, '1 of 8 logs');
  const shown = await page.locator('#logs tbody:visible').innerText();
  assert.ok(shown.includes('<img src=x onerror="window.hit') && shown.includes('<svg onload="window.hit = 1">'), shown);
  const checkInert = async () => {
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).hit), undefined);
    for (const tag of ['img', 'iframe', '[onerror]', '[onload]', '[onmouseover]']) assert.equal(await page.locator(tag).count(), 0, tag);
    assert.equal(await page.locator('script:not([type="text/plain"])').count(), 1);
    assert.equal(await page.locator('style').count(), 1);
    assertQuiet(page);
  };
  const raw = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText));
  assert.ok(!raw, 'a character that turns the direction of text');
  await page.locator('#logs tr[data-q]:visible input').check();
  await page.locator('#logs tr[data-q]:visible a').hover();
  await checkInert();
  await page.locator('#logs tr[data-q]:visible a').click();
  await settled(page);
  await counts(page, '8 samples');
  await checkInert();
});

test('another token, none, and another site are refused', async () => {
  const { pathname } = new URL(viewer.url);
  const token = pathname.slice(1, -1);
  const wrong = token.replace(/^./, first => (first === '0' ? '1' : '0'));
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  for (const place of ['/', `/${wrong}/`, `/${wrong}/logs/1/`, `/${wrong}/events`, `/${token.slice(1)}/`]) {
    const answer = await page.goto(origin(viewer.url) + place);
    assert.equal(answer?.status(), 403, place);
    assert.doesNotMatch(await page.content(), /almanac|quiz/);
  }
  // A page of another site that knows the address may not read it either.
  const elsewhere = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>elsewhere'));
  await new Promise(resolve => elsewhere.listen(0, '127.0.0.1', () => resolve(undefined)));
  const at = elsewhere.address();
  await page.goto(`http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}/`);
  assert.equal(await page.evaluate(url => fetch(url).then(() => 'read', () => 'refused'), viewer.url), 'refused');
  assert.equal(await page.evaluate(url => fetch(url, { mode: 'no-cors' }).then(() => 'read', () => 'refused'), viewer.url), 'refused');
  elsewhere.closeAllConnections();
  elsewhere.close();
});

test('an address that is not there says so', async () => {
  const page = await browser.newPage();
  const answer = await page.goto(`${viewer.url}logs/999/`);
  assert.equal(answer?.status(), 404);
  assert.match(await page.innerText('main'), /this log is no longer in the folder/);
});

for (const scheme of /** @type {const} */ (['light', 'dark']))
  for (const width of [390, 900, 1280])
    test(`the list is accessible, ${scheme}, ${width} px`, async () => {
      const page = await openList({ width, scheme });
      await row(page, 'heron').getByRole('checkbox').check();
      await row(page, 'wren').getByRole('checkbox').check();
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} px`);
      assert.ok(await row(page, 'heron').locator('.da').isVisible(), 'when it began');
    });

test('an empty list and a page with an error are accessible', async () => {
  const empty = path.join(FOLDER, 'empty');
  mkdirSync(empty);
  const server = await view(empty);
  const page = await open(server.url);
  assert.match(await page.locator('#nologs').innerText(), /No logs in .*empty yet/);
  assert.deepEqual(await violations(page), []);
  await page.goto(`${server.url}logs/1/`);
  assert.deepEqual(await violations(page), []);
  assert.equal(await server.stop(), 0);
});
