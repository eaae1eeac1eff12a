// The program under test, and the logs and reports that tests look at.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const BINARY = process.env.ERRORBAR ?? path.join(ROOT, 'target/debug/errorbar');

/** A folder that goes with the process. */
export const FOLDER = mkdtempSync(path.join(tmpdir(), 'errorbar-browser-'));
process.on('exit', () => rmSync(FOLDER, { recursive: true, force: true }));

/**
 * Runs errorbar and returns what it writes.
 * @param {string[]} args
 */
export const errorbar = (...args) =>
  execFileSync(BINARY, args, { encoding: 'utf8', cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });

/**
 * Runs a task file with recorded outputs and returns the log.
 * @param {string} name
 * @param {string} task
 * @param {string} outputs
 * @param {string[]} args
 */
export function evaluate(name, task, outputs, ...args) {
  const folder = path.join(FOLDER, 'logs', name);
  errorbar('eval', task, '--model', `replay/${outputs}`, '--log-dir', folder, ...args);
  const [log] = readdirSync(folder).filter(file => file.endsWith('.eval'));
  return path.join(folder, log);
}

/** @type {Map<string, string>} */
const almanacLogs = new Map();

/** @param {'heron' | 'magpie' | 'wren'} model a log of the almanac example, three epochs */
export function almanac(model) {
  const known = almanacLogs.get(model);
  if (known) return known;
  const log = evaluate(model, 'examples/almanac/almanac.toml', `examples/almanac/outputs/${model}.jsonl`, '--epochs', '3');
  almanacLogs.set(model, log);
  return log;
}

/**
 * A task with its questions and the outputs of a model, written into a folder and run.
 * @param {string} name
 * @param {{id: string, input: string, target: string, output: string, metadata?: Record<string, unknown>}[]} samples
 * @param {string} [scorer]
 */
export function runTask(name, samples, scorer = 'includes()') {
  const folder = path.join(FOLDER, 'tasks', name);
  mkdirSync(folder, { recursive: true });
  const keys = [...new Set(samples.flatMap(({ metadata }) => Object.keys(metadata ?? {})))];
  const lines = (/** @type {object[]} */ objects) => objects.map(object => `${JSON.stringify(object)}\n`).join('');
  writeFileSync(path.join(folder, 'questions.jsonl'), lines(samples.map(({ id, input, target, metadata }) => ({ id, input, target, ...metadata }))));
  writeFileSync(path.join(folder, 'outputs.jsonl'), lines(samples.map(({ id, output }) => ({ id, epoch: 1, output }))));
  // A string of JSON is one of TOML, but for this character.
  const toml = (/** @type {unknown} */ value) => JSON.stringify(value).replaceAll('\u007f', '\\u007f');
  const metadata = keys.length ? `, metadata = ${toml(keys)}` : '';
  writeFileSync(path.join(folder, 'task.toml'), [
    `name = ${JSON.stringify(name)}`,
    `dataset = { path = "questions.jsonl", input = "input", target = "target"${metadata} }`,
    `scorer = ${JSON.stringify(scorer)}`,
    'metrics = ["accuracy()", "stderr()"]',
    '',
  ].join('\n'));
  return evaluate(name, path.join(folder, 'task.toml'), path.join(folder, 'outputs.jsonl'));
}

/** @returns {string[]} the logs of two models on two tasks */
export function severalTasks() {
  const folder = path.join(FOLDER, 'several');
  mkdirSync(folder, { recursive: true });
  return [['first', 6], ['second', 3]].flatMap(([task, right]) => {
    const questions = Array.from({ length: 8 }, (_, at) => ({ id: `${task}-${at}`, input: `${at}?`, target: at < Number(right) ? 'yes' : 'no' }));
    writeFileSync(path.join(folder, `${task}.jsonl`), questions.map(question => `${JSON.stringify(question)}\n`).join(''));
    const file = path.join(folder, `${task}.toml`);
    writeFileSync(file, `name = "${task}"\ndataset = { path = "${task}.jsonl" }\nscorer = "match()"\n`);
    return ['yes', 'no'].map(model => {
      const logs = path.join(folder, `${task}-${model}`);
      errorbar('eval', file, '--model', `mock/${model}`, '--log-dir', logs);
      return path.join(logs, readdirSync(logs)[0]);
    });
  });
}

/**
 * Makes a report and returns its path.
 * @param {string} name
 * @param {string[]} inputs logs and options
 */
export function report(name, ...inputs) {
  const file = path.join(FOLDER, `${name}.html`);
  errorbar('report', ...inputs, '-o', file);
  return file;
}
