// Text from logs: it enters the page here, and only as text.
import { button, counted, element } from './dom.js';

// Characters that are not seen and change what is: controls, marks of direction, spaces of no width, tags.
const HIDDEN_CHARACTERS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
/** The characters of a text that are shown at first. */
const SHOWN_AT_FIRST = 1500;

/** @param {string} text with its hidden characters as codes: ‹U+202E› */
export const visible = text => text.replace(/\r\n/g, '\n').replace(HIDDEN_CHARACTERS, character =>
  `\u2039U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}\u203a`);

/**
 * An element with a text from a log, in the direction of its own first letter.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} text
 * @param {string} [cls]
 */
export function textElement(tag, text, cls = 'txt') {
  const node = element(tag, cls, visible(text));
  node.dir = 'auto';
  return node;
}

/** @param {import('./types.js').LongText | undefined} text without a mark where it is cut */
export const plainText = text =>
  text === undefined ? '' : typeof text === 'string' ? text : `${text.head}\u2026${text.tail}`;

/** @param {import('./types.js').LongText} text the characters of the whole text */
export const lengthOf = text => (typeof text === 'string' ? text.length : text.length);

/**
 * A text that may be long: its start, the rest when asked for, and a mark where the file itself has no more.
 * @param {import('./types.js').LongText} text
 * @param {string} [cls]
 * @param {number} [atFirst]
 */
export function longTextElement(text, cls = 'txt', atFirst = SHOWN_AT_FIRST) {
  const box = element('div', 'long');
  const whole = () => {
    if (typeof text === 'string') return [textElement('div', text, cls)];
    const cut = text.length - [...text.head].length - [...text.tail].length;
    const mark = element('p', 'cut', `${counted(cut)} of ${counted(text.length)} characters are cut here`);
    return [textElement('div', text.head, cls), mark, textElement('div', text.tail, cls)];
  };
  const head = typeof text === 'string' ? text : text.head;
  if (head.length <= atFirst * 1.2) {
    box.append(...whole());
    return box;
  }
  const more = button(`Show all ${counted(lengthOf(text))} characters`, () => {
    box.replaceChildren(...whole());
    box.tabIndex = -1;
    box.focus({ preventScroll: true });
  });
  // Not between the halves of a character.
  const end = /[\ud800-\udbff]/.test(head.charAt(atFirst - 1)) ? atFirst - 1 : atFirst;
  box.append(textElement('div', `${head.slice(0, end)}\u2026`, cls), more);
  return box;
}
