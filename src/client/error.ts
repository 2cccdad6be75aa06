/** A field of the request that is wrong. */
export interface BadField {
  /** Its name, such as `nick` or `payload.id`. */
  path: string;
  /** What is wrong with it, to read. */
  message: string;
}

/** An answer of the service that is an error. Its `message` says what is wrong, to read. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong, for programs: a code of the list of errors. It is `http_<status>` when something other than the service answered. */
  readonly code: string;
  /** Each wrong field of the request. It is empty when the request was not wrong. */
  readonly details: BadField[];
  /** What to do about it, where the service says so. */
  readonly hint: string | undefined;
  /** The id of the request in the service's log, for faults of the service. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the same request may succeed, where the service says so. */
  readonly retryAfter: number | undefined;
  /** The headers of the answer. */
  readonly headers: Headers;
  /** The body as it came: parsed JSON, or text when it was not JSON. */
  readonly body: unknown;

  constructor(response: Pick<Response, 'status' | 'headers'>, body: unknown) {
    const { error, code, hint, details, request_id } = fieldsOf(body);
    const rpc = fieldsOf(error); // the doors of MCP and A2A err as JSON-RPC does
    super(text(error) ?? text(rpc.message) ?? `the service answered ${response.status}`);
    this.status = response.status;
    this.headers = response.headers;
    this.body = body;
    this.code = text(code) ?? text(fieldsOf(rpc.data).reason) ?? `http_${response.status}`;
    this.hint = text(hint);
    this.details = Array.isArray(details) ? details : [];
    this.requestId = text(request_id) ?? response.headers.get('x-request-id') ?? undefined;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfter = seconds >= 0 ? seconds : undefined;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
