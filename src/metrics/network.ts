import { Counter, type Registry } from 'prom-client';
import type { ChannelsObserver } from '../../workers/channels/index.js';
import type { RecordingObserver } from '../../workers/network/index.js';

/** Told what the recorder and the keeper of the channels do. */
export type NetworkObserver = RecordingObserver & ChannelsObserver;

/** Counters of what is recorded of the network, and of what is done to its channels. */
export function networkCounters(registers: Registry[]): NetworkObserver {
  const lines = new Counter({
    name: 'relay_recorded_lines_total',
    help: 'Lines of the network that were recorded',
    registers,
  });
  const gaps = new Counter({
    name: 'relay_recorded_gaps_total',
    help: 'Gaps that were recorded: times of a channel that are not fully known',
    registers,
  });
  const skipped = new Counter({
    name: 'relay_recorded_skipped_total',
    help: 'Things seen on the network that can be in no fact, and were passed over',
    registers,
  });
  const batches = new Counter({
    name: 'relay_recorded_batches_total',
    help: 'Facts that were recorded of the network; each holds what came to one channel in one go',
    registers,
  });
  const operations = new Counter({
    name: 'relay_channel_operations_total',
    help: 'Operations on managed channels that were carried out here, by how they ended: done, or the code of the error',
    labelNames: ['operation', 'outcome'],
    registers,
  });
  const repairs = new Counter({
    name: 'relay_channel_repairs_total',
    help: 'Managed channels that were not as they are recorded, by what had to be done to the network',
    labelNames: ['repair'],
    registers,
  });
  // known from the start, so that the first one is seen as a rise
  for (const operation of ['create', 'update', 'remove', 'members', 'archive', 'expire'])
    operations.inc({ operation, outcome: 'done' }, 0);
  for (const repair of repairKinds) repairs.inc({ repair }, 0);
  return {
    recorded: (lineCount, gapCount) => {
      batches.inc();
      lines.inc(lineCount);
      gaps.inc(gapCount);
    },
    skipped: (sightings) => skipped.inc(sightings),
    operation: (operation, outcome) => operations.inc({ operation, outcome }),
    repaired: (repair, channels) => repairs.inc({ repair }, channels),
  };
}

const repairKinds = ['changed', 'recreated', 'removed', 'bot_brought_in'] as const;
