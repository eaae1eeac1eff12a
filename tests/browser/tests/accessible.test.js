// axe-core finds nothing, in both themes, at two widths.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { almanac, report } from '../lib/errorbar.js';
import { open } from '../lib/browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @type {Record<string, string>} */
const files = {};
before(() => {
  files.comparison = report('compared', almanac('heron'), almanac('magpie'), almanac('wren'));
  files.single = report('single', almanac('heron'));
  files.table = report('table', 'examples/quiz.csv');
});

for (const name of ['comparison', 'single', 'table'])
  for (const scheme of /** @type {const} */ (['light', 'dark']))
    for (const width of [390, 1280])
      test(`${name}, ${scheme}, ${width} px`, async () => {
        const page = await open(files[name], { width, scheme });
        if (await page.locator('#fmore').count()) await page.click('#fmore');
        for (const summary of await page.locator('main details:not([open]) > summary').all()) if (await summary.isVisible()) await summary.click();
        // The policy of the page forbids scripts from elsewhere; the driver's own evaluation is not one.
        await page.evaluate(AXE);
        const found = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] }));
        const violations = found.violations.map((/** @type {any} */ violation) =>
          `${violation.id}: ${violation.nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html.slice(0, 160)} (${node.failureSummary})`).join('; ')}`);
        assert.deepEqual(violations, []);
      });
