// The page around the samples: figures, theme, orders, links into the samples.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { ROOT, almanac, errorbar, report, severalTasks } from '../lib/errorbar.js';
import { counts, open, shownId } from '../lib/browser.js';

const MODELS = /** @type {const} */ (['heron', 'magpie', 'wren']);
/** @type {string} */
let file;
before(() => {
  file = report('page', ...MODELS.map(almanac));
});

/**
 * The rows with figures.
 * @param {import('playwright-core').Page} page
 * @param {string} selector
 * @returns {Promise<Record<string, string | undefined>[]>}
 */
const rows = (page, selector) => page.$$eval(selector, found => found.map(row => ({
  ...(row instanceof HTMLElement ? row.dataset : {}), text: row.textContent ?? '',
})));

test('the figures are those of `score --format json`', async () => {
  const page = await open(file);
  const shown = await rows(page, '[data-run][data-value]');
  let compared = 0;
  for (const model of MODELS) {
    const [{ estimates }] = [JSON.parse(errorbar('score', almanac(model), '--format', 'json'))].flat();
    for (const estimate of estimates) {
      const isThis = (/** @type {any} */ row) => row.run === model && row.scorer === estimate.scorer && row.metric === estimate.metric
        && (row.groupKey ?? null) === estimate.group_key && (row.group ?? null) === estimate.group;
      for (const row of shown.filter(isThis)) {
        const figures = (/** @type {any} */ of) => ['value', 'stderr', 'lower', 'upper', 'n'].map(key => Number(of[key]));
        assert.deepEqual(figures(row), figures(estimate), `${model} ${estimate.spec} ${estimate.group ?? ''}`);
        compared++;
      }
    }
  }
  // The headline and six categories of each model.
  assert.ok(compared >= 21, `${compared} figures`);
  assert.match(shown.find(row => row.run === 'heron')?.text ?? '', /0\.847\s*±\s*0\.026/);
});

test('differences are those of `compare --format json`', async () => {
  const page = await open(file);
  const shown = await rows(page, '[data-base][data-other]');
  const { comparisons } = JSON.parse(errorbar('compare', ...MODELS.map(almanac), '--all-pairs', '--format', 'json'));
  assert.equal(shown.length, 3);
  for (const row of shown) {
    // The page has the better one first, so a difference may have the other sign.
    const same = comparisons.find((/** @type {any} */ one) => one.group === null && [one.base, one.other].sort().join() === [row.base, row.other].sort().join());
    assert.equal(Number(row.value), Math.abs(same.difference));
    assert.equal(Number(row.stderr), same.stderr);
  }
});

test('a count of the comparison opens its samples', async () => {
  const page = await open(file);
  const link = page.locator('.mat td a').first();
  const count = (await link.innerText()).trim();
  await link.click();
  await page.waitForSelector('#fpair:not([hidden])');
  await counts(page, `${count} of 144`);
});

test('every link into the samples finds what it says', async () => {
  const page = await open(file);
  const links = await page.$$eval('.mat td a', found => found.map(link => [link.getAttribute('href') ?? '', link.textContent?.trim() ?? '']));
  assert.ok(links.length > 20);
  for (const [href, count] of links) {
    await page.evaluate(hash => { location.hash = hash; }, href);
    await counts(page, `${count} of 144`);
  }
  const notice = page.locator('.notices a[href^="#samples"]').first();
  await notice.click();
  const shown = Number((await page.locator('#count').textContent())?.split(' ')[0]);
  assert.ok(shown > 0 && shown < 144);
});

test('the theme goes from the system to light to dark and is remembered', async () => {
  const page = await open(file, { scheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click('#theme');
  assert.equal(await page.innerText('#theme'), 'Theme: light');
  const light = await ground();
  assert.notEqual(light, dark);
  // On a busy machine the browser may load the page again before it has stored the choice.
  for (let loads = 0; loads < 5 && (loads === 0 || await ground() !== light); loads++) await page.reload();
  assert.equal(await ground(), light);
  await page.click('#theme');
  assert.equal(await ground(), dark);
});

test('groups are put in order, and one model stands out', async () => {
  const page = await open(file);
  const names = () => page.$$eval('#groups [data-name]:not([data-fixed])', found => found.map(group => (group instanceof HTMLElement ? group.dataset.name : '')));
  const byMean = await names();
  await page.selectOption('.forder', 'name');
  assert.deepEqual(await names(), [...byMean].sort());
  await page.selectOption('.forder', 'pos');
  assert.deepEqual(await names(), ['geography', 'history', 'physics', 'biology', 'trade', 'sport']);
  const opacity = () => page.locator('#groups .forest .m2').first().evaluate(mark => getComputedStyle(mark).opacity);
  assert.equal(await opacity(), '1');
  await page.locator('#groups .legend button').first().click();
  assert.ok(Number(await opacity()) < 0.5);
  await page.locator('#groups .legend button').first().click();
  assert.equal(await opacity(), '1');
});

test('a line under the pointer reads the value', async () => {
  const page = await open(file);
  const plot = await page.locator('.est tbody .pl svg').first().boundingBox();
  assert.ok(plot);
  await page.mouse.move(plot.x + plot.width / 2, plot.y + plot.height / 2);
  const line = page.locator('.guide:not([hidden])');
  assert.ok(Math.abs(Number(await line.innerText()) - 0.5) < 0.01);
  await page.mouse.move(5, 5);
  assert.equal(await line.count(), 0);
});

test('figures stand without a script', async () => {
  const page = await open(file);
  const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
  assert.ok(context);
  const bare = await context.newPage();
  await bare.goto(page.url());
  assert.match(await bare.locator('.est').innerText(), /0\.847/);
  assert.match(await bare.locator('#samples').innerText(), /Without scripts the samples are not shown/);
  assert.ok(!(await bare.locator('#theme').isVisible()));
});

test('one table is a report too', async () => {
  const page = await open(report('quiz', 'examples/quiz.csv'));
  await counts(page, '36 samples');
  assert.equal(await shownId(page), 'q01');
  assert.deepEqual(page.problems, []);
});

test('ratings of a table without questions are in its list', async () => {
  const page = await open(report('stars', 'examples/stars.csv', '--score-column', 'judge'));
  await counts(page, '60 samples');
  const rows = await page.$$eval('#list .row', found => found.slice(0, 3).map(row => [row.querySelector('.id')?.textContent, row.querySelector('.vs .val')?.textContent]));
  const [, ...lines] = readFileSync(path.join(ROOT, 'examples/stars.csv'), 'utf8').split('\n');
  assert.deepEqual(rows, lines.slice(0, 3).map(line => line.split(',').slice(0, 2)));
  assert.equal(await page.locator('#det .eh b').first().innerText(), rows[0][1]);
  // Rows without a second line have the height of one, and the last is reached.
  const tall = await page.locator('#list .row').first().boundingBox();
  assert.ok(tall && tall.height < 40, `${tall?.height} px`);
  await page.locator('#list').focus();
  await page.keyboard.press('End');
  assert.equal(await shownId(page), lines.filter(Boolean).at(-1)?.split(',')[0]);
  assert.ok(await page.locator('#list .row[aria-selected=true]').isVisible());
  assert.deepEqual(page.problems, []);
});

test('several tasks are a table of models and tasks', async () => {
  const logs = severalTasks();
  const page = await open(report('several', ...logs));
  assert.match(await page.locator('main').innerText(), /4 runs of 2 tasks by 2 models\./);
  const shown = await rows(page, '#tasks [data-run][data-value]');
  const figures = logs.map(log => {
    const [{ model, estimates }] = [JSON.parse(errorbar('score', log, '--format', 'json'))].flat();
    const accuracy = estimates.find((/** @type {any} */ one) => one.metric === 'accuracy');
    return [model.split('/').at(-1), accuracy.value, accuracy.stderr];
  });
  assert.deepEqual(shown.map(row => [row.run?.split('/').at(-1), Number(row.value), Number(row.stderr)]).sort(), figures.sort());
  assert.deepEqual(page.problems, []);
  assert.equal(page.requests.length, 1);
});

for (const width of [360, 390, 820, 900, 1000, 1240, 1600])
  test(`nothing is wider than a screen of ${width} px`, async () => {
    const page = await open(file, { width });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} px`);
    // Where labels of an axis lie over each other, a plot cannot be read.
    for (const plot of await page.locator(':is(.est, .pairs) tbody .pl').all())
      assert.ok(((await plot.boundingBox())?.width ?? 0) >= 150, 'a plot has room');
    const labels = await page.$$eval('.pairs thead .tick', found => found.map(label => label.getBoundingClientRect()).filter(box => box.width)
      .map(({ left, right }) => [left, right]).sort(([a], [b]) => a - b));
    assert.ok(labels.length > 1);
    labels.slice(1).forEach(([left], at) => assert.ok(left >= labels[at][1], `labels at ${labels.join(' ')}`));
  });
