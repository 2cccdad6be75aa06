// The tests run from what was compiled of them; benchmarks and the long forms of tests run from the sources.
const isCompiled = import.meta.url.endsWith('.js');

/** The file to run or import for a source of this repository, from the project's folder. */
export function programFile(source: string): string {
  return isCompiled ? `.compiled/${source.replace(/ts$/, 'js')}` : source;
}

/** What makes node run such files, as it runs this one; it goes before other arguments. */
export const nodeOptions: readonly string[] = isCompiled ? process.execArgv : ['--import', 'tsx'];

/** Arguments for node, with the files to run for the sources among them. */
export function nodeArgs(...args: readonly string[]): string[] {
  return [...nodeOptions, ...args.map((arg) => (arg.endsWith('.ts') ? programFile(arg) : arg))];
}
