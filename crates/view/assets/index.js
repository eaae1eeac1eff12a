// @ts-check
// The list of logs: theme, search, order, choosing logs to compare, and changes as they happen. The page stands without it.

/** @typedef {{ list: number, running: string }} Change */

const themes = ['system', 'light', 'dark'];
const shapes = ['c', 's', 't', 'd', 'p', 'x'];
const most = shapes.length;

/** @template {Element} E @param {string} selector @param {new () => E} kind @returns {E | null} */
function find(selector, kind) {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** @param {ParentNode} parent @param {string} selector @returns {HTMLElement[]} */
function all(parent, selector) {
  return [...parent.querySelectorAll(selector)].filter((found) => found instanceof HTMLElement);
}

/** What the browser remembers, where it does. @param {string} key @param {string} [value] @returns {string | null} */
function remembered(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
    return value;
  } catch {
    return null;
  }
}

function startTheme() {
  const button = find('#theme', HTMLButtonElement);
  if (!button) return;
  /** @param {string} theme */
  const apply = (theme) => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    remembered('errorbar-theme', theme);
  };
  const saved = remembered('errorbar-theme') ?? '';
  apply(themes.includes(saved) ? saved : 'system');
  button.hidden = false;
  button.addEventListener('click', () => {
    const now = document.documentElement.dataset.theme ?? 'system';
    apply(themes[(themes.indexOf(now) + 1) % themes.length] ?? 'system');
  });
}

/** The rows of logs. @returns {HTMLElement[]} */
function rows() {
  return all(document, '#logs tr[data-q]');
}

/** @param {HTMLElement} row @returns {HTMLInputElement | null} */
function box(row) {
  const found = row.querySelector('input');
  return found instanceof HTMLInputElement ? found : null;
}

function filter() {
  const [query, status] = [find('#q', HTMLInputElement), find('#fs', HTMLSelectElement)];
  if (!query || !status) return;
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const list = rows();
  let shown = 0;
  for (const row of list) {
    const fits = words.every((word) => row.dataset.q?.includes(word));
    row.hidden = !fits || (status.value !== '' && row.dataset.status !== status.value);
    shown += row.hidden ? 0 : 1;
  }
  for (const group of all(document, '#logs tbody')) {
    group.hidden = all(group, 'tr[data-q]').every((row) => row.hidden);
  }
  const count = find('#count', HTMLElement);
  const logs = (/** @type {number} */ number) => `${number.toLocaleString('en')} log${number === 1 ? '' : 's'}`;
  if (count) count.textContent = shown === list.length ? logs(shown) : `${shown} of ${logs(list.length)}`;
  const none = find('#none', HTMLElement);
  if (none) none.hidden = shown > 0;
}

/** Which column the rows are ordered by; it outlives a new list. */
const order = { by: 'date', up: false };

function sort() {
  const { by, up } = order;
  for (const head of all(document, '#logs thead [data-by]')) {
    head.setAttribute('aria-sort', head.dataset.by !== by ? 'none' : up ? 'ascending' : 'descending');
  }
  /** @param {HTMLElement} a @param {HTMLElement} b */
  const compare = (a, b) => {
    const [x, y] = [a.dataset[by] ?? '', b.dataset[by] ?? ''];
    // What is not known comes last, in either order.
    if (x === '' || y === '') return Number(x === '') - Number(y === '');
    const difference = by === 'name' || by === 'date' ? x.localeCompare(y) : Number(x) - Number(y);
    return up ? difference : -difference;
  };
  for (const group of all(document, '#logs tbody')) {
    group.append(...all(group, 'tr[data-q]').sort(compare));
  }
}

/** Chosen logs are of one task, and have the colours and shapes that they will have in the comparison. */
function choose() {
  const list = rows();
  const chosen = list.filter((row) => box(row)?.checked);
  const task = chosen[0]?.dataset.task;
  for (const row of list) {
    const input = box(row);
    if (!input || !row.dataset.v) continue;
    const isOther = task !== undefined && row.dataset.task !== task;
    input.disabled = isOther || (chosen.length >= most && !input.checked);
    input.title = isOther ? 'only logs of one task can be compared' : input.disabled ? `at most ${most} logs` : '';
    const at = chosen.indexOf(row);
    const drawn = row.querySelector('td.pl svg > g');
    drawn?.setAttribute('class', `m${at + 1}`);
    drawn?.querySelector('.mk')?.setAttribute('href', `#K${shapes[Math.max(at, 0)]}`);
  }
  const [tray, text, go] = [find('#tray', HTMLElement), find('#chosen', HTMLElement), find('#go', HTMLElement)];
  if (!tray || !text || !go) return;
  const names = chosen.map((row) => row.dataset.name).join(', ');
  tray.hidden = chosen.length === 0;
  go.hidden = chosen.length < 2;
  text.textContent =
    chosen.length === 1 ? `${names} chosen; choose another of ${task}` : `${chosen.length} logs of ${task}: ${names}`;
}

/** Makes the list that is in the page work. */
function startList() {
  const tools = find('#tools', HTMLElement);
  if (tools) tools.hidden = false;
  find('#q', HTMLInputElement)?.addEventListener('input', filter);
  find('#fs', HTMLSelectElement)?.addEventListener('change', filter);
  find('#clear', HTMLButtonElement)?.addEventListener('click', () => {
    const [query, status] = [find('#q', HTMLInputElement), find('#fs', HTMLSelectElement)];
    if (query) query.value = '';
    if (status) status.value = '';
    filter();
    query?.focus();
  });
  startTable();
  find('#unsel', HTMLButtonElement)?.addEventListener('click', (event) => {
    event.preventDefault();
    rows().forEach((row) => {
      const input = box(row);
      if (input) input.checked = false;
    });
    choose();
  });
  find('#compare', HTMLFormElement)?.addEventListener('change', choose);
}

/** The heads of columns become buttons. */
function startTable() {
  for (const head of all(document, '#logs thead [data-by]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sortb';
    button.textContent = head.textContent;
    button.addEventListener('click', () => {
      order.up = order.by === head.dataset.by ? !order.up : head.dataset.by === 'name';
      order.by = head.dataset.by ?? 'date';
      sort();
    });
    head.replaceChildren(button);
  }
  sort();
  filter();
  choose();
}

/** Markup that the server has made, with what logs say escaped; scripts in it would not run. @param {string} html */
function parsed(html) {
  return new DOMParser().parseFromString(html, 'text/html');
}

/** Puts the list of the server in place of the one that is shown; what was chosen stays chosen. */
async function fetchList() {
  const answer = await fetch(location.pathname, { cache: 'no-store' });
  if (!answer.ok) return;
  const fresh = parsed(await answer.text());
  const [main, next] = [find('#main', HTMLElement), fresh.querySelector('#main')];
  if (!main || !(next instanceof HTMLElement)) return;
  main.dataset.list = next.dataset.list;
  const [table, rest] = [main.querySelector('#logs'), next.querySelector('#logs')];
  if (!table || !rest) {
    // The first log, or the last one is gone: the page as a whole is another.
    main.replaceChildren(...next.childNodes);
    startList();
    return;
  }
  main.querySelector('.top')?.replaceWith(...[next.querySelector('.top')].filter((found) => found !== null));
  const chosen = new Set(rows().filter((row) => box(row)?.checked).map((row) => row.dataset.id));
  const focused = document.activeElement?.closest('tr[data-q]');
  table.replaceWith(rest);
  for (const row of rows()) {
    const input = box(row);
    if (input && !input.disabled && chosen.has(row.dataset.id)) input.checked = true;
    if (focused instanceof HTMLElement && focused.dataset.id === row.dataset.id) row.querySelector('a')?.focus();
  }
  startTable();
}

/** Follows the folder. */
function follow() {
  const events = new EventSource('events');
  const lost = find('#lost', HTMLElement);
  let [isFetching, isStale] = [false, false];
  events.addEventListener('change', async (event) => {
    /** @type {Change} */
    const change = JSON.parse(event.data);
    if (lost) lost.textContent = '';
    const runCount = all(document, '.live').length;
    const running = find('#running', HTMLElement);
    if (running) running.replaceChildren(...parsed(change.running).body.childNodes);
    // The line with the counts, and that there are no logs, change with the number of runs as well.
    const isOther = all(document, '.live').length !== runCount;
    const shown = find('#main', HTMLElement)?.dataset.list;
    isStale ||= isOther || shown !== String(change.list);
    if (isFetching) return;
    isFetching = true;
    // What changes while the list is on its way is fetched after it.
    while (isStale) {
      isStale = false;
      await fetchList().catch(() => undefined);
    }
    isFetching = false;
  });
  events.addEventListener('error', () => {
    if (lost) lost.textContent = 'not connected: the list may be out of date';
  });
}

startTheme();
startList();
follow();
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  find('#q', HTMLInputElement)?.focus();
});
