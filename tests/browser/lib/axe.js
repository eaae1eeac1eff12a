// What axe-core finds in a page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @param {import('playwright-core').Page} page @returns {Promise<string[]>} a line for each rule that is violated */
export async function violations(page) {
  // The policy of the page forbids scripts from elsewhere; the driver's own evaluation is not one.
  await page.evaluate(AXE);
  const found = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map((/** @type {any} */ violation) =>
    `${violation.id}: ${violation.nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html.slice(0, 160)} (${node.failureSummary})`).join('; ')}`);
}
