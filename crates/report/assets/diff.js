// The words by which two texts differ.

/** @typedef {{kind: 'same' | 'removed' | 'added', text: string}} DiffPart */

/** More words than this are not compared; the page stays responsive whatever an answer says. */
const MOST_WORDS = 20_000;
/** More changed words than this are shown as one change. */
const MOST_CHANGES = 1_000;

/** @param {string} text words, spaces and signs; joined they are the text */
const wordsOf = text => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

/**
 * The parts of two texts: what both have, what only the first has, what only the second has.
 * @param {string} before
 * @param {string} after
 * @returns {DiffPart[]}
 */
export function wordDiff(before, after) {
  const a = wordsOf(before), b = wordsOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middleA = a.slice(start, a.length - end), middleB = b.slice(start, b.length - end);
  /** @type {DiffPart[]} */
  const parts = [];
  addPart(parts, 'same', a.slice(0, start));
  const isShort = middleA.length + middleB.length <= MOST_WORDS;
  const changes = isShort ? shortestEdit(middleA, middleB) : null;
  if (changes) for (const [kind, word] of changes) addPart(parts, kind, [word]);
  else {
    addPart(parts, 'removed', middleA);
    addPart(parts, 'added', middleB);
  }
  addPart(parts, 'same', a.slice(a.length - end));
  return withoutCrumbs(parts);
}

/**
 * The same with words that happen to stand on both sides, alone between changes, as part of the change: a text in which
 * every second word is marked cannot be read.
 * @param {DiffPart[]} parts
 */
function withoutCrumbs(parts) {
  const isCrumb = (/** @type {number} */ at) => at > 0 && at + 1 < parts.length && parts[at].kind === 'same'
    && parts[at - 1].kind !== 'same' && parts[at + 1].kind !== 'same' && parts[at].text.trim().length < 4;
  /** @type {DiffPart[]} */
  const merged = [];
  let [removed, added] = ['', ''];
  const flush = () => {
    addPart(merged, 'removed', [removed]);
    addPart(merged, 'added', [added]);
    [removed, added] = ['', ''];
  };
  parts.forEach(({ kind, text }, at) => {
    if (kind !== 'added' && (kind !== 'same' || isCrumb(at))) removed += text;
    if (kind !== 'removed' && (kind !== 'same' || isCrumb(at))) added += text;
    if (kind !== 'same' || isCrumb(at)) return;
    flush();
    addPart(merged, 'same', [text]);
  });
  flush();
  return merged;
}

/**
 * @param {DiffPart[]} parts
 * @param {DiffPart['kind']} kind
 * @param {string[]} words
 */
function addPart(parts, kind, words) {
  const text = words.join('');
  const last = parts[parts.length - 1];
  if (!text) return;
  if (last && last.kind === kind) last.text += text;
  else parts.push({ kind, text });
}

/**
 * Myers, "An O(ND) difference algorithm and its variations", 1986; null if there are too many changes.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[DiffPart['kind'], string][] | null}
 */
function shortestEdit(a, b) {
  const most = Math.min(MOST_CHANGES, a.length + b.length);
  /** The furthest place in `a` on each diagonal, and what it was before each step. */
  const reach = new Int32Array(2 * most + 3);
  /** @type {Int32Array[]} */
  const trace = [];
  for (let depth = 0; depth <= most; depth++) {
    trace.push(reach.slice(most + 1 - depth - 1, most + 1 + depth + 2));
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      const at = most + 1 + diagonal;
      const down = diagonal === -depth || (diagonal !== depth && reach[at - 1] < reach[at + 1]);
      let x = down ? reach[at + 1] : reach[at - 1] + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[at] = x;
      if (x >= a.length && x - diagonal >= b.length) return editFrom(a, b, trace);
    }
  }
  return null;
}

/**
 * @param {string[]} a
 * @param {string[]} b
 * @param {Int32Array[]} trace
 */
function editFrom(a, b, trace) {
  /** @type {[DiffPart['kind'], string][]} */
  const edit = [];
  let x = a.length, y = b.length;
  const same = (/** @type {number} */ toX, /** @type {number} */ toY) => {
    while (x > toX && y > toY) {
      y--;
      edit.push(['same', a[--x]]);
    }
  };
  for (let depth = trace.length - 1; depth > 0; depth--) {
    const reach = trace[depth], diagonal = x - y, at = diagonal + depth + 1;
    const down = diagonal === -depth || (diagonal !== depth && reach[at - 1] < reach[at + 1]);
    const fromX = down ? reach[at + 1] : reach[at - 1];
    same(fromX, fromX - (down ? diagonal + 1 : diagonal - 1));
    if (down) edit.push(['added', b[--y]]);
    else edit.push(['removed', a[--x]]);
  }
  same(0, 0);
  return edit.reverse();
}
