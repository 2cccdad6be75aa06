/** One server-sent event. */
export interface Heard<Data> {
  id: string;
  event: string;
  data: Data;
}

/** Reads a stream of server-sent events as it comes. */
export async function readEvents<Data = Record<string, unknown>>(
  t: { teardown(fn: () => unknown): void },
  url: string,
  headers: Record<string, string>,
) {
  const abort = new AbortController();
  t.teardown(() => abort.abort());
  const response = await fetch(url, { headers, signal: abort.signal });
  const heard: Heard<Data>[] = [];
  const state = { status: response.status, heard, ended: false, close: () => abort.abort(), body: '' };
  if (!response.ok) state.body = await response.text();
  else void read(response.body!, heard).then(() => Object.assign(state, { ended: true }));
  return state;
}

async function read<Data>(body: ReadableStream<Uint8Array>, heard: Heard<Data>[]): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const fields = new Map(
          part.split('\n').map((line) => {
            const colon = line.indexOf(': ');
            return [line.slice(0, colon), line.slice(colon + 2)] as const;
          }),
        );
        const data = fields.get('data');
        if (data === undefined) continue;
        heard.push({
          id: fields.get('id') ?? '',
          event: fields.get('event') ?? 'message',
          data: JSON.parse(data),
        });
      }
    }
  } catch {
    // the test closed it, or the service did
  }
}
