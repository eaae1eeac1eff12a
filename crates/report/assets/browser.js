// The sample browser: search, filters, list and detail, by pointer or by keys.
import { byId, counted, element, fillSelect, recall, remember } from './dom.js';
import { PageSource, ServerSource } from './source.js';
import { SampleTable, VERDICTS } from './samples.js';
import { ORDERS, SHOWN, applyQuery, emptyQuery, isFiltering } from './filter.js';
import { hashOf, queryOf } from './link.js';
import { VirtualList } from './list.js';
import { DetailPane } from './detail.js';
import { downloadText, samplesCsv } from './csv.js';
import { showLater } from './conversation.js';
import { visible } from './text.js';

/** A select has at most this number of values; search finds the others. */
const MOST_OPTIONS = 300;

/** Milliseconds after a key before a server searches. */
const SEARCH_DELAY = 150;

/** @typedef {import('./types.js').Query} Query */

export class SampleBrowser {
  /** @type {Query} */
  #query = emptyQuery();
  /** Whether the address says what is shown: not before someone has asked for something. */
  #isLinked = false;
  #linking = 0;
  /** The sample of a link that is not found before whole texts are searched. @type {string | null} */
  #awaited = null;
  /** The search of whole texts that is under way on the server. @type {AbortController | null} */
  #searching = null;
  #searchedText = '';
  #letters = recall('keys') !== 'off';
  /** @type {Map<string, HTMLSelectElement>} the filters of the panel by name; groups by `g.` and their key */
  #selects = new Map();

  /**
   * @param {import('./types.js').SampleSource} source
   * @param {SampleTable} table
   */
  constructor(source, table) {
    this.source = source;
    this.table = table;
    this.box = byId('br', HTMLElement);
    this.search = byId('q', HTMLInputElement);
    this.showSelect = byId('fshow', HTMLSelectElement);
    this.sortSelect = byId('fsort', HTMLSelectElement);
    this.more = byId('fmore', HTMLButtonElement);
    this.panel = byId('fpanel', HTMLElement);
    this.pair = byId('fpair', HTMLButtonElement);
    this.clearButton = byId('fclear', HTMLButtonElement);
    this.count = byId('count', HTMLElement);
    /** How far a search is. It is beside the count, which is read aloud when it changes. */
    this.progress = element('span', 'note');
    this.dialog = byId('keys', HTMLDialogElement);
    this.list = new VirtualList(byId('list', HTMLElement), table, at => this.#pick(at, true), () => this.clear());
    this.detail = new DetailPane(byId('det', HTMLElement), table, source);
    this.#fillControls();
    this.#listen();
    this.#sayOmissions();
    if (!this.#followLink(location.hash)) this.#update();
  }

  /** Shows all samples. */
  clear() {
    const { column, sort } = this.#query;
    this.#query = { ...emptyQuery(), column, sort };
    this.#writeControls();
    this.#changed();
    this.list.box.focus();
  }

  #fillControls() {
    const { table } = this, { index } = table, { runs, groups, columns, outcomes } = index;
    const isAsked = (/** @type {string} */ name) => ({
      disagree: runs.length > 1,
      epochs: runs.some(run => run.epochs.length > 1),
      noanswer: outcomes.some(o => o.verdict === 'N'),
      unscored: outcomes.some(o => o.verdict === 'U'),
      errored: outcomes.some(o => o.verdict === 'E'),
      absent: outcomes.some(o => o.verdict === 'A') && index.samples.id.some((_, i) => SHOWN.absent.test(table, i)),
      limit: table.limits.size > 0,
    })[name] ?? true;
    const shown = Object.entries(SHOWN).filter(([name]) => isAsked(name));
    fillSelect(this.showSelect, [['', 'all samples'], ...shown.map(([name, { text }]) => /** @type {[string, string]} */ ([name, text]))]);
    fillSelect(this.sortSelect, [['', 'order of the data'],
      ...Object.entries(ORDERS).map(([name, { text }]) => /** @type {[string, string]} */ ([name, text]))]);
    if (columns.length > 1) this.#addSelect('scorer', 'scorer', columns.map((_, at) => [String(at), visible(table.columnName(at))]));
    if (runs.length > 1) this.#addSelect('model', 'model', [['', 'any model'], ...named(runs.map(run => run.name))]);
    const verdicts = [...new Set(outcomes.map(o => o.verdict))].map(v => /** @type {[string, string]} */ ([v, VERDICTS[v] ?? v]));
    this.#addSelect('verdict', 'verdict', [['', 'any verdict'], ...verdicts]);
    this.#addSelect('value', 'value', []);
    this.#fillValues();
    const reasons = table.reasons();
    if (reasons.length) this.#addSelect('reason', 'reason', [['', 'any reason'], ...named(reasons)]);
    groups.forEach(({ key, values }, at) => {
      const options = /** @type {[string, string][]} */ ([['', `any ${visible(key)}`], ...named(values)]);
      // The first group stands beside the search, as what most people filter by.
      if (at === 0) {
        const select = element('select');
        select.setAttribute('aria-label', visible(key));
        fillSelect(select, options);
        this.showSelect.before(select);
        this.#bind(`g.${key}`, select);
      } else this.#addSelect(`g.${key}`, visible(key), options);
    });
  }

  #fillValues() {
    const values = this.table.values(this.#query.column);
    const select = this.#selects.get('value');
    if (select) fillSelect(select, [['', 'any value'], ...named(values)]);
  }

  /** @param {string} name @param {string} label @param {[string, string][]} options */
  #addSelect(name, label, options) {
    const box = element('label', '', `${label} `), select = element('select');
    fillSelect(select, options);
    // Else the options would be read as part of the label.
    select.setAttribute('aria-label', label);
    box.append(select);
    this.panel.append(box);
    this.#bind(name, select);
  }

  /** @param {string} name @param {HTMLSelectElement} select */
  #bind(name, select) {
    this.#selects.set(name, select);
    select.addEventListener('change', () => {
      if (name === 'scorer') {
        this.#query.column = Number(select.value);
        this.#query.value = '';
        this.#fillValues();
      } else if (name.startsWith('g.')) this.#query.groups[name.slice(2)] = select.value;
      else if (name === 'model' || name === 'verdict' || name === 'value' || name === 'reason') this.#query[name] = select.value;
      this.#changed();
    });
  }

  #listen() {
    this.search.addEventListener('input', () => {
      this.#query.q = this.search.value;
      this.#changed();
    });
    this.count.after(this.progress);
    this.search.addEventListener('focus', () => this.#readTexts(), { once: true });
    this.search.addEventListener('keydown', event => {
      if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
      event.preventDefault();
      this.list.box.focus();
    });
    this.showSelect.addEventListener('change', () => {
      this.#query.show = this.showSelect.value;
      this.#changed();
    });
    this.sortSelect.addEventListener('change', () => {
      this.#query.sort = this.sortSelect.value;
      // What an order is about is at its top.
      this.list.show([], -1, '');
      this.#changed();
    });
    this.more.addEventListener('click', () => this.#openPanel(this.panel.hidden));
    this.pair.addEventListener('click', () => {
      this.#query.pair = [];
      this.#changed();
      this.list.box.focus();
    });
    this.clearButton.addEventListener('click', () => this.clear());
    byId('fcsv', HTMLButtonElement).addEventListener('click', () => downloadText('samples.csv', samplesCsv(this.table, this.list.shown)));
    this.list.box.addEventListener('keydown', event => this.#listKey(event));
    addEventListener('keydown', event => this.#pageKey(event));
    addEventListener('hashchange', () => this.#followLink(location.hash));
    const letters = byId('keyson', HTMLInputElement);
    letters.checked = this.#letters;
    letters.addEventListener('change', () => {
      this.#letters = letters.checked;
      remember('keys', this.#letters ? 'on' : 'off');
    });
    byId('keysx', HTMLButtonElement).addEventListener('click', () => this.dialog.close());
    byId('keysopen', HTMLButtonElement).addEventListener('click', () => this.dialog.showModal());
  }

  /** @param {boolean} isOpen */
  #openPanel(isOpen) {
    this.panel.hidden = !isOpen;
    this.more.setAttribute('aria-expanded', String(isOpen));
  }

  /** @param {KeyboardEvent} event */
  #listKey(event) {
    const { at, shown } = this.list, last = shown.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last, PageDown: Math.min(at + 10, last), PageUp: Math.max(at - 10, 0) }[event.key];
    if (event.key === 'Enter' && at >= 0) this.detail.box.focus();
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#pick(to);
  }

  /** @param {KeyboardEvent} event */
  #pageKey(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || this.dialog.open || !(target instanceof Element)) return;
    if (event.key === 'Escape' && this.box.contains(target)) {
      event.preventDefault();
      this.clear();
      return;
    }
    const isTyping = target.matches('input:not([type=checkbox]),select,textarea,[contenteditable]');
    if (isTyping || !this.#letters) return;
    const action = /** @type {Record<string, () => void>} */ ({
      j: () => this.#pick(this.list.at + 1),
      k: () => this.#pick(this.list.at - 1),
      '/': () => {
        this.search.focus();
        this.search.select();
      },
      d: () => this.#nextDisagreement(),
      m: () => this.detail.toggleMessages(),
      '?': () => this.dialog.showModal(),
    })[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== '?') this.#comeIntoView();
    action();
  }

  #nextDisagreement() {
    const { at, shown } = this.list;
    const next = shown.findIndex((sample, place) => place > at && this.table.disagrees(sample));
    if (next >= 0) this.#pick(next);
    else this.count.textContent = 'no further disagreement';
  }

  #comeIntoView() {
    const { top, bottom } = this.box.getBoundingClientRect();
    if (bottom < 80 || top > innerHeight - 80) this.box.scrollIntoView({ behavior: 'instant' });
  }

  /** @param {number} at @param {boolean} [isPointed] */
  #pick(at, isPointed) {
    if (at < 0 || at >= this.list.shown.length) return;
    this.list.select(at);
    this.#showDetail();
    this.#isLinked = true;
    this.#awaited = null;
    this.#link();
    // On a narrow screen the sample is below the list.
    if (isPointed && matchMedia('(max-width:820px)').matches) this.detail.box.scrollIntoView({ behavior: 'instant' });
  }

  #showDetail() {
    const { at, shown } = this.list;
    if (at < 0) return this.detail.clear();
    this.detail.show(shown[at], at, shown.length, to => {
      this.#pick(to);
      this.detail.box.focus({ preventScroll: true });
    }, () => {
      this.box.scrollIntoView({ behavior: 'instant' });
      this.list.box.focus();
    });
  }

  #changed() {
    this.#isLinked = true;
    this.#awaited = null;
    this.#searchServer();
    this.#update();
  }

  /** @param {string | null} [wanted] the sample to select; else the one that was selected, else the first */
  #update(wanted) {
    const { table } = this, { id } = table.index.samples;
    const before = this.list.shown[this.list.at];
    const shown = applyQuery(table, this.#query);
    const kept = wanted === undefined || wanted === null ? shown.indexOf(before) : shown.findIndex(i => id[i] === wanted);
    const at = shown.length ? Math.max(0, kept) : -1;
    this.list.show(shown, at, this.#nothing());
    this.count.textContent = shown.length === table.size ? counted(table.size, 'sample') : `${counted(shown.length)} of ${counted(table.size)}`;
    this.clearButton.hidden = !isFiltering(this.#query);
    this.#writePair();
    this.#showDetail();
    this.#link();
    if (wanted !== undefined && wanted !== null && kept < 0) this.count.textContent = `no sample ${visible(wanted)} here`;
  }

  #nothing() {
    const { q, show, groups, verdict, value, reason, model } = this.#query;
    const asked = [
      q.trim() && `\u201c${q.trim()}\u201d`, show && SHOWN[show]?.text, verdict && VERDICTS[verdict], value, reason,
      model && `of ${model}`, ...Object.entries(groups).map(([key, wanted]) => wanted && `${key} ${wanted}`),
    ].filter(Boolean);
    if (this.#searching && this.table.size) return 'Searching\u2026';
    return this.table.size ? `No sample fits${asked.length ? ` ${asked.join(', ')}` : ''}.` : 'There are no samples.';
  }

  #writePair() {
    const { pair } = this.#query;
    this.pair.hidden = !pair.length;
    const words = pair.map(({ run, value }) => `${visible(this.table.index.runs[run].name)} ${value}`).join(', ');
    this.pair.textContent = `${words} \u00d7`;
    this.pair.setAttribute('aria-label', `remove the filter ${words}`);
  }

  #writeControls() {
    const query = this.#query;
    this.search.value = query.q;
    this.showSelect.value = query.show;
    this.sortSelect.value = query.sort;
    this.#fillValues();
    let isPanelUsed = false;
    for (const [name, select] of this.#selects) {
      const value = name === 'scorer' ? String(query.column)
        : name.startsWith('g.') ? query.groups[name.slice(2)] ?? ''
        : query[/** @type {'model' | 'verdict' | 'value' | 'reason'} */ (name)];
      select.value = value;
      isPanelUsed ||= this.panel.contains(select) && value !== '' && value !== '0';
    }
    if (isPanelUsed) this.#openPanel(true);
  }

  /** @param {string} hash */
  #followLink(hash) {
    const linked = queryOf(this.table, hash);
    if (!linked) return false;
    this.#query = linked.query;
    this.#isLinked = true;
    this.#writeControls();
    this.#update(linked.id);
    this.#awaited = linked.id;
    if (linked.query.q) this.#readTexts();
    this.#searchServer();
    // At once: a page of many screens would roll by.
    document.getElementById('samples')?.scrollIntoView({ behavior: 'instant' });
    return true;
  }

  /** Writes the address, not at every key: browsers refuse too many changes. */
  #link() {
    clearTimeout(this.#linking);
    if (!this.#isLinked) return;
    this.#linking = setTimeout(() => {
      const { at, shown } = this.list;
      const hash = hashOf(this.table, this.#query, at < 0 ? undefined : this.table.index.samples.id[shown[at]]);
      if (location.hash !== hash) history.replaceState(null, '', hash);
    }, 200);
  }

  /** Makes whole texts searchable, and searches again. */
  async #readTexts() {
    if (this.table.searchesTexts || !this.source.all) return;
    this.search.setAttribute('aria-busy', 'true');
    try {
      await this.table.readTexts(this.source);
    } finally {
      this.search.removeAttribute('aria-busy');
    }
    if (this.#query.q.trim()) this.#update(this.#awaited);
  }

  /** Searches whole texts on the server, if that is where they are. Another text ends the search of the one before. */
  async #searchServer() {
    const text = this.#query.q.trim();
    if (!this.source.search || text === this.#searchedText) return;
    this.#searchedText = text;
    this.#searching?.abort();
    this.#searching = null;
    this.progress.textContent = '';
    this.search.removeAttribute('aria-busy');
    if (!text) return;
    const searching = new AbortController(), { signal } = searching;
    this.#searching = searching;
    this.search.setAttribute('aria-busy', 'true');
    try {
      // Whoever types on is not interrupted.
      await new Promise(done => setTimeout(done, SEARCH_DELAY));
      signal.throwIfAborted();
      this.progress.textContent = 'searching\u2026';
      for await (const { found, searched, total } of this.source.search(text, signal)) {
        signal.throwIfAborted();
        this.progress.textContent = searched < total ? `searching, ${counted(searched)} of ${counted(total)} answers\u2026` : '';
        this.table.addFound(text, found);
        if (searched >= total) this.#searching = null;
        if (found.length || searched >= total) this.#update(this.#awaited);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#searching = null;
      this.#searchedText = '';
      this.progress.textContent = `whole texts were not searched: ${error instanceof Error ? error.message : error}`;
      this.#update(this.#awaited);
    }
    this.search.removeAttribute('aria-busy');
  }

  #sayOmissions() {
    const { omissions } = this.table.index, note = byId('omit', HTMLElement);
    if (!omissions?.length) return;
    note.textContent = `To keep this page small, ${omissions.join(', ')}.`;
    note.hidden = false;
  }
}

/** @param {string[]} values @returns {[string, string][]} */
const named = values => values.slice(0, MOST_OPTIONS).map(value => [value, visible(value)]);

/** Starts the browser if the page has one. */
export async function startBrowser() {
  const box = document.getElementById('br');
  if (!box) return;
  box.hidden = false;
  const source = box.dataset.origin === 'server' ? new ServerSource() : new PageSource();
  const waiting = element('div');
  byId('det', HTMLElement).replaceChildren(waiting);
  /** @type {SampleTable | undefined} */
  let table;
  await showLater(waiting, async () => {
    table = new SampleTable(await source.index());
    return document.createDocumentFragment();
  }, () => {
    if (table) new SampleBrowser(source, table);
  });
}
