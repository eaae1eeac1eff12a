// What a log says is text, whatever it says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { report, runTask } from '../lib/errorbar.js';
import { counts, open, settled } from '../lib/browser.js';

const HOSTILE = {
  script: '<script>window.hit = "script"; alert(1)</script>',
  event: '<img src=x onerror="window.hit = \'event\'"><svg onload="window.hit = 1"></svg>',
  link: '<a href="javascript:window.hit=1">press</a> [press](javascript:window.hit=1)',
  unclosed: '<table><tr><td><textarea><!-- <title><style>*{display:none}',
  end: '</script></style></textarea></title>--><script>window.hit = "end"</script>',
  json: '"}]}</script><script>window.hit = "json"</script>\u2028\u2029',
  bidi: 'safe\u202eetis live\u202c \u2066isolated\u2069 \u200bzero\ufeff width \u{e0041}tag',
  control: 'bell\u0007 escape\u001b[31m null\u0000 delete\u007f',
  template: '${window.hit = 1} {{window.hit = 1}} %3Cscript%3E',
  formula: '=HYPERLINK("https://example.invalid")',
  hiddenFormula: '\u200b\u{a0}＝HYPERLINK("https://example.invalid")',
};
const LARGE = 10 * 1024 * 1024;

/** @type {string} */
let file;
before(() => {
  const samples = Object.entries(HOSTILE).map(([name, text]) => ({
    id: `${name} ${text}`, input: name.endsWith('ormula') ? text : `input ${text}`, target: text, output: `output ${text}`, metadata: { note: text, kind: name },
  }));
  samples.push({ id: 'large', input: 'How long?', target: 'end', output: `${'word '.repeat(LARGE / 5 - 1)}end!!`, metadata: { note: 'long', kind: 'large' } });
  file = report('hostile', runTask('hostile', samples));
});

test('nothing in a log runs, loads or breaks the page', async () => {
  const page = await open(file);
  await counts(page, '12 samples');
  for (let i = 0; i < 12; i++) {
    await page.locator('#list').focus();
    await settled(page);
    for (const summary of await page.locator('#det summary').all()) await summary.click();
    await page.keyboard.press('j');
  }
  assert.equal(await page.evaluate(() => /** @type {any} */ (window).hit), undefined);
  assert.deepEqual(page.problems, []);
  assert.equal(page.requests.length, 1);
  // No element of the log's making.
  for (const tag of ['img', 'textarea', 'iframe', 'object', 'embed', 'a[href^="javascript" i]', '[onerror]', '[onload]'])
    assert.equal(await page.locator(tag).count(), 0, tag);
  assert.equal(await page.locator('script:not([type="text/plain"])').count(), 1);
  assert.equal(await page.locator('style').count(), 1);
});

test('the text of a log is shown as it is', async () => {
  const page = await open(file);
  await page.fill('#q', 'window.hit = "script"');
  await counts(page, '1 of 12');
  assert.ok((await page.locator('#det').innerText()).includes(`output ${HOSTILE.script}`));
});

test('characters that are not seen are shown as codes', async () => {
  const page = await open(file);
  await page.fill('#q', 'bidi');
  await counts(page, '1 of 12');
  const text = await page.locator('#det .ans .txt').first().innerText();
  assert.equal(text, 'output safe‹U+202E›etis live‹U+202C› ‹U+2066›isolated‹U+2069› ‹U+200B›zero‹U+FEFF› width ‹U+E0041›tag');
  const raw = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText));
  assert.ok(!raw);
  assert.equal(await page.locator('#det .ans .txt').first().getAttribute('dir'), 'auto');
  await page.fill('#q', 'control');
  await counts(page, '1 of 12');
  assert.match(await page.locator('#det .ans .txt').first().innerText(), /bell‹U\+0007› escape‹U\+001B›\[31m null‹U\+0000› delete‹U\+007F›/);
});

test('an answer of ten megabytes is cut, with the number of characters', async () => {
  assert.ok(readFileSync(file).length < 2_000_000);
  const page = await open(file, { hash: '#samples?id=large' });
  await page.getByRole('button', { name: /^Show all 10,485,760 characters$/ }).click();
  assert.match(await page.locator('#det .cut').first().innerText(), /10,465,760 of 10,485,760 characters are cut here/);
  assert.match(await page.locator('#det .ans').innerText(), /end!!/);
});

test('a text that starts like a formula is not one in the CSV', async () => {
  const page = await open(file, { hash: '#samples?q=formula' });
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#fcsv')]);
  const text = readFileSync(await download.path(), 'utf8');
  assert.match(text, /"'=HYPERLINK/);
  assert.match(text, /"'\u200b\u{a0}＝HYPERLINK/u, 'behind hidden characters');
  assert.doesNotMatch(text, /(^|,)"?=/m);
});
