// The wire: what the service sends and takes, as docs/protocol.md says. Fields
// that this client does not read are left out; unknown ones are ignored.

/** A place in a source: media in milliseconds, text by paragraph, rows of a table. */
export type Span =
  | { start_ms: number; end_ms: number }
  | { page: number; paragraph: number; start_char: number; end_char: number }
  | { table: number; row_start: number; row_end: number };

export type Kind = 'video' | 'audio' | 'document' | 'image';
export type State = 'queued' | 'running' | 'paused' | 'partial' | 'done' | 'failed' | 'cancelled';

export interface WireError {
  code: number;
  message: string;
  retry: boolean;
}

/** Numbered events of a stream. */
export interface Numbered {
  stream: string;
  epoch: string;
  seq: number;
  /** First sequence a joined token frame stands for; absent means `seq`. */
  from?: number;
}

export interface Decision {
  stage: string;
  node: string;
  action: string;
  score: number;
  why?: string;
}

export interface Queued extends Numbered { type: 'queued'; position: number }
export interface Round extends Numbered {
  type: 'round';
  round: number;
  queries: string[];
  considered: number;
  kept: number;
  replaced?: number[];
  left_out?: number;
  trace?: Decision[];
}
export interface Evidence extends Numbered {
  type: 'evidence';
  n: number;
  node: string;
  level: number;
  source: { id: string; title: string; kind: Kind };
  span: Span;
  quote: string;
  speaker?: string;
  frame?: string;
  ticket?: string;
  score: number;
  nearest?: boolean;
}
export interface Token extends Numbered { type: 'token'; text: string }
export interface Citation extends Numbered {
  type: 'citation';
  n: number;
  /** Code points of text before the mark. */
  at: number;
  support: number;
  unsupported?: boolean;
  /** Where in the evidence the sentence is said, where that is closer than the evidence itself. */
  span?: Span;
}
export interface Revised extends Numbered { type: 'revised'; because: string[] }
export interface Done extends Numbered {
  type: 'done';
  finish?: 'stop' | 'length' | 'cancelled' | 'not_found' | 'error';
  error?: WireError;
  text_sha256?: string;
  usage?: { calls: number; tokens_in: number; tokens_out: number };
  timing_ms?: { retrieve: number; first_token: number; total: number };
  coverage?: number;
  /** What a reader should know of how the answer was made. */
  note?: string;
  /** Of a job. */
  state?: State;
  source?: string;
}
export interface Progress extends Numbered {
  type: 'progress';
  stage: string;
  done: number;
  total: number;
  calls: number;
  tokens: number;
  eta_ms?: number;
  ready?: Span;
}
export interface SourceChange extends Numbered {
  type: 'source';
  op: 'added' | 'changed' | 'removed';
  id: string;
  state: State;
}
export type StreamEvent = Queued | Round | Evidence | Token | Citation | Revised | Done | Progress | SourceChange;

export interface Welcome { type: 'welcome'; session: string; server: string; media_ticket?: string }
export interface Accepted { type: 'accepted'; id?: string; stream: string; epoch: string }
export interface Gap { type: 'gap'; stream: string; epoch: string; first: number }
export interface Refused extends WireError { type: 'error'; id?: string; stream?: string }
export interface Pong { type: 'pong'; id?: string }
export type ServerMessage = StreamEvent | Welcome | Accepted | Gap | Refused | Pong;

export interface AskOptions { trace?: boolean; rounds?: number; answerer?: 'auto' | 'extractive' | 'model' }
/** A question; `id` is new for each one and makes asking it again harmless. */
export interface Ask {
  id: string;
  question: string;
  sources?: string[];
  collection?: string;
  conversation?: string;
  mode?: 'answer' | 'summary' | 'chapters' | 'highlights';
  options?: AskOptions;
}

export interface Source {
  id: string;
  kind: Kind;
  title: string;
  origin?: string;
  mime?: string;
  bytes?: number;
  duration_ms: number;
  length?: number;
  width?: number;
  height?: number;
  collections: string[];
  language?: string;
  created: string;
  state: State;
  job?: string;
  error?: string;
  warnings?: string[];
  nodes: { l1: number; l2: number; l3: number };
  ticket?: string;
}
export interface Job {
  id: string;
  source: string;
  url?: string;
  state: State;
  error?: string;
  stream: string;
  created: string;
}
export interface Cue { start_ms: number; end_ms: number; speaker?: string; text: string }
export interface NodeEvidence {
  title?: string;
  cues?: Cue[];
  screen?: Cue[];
  passage?: string;
  header?: string[];
  rows?: string[][];
  frame?: { id: string; time_ms: number };
}
export interface TreeNode {
  id: string;
  summary?: string;
  description?: string;
  time_range?: [number, number];
  span?: Span;
  evidence?: NodeEvidence;
  children?: TreeNode[];
}
export interface Tree { roots: TreeNode[] }
export interface AnswerRow { stream: string; question: string; conversation?: string; sources: string[]; created: string }
