// Measures a report of 10,000 samples: how long it takes to make, its size, first paint, a keystroke of the search, a filter.
// Not a test: figures depend on the machine. ERRORBAR=target/release/errorbar node measure.js [samples]
import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOLDER, errorbar, runTask } from './lib/errorbar.js';
import { browser } from './lib/browser.js';

const COUNT = Number(process.argv[2] ?? 10_000);
const WORDS = ('lake river tower market engine valley winter island bridge morning harbour lantern orchard meadow quarry copper '
  + 'signal garden thunder mirror candle forest silver hammer compass saddle barrel anchor pepper feather whistle ladder').split(' ');
let seed = 1;
// The high bits, because the low ones repeat and would compress too well.
const random = (/** @type {number} */ n) => Math.floor((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 * n);
const text = (/** @type {number} */ words) => Array.from({ length: words }, () => WORDS[random(WORDS.length)] + random(100)).join(' ');

const samples = Array.from({ length: COUNT }, (_, i) => {
  const target = 'ABCD'[random(4)];
  const answer = random(10) < 7 ? target : 'ABCD'[random(4)];
  return { id: `q${i}`, input: `${text(60)}\n\nWhat is ${text(5)}?`, target, output: `${text(50)}\n\nANSWER: ${answer}`, metadata: { category: WORDS[random(8)] } };
});
const log = runTask('large', samples, 'match()');
const file = path.join(FOLDER, 'large.html');

/** @param {string} name @param {string[]} options */
function make(name, ...options) {
  const start = performance.now();
  errorbar('report', log, '-o', file, '--force', ...options);
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(2)} s, ${(statSync(file).size / 1e6).toFixed(2)} MB`);
}
make('made with messages');
make('made without samples', '--no-samples');
make('made without messages', '--max-size', '5M');

for (let round = 0; round < 3; round++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const start = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('.dbody .ans');
  const shown = performance.now() - start;
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
  await page.locator('#q').focus();
  const indexed = await page.evaluate(async () => {
    const began = performance.now();
    while (document.querySelector('#q[aria-busy]')) await new Promise(resume => setTimeout(resume, 5));
    return performance.now() - began;
  });
  const times = await page.evaluate(async () => {
    const search = /** @type {HTMLInputElement} */ (document.querySelector('#q')), show = /** @type {HTMLSelectElement} */ (document.querySelector('#fshow'));
    const frame = () => new Promise(resume => requestAnimationFrame(() => setTimeout(resume)));
    const result = { handler: 0, frame: 0, filter: 0, sort: 0 };
    for (const text of ['l', 'la', 'lak', 'lake', 'lake4', 'lake', 'la', '', 'q99', 'zzz', 'r']) {
      await frame();
      const began = performance.now();
      search.value = text;
      search.dispatchEvent(new Event('input'));
      result.handler = Math.max(result.handler, performance.now() - began);
      await frame();
      result.frame = Math.max(result.frame, performance.now() - began);
    }
    search.value = '';
    search.dispatchEvent(new Event('input'));
    for (const value of ['wrong', 'allright', '']) {
      const began = performance.now();
      show.value = value;
      show.dispatchEvent(new Event('change'));
      result.filter = Math.max(result.filter, performance.now() - began);
    }
    const sort = /** @type {HTMLSelectElement} */ (document.querySelector('#fsort'));
    for (const value of ['hard', 'id', 'disagreement', '']) {
      const began = performance.now();
      sort.value = value;
      sort.dispatchEvent(new Event('change'));
      result.sort = Math.max(result.sort, performance.now() - began);
    }
    return result;
  });
  const ms = (/** @type {number} */ value) => `${value.toFixed(0)} ms`;
  console.log(`first paint ${ms(paint)}, first sample ${ms(shown)}, whole texts searchable after ${ms(indexed)}; slowest keystroke `
    + `${ms(times.handler)} (${ms(times.frame)} with its frame), filter ${ms(times.filter)}, order ${ms(times.sort)}`);
  await page.close();
}
await browser.close();
