import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { answers } from '../../src/servers/net.js';
import { freePort } from './ports.js';
import { type ServerProcess, startServerProcess, type Teardown } from './server-process.js';

/** The reverse proxies that people put in front of a service. */
export const proxyNames = ['nginx', 'caddy', 'haproxy'] as const;
export type ProxyName = (typeof proxyNames)[number];

interface Proxy {
  places: string[];
  version: string;
  /** The mark of its lines in `docs/guides/deploy-behind-a-proxy.md`. */
  documented: string;
  /** Its whole configuration around the documented lines. */
  config(lines: string, port: number, dir: string): string;
  args(file: string, dir: string): string[];
}

const proxies: Record<ProxyName, Proxy> = {
  nginx: {
    places: ['nginx', '/usr/sbin/nginx', resolve('.tools/nginx/usr/sbin/nginx')],
    version: '-v',
    documented: 'nginx',
    config: (lines, port, dir) => `
      daemon off; master_process off; pid ${dir}/pid; error_log stderr;
      ${process.getuid?.() === 0 ? 'user root root;' : ''}
      events {}
      http {
        access_log off;
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
        server { listen 127.0.0.1:${port}; ${lines} }
      }`,
    args: (file, dir) => ['-p', dir, '-c', file],
  },
  caddy: {
    places: ['caddy', '/usr/bin/caddy', resolve('.tools/caddy/usr/bin/caddy')],
    version: 'version',
    documented: 'caddyfile',
    config: (lines, port) =>
      `{\n  admin off\n  auto_https off\n}\n${lines.replace('relay.example {', `http://:${port} {\n  bind 127.0.0.1`)}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  haproxy: {
    places: ['haproxy', '/usr/sbin/haproxy', resolve('.tools/haproxy/usr/sbin/haproxy')],
    version: '-v',
    documented: 'haproxy',
    config: (lines, port) =>
      `defaults\n  mode http\n  timeout client 1h\n  timeout connect 5s\n\nfrontend public\n  bind 127.0.0.1:${port}\n  default_backend relay\n\n${lines}\n`,
    args: (file) => ['-db', '-f', file],
  },
};

/** The libraries of those that were fetched without them. */
const libraryPath = ['liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1']
  .map((name) => resolve('.tools', name, 'usr/lib'))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .join(':');
const underEnv = (path: string) => [...(libraryPath ? [`LD_LIBRARY_PATH=${libraryPath}`] : []), path];

function programOf(name: ProxyName): string | undefined {
  const { places, version } = proxies[name];
  return places.find((path) => spawnSync('env', [...underEnv(path), version]).status === 0);
}

/**
 * Why tests with this proxy must be left out, or `false`. `scripts/setup --dev` fetches it if the
 * distribution has it.
 */
export function withoutProxy(name: ProxyName): string | false {
  return programOf(name) === undefined && `${name} could not be installed`;
}

/**
 * Starts a proxy for one test, configured as in `docs/guides/deploy-behind-a-proxy.md`, in front of a service
 * at `upstream`.
 */
export async function startProxy(
  t: Teardown,
  name: ProxyName,
  upstream: string,
): Promise<ServerProcess & { url: string }> {
  const { config, args } = proxies[name];
  const lines = documentedLines(name).replaceAll('127.0.0.1:8100', new URL(upstream).host);
  const server = await startServerProcess(t, {
    name,
    command: 'env',
    choosePort: freePort,
    args: (dir, port) => {
      const file = join(dir, `${name}.conf`);
      writeFileSync(file, config(lines, port, dir));
      const home = [`XDG_DATA_HOME=${dir}`, `XDG_CONFIG_HOME=${dir}`];
      return [...home, ...underEnv(programOf(name)!), ...args(file, dir)];
    },
    answers: (port) => answers({ port }, 'GET /ready HTTP/1.0\r\n\r\n', /^HTTP/),
  });
  return Object.assign(server, { url: `http://127.0.0.1:${server.port}` });
}

/** What operators are told to write. */
function documentedLines(name: ProxyName): string {
  const block = new RegExp(`\`\`\`${proxies[name].documented}\\n([^\`]+)\`\`\``);
  return block.exec(readFileSync('docs/guides/deploy-behind-a-proxy.md', 'utf8'))![1]!;
}
