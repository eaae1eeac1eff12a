// Two answers, word by word.
import { counted, element, fillSelect } from './dom.js';
import { lengthOf, plainText, textElement, visible } from './text.js';
import { wordDiff } from './diff.js';

/** @typedef {{name: string, run: number, text: import('./types.js').LongText}} NamedAnswer */

/**
 * A choice of two answers, and their difference.
 * @param {NamedAnswer[]} answers two or more
 */
export function answerDiff(answers) {
  const box = element('div', 'diff'), result = element('div', 'txt');
  result.dir = 'auto';
  const note = element('p', 'note');
  note.setAttribute('role', 'status');
  const [from, to] = ['first answer', 'second answer'].map(label => {
    const select = element('select');
    select.setAttribute('aria-label', label);
    fillSelect(select, answers.map(({ name }, at) => [String(at), visible(name)]));
    select.addEventListener('change', () => draw());
    return select;
  });
  // What another model says, if that differs; else another epoch.
  const differs = (/** @type {NamedAnswer} */ { text }) => plainText(text) !== plainText(answers[0].text);
  const model = answers.findIndex(answer => answer.run !== answers[0].run && differs(answer));
  to.value = String(model > 0 ? model : Math.max(1, answers.findIndex(differs)));
  const draw = () => {
    const [a, b] = [answers[Number(from.value)], answers[Number(to.value)]];
    const parts = wordDiff(plainText(a.text), plainText(b.text));
    const changed = parts.filter(({ kind }) => kind !== 'same').length;
    const isCut = typeof a.text !== 'string' || typeof b.text !== 'string';
    note.textContent = (changed ? counted(changed, 'part') + (changed === 1 ? ' differs' : ' differ') : 'The answers are the same')
      + `; ${counted(lengthOf(a.text))} and ${counted(lengthOf(b.text))} characters${isCut ? ', of which the ends are compared' : ''}.`;
    result.replaceChildren(...parts.map(({ kind, text }) => {
      if (kind === 'same') return document.createTextNode(visible(text));
      return textElement(kind === 'removed' ? 'del' : 'ins', text, '');
    }));
  };
  const choice = element('p', 'tools');
  choice.append(from, element('span', '', 'and'), to);
  box.append(choice, note, result);
  draw();
  return box;
}
