import { Metrics } from '../../src/metrics/metrics.js';
import { code, head, table } from './page.js';

/** Every metric of our own. */
export function metricsPage(): string {
  const rows = new Metrics().described
    .map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  const intro = `\`GET /metrics\` answers holders of an API key, and callers on this machine unless \`HOST\` or \`PUBLIC_URL\` is public. Below are the metrics of the service. Those of
Node.js (\`process_…\`, \`nodejs_…\`) tell of memory, CPU, event loop and garbage collection. Times are in seconds.

A timer of 50 ms measures the event loop: without any lag, \`nodejs_eventloop_lag_mean_seconds\` and the percentiles are 0.05.

[Operate](../guides/operate.md#metrics) says how to add up several processes, and which alerts are worth having.
`;
  return [head('Metrics', 'src/metrics', intro), table(['metric', 'type', 'labels', 'says'], rows)].join(
    '\n',
  );
}
