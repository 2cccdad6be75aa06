/** The manners of the HTTP API, and what operators find there. */
export const api = {
  'API-01': 'Every error has a text and a stable code; 500 tells a request id and nothing of the inside.',
  'API-02': 'Unknown paths answer 404, known paths with another method 405 with Allow.',
  'API-03': 'Bodies above 256 KiB answer 413, other media types 415.',
  'API-04': 'Reads may be made from any web page; payment, key and signature headers pass.',
  'API-05': 'Requests above the rate limit answer 429 with Retry-After; local callers are exempt.',
  'API-06': 'Slow and half-open clients are cut off and do not hold up the others.',
  'API-07': 'Health is always 200 and tells each part; readiness is 503 until log and read models are there.',
  'API-08': 'Operator routes need an API key when there are any, else they answer local callers only.',
  'API-09': 'Dead letters are listed, shown and redriven; the name of the key is recorded.',
  'API-10': 'Secrets and payloads are not in the log.',
  'API-11': 'A stop is bounded, and a second service on the same data directory refuses to start.',
  'API-12': 'Risky settings are named at the start.',
  'API-13': 'Metrics are for local callers and API keys; a part that is down takes away its own ones only.',
  'API-14':
    'Readiness is 503 with a reason while an essential stream of the log takes no appends, and comes back by itself when there is room again.',
  'API-15':
    'A rebuild tells where to look, and there how far it has come, how fast it moves and how long it takes.',
  'API-16': 'A path that cannot be decoded answers 400, a bare OPTIONS the methods of the path.',
  'API-17': 'What is wrong with a request is said in words that name each field.',
  'API-18':
    'A read model that is not there yet is a 503 with Retry-After, a service out of reach a 502 with its name.',
  'API-20':
    'A member of a body whose name is nearly that of one that is missing is refused by its path; other unknown members are ignored.',
  'API-21':
    'A header of the answer names the parameters of a query that were ignored, and what was probably meant; what the marketplace is asked is passed on.',
  'API-22': 'Probes and scrapers with a key are never limited; who asks for metrics without a right one is.',
  'API-23':
    'An address has a bounded number of connections open; this machine and trusted proxies are exempt.',
  'API-24': 'A request without a Host header, or with several, answers 400.',
  'API-25':
    'Answers are not for caches on the way; what the marketplace allows to be kept is for its asker alone.',
  'API-26': 'A port that is for other processes of the service alone answers no web page.',
  'API-27':
    'A request to a service that is stopping is refused with 503 `stopping`, and its connection ends.',
  'API-19': 'A stop ends requests that do not end by themselves.',
} as const;
