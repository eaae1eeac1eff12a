// The page around the samples: theme, contents, order of rows, one model alone, a line to read values by.
import { element, find, findAll, recall, remember } from './dom.js';
import { startBrowser } from './browser.js';

const THEMES = ['system', 'light', 'dark'];

/** @param {HTMLElement} control the button that goes from the system's theme to light to dark */
function startTheme(control) {
  const root = document.documentElement;
  const set = (/** @type {string} */ theme) => {
    if (theme === 'system') delete root.dataset.theme;
    else root.dataset.theme = theme;
    control.textContent = `Theme: ${theme}`;
  };
  control.hidden = false;
  const before = recall('theme') ?? 'system';
  set(THEMES.includes(before) ? before : 'system');
  control.addEventListener('click', () => {
    const theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? 'system') + 1) % THEMES.length];
    set(theme);
    remember('theme', theme);
  });
}

/** Marks the section that is being read in the contents. */
function startContents() {
  const links = findAll('.toc a').filter(link => link instanceof HTMLAnchorElement);
  /** @type {Map<string, boolean>} */
  const seen = new Map();
  const observer = new IntersectionObserver(entries => {
    for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
    const current = links.find(link => seen.get(link.hash.slice(1)));
    for (const link of links)
      if (link === current) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
  }, { rootMargin: '-25% 0px -60% 0px' });
  for (const link of links) {
    const section = link.hash ? document.getElementById(link.hash.slice(1)) : null;
    if (section) observer.observe(section);
  }
}

/** @param {HTMLElement} select orders the groups of all plots of its section */
function startOrder(select) {
  const section = select.closest('section');
  if (!(select instanceof HTMLSelectElement) || !section) return;
  select.addEventListener('change', () => orderRows(section, select.value));
}

/** @param {HTMLElement} section @param {string} key */
function orderRows(section, key) {
  const items = findAll('[data-name]:not([data-fixed])', section);
  const number = (/** @type {HTMLElement} */ item, /** @type {string} */ name) => {
    const value = Number.parseFloat(item.dataset[name] ?? '');
    return Number.isNaN(value) ? -Infinity : value;
  };
  const position = (/** @type {HTMLElement} */ a, /** @type {HTMLElement} */ b) => number(a, 'pos') - number(b, 'pos');
  const compare = key === 'name' ? (/** @type {HTMLElement} */ a, /** @type {HTMLElement} */ b) =>
    (a.dataset.name ?? '').localeCompare(b.dataset.name ?? '', 'en', { numeric: true })
    : key === 'pos' ? position
    : (/** @type {HTMLElement} */ a, /** @type {HTMLElement} */ b) => {
      const [x, y] = [number(a, key), number(b, key)];
      return x === y ? position(a, b) : y > x ? 1 : -1;
    };
  // Each stays in its own parent, after what is fixed.
  for (const item of items.sort(compare)) item.parentElement?.append(item);
}

/** @param {HTMLElement} control lets one model stand out in its section */
function startHighlight(control) {
  control.addEventListener('click', () => {
    const section = control.closest('section'), wasPressed = control.getAttribute('aria-pressed') === 'true';
    if (!section) return;
    for (const other of findAll('.legend button', section))
      other.setAttribute('aria-pressed', String(other === control && !wasPressed));
    if (wasPressed) delete section.dataset.hl;
    else section.dataset.hl = control.dataset.m ?? '';
  });
}

/** @param {HTMLElement} table a line with the value under the pointer; every figure is in its row as text too */
function startReadingLine(table) {
  const [low, high] = (table.dataset.scale ?? '').split(',').map(Number), box = table.parentElement;
  if (!box || !(table instanceof HTMLTableElement) || !(high > low)) return;
  const line = element('div', 'guide'), label = element('span');
  box.classList.add('hasguide');
  line.append(label);
  line.hidden = true;
  line.setAttribute('aria-hidden', 'true');
  box.append(line);
  const decimals = Math.max(0, Math.ceil(-Math.log10((high - low) / 500)));
  table.addEventListener('pointermove', event => {
    const cell = event.pointerType === 'mouse' && event.target instanceof Element ? event.target.closest('tbody .pl') : null;
    const plot = cell?.querySelector('svg')?.getBoundingClientRect();
    const at = plot ? (event.clientX - plot.left) / plot.width : -1;
    line.hidden = !(at >= 0 && at <= 1);
    if (line.hidden) return;
    const outer = box.getBoundingClientRect(), head = table.tHead?.getBoundingClientRect() ?? table.getBoundingClientRect();
    line.style.left = `${event.clientX - outer.left + box.scrollLeft}px`;
    line.style.top = `${head.bottom - outer.top}px`;
    line.style.bottom = `${outer.bottom - table.getBoundingClientRect().bottom}px`;
    label.textContent = (low + at * (high - low)).toFixed(decimals).replace('-', '\u2212');
  });
  table.addEventListener('pointerleave', () => { line.hidden = true; });
}

// What needs a script is hidden until there is one.
for (const control of findAll('.js[hidden]')) control.hidden = false;
const themeButton = find('#theme');
if (themeButton) startTheme(themeButton);
startContents();
findAll('select.forder').forEach(startOrder);
findAll('.legend button[data-m]').forEach(startHighlight);
findAll('table[data-scale]').forEach(startReadingLine);
startBrowser();
