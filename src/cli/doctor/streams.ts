import { DiscardPolicy, type StreamInfo } from 'nats';
import type { StreamDefinition } from '../../../streams/core/index.js';
import { changeableSettings, lastingSettings } from '../../../streams/core/nats.js';
import { streams } from '../../../streams/index.js';
import { bytes } from '../core/terminal.js';
import { type Check, fail, ok, type Result, skipped, warn } from './finding.js';
import type { Installation } from './installation.js';
import { withLog } from './log.js';

const nearlyFull = 0.8;
const full = 0.98;

const configuration: Check = {
  id: 'streams',
  look: (installation) =>
    withLog(installation, async (log) => {
      const running = (await installation.service()).is === 'running';
      const found = new Map<string, StreamInfo>();
      for await (const info of log.manager.streams.list()) found.set(info.config.name, info);
      if (!running && !streams.some(({ name }) => found.has(name)))
        return skipped('there are none yet: the first start makes them');
      const answers = streams.flatMap((definition) =>
        compare(definition, found.get(definition.name), installation),
      );
      return answers.length > 0
        ? answers
        : ok(`${[...found.keys()].filter(isOurs).join(', ')}: as they should be`);
    }),
};

const size: Check = {
  id: 'stream-size',
  look: (installation) =>
    withLog(installation, async (log) => {
      const answers: Result[] = [];
      for await (const { config, state } of log.manager.streams.list()) {
        // one that drops its oldest may be full
        if (!isOurs(config.name) || config.max_bytes <= 0 || config.discard === DiscardPolicy.Old) continue;
        const used = state.bytes / config.max_bytes;
        const what = `${config.name} has ${bytes(state.bytes)} of ${bytes(config.max_bytes)}`;
        const mend =
          'set STREAMS_MAX_BYTES to more (facts are never dropped to make room) and restart the service';
        if (used >= full)
          answers.push({ part: config.name, ...fail(`${what}: new facts are refused`, mend) });
        else if (used > nearlyFull) answers.push({ part: config.name, ...warn(what, mend) });
      }
      return answers.length > 0 ? answers : ok('every stream has room');
    }),
};

const isOurs = (name: string) => streams.some((stream) => stream.name === name);

/** What of a stream on the log server is not as this program would have it. */
function compare(
  definition: StreamDefinition,
  info: StreamInfo | undefined,
  { config }: Installation,
): Result[] {
  const { name } = definition;
  if (!info) {
    return [{ part: name, ...fail(`there is no stream ${name}`, 'restart the service, which makes it') }];
  }
  const different = (wanted: object) =>
    Object.entries(wanted).flatMap(([key, value]) => {
      const given = info.config[key as keyof typeof info.config];
      return JSON.stringify(given) === JSON.stringify(value)
        ? []
        : [`${key} is ${JSON.stringify(given)} and not ${JSON.stringify(value)}`];
    });
  const lasting = different(lastingSettings);
  const changeable = different(changeableSettings(definition, config.NATS_REPLICAS));
  return [
    ...lasting.map((what) => {
      const mend =
        'another program made it: move what it holds elsewhere and delete it, the service makes it anew';
      return { part: name, ...fail(`${name}: ${what}`, mend) };
    }),
    ...changeable.map((what) => {
      return { part: name, ...fail(`${name}: ${what}`, 'restart the service, which sets it') };
    }),
  ];
}

/** The streams on the log server. */
export const streamChecks: Check[] = [configuration, size];
