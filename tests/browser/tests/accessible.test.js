// axe-core finds nothing, in both themes, at two widths.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { violations } from '../lib/axe.js';
import { almanac, report, severalTasks } from '../lib/errorbar.js';
import { open } from '../lib/browser.js';

/** @type {Record<string, string>} */
const files = {};
before(() => {
  files.comparison = report('compared', almanac('heron'), almanac('magpie'), almanac('wren'));
  files.single = report('single', almanac('heron'));
  files.tasks = report('tasks', ...severalTasks());
  files.table = report('table', 'examples/quiz.csv');
});

for (const name of ['comparison', 'single', 'table', 'tasks'])
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    for (const width of [390, 1280])
      test(`${name}, ${scheme}, ${width} px`, async () => {
        const page = await open(files[name], { width, scheme });
        if (await page.locator('#fmore').count()) await page.click('#fmore');
        for (const summary of await page.locator('main details:not([open]) > summary').all()) if (await summary.isVisible()) await summary.click();
        assert.deepEqual(await violations(page), []);
      });
