import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder: the nearest one above this file with a package.json, from `src` and `dist` alike. */
export const projectDir = findProjectDir(dirname(fileURLToPath(import.meta.url)));

// Distributions put servers into folders that are often not on the PATH of a normal user.
const systemDirs = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** A server program that was found, and the text it answers to `--version`. */
export interface Binary {
  path: string;
  version: string;
}

/**
 * The nats-server to run: one on PATH or in the system's folders, else the one that `scripts/setup` fetched.
 * If none is 2.10 or newer, throws with what to do: older ones refuse `sync_interval`.
 */
export function findNatsServer(places = placesOf('nats-server')): Binary {
  return find('nats-server', places, 'version 2.10 or newer', isRecentNats);
}

/** Whether the text of a nats-server's version says 2.10 or newer. */
export function isRecentNats(version: string): boolean {
  const [, major, minor] = /v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) * 1000 + Number(minor) >= 2010;
}

/** The InspIRCd to run, looked up like {@link findNatsServer}. If it is not found, throws with what to do. */
export function findInspircd(places = placesOf('inspircd')): Binary {
  return find('inspircd', places, 'InspIRCd', (version) => version.startsWith('InspIRCd-'));
}

/**
 * The Anope 2.0 to run, looked up like {@link findNatsServer}. If it is not found, throws with what to do.
 */
export function findAnope(places = placesOf('anope')): Binary {
  return find('anope', places, 'Anope 2.0', (version) => version.startsWith('Anope-2.0.'));
}

/** Where a server program may be; a name alone is looked up on PATH. */
function placesOf(name: string): string[] {
  return [
    name,
    ...systemDirs.map((dir) => join(dir, name)).filter((path) => existsSync(path)),
    join(projectDir, '.tools', name, 'usr', 'sbin', name),
  ];
}

function find(name: string, places: string[], wanted: string, suits: (version: string) => boolean): Binary {
  let unsuitable = '';
  for (const path of places) {
    const version = versionOf(path);
    if (version === undefined) continue;
    if (suits(version)) return { path, version };
    unsuitable ||= ` (${path} is ${version.split('\n')[0]}, wanted is ${wanted})`;
  }
  throw new Error(
    `no usable ${name} found${unsuitable}: run scripts/setup, it installs one or says what to do`,
  );
}

/** The versions of programs that were found, by where: to start one costs a large process a tenth of a second. */
const versions = new Map<string, string>();

function versionOf(path: string): string | undefined {
  const version = versions.get(path) ?? askVersion(path);
  if (version !== undefined) versions.set(path, version);
  return version;
}

/** The text decides, not the exit status: with `--version` some releases end with an error status. */
function askVersion(path: string): string | undefined {
  const { stdout, error } = spawnSync(path, ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 5_000,
  });
  return error === undefined && stdout !== '' ? stdout.trim() : undefined;
}

function findProjectDir(dir: string): string {
  if (existsSync(join(dir, 'package.json')) || dirname(dir) === dir) return dir;
  return findProjectDir(dirname(dir));
}
