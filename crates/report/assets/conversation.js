// Messages, and details that are folded until someone wants them.
import { element } from './dom.js';
import { longTextElement, textElement } from './text.js';

/**
 * Messages as a list of who and what.
 * @param {import('./types.js').Message[]} messages
 */
export function messageList(messages) {
  const list = element('dl');
  for (const { role, author, parts } of messages) {
    const who = textElement('dt', role, '');
    if (author) who.append(textElement('small', author.slice(author.lastIndexOf('/') + 1), ''));
    const what = element('dd');
    for (const part of parts) what.append(messagePart(part));
    if (!parts.length) what.append(element('span', 'dim', 'empty'));
    list.append(who, what);
  }
  return list;
}

/** @param {import('./types.js').MessagePart} part */
function messagePart({ kind, name, text }) {
  const box = element('div', `part ${kind}`);
  const label = { reasoning: 'reasoning', call: `call of ${name ?? '?'}`, error: 'error', media: 'not text:' }[kind];
  if (label) box.append(textElement('span', label, 'label'));
  box.append(longTextElement(text));
  return box;
}

/**
 * Something folded, made when it is opened.
 * @param {string} title
 * @param {string} cls
 * @param {() => (Node | Promise<Node>)} content
 */
export function folded(title, cls, content) {
  const box = element('details', cls), body = element('div', 'body');
  box.append(textElement('summary', title, ''), body);
  let isMade = false;
  box.addEventListener('toggle', () => {
    if (!box.open || isMade) return;
    isMade = true;
    showLater(body, async () => content(), () => {});
  });
  return box;
}

/**
 * Names and values.
 * @param {[string, import('./types.js').LongText][]} entries
 */
export function metadataList(entries) {
  const list = element('dl');
  for (const [key, value] of entries) {
    const what = element('dd');
    what.append(longTextElement(value, 'txt', 400));
    list.append(textElement('dt', key, ''), what);
  }
  return list;
}

/**
 * Shows what has to be loaded: a word while it takes long, the reason and a way to try again if it fails.
 * @param {HTMLElement} box
 * @param {() => Promise<Node>} load
 * @param {() => void} onShown
 */
export async function showLater(box, load, onShown) {
  /** Of two that overlap, the later one wins. */
  const turn = String(Number(box.dataset.turn ?? 0) + 1);
  box.dataset.turn = turn;
  const waiting = setTimeout(() => {
    if (box.dataset.turn === turn) box.replaceChildren(element('p', 'none', 'Loading\u2026'));
  }, 150);
  try {
    const node = await load();
    if (box.dataset.turn !== turn) return;
    box.replaceChildren(node);
  } catch (error) {
    if (box.dataset.turn !== turn) return;
    const failed = element('div', 'none failed');
    failed.setAttribute('role', 'alert');
    const again = element('button', 'btn', 'Try again');
    again.type = 'button';
    again.addEventListener('click', () => showLater(box, load, onShown));
    const reason = error instanceof Error ? error.message : String(error);
    failed.append(textElement('p', `This cannot be shown: ${reason}`, ''), again);
    box.replaceChildren(failed);
    return;
  } finally {
    clearTimeout(waiting);
  }
  onShown();
}
