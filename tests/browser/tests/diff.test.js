// The word diff, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordDiff } from '../../../crates/report/assets/diff.js';

/** @param {string} a @param {string} b */
const sides = (a, b) => {
  const parts = wordDiff(a, b);
  const of = (/** @type {string} */ kind) => parts.filter(part => part.kind === 'same' || part.kind === kind).map(part => part.text).join('');
  return [of('removed'), of('added')];
};

test('both texts can be read off the parts, whatever they are', () => {
  let seed = 7;
  const random = (/** @type {number} */ n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const text = () => Array.from({ length: random(40) }, () => ['a', 'b', 'c', ' ', '.', '\n', 'é'][random(7)]).join('');
  for (let i = 0; i < 500; i++) {
    const [a, b] = [text(), text()];
    assert.deepEqual(sides(a, b), [a, b]);
  }
});

test('the edit is the shortest', () => {
  assert.deepEqual(wordDiff('the cat sat', 'the dog sat'), [
    { kind: 'same', text: 'the ' }, { kind: 'removed', text: 'cat' }, { kind: 'added', text: 'dog' }, { kind: 'same', text: ' sat' },
  ]);
  assert.deepEqual(wordDiff('same', 'same'), [{ kind: 'same', text: 'same' }]);
  assert.deepEqual(wordDiff('', 'new'), [{ kind: 'added', text: 'new' }]);
  const long = wordDiff('alpha beta gamma alpha beta beta alpha', 'gamma beta alpha beta alpha gamma').filter(part => part.kind !== 'same');
  assert.equal(long.map(part => part.text.trim().split(/\s+/).length).reduce((a, b) => a + b), 5, 'Myers, 1986, figure 2');
});

test('long texts are one change and not a long wait', () => {
  const [a, b] = ['x y '.repeat(200_000), 'z w '.repeat(200_000)];
  const parts = wordDiff(`start ${a}`, `start ${b}`);
  assert.ok(parts.length <= 4);
  assert.deepEqual(sides(`start ${a}`, `start ${b}`), [`start ${a}`, `start ${b}`]);
});

test('a short word between changes is part of the change', () => {
  assert.deepEqual(wordDiff('red, green and blue', 'one, two and three').filter(part => part.kind === 'same').map(part => part.text), []);
  assert.deepEqual(sides('red, green and blue', 'one, two and three'), ['red, green and blue', 'one, two and three']);
});
