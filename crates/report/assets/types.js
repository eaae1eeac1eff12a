// The JSON of samples as `src/samples` writes it, and what modules share. Types only: no page has this file.

/**
 * A text, or both ends of one that is too long to show.
 * @typedef {string | {head: string, tail: string, length: number}} LongText
 */

/**
 * What a score says. Verdicts: C right, P partly right, I wrong, N no answer found, U unscored, E errored, A absent,
 * O another value.
 * @typedef {{verdict: string, value: string | null, number: number | null, reason: string | null}} Outcome
 */

/** @typedef {{name: string, epochs: number[]}} Run */
/** @typedef {{scorer: string, field: string | null}} ScoreColumn */
/** @typedef {{key: string, values: string[]}} GroupKey */

/**
 * The index. Columns over samples; `cells` has one index into `outcomes` per score column, run and epoch of the run, in
 * that order; `answers` one index into `answers` per run and epoch.
 * @typedef {object} SampleIndex
 * @property {number} version
 * @property {boolean} tasks whether samples are of several tasks, by the first group
 * @property {Run[]} runs
 * @property {ScoreColumn[]} columns
 * @property {Outcome[]} outcomes
 * @property {GroupKey[]} groups
 * @property {string[]} answers
 * @property {{sample: number, run: number, epoch: number, limit: string}[]} limits
 * @property {{id: string[], preview: string[], cells: number[][], groups: (number | null)[][], answers: (number | null)[][]}} samples
 * @property {{details: number[], messages: number[]}} [chunks] the first sample of each chunk in the page
 * @property {string[]} [omissions] what was left out of the page or of the list, in words
 */

/** @typedef {{kind: string, name?: string, text: LongText}} MessagePart */
/** @typedef {{role: string, author?: string, parts: MessagePart[]}} Message */

/**
 * @typedef {object} ScoreRecord
 * @property {string} scorer
 * @property {LongText} [answer]
 * @property {LongText} [explanation]
 * @property {boolean} [repeats_answer]
 * @property {Message[]} [grading]
 * @property {[string, LongText][]} [metadata]
 */

/**
 * @typedef {object} EpochRecord
 * @property {LongText} [answer]
 * @property {ScoreRecord[]} [scores]
 * @property {number} [tokens]
 * @property {number} [seconds]
 * @property {LongText} [error]
 * @property {string} [limit]
 * @property {string} [stop_reason]
 * @property {Message[]} [input]
 * @property {number} [message_count]
 */

/**
 * @typedef {object} SampleDetail
 * @property {Message[]} [input]
 * @property {LongText[]} [choices]
 * @property {LongText[]} [target]
 * @property {[string, LongText][]} [metadata]
 * @property {(EpochRecord | null)[][]} runs
 */

/** @typedef {{runs: (Message[] | null)[][]}} SampleMessages */

/** A part of a search: the samples that were found in it, and how many of all have been looked at. */
/** @typedef {{found: number[], searched: number, total: number}} SearchStep */

/**
 * Where samples come from: the page itself, or the server that it is from.
 * @typedef {object} SampleSource
 * @property {() => Promise<SampleIndex>} index
 * @property {(sample: number) => Promise<SampleDetail>} detail
 * @property {(sample: number) => Promise<SampleMessages>} messages
 * @property {() => boolean} hasMessages
 * @property {((each: (sample: number, detail: SampleDetail) => boolean) => Promise<void>) | null} all
 *   every detail in order until `each` returns false; null if that would load everything from a server
 * @property {((text: string, signal: AbortSignal) => AsyncGenerator<SearchStep>) | null} search
 *   searches whole texts where they are; null if they are in the page
 */

/**
 * What is asked of the list. Empty strings ask for nothing.
 * @typedef {object} Query
 * @property {string} q
 * @property {string} show
 * @property {string} sort
 * @property {number} column the score column that verdicts are of
 * @property {string} model
 * @property {string} verdict
 * @property {string} value
 * @property {string} reason
 * @property {Record<string, string>} groups
 * @property {{run: number, value: string}[]} pair
 */

export {};
