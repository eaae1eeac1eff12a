// Where samples come from.

/** The chunks that are held as objects: the neighbours of what is read. */
const HELD_CHUNKS = 6;

/**
 * The JSON in an element of the page: base64 of raw deflate.
 * @param {string} id
 */
async function inflate(id) {
  const text = document.getElementById(id)?.textContent;
  if (text === undefined || text === null) throw new Error(`the page has no #${id}; it may be incomplete`);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).json();
}

/**
 * Samples in the page.
 * @implements {SampleSource}
 * @typedef {import('./types.js').SampleSource} SampleSource
 */
export class PageSource {
  /** @type {{details: number[], messages: number[]}} */
  #chunks = { details: [], messages: [] };
  /** @type {Map<string, Promise<any>>} */
  #held = new Map();

  /** @type {null} the texts are here to be searched */
  search = null;

  /** @returns {Promise<import('./types.js').SampleIndex>} */
  async index() {
    const index = await inflate('samples-index');
    this.#chunks = index.chunks;
    return index;
  }

  /** @param {number} sample @returns {Promise<import('./types.js').SampleDetail>} */
  detail(sample) {
    return this.#of('details', sample);
  }

  /** @param {number} sample @returns {Promise<import('./types.js').SampleMessages>} */
  messages(sample) {
    return this.#of('messages', sample);
  }

  hasMessages() {
    return this.#chunks.messages.length > 0;
  }

  /** @param {(sample: number, detail: import('./types.js').SampleDetail) => boolean} each */
  async all(each) {
    for (const [at, start] of this.#chunks.details.entries()) {
      const chunk = await inflate(`samples-details-${at}`);
      for (const [offset, detail] of chunk.entries()) if (!each(start + offset, detail)) return;
    }
  }

  /** @param {'details' | 'messages'} kind @param {number} sample */
  async #of(kind, sample) {
    const starts = this.#chunks[kind];
    let at = 0;
    while (at + 1 < starts.length && starts[at + 1] <= sample) at++;
    const id = `samples-${kind}-${at}`;
    const chunk = this.#held.get(id) ?? inflate(id);
    this.#held.delete(id);
    this.#held.set(id, chunk); // The last used is the last to go.
    for (const old of this.#held.keys()) if (this.#held.size > HELD_CHUNKS) this.#held.delete(old);
    return (await chunk)[sample - starts[at]];
  }
}

/**
 * Samples on the server that the page is from.
 * @implements {SampleSource}
 */
export class ServerSource {
  /** @type {string[]} */
  #ids = [];
  /** @type {null} */
  all = null;

  /** @returns {Promise<import('./types.js').SampleIndex>} */
  async index() {
    const index = await fetchJson('samples.json');
    this.#ids = index.samples.id;
    return index;
  }

  /** @param {number} sample @returns {Promise<import('./types.js').SampleDetail>} */
  async detail(sample) {
    return (await fetchJson(`sample.json?id=${encodeURIComponent(this.#ids[sample])}`)).detail;
  }

  /** @param {number} sample @returns {Promise<import('./types.js').SampleMessages>} */
  async messages(sample) {
    return (await fetchJson(`sample.json?id=${encodeURIComponent(this.#ids[sample])}&messages=true`)).messages;
  }

  hasMessages() {
    return true;
  }

  /**
   * Searches whole texts on the server, a part of the samples after the other.
   * @param {string} text
   * @param {AbortSignal} signal ends the search
   * @returns {AsyncGenerator<import('./types.js').SearchStep>}
   */
  async *search(text, signal) {
    const places = new Map(this.#ids.map((id, at) => [id, at]));
    /** @type {number | null} */
    let from = 0;
    while (from !== null) {
      const { found, searched, total, next } =
        await fetchJson(`search.json?q=${encodeURIComponent(text)}&from=${from}`, signal);
      // A run in progress may have samples that the list has not.
      const known = found.map((/** @type {string} */ id) => places.get(id)).filter((/** @type {number | undefined} */ at) => at !== undefined);
      yield { found: known, searched, total };
      from = next;
    }
  }
}

/** @param {string} url @param {AbortSignal} [signal] */
async function fetchJson(url, signal) {
  let response;
  try {
    response = await fetch(url, { headers: { accept: 'application/json' }, signal });
  } catch {
    signal?.throwIfAborted();
    throw new Error('the server does not answer; is `errorbar view` still running?');
  }
  if (!response.ok) {
    const reason = (await response.text()).slice(0, 300).trim();
    throw new Error(`the server answers ${response.status}${reason ? `: ${reason}` : ''}`);
  }
  return response.json();
}
