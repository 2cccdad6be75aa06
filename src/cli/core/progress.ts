import type { Terminal } from './terminal.js';

/** How far a long piece of work has come. */
export interface Progress {
  to(done: number, total: number): void;
  /** Leaves the display as it found it. */
  end(): void;
}

const barWidth = 30;
const lineEveryMs = 5_000;

/** Shows progress to people: a bar on a terminal; elsewhere a line for each tenth, or every few seconds when it is slow. */
export function showProgress(place: { terminal: Terminal; json: boolean }, label: string): Progress {
  if (place.json) return { to: () => {}, end: () => {} };
  const { terminal } = place;
  let lastTenth = -1;
  let lastLineAt = 0;
  return {
    to(done, total) {
      const part = total > 0 ? Math.min(1, done / total) : 1;
      const counts = `${Math.floor(part * 100)}% (${done} of ${total})`;
      if (terminal.status) {
        const full = Math.round(part * barWidth);
        terminal.status(`${label} [${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${counts}`);
        return;
      }
      const tenth = Math.floor(part * 10);
      if (tenth <= lastTenth && Date.now() - lastLineAt < lineEveryMs) return;
      lastTenth = tenth;
      lastLineAt = Date.now();
      terminal.err(`${label}: ${counts}`);
    },
    end: () => terminal.status?.(''),
  };
}
