/**
 * The least CPU time that some work takes, of a few runs, in milliseconds. What else the machine does is not in it.
 * Compare it with the time of other work: how fast the machine is says nothing either then.
 */
export function leastCpuMs(work: () => void, runs = 5): number {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < runs; n++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
