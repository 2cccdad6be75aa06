import { DiscardPolicy, type StreamInfo } from 'nats';
import type { Log, StreamDefinition } from '../../../streams/core/index.js';
import { changeableSettings, lastingSettings } from '../../../streams/core/nats.js';
import { streams } from '../../../streams/index.js';
import { bytes } from '../core/terminal.js';
import { streamInfos } from '../log/streams.js';
import { type Check, fail, of, ok, type Result, skipped, warn } from './finding.js';
import type { Installation } from './installation.js';
import { withLog } from './log.js';

const nearlyFull = 0.8;
const full = 0.98;

const configuration: Check = {
  id: 'streams',
  look: (installation) =>
    withLog(installation, async (log) => {
      const running = (await installation.service()).is === 'running';
      const found = await streamInfos(log);
      if (!running && !streams.some(({ name }) => found.has(name)))
        return skipped('there are none yet: the first start makes them');
      const answers = streams.flatMap((definition) =>
        compare(definition, found.get(definition.name), installation, log.connection),
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
        if (used >= full) answers.push(of(config.name, fail(`${what}: new facts are refused`, mend)));
        else if (used > nearlyFull) answers.push(of(config.name, warn(what, mend)));
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
  connection: Log['connection'],
): Result[] {
  const { name } = definition;
  if (!info) return [of(name, fail(`there is no stream ${name}`, 'restart the service, which makes it'))];
  const different = (wanted: object, mend: string) =>
    Object.entries(wanted).flatMap(([key, value]) => {
      const [given, expected] = [info.config[key as keyof typeof info.config], value].map((one) =>
        JSON.stringify(one),
      );
      if (given === expected) return [];
      return [of(name, fail(`${name}: ${key} is ${given} and not ${expected}`, mend))];
    });
  return [
    ...different(
      lastingSettings,
      'another program made it. Move what it holds elsewhere and delete it: the service makes it again',
    ),
    ...different(
      changeableSettings(definition, config.NATS_REPLICAS, connection),
      'restart the service, which sets it',
    ),
  ];
}

/** The streams on the log server. */
export const streamChecks: Check[] = [configuration, size];
