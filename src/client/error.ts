/** One bad field of what was sent. */
export interface BadField {
  path: string;
  message: string;
}

/** An answer of the service that is an error. */
export class RelayError extends Error {
  override readonly name = 'RelayError';
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong, for programs; `http_<status>` when something other than the service answered. */
  readonly code: string;
  /** Each bad field of the input; empty when it was not about the input. */
  readonly details: BadField[];
  readonly hint: string | undefined;
  /** Names a fault of the service in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds after which the same request may succeed, where the service has said so. */
  readonly retryAfter: number | undefined;
  readonly headers: Headers;
  /** The body as it came: JSON, or text where it was none. */
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
