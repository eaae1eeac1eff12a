// The same browser with samples from a server: loading, failing, trying again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { almanac, report } from '../lib/errorbar.js';
import { browser, counts, open, shownId } from '../lib/browser.js';

/** What the server answers next in place of what is asked for. @type {{status: number, path: string} | null} */
let failure = null;
/** @type {Promise<void>} */
let held = Promise.resolve();
/** @type {string[]} */
const asked = [];
let address = '';
/** @type {import('node:http').Server | undefined} */
let server;

before(async () => {
  const html = readFileSync(report('served', almanac('heron'), almanac('wren')), 'utf8');
  const element = (/** @type {string} */ id) => {
    const text = new RegExp(`id="${id}">([^<]*)</script>`).exec(html)?.[1];
    assert.ok(text, id);
    return JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString());
  };
  const index = element('samples-index');
  const all = (/** @type {'details' | 'messages'} */ kind) => index.chunks[kind].flatMap((/** @type {number} */ _, /** @type {number} */ at) => element(`samples-${kind}-${at}`));
  const [details, messages] = [all('details'), all('messages')];
  // Two steps of a search, each over half of the samples.
  const searched = (/** @type {URLSearchParams} */ query) => {
    const [from, half, total] = [Number(query.get('from')), details.length / 2, details.length];
    const ids = index.samples.id.slice(from, from + half).filter((/** @type {string} */ _, /** @type {number} */ at) =>
      JSON.stringify(details[from + at]).toLowerCase().includes(query.get('q')?.toLowerCase() ?? ''));
    return { found: [...ids, 'not in the list'], searched: from + half, total, next: from + half < total ? from + half : null };
  };
  const page = html.replace('data-origin="page"', 'data-origin="server"').replace("connect-src 'none'", "connect-src 'self'")
    .replaceAll(/<script type="text\/plain"[^>]*>[^<]*<\/script>/g, '');
  server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    asked.push(url.pathname + url.search);
    if (url.pathname === '/t/') return void response.setHeader('content-type', 'text/html; charset=utf-8').end(page);
    await held;
    if (failure && url.pathname.endsWith(failure.path)) return void response.writeHead(failure.status).end('the log has changed');
    if (url.pathname === '/t/search.json') return void response.setHeader('content-type', 'application/json').end(JSON.stringify(searched(url.searchParams)));
    const at = index.samples.id.indexOf(url.searchParams.get('id'));
    const body = url.pathname === '/t/samples.json' ? index
      : url.pathname === '/t/sample.json' && at >= 0 ? { detail: details[at], messages: url.searchParams.has('messages') ? messages[at] : null }
      : null;
    if (!body) return void response.writeHead(404).end();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const started = server;
  await new Promise(resolve => started.listen(0, '127.0.0.1', () => resolve(undefined)));
  const at = started.address();
  address = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}/t/`;
});

after(() => {
  server?.closeAllConnections();
  server?.close();
});

test('samples are loaded when they are opened', async () => {
  asked.length = 0;
  const page = await open(address);
  await counts(page, '144 samples');
  await page.locator('#list').focus();
  await page.keyboard.press('j');
  await page.waitForSelector('.dbody .ans');
  await page.keyboard.press('m');
  await page.waitForSelector('.conversation dl');
  const wanted = ['/t/samples.json', '/t/sample.json?id=geo-1-a', '/t/sample.json?id=geo-1-b', '/t/sample.json?id=geo-1-b&messages=true'];
  assert.deepEqual(asked.filter(url => url.includes('.json')), wanted);
  assert.deepEqual(page.problems, []);
});

test('a sample that takes long says so, and the last one asked for wins', async () => {
  const page = await open(address);
  let release = () => {};
  held = new Promise(resolve => { release = () => resolve(); });
  await page.locator('#list').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.waitForFunction(() => document.querySelector('.dbody')?.textContent === 'Loading…');
  release();
  await page.waitForSelector('.dbody .ans');
  assert.equal(await shownId(page), 'geo-1-c');
});

test('a sample that fails says why and can be tried again', async () => {
  const page = await open(address);
  failure = { status: 500, path: '/sample.json' };
  await page.locator('#list').focus();
  await page.keyboard.press('j');
  await page.waitForSelector('.dbody .failed');
  assert.match(await page.locator('.dbody').innerText(), /This cannot be shown: the server answers 500: the log has changed/);
  failure = null;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForSelector('.dbody .ans');
});

test('a list that fails says why and can be tried again', async () => {
  failure = { status: 503, path: '/samples.json' };
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForSelector('#det .failed');
  assert.match(await page.locator('#det').innerText(), /the server answers 503/);
  failure = null;
  await page.getByRole('button', { name: 'Try again' }).click();
  await counts(page, '144 samples');
});

test('whole texts are searched on the server, in parts, and what is found is shown', async () => {
  asked.length = 0;
  const page = await open(address);
  // The end of a passage, which the list does not have.
  await page.locator('#q').fill('too steep for lorries');
  const file = await open(report('searched', almanac('heron'), almanac('wren')));
  await file.locator('#q').fill('too steep for lorries');
  await file.waitForFunction(() => !document.querySelector('#q')?.hasAttribute('aria-busy'));
  const wanted = await file.locator('#count').innerText();
  await page.waitForFunction(() => !document.querySelector('#q')?.hasAttribute('aria-busy'));
  assert.equal(await page.locator('#count').innerText(), wanted, 'as a file finds it');
  const searches = asked.filter(url => url.includes('search.json'));
  assert.deepEqual(searches, ['/t/search.json?q=too%20steep%20for%20lorries&from=0', '/t/search.json?q=too%20steep%20for%20lorries&from=72']);
  assert.deepEqual(page.problems, []);
});

test('a search says that it is under way, and the next key ends it', async () => {
  const page = await open(address);
  let release = () => {};
  held = new Promise(resolve => { release = () => resolve(); });
  asked.length = 0;
  await page.locator('#q').fill('zebra');
  await page.waitForFunction(() => document.querySelector('#count + .note')?.textContent === 'searching…');
  assert.equal(await page.locator('#q').getAttribute('aria-busy'), 'true');
  assert.match(await page.locator('#list .none').innerText(), /^Searching…/);
  await page.locator('#q').fill('zebra crossing');
  await page.waitForFunction(() => document.querySelector('#count + .note')?.textContent === 'searching…');
  release();
  await page.waitForFunction(() => document.querySelector('#list .none')?.textContent?.includes('No sample fits'));
  assert.equal(await page.locator('#count + .note').innerText(), '');
  const second = asked.filter(url => url.includes('from=72'));
  assert.deepEqual(second, ['/t/search.json?q=zebra%20crossing&from=72'], 'the first search did not go on');
  await page.locator('#q').fill('');
  await counts(page, '144 samples');
});

test('a search that fails says why, and what the list has is found all the same', async () => {
  const page = await open(address);
  failure = { status: 503, path: '/search.json' };
  await page.locator('#q').fill('geo-1-b');
  await page.waitForFunction(() => document.querySelector('#count + .note')?.textContent?.startsWith('whole texts were not searched'));
  assert.equal(await page.locator('#count').innerText(), '1 of 144');
  failure = null;
});
