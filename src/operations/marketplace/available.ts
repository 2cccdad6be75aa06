import type { MarketplaceAnswer } from './upstream.js';

type Json = Record<string, unknown>;

/** An answer's list of tasks, without those that nobody can take any more, whatever the marketplace sent. */
export function onlyPublished(answer: MarketplaceAnswer): MarketplaceAnswer {
  if (answer.status !== 200 || answer.body.length === 0) return answer;
  const content = JSON.parse(answer.body.toString()) as unknown;
  const filtered = Array.isArray(content) ? content.filter(isPublished) : withoutOthers(content);
  // its validators are those of another body
  const { etag: _, 'last-modified': __, ...headers } = answer.headers;
  return { ...answer, headers, body: Buffer.from(JSON.stringify(filtered)) };
}

function withoutOthers(content: unknown): unknown {
  if (typeof content !== 'object' || content === null) return content;
  const kept = { ...(content as Json) };
  for (const [name, value] of Object.entries(content as Json)) {
    if (!isListOfTasks(name, value)) continue;
    const tasks = value.filter(isPublished);
    kept[name] = tasks;
    // counts that spoke of the list go with it
    for (const count of ['count', 'total']) {
      if (kept[count] === value.length) kept[count] = tasks.length;
    }
  }
  return kept;
}

/**
 * The marketplace may give the list any name. An item with a status is a task; other lists may be next to it.
 */
function isListOfTasks(name: string, value: unknown): value is unknown[] {
  return Array.isArray(value) && (name === 'tasks' || value.some((one) => statusOf(one) !== undefined));
}

function isPublished(task: unknown): boolean {
  return statusOf(task) === 'published';
}

function statusOf(task: unknown): unknown {
  return (task as { status?: unknown } | null)?.status;
}
