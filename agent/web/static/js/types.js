/**
 * What the API gives, as far as the page reads it. Types only: the file holds no code.
 *
 * @typedef {{id: string, title: string, created: string, updated: string, turns: number, unfinished: boolean,
 *   needs_review: boolean}} SessionRecord
 * @typedef {{verdict: string, correction: string, reviewer: string, at: string}} Review
 * @typedef {{helpful: boolean, reason: string, at: string}} Feedback
 * @typedef {{turn: number, asked: string, asked_at?: string, answer: Answer | null, review: Review | null,
 *   feedback: Feedback | null}} TurnRecord
 * @typedef {{name: string, scopes: string[], authentication: boolean}} Me
 * @typedef {{evidence_id: string, quote: string, start: number, end: number}} Citation
 * @typedef {{text: string, origin: string, citations: Citation[], named?: Citation[]}} Statement
 * @typedef {{tool: string, stream: string, query: string, rung: string | null, rank: number | null}} Found
 * @typedef {{id: string, text: string, title: string, kind: string, origin: string, status: string,
 *   level: string | null, date: string | null, review_by: string | null, section: string | null, language: string,
 *   source?: string | null, licence?: string | null,
 *   publication_types: string[], found: Found[]}} Evidence
 * @typedef {{disease: string, name: string, name_zh?: string, icd10?: string, score: number, severity?: string,
 *   findings_for?: string[], findings_against?: string[], missing?: string[], evidence_id?: string}} Ranked
 * @typedef {{finding: string, text: string, gain: number, why: string, replies?: string[]}} FollowUp
 * @typedef {{code: string, text: string, severity: string}} Notice
 * @typedef {{code: string, seen: string, advice: string}} RedFlag
 * @typedef {{text: string, label: string, reason: string}} Unit
 * @typedef {{decision: string, score: number, theta1: number, theta2: number, units: Unit[], missing: string[],
 *   turning: {unit: number, decision: string, score: number} | null, question: string, reason: string}} Gate
 * @typedef {{part: string, discipline: string | null, statement: Statement}} ReportStatement
 * @typedef {{statements: ReportStatement[], questions: FollowUp[], unknown: string[]}} Report
 * @typedef {{label: string, text: string, reason: string, parametric: boolean}} Choice
 * @typedef {{value: string, statements: string[], effect: string, population: string, certainty: string, reason: string}} Verdict
 * @typedef {{tool_calls: number, model_calls: number, cost: number, seconds: Record<string, number>}} Usage
 * @typedef {{session: string, turn: number, run: string, question: string, kind: string, language: string,
 *   emergency: RedFlag[], statements: Statement[], evidence: Evidence[], differential: Ranked[], outside?: boolean,
 *   unexplained?: string[], unread?: string[], asides?: string[],
 *   added?: object[], hypotheses?: object[], contrasts: string[],
 *   superseded?: {text: string, turn: number, span: number[] | null, by: number, now: string}[],
 *   similar_records: {id: string, diagnosis: string, text: string, similarity: number}[],
 *   rare_diseases: Ranked[], verdict: Verdict | null, choice: Choice | null, follow_up_questions: FollowUp[], notices: Notice[],
 *   abstained: boolean, report: Report | null, gate: Gate | null, usage: Usage,
 *   review_reasons?: {code: string, text: string}[]}} Answer
 * @typedef {{text: string, origin: string, marks: string, folds: {id: string, citations: Citation[]}[]}} Line how a statement is shown
 * @typedef {{rank: number, name: string, code: string, share: string, disease: string, told: Line[]}} Row
 * @typedef {{number: number, name: string, design: string, people: string, comparison: string, result: string,
 *   year: string, quotes: string[], side: string}} Study
 * @typedef {{columns: string[], heads: string[], rows: Study[], none: string}} Studies
 * @typedef {{title: string, unknown: string, groups: [string, Line[]][]}} Part
 * @typedef {{number: number, id: string, name: string, origin: string, facts: string[], citation: string,
 *   passages: {item: string}[]}} Source a document; its passages are ids of evidence
 * @typedef {{text: string, notice: Notice}} Label
 * @typedef {{alerts: [string, string][], dangers: string[],
 *   lead: {head: string, lines: Line[], facts: string[], unverified: boolean}, box: string[],
 *   ranking: {title: string, rows: Row[], left: string[]}, on_lead: string, lines: Line[], studies: Studies, rare: Row[],
 *   records: string[], report: Part[], next: FollowUp[], suggested: string[], labels: Label[], dates: string,
 *   sources: Source[], beside: Source[], how: string[], text: string}} View an answer as it is shown, made by the server
 * @typedef {{gate?: Gate, differential?: Ranked[], evidence?: Record<string, number>, emergency?: RedFlag[],
 *   language?: string, view?: View}} StepData
 * @typedef {{step: string, status: string, tool: string, summary: string, seconds: number, text: string,
 *   data?: StepData}} Step
 * @typedef {{id: string, name: string, title: string, characters: number, added: string, problems: string[]}} SessionDocument
 * @typedef {(key: string, values?: Record<string, string | number>) => string} Translate
 */
export {};
