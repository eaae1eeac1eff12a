// The list: only the rows in view are in the page, so that ten thousand samples scroll like ten.
import { button, counted, element } from './dom.js';
import { textElement } from './text.js';
import { SampleTable, VERDICTS } from './samples.js';

/** The heights of a row with a line of text and of one without, as the style has them. */
const ROW_HEIGHT = 51, FLAT_HEIGHT = 35;
/** Rows above and below those in view. */
const MARGIN = 8;
/** Longer values do not fit beside an id. */
const LONGEST_VALUE = 8;
/** More squares than this do not fit into a row. */
const MOST_SQUARES = 14;

/** @param {string} verdict */
export const verdictSquare = verdict => element('i', `v ${verdict}`);

/**
 * The class of a run's colour. Beyond six, colours no longer tell runs apart.
 * @param {SampleTable} table
 * @param {number} run
 */
export const runClass = (table, run) => `m${table.index.runs.length <= 6 ? run + 1 : 0}`;

/**
 * The squares of one run.
 * @param {SampleTable} table
 * @param {number} sample
 * @param {number} run
 */
function runSquares(table, sample, run) {
  const group = element('span', runClass(table, run));
  table.index.runs[run].epochs.forEach((_, epoch) => {
    const { verdict, value } = table.outcome(sample, run, epoch);
    // A value that is neither right nor wrong says more than a sign for it.
    const isShort = verdict === 'O' && value !== null && value.length <= LONGEST_VALUE;
    group.append(isShort ? textElement('small', value, 'val') : verdictSquare(verdict));
  });
  return group;
}

export class VirtualList {
  /** @type {number[]} */
  #shown = [];
  #at = -1;
  /** @type {Map<number, HTMLElement>} */
  #rows = new Map();
  #sizer = element('div', 'vl');
  #drawing = 0;
  #height = ROW_HEIGHT;

  /**
   * @param {HTMLElement} box
   * @param {SampleTable} table
   * @param {(at: number) => void} onPick
   * @param {() => void} onClear
   */
  constructor(box, table, onPick, onClear) {
    this.box = box;
    this.table = table;
    this.onPick = onPick;
    this.onClear = onClear;
    const isFlat = !table.index.samples.id.some((_, sample) => this.#preview(sample));
    box.classList.toggle('flat', isFlat);
    this.#height = isFlat ? FLAT_HEIGHT : ROW_HEIGHT;
    this.#sizer.setAttribute('role', 'presentation');
    box.addEventListener('scroll', () => this.#soon(), { passive: true });
    new ResizeObserver(() => this.#soon()).observe(box);
    box.addEventListener('click', event => {
      const row = event.target instanceof Element ? event.target.closest('[data-at]') : null;
      if (row instanceof HTMLElement) onPick(Number(row.dataset.at));
    });
  }

  get shown() {
    return this.#shown;
  }

  get at() {
    return this.#at;
  }

  /**
   * Shows samples.
   * @param {number[]} shown
   * @param {number} at the one that is selected
   * @param {string} nothing what to say if there is none
   */
  show(shown, at, nothing) {
    this.#shown = shown;
    this.#at = at;
    this.#rows.clear();
    this.#sizer.replaceChildren();
    this.box.removeAttribute('aria-activedescendant');
    if (!shown.length) {
      const none = element('div', 'none');
      none.append(textElement('p', nothing, ''));
      if (this.table.size) none.append(button('Clear the filters', this.onClear));
      // A list box holds options only.
      this.box.setAttribute('role', 'group');
      this.box.replaceChildren(none);
      return;
    }
    this.box.setAttribute('role', 'listbox');
    this.#sizer.style.height = `${shown.length * this.#height}px`;
    if (this.#sizer.parentNode !== this.box) this.box.replaceChildren(this.#sizer);
    this.#reveal();
    this.#draw();
  }

  /** @param {number} at selects one and brings it into view */
  select(at) {
    this.#rows.get(this.#at)?.setAttribute('aria-selected', 'false');
    this.#at = at;
    this.#reveal();
    this.#draw();
  }

  #reveal() {
    const top = this.#at * this.#height, height = this.box.clientHeight || this.#height * 10;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.#height > this.box.scrollTop + height) this.box.scrollTop = top + this.#height - height;
  }

  #soon() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#draw();
    });
  }

  #draw() {
    if (!this.#shown.length) return;
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.#height) - MARGIN);
    const height = this.box.clientHeight || 900;
    const last = Math.min(this.#shown.length - 1, Math.ceil((this.box.scrollTop + height) / this.#height) + MARGIN);
    for (const [at, row] of this.#rows) {
      // The selected row stays, because the list names it as the active one.
      if ((at < first || at > last) && at !== this.#at) {
        row.remove();
        this.#rows.delete(at);
      }
    }
    for (let at = first; at <= last; at++) this.#row(at);
    if (this.#at < 0) return;
    const selected = this.#row(this.#at);
    selected.setAttribute('aria-selected', 'true');
    this.box.setAttribute('aria-activedescendant', selected.id);
  }

  /** @param {number} at */
  #row(at) {
    const known = this.#rows.get(at);
    if (known) return known;
    const { table } = this, sample = this.#shown[at], row = element('div', 'row');
    row.id = `sample-${at}`;
    row.dataset.at = String(at);
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', 'false');
    row.setAttribute('aria-setsize', String(this.#shown.length));
    row.setAttribute('aria-posinset', String(at + 1));
    row.style.top = `${at * this.#height}px`;
    const { id } = table.index.samples;
    row.append(textElement('span', id[sample], 'id'), this.#verdicts(sample), textElement('span', this.#preview(sample) || '\u00a0', 'qq'));
    // In the order of the rows, for those who read the page without seeing it.
    const after = [...this.#rows].filter(([other]) => other > at).sort(([a], [b]) => a - b)[0];
    this.#sizer.insertBefore(row, after ? after[1] : null);
    this.#rows.set(at, row);
    return row;
  }

  /** @param {number} sample the question; of a table without one, what else tells samples apart */
  #preview(sample) {
    const { samples, groups, answers } = this.table.index;
    if (samples.preview[sample]) return samples.preview[sample];
    const named = samples.groups[sample].flatMap((code, key) => (code === null ? [] : [`${groups[key].key} ${groups[key].values[code]}`]));
    const code = samples.answers[sample].find(answer => answer !== null);
    return named.join(', ') || (code === undefined || code === null ? '' : answers[code]);
  }

  /** @param {number} sample */
  #verdicts(sample) {
    const { table } = this, { runs } = table.index, box = element('span', 'vs'), shown = table.runsOf(sample);
    const words = shown.map(r => `${runs.length > 1 ? `${runs[r].name} ` : ''}${this.#words(sample, r)}`).join(', ');
    const squares = shown.reduce((sum, r) => sum + runs[r].epochs.length, 0);
    if (squares <= MOST_SQUARES) shown.forEach(r => box.append(runSquares(table, sample, r)));
    else if (shown.length <= 4) {
      shown.forEach(r => box.append(element('small', `tally ${runClass(table, r)}`, this.#tally(sample, r))));
    } else {
      let right = 0, scored = 0;
      shown.forEach(r => {
        right += table.right[sample * runs.length + r];
        scored += table.scored[sample * runs.length + r];
      });
      box.append(element('small', 'tally m0', `${right}/${scored}`));
    }
    for (const part of box.children) part.setAttribute('aria-hidden', 'true');
    box.append(element('span', 'vh', words));
    return box;
  }

  /** @param {number} sample @param {number} run */
  #tally(sample, run) {
    const at = sample * this.table.index.runs.length + run;
    return this.table.scored[at] ? `${this.table.right[at]}/${this.table.scored[at]}` : '\u2013';
  }

  /** @param {number} sample @param {number} run */
  #words(sample, run) {
    const epochs = this.table.index.runs[run].epochs.length;
    if (epochs !== 1) return `${counted(this.table.right[sample * this.table.index.runs.length + run])} of ${epochs} right`;
    const { verdict, value } = this.table.outcome(sample, run, 0);
    return verdict === 'O' && value !== null ? value : VERDICTS[verdict];
  }
}
