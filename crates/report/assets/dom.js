// Elements, and what the reader chose last time.

/**
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement | null}
 */
export const find = (selector, root = document) => root.querySelector(selector);

/**
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement[]}
 */
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)].filter(isShownElement);

/**
 * @param {Element} node
 * @returns {node is HTMLElement}
 */
function isShownElement(node) {
  return node instanceof HTMLElement || node instanceof SVGElement;
}

/**
 * An element that must be in the page.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const node = document.getElementById(id);
  if (!(node instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return node;
}

/**
 * A new element. Its text is text, whatever it says.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [cls]
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, cls, text) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text !== undefined) node.textContent = text;
  return node;
}

/**
 * A button.
 * @param {string} text
 * @param {() => void} onClick
 * @param {string} [label]
 */
export function button(text, onClick, label) {
  const node = element('button', 'btn', text);
  node.type = 'button';
  if (label) node.setAttribute('aria-label', label);
  node.addEventListener('click', onClick);
  return node;
}

/**
 * A choice of one of several, in the page or in a panel with a label.
 * @param {HTMLSelectElement} select
 * @param {[value: string, text: string][]} options
 */
export function fillSelect(select, options) {
  select.replaceChildren(...options.map(([value, text]) => {
    const option = element('option', '', text);
    option.value = value;
    return option;
  }));
}

/** @param {string} key what the reader chose, if the browser remembers it */
export function recall(key) {
  try {
    return localStorage.getItem(`errorbar-${key}`);
  } catch {
    return null; // Pages from disk may have no storage.
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(`errorbar-${key}`, value);
  } catch {
    // It is forgotten then.
  }
}

/** @param {number} count @param {string} [noun] `1,204 samples` */
export const counted = (count, noun) =>
  count.toLocaleString('en-US') + (noun ? ` ${noun}${count === 1 ? '' : 's'}` : '');
