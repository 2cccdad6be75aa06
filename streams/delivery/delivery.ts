import { type Decider, Refusal } from '../core/index.js';
import { type ConfirmedLine, type DeliveryFact, deliverySubject } from './facts.js';

/** The queue's limits: failed attempts a channel gets, and how long an event may wait, in milliseconds. */
export interface DeliveryLimits {
  maxRetries: number;
  ttlMs: number;
}

/** Which event a command is about: its market sequence, id, and the subject token of the id. */
export interface EventRef {
  seq: number;
  event_id: string;
  token: string;
}

interface ChannelState {
  confirmed: boolean;
  failures: number;
}

/** The state of an event. `unknown` until something was recorded about it. */
export interface DeliveryState {
  status: 'unknown' | 'pending' | 'delivered' | 'dead_letter' | 'expired';
  /** How many times it was deliberately shown again; all else here is about the last showing. */
  showing: number;
  /** The commands that asked for it. */
  runs: string[];
  channels: Map<string, ChannelState>;
  lastError: string;
}

export type DeliveryCommand = { event: EventRef } & (
  | { is: 'confirm'; channel: string; via: ConfirmedLine['via'] }
  | { is: 'fail'; channel: string; error: string }
  /** No channel may be tried again: the event is given up if one of them failed too often, else it is delivered. */
  | { is: 'conclude' }
  /** `since`: when the event was received or redriven. */
  | { is: 'check age'; since: Date }
  | { is: 'redrive' }
  /** Show it once more in these channels, once for each `run`. Whoever commands it has seen that it was delivered. */
  | { is: 'redeliver'; run: string; channels: string[] }
);

/** The state of an event that was received and not attempted yet. */
export function pendingDelivery(targetChannels: string[]): DeliveryState {
  const channels = new Map(targetChannels.map((name) => [name, { confirmed: false, failures: 0 }]));
  return { status: 'pending', showing: 0, runs: [], channels, lastError: '' };
}

/**
 * The queue's state machine. Its subject holds all facts about one event except the confirmations, which are
 * recorded many events at a time; whoever decides about a confirmation folds those in as well. A redrive
 * needs only what is on the subject, because giving up and expiring name what was shown until then.
 */
export function deliveryDecider(
  limits: DeliveryLimits,
): Decider<DeliveryState, DeliveryCommand, DeliveryFact> {
  return {
    initial: () => pendingUnknown(),
    subject: (command) => deliverySubject(command.event.token),
    evolve,
    decide(command, state, now) {
      const { seq, event_id } = command.event;
      const { showing } = state;
      const about = showing > 0 ? { seq, event_id, showing } : { seq, event_id };
      switch (command.is) {
        case 'confirm': {
          if (state.status !== 'pending' || state.channels.get(command.channel)?.confirmed) return undefined;
          const completes = isLastOpen(state, command.channel);
          // all lines have one form when the spread comes last, and that is faster to read and to write
          const line = { channel: command.channel, via: command.via, completes, ...about };
          return { type: 'lines.confirmed', data: { lines: [line] } };
        }
        case 'fail': {
          const channel = state.channels.get(command.channel);
          if (state.status !== 'pending' || !channel || channel.confirmed) return undefined;
          const failures = channel.failures + 1;
          const retry_count = Math.max(retryCount(state), failures);
          const data = { ...about, channel: command.channel, failures, retry_count, error: command.error };
          return { type: 'attempt.failed', data };
        }
        case 'conclude': {
          if (state.status !== 'pending' || openChannels(state, limits).length > 0) return undefined;
          const { delivered, undelivered } = outcome(state);
          const last = delivered.at(-1);
          if (undelivered.length === 0) {
            // confirmed by several who did not know of each other: none of them could say that it was the last line
            if (last === undefined) return undefined;
            const line = { ...about, channel: last, via: 'history' as const, completes: true };
            return { type: 'lines.confirmed', data: { lines: [line] } };
          }
          const data = {
            ...about,
            retry_count: retryCount(state),
            last_error: state.lastError,
            delivered,
            undelivered,
          };
          return { type: 'event.dead_lettered', data };
        }
        case 'check age': {
          if (state.status !== 'pending' || now.getTime() - command.since.getTime() <= limits.ttlMs)
            return undefined;
          const { delivered, undelivered } = outcome(state);
          if (undelivered.length === 0) return undefined;
          return { type: 'event.expired', data: { ...about, delivered, undelivered } };
        }
        case 'redrive': {
          if (state.status === 'unknown') {
            throw new Refusal('dead_letter_not_found', `No dead letter with event id ${event_id}`);
          }
          if (state.status !== 'dead_letter' && state.status !== 'expired') {
            throw new Refusal('not_dead_lettered', `Event ${event_id} is not a dead letter (any more)`);
          }
          return { type: 'event.redriven', data: { ...about, ...outcome(state) } };
        }
        case 'redeliver': {
          const { run, channels } = command;
          if (state.runs.includes(run)) return undefined;
          const data = { seq, event_id, showing: showing + 1, run, channels };
          return { type: 'event.redelivered', data };
        }
      }
    },
  };
}

/** Channels of the event that still may be attempted. */
export function openChannels(state: Readonly<DeliveryState>, limits: DeliveryLimits): string[] {
  return [...state.channels]
    .filter(([, channel]) => !channel.confirmed && channel.failures < limits.maxRetries)
    .map(([name]) => name);
}

function evolve(state: DeliveryState, fact: DeliveryFact): void {
  if (fact.type === 'lines.confirmed') {
    for (const line of fact.data.lines) confirmLine(state, line);
    return;
  }
  if (isPast(state, fact.data)) return;
  state.showing = fact.data.showing ?? 0;
  switch (fact.type) {
    case 'attempt.failed':
      state.status = 'pending';
      channelOf(state, fact.data.channel).failures = fact.data.failures;
      state.lastError = fact.data.error;
      break;
    case 'event.dead_lettered':
      settle(state, fact.data);
      state.status = 'dead_letter';
      state.lastError = fact.data.last_error;
      break;
    case 'event.expired':
      settle(state, fact.data);
      state.status = 'expired';
      break;
    case 'event.redriven':
      settle(state, fact.data);
      state.status = 'pending';
      for (const name of fact.data.undelivered) channelOf(state, name).failures = 0;
      break;
    case 'event.redelivered':
      state.status = 'pending';
      state.runs.push(fact.data.run);
      state.channels.clear();
      for (const name of fact.data.channels) channelOf(state, name);
      break;
  }
}

/** Whether something is about an earlier showing of an event, which a later one has overtaken. */
export function isPast(state: Readonly<DeliveryState>, about: { showing?: number | undefined }): boolean {
  return (about.showing ?? 0) < state.showing;
}

/** Folds one confirmed line: confirmations of many events share a fact, so a reader of many events calls this. */
export function confirmLine(state: DeliveryState, line: ConfirmedLine): void {
  if (isPast(state, line)) return;
  channelOf(state, line.channel).confirmed = true;
  if (line.completes) state.status = 'delivered';
  else if (state.status === 'unknown') state.status = 'pending';
}

function settle(state: DeliveryState, data: { delivered: string[]; undelivered: string[] }): void {
  for (const name of data.delivered) channelOf(state, name).confirmed = true;
  for (const name of data.undelivered) channelOf(state, name);
}

function outcome(state: Readonly<DeliveryState>): { delivered: string[]; undelivered: string[] } {
  const delivered: string[] = [];
  const undelivered: string[] = [];
  for (const [name, channel] of state.channels) (channel.confirmed ? delivered : undelivered).push(name);
  return { delivered, undelivered };
}

function retryCount(state: Readonly<DeliveryState>): number {
  return Math.max(0, ...[...state.channels.values()].map((channel) => channel.failures));
}

function channelOf(state: DeliveryState, name: string): ChannelState {
  let channel = state.channels.get(name);
  if (!channel) {
    channel = { confirmed: false, failures: 0 };
    state.channels.set(name, channel);
  }
  return channel;
}

function pendingUnknown(): DeliveryState {
  return { status: 'unknown', showing: 0, runs: [], channels: new Map(), lastError: '' };
}

/** Whether every other channel has its line; asked for each line that is shown, so without a list of them. */
function isLastOpen({ channels }: DeliveryState, channel: string): boolean {
  for (const [name, { confirmed }] of channels) if (!confirmed && name !== channel) return false;
  return true;
}
