// The samples that are shown, as a file for spreadsheets.
import { element } from './dom.js';
import { SampleTable } from './samples.js';

// A spreadsheet would run a text that starts like a formula; it drops white space and hidden characters in front of one. The
// rule is that of `csv-safe` on the command line.
const BEGINS_FORMULA = /^[\t\r\n]|^[\s\p{Cc}\p{Cf}\p{Variation_Selector}\u034f\u2060-\u206f\ufff9-\ufffb\u{e0000}-\u{e0fff}]*[=+\-@＝＋－＠]/u;

/** @param {string | number | null | undefined} value */
function csvCell(value) {
  if (value === null || value === undefined) return '';
  let text = String(value);
  if (BEGINS_FORMULA.test(text) && (text.trim() === '' || !Number.isFinite(Number(text)))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * One row per sample: id, question, groups, and the value of each score column in each run and epoch.
 * @param {SampleTable} table
 * @param {number[]} shown
 */
export function samplesCsv(table, shown) {
  const { runs, groups, columns, samples } = table.index;
  const head = ['id', 'question', ...groups.map(({ key }) => key)];
  const cells = /** @type {{column: number, run: number, epoch: number}[]} */ ([]);
  columns.forEach((_, column) => runs.forEach((run, r) => run.epochs.forEach((epoch, e) => {
    cells.push({ column, run: r, epoch: e });
    head.push([run.name, table.columnName(column), ...(run.epochs.length > 1 ? [`epoch ${epoch}`] : [])].join(' '));
  })));
  const rows = shown.map(i => [
    samples.id[i],
    samples.preview[i],
    ...samples.groups[i].map((code, key) => (code === null ? '' : groups[key].values[code])),
    ...cells.map(({ column, run, epoch }) => {
      const { verdict, value } = table.outcome(i, run, epoch, column);
      return value ?? (verdict === 'E' ? 'error' : '');
    }),
  ]);
  return [head, ...rows].map(row => row.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

/**
 * Offers a text as a file.
 * @param {string} name
 * @param {string} text
 */
export function downloadText(name, text) {
  const link = element('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  link.download = name;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
  // The download has its own hold on the file once it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
