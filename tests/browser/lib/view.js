// `errorbar view` and `errorbar eval` as processes beside the test, and a model whose answers the test releases.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { BINARY, FOLDER, ROOT } from './errorbar.js';

/** @typedef {{id: string, input: string, target: string}} Question */
/** @typedef {{url: string, stop: () => Promise<number | null>}} Viewer */
/** @typedef {{pid: number | undefined, ended: Promise<{code: number | null, stderr: string}>, interrupt: () => void}} Run */
/** @typedef {{url: string, allow: (count: number) => void, close: () => void}} Model */

/** What is still running when the process ends. @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set();
process.on('exit', () => children.forEach(child => child.kill('SIGKILL')));
/** Servers of models that are open. @type {Set<import('node:http').Server>} */
const servers = new Set();

/** Ends what a test that failed has left behind: it would keep the process of the tests alive. */
export function endAll() {
  children.forEach(child => child.kill('SIGKILL'));
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}

/** @param {string[]} args */
function start(args) {
  const env = { ...process.env, OPENAI_API_KEY: 'unused', NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
  const child = spawn(BINARY, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', text => { stderr += text; });
  /** @type {Promise<{code: number | null, stderr: string}>} */
  const ended = new Promise(resolve => child.on('close', code => {
    children.delete(child);
    resolve({ code, stderr });
  }));
  return { child, ended };
}

/** @param {string} folder @returns {Promise<Viewer>} a server over a folder of logs, once it listens */
export async function view(folder) {
  const { child, ended } = start(['view', folder, '--port', '0']);
  const line = new Promise(resolve => createInterface(child.stdout).once('line', resolve));
  const url = await Promise.race([line, ended.then(({ stderr }) => { throw new Error(`view ended: ${stderr}`); })]);
  const stop = () => {
    child.kill('SIGINT');
    return ended.then(({ code }) => code);
  };
  return { url, stop };
}

/** @param {string[]} args @returns {Run} a run in progress; the test goes on beside it */
export function startEval(...args) {
  const { child, ended } = start(['eval', ...args]);
  child.stdout.resume();
  return { pid: child.pid, ended, interrupt: () => child.kill('SIGINT') };
}

/**
 * Writes a task file with its questions; the name of the task may be anything.
 * @param {string} file the name of the file, without its extension
 * @param {string} task
 * @param {Question[]} questions
 */
export function writeTask(file, task, questions) {
  const folder = path.join(FOLDER, 'tasks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${file}.jsonl`), questions.map(question => `${JSON.stringify(question)}\n`).join(''));
  const lines = [`name = ${JSON.stringify(task)}`, `dataset = { path = "${file}.jsonl" }`, 'scorer = "match()"', ''];
  writeFileSync(path.join(folder, `${file}.toml`), lines.join('\n'));
  return path.join(folder, `${file}.toml`);
}

/**
 * A server with the chat completions API. It answers `yes`, to as many requests as the test allows; a question with
 * `refuse` in it is rejected.
 * @param {number} [allowed]
 * @returns {Promise<Model>}
 */
export async function startModel(allowed = 0) {
  /** @type {(() => void)[]} */
  const waiting = [];
  const answer = () => {
    for (; allowed > 0 && waiting.length > 0; allowed--) waiting.shift()?.();
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { model, messages } = JSON.parse(body);
    const send = (/** @type {number} */ status, /** @type {object} */ json) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (messages.at(-1).content.includes('refuse')) return void send(400, { error: { message: 'no such question', type: 'invalid_request_error' } });
    waiting.push(() => send(200, {
      id: 'answer', object: 'chat.completion', created: 0, model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
    }));
    answer();
  });
  servers.add(server);
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const at = server.address();
  const close = () => {
    servers.delete(server);
    server.closeAllConnections();
    server.close();
  };
  const allow = (/** @type {number} */ count) => {
    allowed += count;
    answer();
  };
  return { url: `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}/v1`, allow, close };
}
