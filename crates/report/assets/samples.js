// Samples as the list needs them: verdicts, numbers and what differs, by the score column that is looked at.
import { plainText } from './text.js';

/** Verdicts in words. */
export const VERDICTS = /** @type {Record<string, string>} */ ({
  C: 'right', P: 'partly right', I: 'wrong', N: 'no answer found', O: 'other value', U: 'unscored', E: 'errored', A: 'absent',
});
/** The characters that are searched; a sample has its share of them. */
const SEARCHED_CHARACTERS = 48_000_000;

/** @typedef {import('./types.js').Outcome} Outcome */

export class SampleTable {
  /** What is in `right`, `means`, … is of this score column. */
  column = -1;
  /** Per sample and run: epochs that are right, epochs that have a score, and their mean. */
  right = new Uint16Array();
  scored = new Uint16Array();
  means = new Float64Array();
  /** Per sample: whether runs differ, whether epochs of one run do, how far, and the mean of all. */
  runsDiffer = new Uint8Array();
  epochsDiffer = new Uint8Array();
  spread = new Float64Array();
  ease = new Float64Array();
  /** @type {string[]} */
  #searched = [];
  /** Whether whole texts are searched, and not only what the index has. */
  searchesTexts = false;
  /** @type {{query: string, found: number[]}} */
  #lastSearch = { query: '', found: [] };
  /** Per task, where there are several: the runs and the score columns that it has. @type {{runs: boolean[], columns: boolean[]}[]} */
  #tasks = [];
  /** What the server found of a query in whole texts. @type {{query: string, found: Set<number>}} */
  #foundElsewhere = { query: '', found: new Set() };

  /** @param {import('./types.js').SampleIndex} index */
  constructor(index) {
    this.index = index;
    this.size = index.samples.id.length;
    /** @type {number[]} */
    this.offsets = [];
    let width = 0;
    for (const run of index.runs) {
      this.offsets.push(width);
      width += run.epochs.length;
    }
    /** The cells of one score column: epochs of all runs. */
    this.width = width;
    if (index.tasks) this.#readTasks();
    /** @type {Map<number, Set<string>>} */
    this.limits = new Map();
    for (const { sample, limit } of index.limits) {
      const known = this.limits.get(sample) ?? new Set();
      this.limits.set(sample, known.add(limit));
    }
    this.#searched = index.samples.id.map((id, i) => this.#searchedText(id, i));
    this.setColumn(0);
  }

  /** Finds out which runs and which scorers are of which task; the first group of samples of several tasks is the task. */
  #readTasks() {
    const { samples, runs, columns, groups, outcomes } = this.index;
    this.#tasks = groups[0].values.map(() => ({ runs: runs.map(() => false), columns: columns.map(() => false) }));
    const runOf = runs.flatMap((run, r) => run.epochs.map(() => r));
    samples.cells.forEach((cells, i) => {
      const task = this.#tasks[samples.groups[i][0] ?? -1];
      if (task) cells.forEach((code, at) => {
        const { verdict } = outcomes[code];
        if (verdict !== 'A') task.runs[runOf[at % this.width]] = true;
        if (verdict !== 'A' && verdict !== 'E') task.columns[Math.floor(at / this.width)] = true;
      });
    });
  }

  /** @param {number} sample the runs of its task: those of others are not absent, they were never asked */
  runsOf(sample) {
    const task = this.#tasks[this.index.samples.groups[sample][0] ?? -1];
    const runs = [...this.index.runs.keys()];
    return task ? runs.filter(run => task.runs[run]) : runs;
  }

  /** @param {number} sample @param {number} column the score column of a sample: the first of its task if that has another scorer */
  #columnOf(sample, column) {
    const task = this.#tasks[this.index.samples.groups[sample][0] ?? -1];
    return !task || task.columns[column] ? column : Math.max(0, task.columns.indexOf(true));
  }

  /** @param {string} id @param {number} i */
  #searchedText(id, i) {
    const { samples, answers, groups } = this.index;
    const parts = [id, samples.preview[i]];
    samples.groups[i].forEach((code, key) => code !== null && parts.push(groups[key].values[code]));
    for (const code of new Set(samples.answers[i])) if (code !== null) parts.push(answers[code]);
    return parts.join('\n').toLowerCase();
  }

  /**
   * The outcome of a sample.
   * @param {number} sample
   * @param {number} run
   * @param {number} epoch its place in the run
   * @param {number} [column]
   * @returns {Outcome}
   */
  outcome(sample, run, epoch, column = this.column) {
    const at = this.#tasks.length ? this.#columnOf(sample, column) : column;
    const cell = this.index.samples.cells[sample][at * this.width + this.offsets[run] + epoch];
    return this.index.outcomes[cell] ?? { verdict: 'A', value: null, number: null, reason: null };
  }

  /** @param {number} column the score column that verdicts are of */
  setColumn(column) {
    if (column === this.column) return;
    this.column = column;
    const { runs } = this.index, cells = this.size * runs.length;
    this.right = new Uint16Array(cells);
    this.scored = new Uint16Array(cells);
    this.means = new Float64Array(cells);
    this.runsDiffer = new Uint8Array(this.size);
    this.epochsDiffer = new Uint8Array(this.size);
    this.spread = new Float64Array(this.size);
    this.ease = new Float64Array(this.size);
    for (let i = 0; i < this.size; i++) this.#summarize(i);
  }

  /** @param {number} i */
  #summarize(i) {
    const { runs } = this.index;
    /** @type {string | undefined} */
    let firstWords;
    let low = Infinity, high = -Infinity, epochSpread = 0, total = 0, count = 0;
    runs.forEach((run, r) => {
      let sum = 0, n = 0, right = 0, scored = 0, runLow = Infinity, runHigh = -Infinity;
      /** @type {string | null | undefined} */
      let firstValue;
      const words = [];
      for (let e = 0; e < run.epochs.length; e++) {
        const { verdict, value, number } = this.outcome(i, r, e);
        if (value === null) continue;
        scored++;
        if (verdict === 'C') right++;
        if (firstValue === undefined) firstValue = value;
        else if (firstValue !== value) this.epochsDiffer[i] = 1;
        if (number === null) words.push(value);
        else {
          sum += number;
          n++;
          runLow = Math.min(runLow, number);
          runHigh = Math.max(runHigh, number);
        }
      }
      const at = i * runs.length + r, mean = n ? sum / n : NaN;
      this.right[at] = right;
      this.scored[at] = scored;
      this.means[at] = mean;
      if (n) {
        low = Math.min(low, mean);
        high = Math.max(high, mean);
        epochSpread = Math.max(epochSpread, runHigh - runLow);
        total += sum;
        count += n;
      }
      // Labels that are no numbers differ if they are not the same.
      if (words.length) {
        const label = words.join('\n');
        if (firstWords === undefined) firstWords = label;
        else if (firstWords !== label) this.runsDiffer[i] = 1;
      }
    });
    if (high - low > 1e-9) this.runsDiffer[i] = 1;
    const between = high > low ? high - low : 0;
    // Between models first; epochs break ties.
    this.spread[i] = between + this.runsDiffer[i] + (epochSpread + this.epochsDiffer[i]) / 1e3;
    this.ease[i] = count ? total / count : Infinity;
  }

  /** @param {number} i */
  disagrees(i) {
    return this.index.runs.length > 1 ? this.runsDiffer[i] === 1 : this.epochsDiffer[i] === 1;
  }

  /**
   * The samples with a text. A longer query is looked for in what the shorter one found.
   * @param {string} query
   * @returns {number[] | null} null for all
   */
  search(query) {
    const wanted = query.trim().toLowerCase();
    if (!wanted) return null;
    const here = this.#searchHere(wanted), elsewhere = this.#foundElsewhere;
    if (elsewhere.query !== wanted || elsewhere.found.size === 0) return here;
    return [...new Set([...here, ...elsewhere.found])].sort((a, b) => a - b);
  }

  /**
   * Adds what a server found in whole texts.
   * @param {string} query
   * @param {number[]} found
   */
  addFound(query, found) {
    const wanted = query.trim().toLowerCase();
    if (this.#foundElsewhere.query !== wanted) this.#foundElsewhere = { query: wanted, found: new Set() };
    for (const sample of found) this.#foundElsewhere.found.add(sample);
  }

  /** @param {string} wanted in lower case */
  #searchHere(wanted) {
    const last = this.#lastSearch;
    if (last.query === wanted) return last.found;
    const from = last.query && wanted.includes(last.query) ? last.found : this.#searched.keys();
    const found = [];
    for (const i of from) if (this.#searched[i].includes(wanted)) found.push(i);
    this.#lastSearch = { query: wanted, found };
    return found;
  }

  /**
   * Makes whole texts searchable, a chunk after the other.
   * @param {import('./types.js').SampleSource} source
   */
  async readTexts(source) {
    if (!source.all || this.searchesTexts) return;
    const share = Math.floor(SEARCHED_CHARACTERS / Math.max(1, this.size));
    await source.all((i, detail) => {
      const parts = [this.#searched[i]];
      for (const message of detail.input ?? []) for (const part of message.parts) parts.push(plainText(part.text));
      for (const text of [...detail.choices ?? [], ...detail.target ?? []]) parts.push(plainText(text));
      for (const record of detail.runs.flat()) {
        if (!record) continue;
        parts.push(plainText(record.answer), plainText(record.error));
        for (const score of record.scores ?? []) parts.push(plainText(score.answer), plainText(score.explanation));
      }
      const text = [...new Set(parts)].join('\n').toLowerCase();
      this.#searched[i] = text.length > share ? text.slice(0, share) : text;
      return true;
    });
    this.searchesTexts = true;
    this.#lastSearch = { query: '', found: [] };
  }

  /** The reasons that samples have: those of scorers, and limits. */
  reasons() {
    const reasons = new Set(this.index.limits.map(({ limit }) => `${limit}_limit`));
    for (const { reason } of this.index.outcomes) if (reason) reasons.add(reason);
    return [...reasons].sort();
  }

  /** @param {number} column the distinct values, numbers in their order, then words */
  values(column) {
    const { cells } = this.index.samples, seen = new Set(), from = column * this.width;
    for (const row of cells) for (let c = 0; c < this.width; c++) seen.add(row[from + c]);
    const values = new Map([...seen].map(code => this.index.outcomes[code]).filter(o => o?.value != null)
      .map(o => /** @type {[string, number | null]} */ ([o.value ?? '', o.number])));
    return [...values].sort(([a, x], [b, y]) => (x ?? Infinity) - (y ?? Infinity) || (a < b ? -1 : 1)).map(([value]) => value);
  }

  /** @param {number} column */
  columnName(column) {
    const { scorer, field } = this.index.columns[column] ?? { scorer: '', field: null };
    return field === null ? scorer : `${scorer}.${field}`;
  }
}
