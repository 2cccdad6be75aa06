import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** A schema of the SDK: an object with its method as a literal. */
type RequestSchema = z.ZodObject<{ method: z.ZodLiteral<string> }>;
// biome-ignore lint/suspicious/noExplicitAny: as wide as what it overrides, which knows the request from its schema
type Handler = (request: any, extra: any) => any;

/** Requests of a method whatever their parameters, by schema: servers are made for each request, these are not. */
const ofAnyParameters = new Map<unknown, RequestSchema>();

/**
 * The SDK's server, but parameters of a wrong shape are the caller's fault (-32602), with the place that is wrong;
 * the SDK itself takes them for a fault of its own (-32603).
 */
export class CheckedServer extends Server {
  override setRequestHandler(schema: unknown, handler: Handler): void {
    const strict = schema as RequestSchema;
    let lenient = ofAnyParameters.get(strict);
    if (!lenient) {
      lenient = z.looseObject({ method: strict.shape.method });
      ofAnyParameters.set(strict, lenient);
    }
    super.setRequestHandler(lenient, (request, extra) => {
      const parsed = strict.safeParse(request);
      if (parsed.success) return handler(parsed.data, extra);
      const [issue] = parsed.error.issues;
      throw new McpError(ErrorCode.InvalidParams, `${issue?.path.join('.')}: ${issue?.message}`);
    });
  }
}
