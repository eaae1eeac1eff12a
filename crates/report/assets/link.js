// Links that keep filter and selection: #samples?show=disagree&q=lake&id=geo-1-a
import { SampleTable } from './samples.js';
import { emptyQuery } from './filter.js';

/** @typedef {import('./types.js').Query} Query */

const SECTION_NAME = 'samples';
/** The fields of a query that are one string each. */
const PLAIN_FIELDS = /** @type {const} */ (['q', 'show', 'sort', 'model', 'verdict', 'value', 'reason']);

/**
 * The hash of a query and a sample.
 * @param {SampleTable} table
 * @param {Query} query
 * @param {string | undefined} id
 */
export function hashOf(table, query, id) {
  const params = new URLSearchParams();
  for (const field of PLAIN_FIELDS) if (query[field]) params.set(field, query[field]);
  if (query.column > 0) params.set('scorer', table.columnName(query.column));
  for (const [key, value] of Object.entries(query.groups)) if (value) params.set(`g.${key}`, value);
  query.pair.forEach(({ run, value }, at) => params.set('ab'.charAt(at), `${table.index.runs[run].name}:${value}`));
  if (id !== undefined) params.set('id', id);
  return `#${SECTION_NAME}?${params}`;
}

/**
 * What a hash asks for; null if it is no link into the samples.
 * @param {SampleTable} table
 * @param {string} hash
 * @returns {{query: Query, id: string | null} | null}
 */
export function queryOf(table, hash) {
  const [section, rest] = [hash.slice(1).split('?', 1)[0], hash.slice(hash.indexOf('?') + 1)];
  if (section !== SECTION_NAME || !hash.includes('?')) return null;
  const params = new URLSearchParams(rest), query = emptyQuery();
  for (const field of PLAIN_FIELDS) query[field] = params.get(field) ?? '';
  const { columns, runs } = table.index;
  const scorer = params.get('scorer');
  query.column = Math.max(0, columns.findIndex((column, at) => table.columnName(at) === scorer || column.scorer === scorer));
  for (const [name, value] of params) if (name.startsWith('g.')) query.groups[name.slice(2)] = value;
  for (const name of ['a', 'b']) {
    const text = params.get(name) ?? '', at = text.lastIndexOf(':');
    const run = runs.findIndex(known => known.name === text.slice(0, at));
    if (at >= 0 && run >= 0) query.pair.push({ run, value: text.slice(at + 1) });
  }
  return { query, id: params.get('id') };
}
