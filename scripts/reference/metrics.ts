import { Metrics } from '../../src/metrics/metrics.js';
import { code, head, table } from './page.js';

/** Every metric of our own. */
export async function metricsPage(): Promise<string> {
  const text = await new Metrics().scrape([]);
  const rows = [...text.matchAll(/^# HELP (relay_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name = '', says = '', type = '']) => [code(name), type, says])
    .sort(([a = ''], [b = '']) => a.localeCompare(b, 'en'));
  const intro = `\`GET /metrics\` answers callers on this machine, and holders of an API key. Below are the metrics of the service. Those of
Node.js (\`process_…\`, \`nodejs_…\`) tell of memory, CPU, event loop and garbage collection. Times are in seconds.

[Operate](../guides/operate.md#metrics) says how to add up several processes, and which alerts are worth having.
`;
  return [head('Metrics', 'src/metrics', intro), table(['metric', 'type', 'says'], rows)].join('\n');
}
