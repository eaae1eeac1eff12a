// One sample: what was asked, what each model answered in each epoch, and why it was scored so.
import { button, counted, element, fillSelect } from './dom.js';
import { longTextElement, plainText, textElement, visible } from './text.js';
import { SampleTable, VERDICTS } from './samples.js';
import { runClass, verdictSquare } from './list.js';
import { folded, messageList, metadataList, showLater } from './conversation.js';
import { answerDiff } from './compare.js';

/** @typedef {import('./types.js').SampleDetail} SampleDetail */
/** @typedef {import('./types.js').EpochRecord} EpochRecord */
/** @typedef {import('./types.js').ScoreRecord} ScoreRecord */

/** More epochs than this are folded. */
const EPOCHS_AT_FIRST = 10;
/** The marks of models, in their order; the page has them in its definitions. */
const MARK_IDS = ['Kc', 'Ks', 'Kt', 'Kd', 'Kp', 'Kx'];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * A name with its mark.
 * @param {SampleTable} table
 * @param {number} run
 */
function runName(table, run) {
  const name = element('span', `name ${runClass(table, run)}`);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', `dot ${runClass(table, run)}`);
  svg.setAttribute('viewBox', '-6 -6 12 12');
  svg.setAttribute('aria-hidden', 'true');
  const mark = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  mark.setAttribute('class', 'mk');
  mark.setAttribute('href', `#${table.index.runs.length <= 6 ? MARK_IDS[run] : MARK_IDS[0]}`);
  svg.append(mark);
  const text = textElement('span', table.index.runs[run].name, 'any');
  // A long name is cut where there is no room for it; the pointer shows the whole.
  name.title = text.textContent ?? '';
  name.append(svg, text);
  return name;
}

/** @param {string} choice the letter of a choice: `B`, `B)`, `(b)` */
const letterOf = choice => (/^\W*([A-Za-z])\W*$/.exec(choice.trim())?.[1] ?? '').toUpperCase();

/**
 * Which choices an answer names: letters, or the words of one.
 * @param {string} answer
 * @param {string[]} choices
 */
function chosen(answer, choices) {
  const letters = answer.split(/[\s,]+/).map(letterOf).filter(letter => letter && LETTERS.indexOf(letter) < choices.length);
  if (letters.length) return letters;
  const at = choices.findIndex(choice => choice.trim() === answer.trim());
  return at >= 0 ? [LETTERS[at]] : [];
}

export class DetailPane {
  /** Messages stay open from sample to sample. */
  #messagesOpen = false;
  #metadataOpen = false;

  /**
   * @param {HTMLElement} box
   * @param {SampleTable} table
   * @param {import('./types.js').SampleSource} source
   */
  constructor(box, table, source) {
    this.box = box;
    this.table = table;
    this.source = source;
    this.body = element('div', 'dbody');
    /** The sample and the score column that are shown. */
    this.shown = '';
  }

  clear() {
    this.box.replaceChildren();
  }

  /**
   * Shows a sample.
   * @param {number} sample
   * @param {number} at its place in the list
   * @param {number} count how many the list has
   * @param {(at: number) => void} go
   * @param {() => void} back
   */
  show(sample, at, count, go, back) {
    const { index } = this.table;
    const head = element('div', 'dh'), nav = element('span', 'push');
    const toList = button('list', back, 'back to the list');
    toList.classList.add('back');
    const previous = button('\u2190', () => go(at - 1), 'previous sample');
    const next = button('\u2192', () => go(at + 1), 'next sample');
    previous.disabled = at === 0;
    next.disabled = at === count - 1;
    nav.append(toList, previous, next);
    const groups = index.samples.groups[sample].map((code, key) =>
      (code === null ? '' : `${index.groups[key].key} ${index.groups[key].values[code]}`)).filter(Boolean).slice(0, 4);
    const place = textElement('span', [...groups, `${counted(at + 1)} of ${counted(count)}`].join(', '), 'note any');
    head.append(textElement('h3', index.samples.id[sample], ''), place, nav);
    // A keystroke of the search may leave the sample as it is, with what is open in it.
    if (this.shown === `${sample} ${this.table.column}` && this.body.parentNode === this.box) {
      this.box.firstElementChild?.replaceWith(head);
      return;
    }
    this.shown = `${sample} ${this.table.column}`;
    this.box.replaceChildren(head, this.body);
    showLater(this.body, async () => this.#body(sample, await this.source.detail(sample)), () => {});
  }

  /** Opens or closes the messages. */
  toggleMessages() {
    const messages = this.box.querySelector('details.conversation');
    if (messages instanceof HTMLDetailsElement) messages.open = !messages.open;
  }

  /** @param {number} sample @param {SampleDetail} detail */
  #body(sample, detail) {
    const body = document.createDocumentFragment();
    const input = detail.input ?? [];
    const isPlain = input.length === 1 && input[0].role === 'user' && input[0].parts.every(({ kind }) => kind === 'text');
    if (isPlain) for (const part of input[0].parts) body.append(longTextElement(part.text, 'txt q', 4000));
    else if (input.length) {
      const messages = element('div', 'msgs q');
      messages.append(messageList(input));
      body.append(messages);
    }
    const choices = detail.choices ?? [], target = detail.target ?? [];
    if (choices.length) body.append(this.#choices(sample, detail, choices.map(plainText), target.map(plainText)));
    else if (target.length) {
      const row = element('div', 'target');
      row.append(element('span', 'tag', 'target'));
      target.forEach(text => row.append(longTextElement(text, 'txt', 800)));
      body.append(row);
    }
    const answers = element('div', 'ans');
    this.table.runsOf(sample).forEach(run => answers.append(this.#run(sample, run, detail)));
    body.append(answers);
    if (detail.runs.flat().some(record => record?.scores?.some(score => score.repeats_answer)))
      body.append(element('p', 'note same', 'Where a scorer\u2019s explanation repeats the answer word for word, it is not shown again.'));
    this.#folds(sample, detail).forEach(fold => body.append(fold));
    return body;
  }

  /**
   * The choices, with the votes of each model.
   * @param {number} sample
   * @param {SampleDetail} detail
   * @param {string[]} choices
   * @param {string[]} target
   */
  #choices(sample, detail, choices, target) {
    const { table } = this, { runs } = table.index, shown = table.runsOf(sample);
    const node = element('table', 'chs'), head = node.createTHead().insertRow(), rows = node.createTBody();
    const letter = element('th');
    letter.append(element('span', 'vh', 'letter'));
    const choiceHead = element('th', '', 'choice');
    head.append(letter, choiceHead);
    shown.forEach(run => {
      const cell = element('th', 'm');
      cell.append(runName(table, run));
      head.append(cell);
    });
    for (const cell of head.cells) cell.scope = 'col';
    const targets = new Set(target.flatMap(text => chosen(text, choices)));
    /** Per run and epoch, the letters that were named. */
    const votes = runs.map((run, r) => run.epochs.map((_, e) =>
      (detail.runs[r]?.[e]?.scores ?? []).flatMap(score => chosen(plainText(score.answer), choices))));
    const addRow = (/** @type {string} */ name, /** @type {HTMLElement} */ cell, /** @type {(r: number, e: number) => boolean} */ isVote) => {
      const row = rows.insertRow();
      row.append(element('td', 'l', name), cell);
      shown.forEach(r => {
        const run = runs[r], epochs = run.epochs.keys();
        const squares = element('span', `vs ${runClass(table, r)}`), group = element('span');
        const found = [...epochs].filter(e => isVote(r, e));
        if (found.length > 8) group.append(element('small', '', counted(found.length)));
        else found.forEach(e => group.append(verdictSquare(table.outcome(sample, r, e).verdict)));
        squares.append(group);
        const vote = element('td', 'm');
        vote.append(squares);
        if (found.length) vote.append(element('span', 'vh', `${found.length} of ${run.epochs.length}`));
        row.append(vote);
      });
      return row;
    };
    choices.forEach((text, at) => {
      const name = LETTERS[at] ?? String(at + 1), cell = element('td');
      const content = longTextElement(text, 'txt', 600);
      cell.append(content);
      const row = addRow(name, cell, (r, e) => votes[r][e].includes(name));
      if (targets.has(name)) {
        row.className = 'tg';
        content.append(element('span', 'tag', 'target'));
      }
    });
    const isNone = (/** @type {number} */ r, /** @type {number} */ e) => table.outcome(sample, r, e).verdict === 'N';
    if (shown.some(r => runs[r].epochs.some((_, e) => isNone(r, e)))) addRow('\u2014', element('td', 'dim', 'no choice named'), isNone);
    const box = element('div', 'wide');
    box.append(node);
    return box;
  }

  /** @param {number} sample @param {number} run @param {SampleDetail} detail */
  #run(sample, run, detail) {
    const { table } = this, { epochs } = table.index.runs[run], records = detail.runs[run] ?? [];
    const box = element('div', runClass(table, run)), head = element('h4');
    head.append(runName(table, run));
    const at = sample * table.index.runs.length + run;
    if (epochs.length > 1) head.append(element('small', '', `${table.right[at]} of ${epochs.length}`));
    box.append(head);
    epochs.slice(0, EPOCHS_AT_FIRST).forEach((_, e) => box.append(this.#epoch(sample, run, e, records[e] ?? null)));
    if (epochs.length > EPOCHS_AT_FIRST) {
      const more = button(`Show ${counted(epochs.length - EPOCHS_AT_FIRST, 'more epoch')}`, () => {
        more.replaceWith(...epochs.slice(EPOCHS_AT_FIRST).map((_, e) =>
          this.#epoch(sample, run, e + EPOCHS_AT_FIRST, records[e + EPOCHS_AT_FIRST] ?? null)));
      });
      box.append(more);
    }
    return box;
  }

  /** @param {number} sample @param {number} run @param {number} e @param {EpochRecord | null} record */
  #epoch(sample, run, e, record) {
    const { table } = this, { epochs } = table.index.runs[run];
    const box = element('div', 'ep'), head = element('div', 'eh');
    const outcome = table.outcome(sample, run, e);
    const code = table.index.samples.answers[sample][table.offsets[run] + e];
    const short = code === null ? '' : table.index.answers[code];
    head.append(verdictSquare(outcome.verdict));
    if (short && short.length <= 12) head.append(textElement('b', short, ''));
    const isValue = outcome.verdict === 'O' && outcome.value !== null;
    if (isValue) head.append(textElement('b', outcome.value ?? '', ''));
    else head.append(element('span', '', VERDICTS[outcome.verdict]));
    if (!isValue && outcome.value !== null && !/^[CIN]$/.test(outcome.value)) head.append(textElement('span', outcome.value, 'mono'));
    if (epochs.length > 1) head.append(element('span', 'dim', `epoch ${epochs[e]}`));
    if (outcome.reason) head.append(textElement('span', outcome.reason, 'mono any'));
    box.append(head);
    if (!record) return box;
    if (record.error !== undefined) {
      const failed = element('div', 'err');
      failed.append(element('span', 'flag', 'error'), longTextElement(record.error, 'txt', 600));
      box.append(failed);
    }
    if (record.limit !== undefined) box.append(textElement('p', `ended by the ${record.limit} limit`, 'flag'));
    if (record.input) box.append(element('p', 'note', 'Another question was asked here:'), messageList(record.input));
    if (record.answer !== undefined && plainText(record.answer) !== '') box.append(longTextElement(record.answer));
    else if (record.error === undefined && record.answer !== undefined) box.append(element('p', 'dim', 'empty answer'));
    for (const score of record.scores ?? []) box.append(...this.#score(score, sample, run, e, record));
    const facts = [
      record.tokens === undefined ? '' : counted(record.tokens, 'token'),
      record.seconds === undefined || record.seconds < 0.05 ? '' : `${record.seconds < 10 ? record.seconds.toFixed(1) : counted(Math.round(record.seconds))} s`,
      record.stop_reason ? `stopped: ${record.stop_reason}` : '',
    ].filter(Boolean);
    if (facts.length) box.append(textElement('p', facts.join(', '), 'facts2 dim'));
    return box;
  }

  /** @param {ScoreRecord} score @param {number} sample @param {number} run @param {number} e @param {EpochRecord} record */
  #score(score, sample, run, e, record) {
    const { table } = this, nodes = /** @type {HTMLElement[]} */ ([]);
    const columns = table.index.columns.map((column, at) => ({ column, at })).filter(({ column }) => column.scorer === score.scorer);
    // With one scorer the head of the epoch says it all.
    if (table.index.columns.length > 1) {
      const line = element('p', 'sc');
      line.append(textElement('span', score.scorer, 'mono'));
      for (const { column, at } of columns) {
        const outcome = table.outcome(sample, run, e, at);
        const words = outcome.verdict === 'O' ? '' : VERDICTS[outcome.verdict];
        const value = outcome.value === null || /^[CINP]$/.test(outcome.value) ? '' : outcome.value;
        const item = element('span', 'nw');
        item.append(verdictSquare(outcome.verdict), textElement('span', [column.field ?? '', words, value].filter(Boolean).join(' '), ''));
        line.append(item);
      }
      nodes.push(line);
    }
    const answer = plainText(score.answer);
    if (answer.length > 12 && answer.trim() !== plainText(record.answer).trim()) {
      const found = element('div', 'why');
      found.append(element('span', 'label', 'answer found'), longTextElement(score.answer ?? '', 'txt', 300));
      nodes.push(found);
    }
    if (score.explanation !== undefined) {
      const why = element('div', 'why');
      why.append(element('span', 'label', 'explanation'), longTextElement(score.explanation, 'txt', 600));
      nodes.push(why);
    }
    const { grading, metadata } = score;
    if (grading?.length) nodes.push(folded('What the grader read and wrote', 'fold', () => messageList(grading)));
    if (metadata?.length) nodes.push(folded('Recorded by the scorer', 'fold', () => metadataList(metadata)));
    return nodes;
  }

  /** @param {number} sample @param {SampleDetail} detail what is opened when it is wanted */
  #folds(sample, detail) {
    const { runs } = this.table.index, folds = [];
    /** @type {{name: string, run: number, epoch: number, text: import('./types.js').LongText | undefined}[]} */
    const epochs = [];
    runs.forEach((run, r) => run.epochs.forEach((epoch, e) => {
      const record = detail.runs[r]?.[e];
      const name = [runs.length > 1 ? run.name : '', run.epochs.length > 1 ? `epoch ${epoch}` : ''].filter(Boolean).join(', ');
      if (record) epochs.push({ name: name || run.name, run: r, epoch: e, text: record.answer });
    }));
    const answers = epochs.flatMap(({ name, run, text }) => (text === undefined ? [] : [{ name, run, text }]));
    if (answers.length > 1) folds.push(folded('Difference of two answers', 'msgs difference', () => answerDiff(answers)));
    if (this.source.hasMessages() && epochs.length) {
      const fold = folded('Messages', 'msgs conversation', () => this.#messages(sample, epochs));
      fold.addEventListener('toggle', () => { this.#messagesOpen = fold.open; });
      fold.open = this.#messagesOpen;
      folds.push(fold);
    }
    const { metadata } = detail;
    if (metadata?.length) {
      const fold = folded('Metadata', 'msgs', () => metadataList(metadata));
      fold.addEventListener('toggle', () => { this.#metadataOpen = fold.open; });
      fold.open = this.#metadataOpen;
      folds.push(fold);
    }
    return folds;
  }

  /** @param {number} sample @param {{name: string, run: number, epoch: number}[]} epochs */
  async #messages(sample, epochs) {
    const { runs } = await this.source.messages(sample);
    const box = element('div'), list = element('div'), select = element('select');
    select.setAttribute('aria-label', 'Messages of');
    fillSelect(select, epochs.map(({ name }, at) => [String(at), visible(name)]));
    const draw = () => {
      const { run, epoch } = epochs[Number(select.value)];
      const messages = runs[run]?.[epoch] ?? [];
      list.replaceChildren(messages.length ? messageList(messages) : element('p', 'dim', 'no messages recorded'));
    };
    select.addEventListener('change', draw);
    if (epochs.length > 1) {
      const choice = element('p', 'tools');
      choice.append(select);
      box.append(choice);
    }
    box.append(list);
    draw();
    return box;
  }
}
