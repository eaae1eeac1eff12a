// Chromium, and pages that remember what went wrong in them.
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {Page & {problems: string[], requests: string[]}} WatchedPage */

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
// Scripts that are no tests close it themselves.
if (process.argv[1]?.endsWith('.test.js')) (await import('node:test')).after(() => browser.close());

/**
 * Opens a file or an address in a fresh context. Errors, warnings of the policy and requests are collected.
 * @param {string} place
 * @param {{width?: number, height?: number, scheme?: 'light' | 'dark', hash?: string}} [options]
 * @returns {Promise<WatchedPage>}
 */
export async function open(place, { width = 1280, height = 900, scheme = 'light', hash = '' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, acceptDownloads: true });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const watched = Object.assign(page, { problems: /** @type {string[]} */ ([]), requests: /** @type {string[]} */ ([]) });
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) watched.problems.push(message.text());
  });
  page.on('pageerror', error => watched.problems.push(String(error)));
  page.on('dialog', dialog => {
    watched.problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', request => watched.requests.push(request.url()));
  const address = place.includes('://') ? place : pathToFileURL(place).href;
  await page.goto(address + hash);
  if (await page.locator('#br').count()) await settled(page);
  return watched;
}

/** @param {Page} page waits until a sample is shown, or that there is none */
export async function settled(page) {
  await page.waitForFunction(() => {
    const box = document.querySelector('#br');
    return box instanceof HTMLElement && !box.hidden
      && (box.querySelector('.dbody .ans, .dbody .failed, #list .none') !== null);
  });
}

/** @param {Page} page the ids in the list, from its top */
export const listed = page => page.$$eval('#list .row', rows =>
  rows.map(row => row.querySelector('.id')?.textContent ?? '').filter(Boolean));

/** @param {Page} page */
export const shownId = async page => (await page.locator('#det h3').first().textContent()) ?? '';

/** @param {Page} page waits until the count reads so */
export const counts = (page, /** @type {string} */ text) =>
  page.waitForFunction(wanted => document.querySelector('#count')?.textContent === wanted, text);
