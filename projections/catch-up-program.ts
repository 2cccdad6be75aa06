/**
 * The program of the thread that folds what lags far. In the built service this module lies in another
 * folder, next to that of the read models.
 */
export const catchUpProgram = import.meta.url.endsWith('.js')
  ? new URL('../projections/catch-up.js', import.meta.url)
  : fromSource(new URL('../projections/catch-up.ts', import.meta.url));

/** A thread does not inherit the loader that runs sources. */
function fromSource(program: URL): URL {
  const loader = import.meta.resolve('tsx/esm/api');
  const text = `import { register } from '${loader}'; register(); await import('${program}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}
