import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A route, by its method and pattern. */
export interface Route {
  method: string;
  /** The path of the route, with its parameters as `:name`. */
  url: string;
}

/** The methods of each path: the router itself finds a route only by both together. */
export class RouteMethods {
  readonly #routes: (Route & { pattern: RegExp })[] = [];
  readonly #ofAddresses = new Map<string, string[]>();

  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.refuses) return;
      const methods = [method].flat();
      for (const one of methods) this.#routes.push({ method: one, url, pattern: pathPattern(url) });
      if (/[:*]/.test(url)) return;
      this.#ofAddresses.set(url, [...new Set([...(this.#ofAddresses.get(url) ?? []), ...methods])]);
    });
  }

  get all(): readonly Route[] {
    return this.#routes;
  }

  of(request: FastifyRequest): readonly string[] {
    const path = pathOf(request);
    const own = this.ofAddress(path);
    if (own) return own;
    const found = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.map(({ method }) => method))];
  }

  /** The methods of a path that is a route by itself, without parameters; `undefined` if there is no such route. */
  ofAddress(path: string): readonly string[] | undefined {
    return this.#ofAddresses.get(path) ?? this.#ofAddresses.get(path.replace(/\/$/, ''));
  }
}

export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;

function pathPattern(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+');
  return new RegExp(`^${escaped === '\\*' ? '$^' : escaped}/?$`);
}
