// Pictures of a report at three widths in both themes, to be looked at: node screenshots.js FOLDER [REPORT.html]
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { almanac, report } from './lib/errorbar.js';
import { browser, open } from './lib/browser.js';

const [folder = 'output', given] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const file = given ? path.resolve(given) : report('shown', almanac('heron'), almanac('magpie'), almanac('wren'));
for (const scheme of /** @type {const} */ (['light', 'dark']))
  for (const width of [360, 1100, 1600]) {
    const page = await open(file, { width, height: 1000, scheme });
    await page.screenshot({ path: path.join(folder, `page-${width}-${scheme}.png`), fullPage: true });
    await page.goto(`${page.url().split('#')[0]}#samples?show=disagree&id=geo-4-a`);
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(folder, `samples-${width}-${scheme}.png`) });
    await page.context().close();
  }
await browser.close();
