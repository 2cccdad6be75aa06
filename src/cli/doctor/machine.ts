import { existsSync, readdirSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isSound } from '../../../projections/core/pglite-directory.js';
import { streams } from '../../../streams/index.js';
import { prepareDataDir } from '../../servers/data-dir.js';
import { installationOf, missingModules } from '../../servers/inspircd-config.js';
import { bytes } from '../core/terminal.js';
import { type Check, fail, failedBy, ok, type Result, skipped, warn } from './finding.js';
import { type Installation, storeDirectory } from './installation.js';

/** With less than this free the log server and the read store stop working, in bytes. */
const leastFree = 200_000_000;
const unused = 'all servers are given ones: nothing is stored here';

const nodeVersion: Check = {
  id: 'node',
  look({ nodeVersion: version }) {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major < 20 || (major === 20 && minor < 9))
      return fail(`Node.js ${version} is too old`, 'install Node.js 20.9 or newer');
    if (major === 20 && minor < 12 && existsSync('.env'))
      return warn(`Node.js ${version} does not read .env`, 'install Node.js 20.12 or newer');
    return ok(`Node.js ${version}`);
  },
};

const dataDirectory: Check = {
  id: 'data-dir',
  async look({ own, dataDir }) {
    if (!own.nats && !own.sql && !own.irc) return skipped(unused);
    if (existsSync(dataDir)) {
      return await prepareDataDir(dataDir).then(() => ok(`${dataDir} takes files`), failedBy);
    }
    const above = existing(dataDir);
    try {
      await access(above, constants.W_OK | constants.X_OK);
      return ok(`${dataDir} will be made`);
    } catch {
      return fail(
        `${dataDir} cannot be made in ${above}`,
        'set DATA_DIR to a folder that this user may write to',
      );
    }
  },
};

const diskSpace: Check = {
  id: 'disk',
  async look(installation) {
    if (!installation.own.nats && !installation.own.sql) return skipped(unused);
    const { bavail, bsize } = await statfs(existing(installation.dataDir));
    const free = bavail * bsize;
    if (free < leastFree)
      return fail(
        `the disk of ${installation.dataDir} is full, ${bytes(free)} are free`,
        'free some space on it',
      );
    const growth = installation.own.nats ? await roomForStreams(installation) : 0;
    if (growth > free) {
      return warn(
        `the streams may grow by ${bytes(growth)}, and ${bytes(free)} are free: the disk would be full before they are`,
        'free some space, or set STREAMS_MAX_BYTES to less',
      );
    }
    return ok(`${bytes(free)} are free`);
  },
};

/** How much the streams may still take, in bytes; those that are not there yet get a part of what is free. */
async function roomForStreams({ log, config }: Installation): Promise<number> {
  const opened = await log().catch(() => undefined);
  if (!opened) return config.STREAMS_MAX_BYTES ?? 0;
  const names = streams.map(({ name }) => name);
  let room = 0;
  for await (const { config: stream, state } of opened.manager.streams.list())
    if (names.includes(stream.name) && stream.max_bytes > 0)
      room += Math.max(0, stream.max_bytes - state.bytes);
  return room;
}

const natsBinary: Check = {
  id: 'nats-server',
  look(installation) {
    if (!installation.own.nats) return skipped('NATS_URL is set: none is started here');
    return program(() => installation.findNatsServer());
  },
};

const ircBinary: Check = {
  id: 'inspircd',
  look(installation) {
    if (!installation.own.irc) return skipped('IRC_URL is set: none is started here');
    return program(
      () => installation.findInspircd(),
      (binary) => {
        const missing = missingModules(installationOf(binary));
        if (missing.length === 0) return undefined;
        return warn(
          `${binary.version} lacks the modules ${missing.join(', ')}`,
          'install the complete InspIRCd package of your distribution',
        );
      },
    );
  },
};

function program(
  find: () => { path: string; version: string },
  objection: (binary: { path: string; version: string }) => Result | undefined = () => undefined,
): Result {
  try {
    const binary = find();
    return objection(binary) ?? ok(`${binary.version.split('\n')[0]} (${binary.path})`);
  } catch (error) {
    return failedBy(error);
  }
}

const storeFiles: Check = {
  id: 'store-files',
  async look(installation) {
    if (!installation.own.sql) return skipped('DATABASE_URL is set: no read store lies here');
    const directory = storeDirectory(installation);
    const prefix = `${basename(directory)}.damaged-`;
    const aside = existsSync(installation.dataDir)
      ? readdirSync(installation.dataDir).filter((name) => name.startsWith(prefix))
      : [];
    const answers = aside.map((name) =>
      warn(
        `a damaged read store was moved aside to ${dirname(directory)}/${name}; its replacement is folded from the log`,
        'look into the log for the reason, then delete it: nothing in it is needed',
      ),
    );
    if ((await installation.service()).is === 'absent' && !(await isSound(directory))) {
      answers.push(
        warn(
          `the machine went down while the read store in ${directory} was open`,
          'nothing: the next start replaces it and folds it again from the log',
        ),
      );
    }
    return answers.length > 0 ? answers : ok('no damaged read store was moved aside');
  },
};

/** The folder itself, or the nearest one above it that is there. */
function existing(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : existing(dirname(dir));
}

/** The machine, its programs and the files of the service. */
export const machineChecks: Check[] = [
  nodeVersion,
  dataDirectory,
  diskSpace,
  natsBinary,
  ircBinary,
  storeFiles,
];
