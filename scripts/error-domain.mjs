// Stands in for tap's `async-hook-domain` in the tests. That package follows each promise to tell which test an error
// belongs to that nobody caught, and costs a test process up to a fifth of what it computes. This one gives the error to
// the whole file, which fails as well. The error says where it comes from.

const open = [];

/** The errors that nobody catches while a test runs. */
export class Domain {
  constructor(onerror) {
    this.onerror = onerror;
    open.push(this);
  }

  destroy() {
    const place = open.indexOf(this);
    if (place >= 0) open.splice(place, 1);
  }
}

process.on('uncaughtExceptionMonitor', (error, origin) => {
  // whoever listens itself gets it in our place
  if (open.length === 0 || process.listenerCount('uncaughtException') > 0) return;
  open[0].onerror(error, origin);
  // told: the process goes on
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
});
