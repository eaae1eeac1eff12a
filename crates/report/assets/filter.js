// Which samples are shown, and in what order.
import { SampleTable } from './samples.js';

/** @typedef {import('./types.js').Query} Query */

/** @returns {Query} */
export const emptyQuery = () =>
  ({ q: '', show: '', sort: '', column: 0, model: '', verdict: '', value: '', reason: '', groups: {}, pair: [] });

/** @param {Query} query whether it leaves samples out */
export const isFiltering = query => Boolean(query.q.trim() || query.show || query.model || query.verdict || query.value
  || query.reason || query.pair.length || Object.values(query.groups).some(Boolean));

/** What can be shown, by its name in links. A name stands for a test of one sample. */
export const SHOWN = /** @type {Record<string, {text: string, test: (table: SampleTable, i: number) => boolean}>} */ ({
  disagree: { text: 'models disagree', test: (table, i) => table.runsDiffer[i] === 1 },
  epochs: { text: 'an epoch differs', test: (table, i) => table.epochsDiffer[i] === 1 },
  wrong: { text: 'wrong somewhere', test: (table, i) => some(table, i, o => o.verdict === 'I' || o.verdict === 'N') },
  allwrong: { text: 'wrong everywhere', test: (table, i) => table.ease[i] <= 0 },
  allright: { text: 'right everywhere', test: (table, i) => table.ease[i] === 1 && !some(table, i, o => o.verdict !== 'C' && o.verdict !== 'A') },
  noanswer: { text: 'no answer found', test: (table, i) => some(table, i, o => o.verdict === 'N') },
  unscored: { text: 'unscored', test: (table, i) => some(table, i, o => o.verdict === 'U') },
  errored: { text: 'errored', test: (table, i) => some(table, i, o => o.verdict === 'E') },
  absent: { text: 'absent in a run', test: (table, i) => some(table, i, o => o.verdict === 'A') },
  limit: { text: 'ended by a limit', test: (table, i) => table.limits.has(i) },
});

/** The orders, by their names in links. */
export const ORDERS = /** @type {Record<string, {text: string, compare: (table: SampleTable) => (a: number, b: number) => number}>} */ ({
  hard: { text: 'hardest first', compare: table => (a, b) => table.ease[a] - table.ease[b] || a - b },
  easy: { text: 'easiest first', compare: table => (a, b) => finite(table.ease[b]) - finite(table.ease[a]) || a - b },
  disagreement: { text: 'disagreement', compare: table => (a, b) => table.spread[b] - table.spread[a] || a - b },
  id: { text: 'id', compare: table => {
    const { id } = table.index.samples, order = new Intl.Collator('en', { numeric: true }).compare;
    return (a, b) => order(id[a], id[b]) || a - b;
  } },
});

/** @param {number} ease */
const finite = ease => (ease === Infinity ? -Infinity : ease);

/**
 * Whether an outcome of a sample passes a test, in one run or in any.
 * @param {SampleTable} table
 * @param {number} i
 * @param {(outcome: import('./types.js').Outcome) => boolean} test
 * @param {number} [only]
 */
function some(table, i, test, only = -1) {
  const { runs } = table.index;
  for (const r of table.runsOf(i)) {
    if (only >= 0 && r !== only) continue;
    for (let e = 0; e < runs[r].epochs.length; e++) if (test(table.outcome(i, r, e))) return true;
  }
  return false;
}

/**
 * The samples that a query asks for, in its order.
 * @param {SampleTable} table
 * @param {Query} query
 * @returns {number[]}
 */
export function applyQuery(table, query) {
  table.setColumn(query.column);
  const { runs, groups, samples } = table.index;
  const tests = /** @type {((i: number) => boolean)[]} */ ([]);
  const shown = SHOWN[query.show];
  if (shown) tests.push(i => shown.test(table, i));
  const model = runs.findIndex(run => run.name === query.model);
  const { verdict, value, reason } = query;
  if (verdict || value || (reason && !reason.endsWith('_limit')))
    tests.push(i => some(table, i, o => (!verdict || o.verdict === verdict) && (!value || o.value === value)
      && (!reason || o.reason === reason), model));
  else if (model >= 0 && !reason) tests.push(i => some(table, i, o => o.verdict !== 'A', model));
  if (reason.endsWith('_limit')) {
    const limit = reason.slice(0, -'_limit'.length);
    tests.push(i => table.limits.get(i)?.has(limit) === true || some(table, i, o => o.reason === reason, model));
  }
  for (const [key, wanted] of Object.entries(query.groups)) {
    const at = groups.findIndex(group => group.key === key);
    const code = at < 0 ? -1 : groups[at].values.indexOf(wanted);
    if (wanted) tests.push(i => code >= 0 && samples.groups[i][at] === code);
  }
  for (const { run, value: wanted } of query.pair) {
    const exact = Number(wanted);
    tests.push(i => {
      const mean = table.means[i * runs.length + run];
      if (wanted === 'right') return mean >= 0.5;
      if (wanted === 'wrong') return mean < 0.5;
      return Math.abs(mean - exact) < 0.001;
    });
  }
  const found = table.search(query.q) ?? Array.from({ length: table.size }, (_, i) => i);
  const fitting = tests.length ? found.filter(i => tests.every(test => test(i))) : found.slice();
  const order = ORDERS[query.sort];
  return order ? fitting.sort(order.compare(table)) : fitting;
}
