import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { routeEvent } from '../../../streams/events/index.js';
import type { MarketEvent, operations, Received, RelayClient } from '../../client/index.js';
import type { Invocation } from '../core/command.js';
import { Failed } from '../core/failure.js';
import { printable, styled, type Terminal, writeTable } from '../core/terminal.js';
import { postEvent } from '../events/emit.js';
import { showAgents } from './agents.js';
import { IrcViewer, type ViewedLine } from './irc-viewer.js';
import { showPayments } from './payments.js';
import { story } from './story.js';
import { type DemoTarget, openTarget } from './target.js';

/**
 * How long a line may take from webhook to channel, in milliseconds: the wait for its channel alone may take
 * ten seconds.
 */
const lineMs = 20_000;
const settleMs = 3_000;

type Statistics = operations['getQueueStatistics']['responses'][200]['content']['application/json'];

/**
 * Plays the story on a service and shows what an IRC client sees of it. Throws `Failed` if a line is missing.
 */
export async function demo(invocation: Invocation<{ own: boolean; yes: boolean }>): Promise<void> {
  const { terminal, json, stop } = invocation;
  const show = json ? { ...terminal, out: () => {} } : terminal;
  const interruption = new AbortController();
  const interrupt = (error: Error) => interruption.abort(error);
  stop.addEventListener('abort', () => interrupt(new Failed('interrupted', 'interrupted')), { once: true });
  // the service may run in this process: whatever happens to it, its servers and files must not stay
  process.once('uncaughtException', interrupt);

  title(show, 'Stage');
  const target = await openTarget(invocation);
  try {
    const { signal } = interruption;
    const result = await pTimeout(play(target, show), { milliseconds: Number.POSITIVE_INFINITY, signal });
    if (json) terminal.out(JSON.stringify(result));
  } finally {
    process.off('uncaughtException', interrupt);
    await target.close();
  }
}

async function play(target: DemoTarget, terminal: Terminal): Promise<unknown> {
  terminal.out(
    `API  ${target.service.url}  (${target.own ? 'started for this demo, removed afterwards' : 'it runs already'})`,
  );
  terminal.out(`IRC  ${target.irc}`);
  // a channel begins with its history, and on a network in use others speak as well: neither is part of the
  // demo
  const ours = new Set<string>();
  const lines: ViewedLine[] = [];
  const viewer = await IrcViewer.connect(target.irc, `guest-${randomUUID().slice(0, 4)}`, (line) => {
    if (!ours.has(line.text)) return;
    lines.push(line);
    writeLine(terminal, line);
  });
  try {
    const sent: MarketEvent[] = [];
    // only the nicks that a task names can enter the room of an assigned task
    for (const act of story(viewer.nick)) {
      title(terminal, act.title);
      const events = act.events.map(({ type, payload }) => {
        return { event_id: `demo-${randomUUID()}`, event_type: type, source: 'demo-marketplace', payload };
      });
      // in the rooms before the lines are: nobody sees what was said before they came. All rooms of an act at
      // a time, because the server slows down clients that join often.
      const routes = events.map((event) => routeEvent(event));
      for (const { formattedMessage } of routes) ours.add(formattedMessage);
      const rooms = new Set(routes.flatMap(({ targetChannels }) => targetChannels));
      const closed = new Set<string>();
      const tellClosed = (name: string) => {
        closed.add(name);
        terminal.out(styled(terminal, 'dim', `          ${name} is closed to guests`));
      };
      for (const name of await viewer.enter([...rooms])) tellClosed(name);
      for (const event of events) {
        const hidden = await showEvent(target, viewer, event);
        for (const name of hidden.filter((name) => !closed.has(name))) tellClosed(name);
        sent.push(event);
      }
    }
    const channels = await viewer.list();
    const reads = await showReads(target, sent[0]!, terminal);
    const agents = await showAgents(target, viewer, terminal, (text) => title(terminal, text));
    title(terminal, 'An agent pays for a channel');
    const payments = await showPayments(target, viewer, terminal);
    terminal.out('');
    terminal.out(styled(terminal, 'green', `All of ${sent.length} events were seen where they belong.`));
    return { lines, channels, ...reads, agents, payments };
  } finally {
    viewer.close();
  }
}

/** Posts an event and waits for its lines. Answers the channels that are closed to guests. */
async function showEvent(target: DemoTarget, viewer: IrcViewer, event: MarketEvent): Promise<string[]> {
  const from = viewer.lines.length;
  const answer = (await postEvent(target.service, target.signing, event)).body as Received;
  const { status, target_channels, formatted_message } = answer;
  if (status !== 'accepted' || !target_channels || formatted_message === undefined) {
    throw new Failed('an event was not accepted', 'not_accepted', JSON.stringify(answer));
  }
  const closed: string[] = [];
  for (const channel of target_channels) {
    try {
      if (!(await viewer.sees(channel, formatted_message, lineMs, from))) closed.push(channel);
    } catch (error) {
      const hint = await whatTheQueueSays(target, event.event_id);
      throw new Failed((error as Error).message, 'line_missing', hint);
    }
  }
  return closed;
}

async function whatTheQueueSays(target: DemoTarget, eventId: string): Promise<string> {
  const { status, last_error } = await target.service.api
    .get('/ops/dead-letters/{event_id}', { params: { path: { event_id: eventId } } })
    .catch((error: Error) => ({ status: error.message, last_error: null }));
  return printable(`The queue says of this event: ${status}${last_error ? `, ${last_error}` : ''}.`);
}

async function showReads({ service, signing }: DemoTarget, event: MarketEvent, terminal: Terminal) {
  title(terminal, 'What the API says');
  const statistics = await settledStatistics(service.api);
  writeTable(
    terminal,
    ['GET /hooks/em/stats', ''],
    Object.entries(statistics).map(([name, value]) => [name, String(value)]),
  );
  const health = await service.api.get('/health');
  const services = Object.entries(health.services).map(([name, { status }]) => `${name} ${status}`);
  terminal.out(
    `\n${styled(terminal, 'bold', 'GET /health')}  ${printable(`${health.status} (${services.join(', ')})`)}`,
  );
  const repeated = (await postEvent(service, signing, event)).body as Received;
  terminal.out(
    `${styled(terminal, 'bold', 'The first event, sent again')}  ${printable(JSON.stringify(repeated))}`,
  );
  if (repeated.status !== 'already_processed') {
    throw new Failed('a repeated event was not recognised', 'not_idempotent');
  }
  return { statistics, health, repeated };
}

/**
 * The statistics once nothing is pending any more, or after a while: a service in use always has something
 * pending.
 */
async function settledStatistics(api: RelayClient): Promise<Statistics> {
  const deadline = Date.now() + settleMs;
  for (;;) {
    const statistics = await api.get('/hooks/em/stats');
    if (statistics.pending === 0 || Date.now() > deadline) return statistics;
    await delay(50);
  }
}

function title(terminal: Terminal, text: string): void {
  terminal.out('');
  terminal.out(styled(terminal, 'bold', `== ${text}`));
}

function writeLine(terminal: Terminal, { at, channel, text }: ViewedLine): void {
  const time = styled(terminal, 'dim', at.toTimeString().slice(0, 8));
  terminal.out(`${time}  ${styled(terminal, 'cyan', printable(channel).padEnd(24))}  ${printable(text)}`);
}
